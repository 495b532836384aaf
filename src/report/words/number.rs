//! Numbers of documents in words: factors, estimates, metric values in their unit.

use std::path::Path;

use crate::document::LaunchReport;
use crate::finding::{Estimate, Location};
use crate::text::{byte_rate, bytes, count, duration, prefixed, significant};
use crate::timing::Timing;

/// A speed-up factor: `1.50×`, `14.9×`, `320×`.
pub(crate) fn factor(value: f64) -> String {
    let decimals = match value {
        x if x < 9.995 => 2,
        x if x < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}×")
}

/// An estimate with its range: `1.50× (1.30 to 1.70)`.
pub(crate) fn estimate(estimate: &Estimate) -> String {
    let bare = |value| factor(value).trim_end_matches('×').to_owned();
    format!("{} ({} to {})", factor(estimate.factor), bare(estimate.low), bare(estimate.high))
}

/// A measured time alone, as precise as in [`timing`]: `10.99 ms`.
pub(crate) fn median(time: &Timing) -> String {
    let text = timing(time);
    text.split(" (").next().unwrap_or(&text).to_owned()
}

/// A measured time, all of it in the median's unit: `10.99 ms (10.96 to 11.02, n = 20)`.
pub(crate) fn timing(time: &Timing) -> String {
    let (scale, unit) = match time.median.abs() {
        x if x < 1e3 => (1.0, "ns"),
        x if x < 1e6 => (1e3, "µs"),
        x if x < 1e9 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    let [median, low, high] =
        [time.median, time.low, time.high].map(|ns| significant(ns / scale, 4));
    format!("{median} {unit} ({low} to {high}, n = {})", time.n)
}

/// A metric's value in the unit that people read, the unit left out where it only names what is
/// counted: for tables whose rows have a title.
pub(crate) fn bare(value: f64, unit: &str) -> String {
    match unit {
        "ns" => duration(value),
        "byte" => bytes(value).replace(" B", " byte"),
        "byte/s" => byte_rate(value),
        "hz" => format!("{}Hz", prefixed(value)),
        // Not the zero that it is not.
        "%" if value != 0.0 && value.abs() < 0.05 => format!("{}%", significant(value, 2)),
        "%" => format!("{value:.1}%"),
        _ if value.fract() == 0.0 || value.abs() >= 1000.0 => count(value),
        _ => significant(value, 3),
    }
}

/// A metric's value with its unit.
pub(crate) fn metric(value: f64, unit: &str) -> String {
    let number = bare(value, unit);
    let several = (value - 1.0).abs() > f64::EPSILON;
    match unit {
        "ns" | "byte" | "byte/s" | "hz" | "%" | "" => number,
        "inst" => format!("{number} instruction{}", if several { "s" } else { "" }),
        "block" | "cycle" | "request" | "sector" | "thread" | "warp" | "wavefront" if several => {
            format!("{number} {unit}s")
        }
        _ => format!("{number} {unit}"),
    }
}

/// The change from one value to another: `−33%`, `+8.5%`, `14.9×` from 10 times on.
pub(crate) fn change(base: f64, new: f64) -> String {
    if base == 0.0 && new != 0.0 {
        return "from 0".to_owned();
    }
    let percent = 100.0 * (new - base) / base.abs();
    // Equal values, 0 and 0 among them, and what is no number.
    if percent == 0.0 || !percent.is_finite() {
        return "0%".to_owned();
    }
    if percent >= 900.0 {
        return factor(new / base);
    }
    let sign = if percent < 0.0 { '−' } else { '+' };
    let size = percent.abs();
    // Nearly all gone is not all gone.
    if size < 9.95 || (size > 99.0 && size < 100.0 && sign == '−') {
        format!("{sign}{size:.1}%")
    } else {
        format!("{sign}{size:.0}%")
    }
}

/// Grid and block: `1024 blocks of 1024 threads`, with x × y × z where there is more than x.
pub(crate) fn shape(launch: &LaunchReport) -> String {
    shape_of(launch.grid, launch.block)
}

/// `1024 × 256`: blocks and threads per block, for tables; empty where they are not known.
pub(crate) fn extents(grid: [u32; 3], block: [u32; 3]) -> String {
    if grid == [0; 3] {
        return String::new();
    }
    format!("{} × {}", extent(grid), extent(block))
}

/// The same of a grid and a block alone.
fn shape_of(grid: [u32; 3], block: [u32; 3]) -> String {
    if grid == [0; 3] {
        return "grid and block unknown".to_owned();
    }
    let counted = |of: [u32; 3], noun: &str| {
        let extent = extent(of);
        let s = if extent == "1" { "" } else { "s" };
        format!("{extent} {noun}{s}")
    };
    format!("{} of {}", counted(grid, "block"), counted(block, "thread"))
}

/// One grid or block extent: `64`, `64×32`, `8×8×4`.
pub(crate) fn extent([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (0 | 1, 0 | 1) => x.to_string(),
        (_, 0 | 1) => format!("{x}×{y}"),
        _ => format!("{x}×{y}×{z}"),
    }
}

/// A place in the source: `kernels/ado/v2.cu:25`, the file alone where the line is unknown; of a file that
/// lies on another machine, `…/src/conv.cu:25`. Without a file, `line 25` or `instruction 0x2a0`.
pub(crate) fn place(location: &Location) -> String {
    let file = file(&location.file, Path::exists);
    match (file.is_empty(), location.line) {
        (true, _) => location.name(),
        (false, 0) => file,
        (false, line) => format!("{file}:{line}"),
    }
}

/// A line of a file: `src/conv.cu:25`.
pub(crate) fn file_and_line(path: &str, line: u32) -> String {
    format!("{}:{line}", file(path, Path::exists))
}

/// How many components stay of the path of a file that lies elsewhere: its folder's name and its own.
const COMPONENTS: usize = 2;

/// A file's path as people read it. Where it is absolute and the file is not here, the profile came from
/// another machine, whose folders tell nobody anything.
fn file(path: &str, exists: fn(&Path) -> bool) -> String {
    let components: Vec<&str> = path.split(['/', '\\']).filter(|part| !part.is_empty()).collect();
    // `C:` of Windows counts as a root too.
    let is_absolute = path.starts_with(['/', '\\']) || path.get(1..2) == Some(":");
    if !is_absolute || components.len() <= COMPONENTS + 1 || exists(Path::new(path)) {
        return path.to_owned();
    }
    format!("…/{}", components[components.len() - COMPONENTS..].join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_another_machine_are_left_out() {
        let elsewhere = |path| file(path, |_| false);
        assert_eq!(elsewhere("/data/home/someone/project/src/conv.cu"), "…/src/conv.cu");
        assert_eq!(elsewhere("C:\\work\\project\\src\\conv.cu"), "…/src/conv.cu");
        // Nothing is gained by leaving one folder out, and a relative path is the user's own.
        assert_eq!(elsewhere("/project/src/conv.cu"), "/project/src/conv.cu");
        assert_eq!(elsewhere("kernels/faults/ado/v2.cu"), "kernels/faults/ado/v2.cu");
        assert_eq!(
            file("/data/home/project/src/conv.cu", |_| true),
            "/data/home/project/src/conv.cu"
        );
    }

    #[test]
    fn factors_keep_three_digits() {
        assert_eq!(factor(1.0), "1.00×");
        assert_eq!(factor(14.93), "14.9×");
        assert_eq!(factor(319.6), "320×");
    }

    #[test]
    fn ranges_share_the_unit_of_the_median() {
        let time = Timing { median: 10.99e6, low: 10.96e6, high: 11.02e6, n: 20 };
        assert_eq!(timing(&time), "10.99 ms (10.96 to 11.02, n = 20)");
        let time = Timing { median: 1.1e3, low: 900.0, high: 1.2e3, n: 5 };
        assert_eq!(timing(&time), "1.100 µs (0.9000 to 1.200, n = 5)");
    }

    #[test]
    fn one_block_is_no_plural() {
        assert_eq!(shape_of([1, 1, 1], [32, 1, 1]), "1 block of 32 threads");
        assert_eq!(shape_of([64, 32, 1], [1, 1, 1]), "64×32 blocks of 1 thread");
        assert_eq!(shape_of([0; 3], [0; 3]), "grid and block unknown");
        assert_eq!(extents([64, 32, 1], [128, 1, 1]), "64×32 × 128");
        assert_eq!(extents([0; 3], [0; 3]), "");
    }

    #[test]
    fn changes_have_a_sign() {
        assert_eq!(change(3.0, 2.0), "−33%");
        assert_eq!(change(100.0, 101.5), "+1.5%");
        assert_eq!(change(1000.0, 4.0), "−99.6%");
        assert_eq!(change(1000.0, 0.0), "−100%");
        assert_eq!(change(2.0, 50.0), "25.0×");
        assert_eq!(change(0.0, 5.0), "from 0");
        assert_eq!(change(0.0, 0.0), "0%");
        assert_eq!(change(7.0, 7.0), "0%");
    }

    #[test]
    fn units_are_readable() {
        assert_eq!(metric(10_745_000.0, "ns"), "10.7 ms");
        assert_eq!(metric(1_209_008_128.0, "sector"), "1,209,008,128 sectors");
        assert_eq!(metric(1.0, "inst"), "1 instruction");
        assert_eq!(bare(1_209_008_128.0, "sector"), "1,209,008,128");
        assert_eq!(bare(30.958, "cycle"), "31.0");
        assert_eq!(metric(33.333, "%"), "33.3%");
        assert_eq!([0.0, 0.05, 0.0123].map(|value| metric(value, "%")), ["0.0%", "0.1%", "0.012%"]);
        assert_eq!(metric(1.98e9, "hz"), "1.98 GHz");
        assert_eq!(metric(512.0, "byte"), "512 byte");
        assert_eq!(metric(4.4e9, "byte"), "4.40 GB");
    }
}
