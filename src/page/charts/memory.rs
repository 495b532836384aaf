//! The memory hierarchy: what goes over each link, what of it nobody needs, and how often caches hit.

use maud::{Markup, html};

use crate::frame::Launch;
use crate::hardware::SECTOR_BYTES;
use crate::page::figure::{Figure, Table, pct, px};
use crate::text::{bytes, percent, prefixed, significant};

const BOX: f64 = 40.0;
const LINK: f64 = 88.0;
/// Width of the widest band, as a share.
const WIDEST: f64 = 0.12;
/// Where the second column begins, and how wide it is.
const SHARED: (f64, f64) = (0.56, 0.44);
const MAIN: f64 = 0.5;

/// What goes over a link.
#[derive(Debug, Default, PartialEq)]
struct Link {
    name: &'static str,
    lines: Vec<String>,
    bytes: f64,
    /// The share of the bytes that nobody needs; `None` where it is not known.
    wasted: Option<f64>,
}

/// A memory, and how often what is asked of it is there.
struct Memory {
    name: &'static str,
    said: String,
    value: Option<f64>,
}

/// The chart; `None` where nothing was counted.
pub(in crate::page) fn figure(id: &str, launch: &Launch) -> Option<Figure> {
    let hit = |name| launch.get(name).map(|percent| percent / 100.0);
    let memory = |name, hits: Option<f64>| {
        let said = hits.map_or_else(String::new, |hits| format!("{} hits", percent(hits)));
        Memory { name, said, value: hits }
    };
    let busy = hit("dram__cycles_active.avg.pct_of_peak_sustained_elapsed");
    let dram = Memory {
        name: "DRAM",
        said: busy.map_or_else(String::new, |busy| format!("{} of peak", percent(busy))),
        value: busy,
    };
    let links = [global(launch), beyond_l1(launch), beyond_l2(launch)];
    if links.iter().all(Option::is_none) {
        return None;
    }
    let links = links.map(Option::unwrap_or_default);
    let memories = [
        Memory { name: "Kernel", said: String::new(), value: None },
        memory("L1", hit("l1tex__t_sector_hit_rate.pct")),
        memory("L2", hit("lts__t_sector_hit_rate.pct")),
        dram,
    ];
    let shared = shared(launch);
    let widest = links.iter().chain(&shared).map(|link| link.bytes).fold(1.0, f64::max);
    let mut table = Table::new(["link", "what goes over it", "bytes", "wasted"]);
    for link in links.iter().chain(&shared).filter(|link| !link.lines.is_empty()) {
        table.row([
            link.name.to_owned(),
            link.lines.join(", "),
            bytes(link.bytes),
            link.wasted.map(percent).unwrap_or_default(),
        ]);
    }
    let worst =
        links.iter().chain(&shared).filter(|link| link.wasted.is_some_and(|share| share >= 0.01));
    let worst = worst.max_by(|a, b| a.wasted.unwrap_or(0.0).total_cmp(&b.wasted.unwrap_or(0.0)));
    let said = worst.map_or_else(
        || "The traffic on each link; the wider a band, the more bytes.".to_owned(),
        |link| {
            format!(
                "The traffic on each link; the wider a band, the more bytes. The striped part is not needed: {} of {}.",
                percent(link.wasted.unwrap_or(0.0)),
                link.name
            )
        },
    );
    let id = format!("{id}-memory");
    let hatch = format!("{id}-hatch");
    Some(Figure {
        name: "memory",
        title: "Memory hierarchy".to_owned(),
        said,
        height: (3.0 * (BOX + LINK) + BOX + 2.0) as u32,
        drawn: html! {
            defs {
                pattern id=(hatch) width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                    rect class="warn" width="6" height="6" {}
                    rect class="stripe" width="3" height="6" {}
                }
            }
            @for (at, memory) in memories.iter().enumerate() {
                @let y = at as f64 * (BOX + LINK) + 1.0;
                @let width = if at == 0 && shared.is_some() { 1.0 } else { MAIN };
                (block(memory, 0.0, width, y))
                @if let Some(link) = links.get(at) {
                    (band(link, 0.0, y + BOX, widest, &hatch))
                }
            }
            @if let Some(link) = &shared {
                (band(link, SHARED.0, BOX + 1.0, widest, &hatch))
                (block(&Memory { name: "Shared", said: String::new(), value: None }, SHARED.0, SHARED.1, BOX + LINK + 1.0))
            }
        },
        id,
        table,
    })
}

fn block(memory: &Memory, x: f64, width: f64, y: f64) -> Markup {
    html! {
        g class="memory" data-label=(memory.name) data-value=[memory.value] {
            svg x=(pct(x)) y=(px(y)) width=(pct(width)) height=(px(BOX)) {
                rect class="block" x="0.5" y="0.5" width="99.5%" height=(px(BOX - 1.0)) rx="5" {}
                text class="strong" x="12" y="25" { (memory.name) }
                text class="num" x="96%" y="25" { (memory.said) }
            }
        }
    }
}

fn band(link: &Link, x: f64, y: f64, widest: f64, hatch: &str) -> Markup {
    let width = WIDEST * link.bytes / widest;
    let wasted = width * link.wasted.unwrap_or(0.0);
    let left = x + 0.02;
    html! {
        g class="link" data-label=(link.name) data-value=(link.bytes) data-wasted=[link.wasted] {
            rect class="accent" x=(pct(left)) y=(px(y)) width=(pct(width - wasted)) height=(px(LINK)) {}
            @if wasted > 0.0 {
                rect fill=(format!("url(#{hatch})")) x=(pct(left + width - wasted)) y=(px(y)) width=(pct(wasted)) height=(px(LINK)) {}
            }
            @for (at, line) in link.lines.iter().enumerate() {
                text class={ @if line.ends_with("wasted") { "alarm" } @else { "dim" } }
                    x=(pct(left + width + 0.02)) y=(px(y + 18.0 + 15.0 * at as f64)) { (line) }
            }
        }
    }
}

/// What the kernel asks of L1: its own count of sectors, and of what its addresses need.
fn global(launch: &Launch) -> Option<Link> {
    let sum = |names: [&str; 2]| {
        let known: Vec<f64> = names.iter().filter_map(|name| launch.get(name)).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>())
    };
    let requests = sum([
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    ]);
    let sectors = sum([
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    ])?;
    let wasted = wasted(
        launch.get("memory_l2_theoretical_sectors_global"),
        launch.get("memory_l2_theoretical_sectors_global_ideal"),
    );
    let mut lines = Vec::new();
    if let Some(requests) = requests {
        lines.push(format!("{}requests", spaced(requests)));
    }
    lines.push(format!("{}sectors", spaced(sectors)));
    if let Some(each) = requests.filter(|count| *count > 0.0).map(|count| sectors / count) {
        lines.push(format!("{} per request", significant(each, 2)));
    }
    Some(Link { name: "global memory to L1", ..Link::of(lines, SECTOR_BYTES * sectors, wasted) })
}

fn beyond_l1(launch: &Launch) -> Option<Link> {
    let sectors = launch.get("lts__t_sectors_srcunit_tex.sum")?;
    let requests = launch.get("lts__t_requests_srcunit_tex.sum");
    let mut lines: Vec<String> =
        requests.map(|count| format!("{}requests", spaced(count))).into_iter().collect();
    lines.push(format!("{}sectors", spaced(sectors)));
    Some(Link { name: "L1 to L2", ..Link::of(lines, SECTOR_BYTES * sectors, None) })
}

fn beyond_l2(launch: &Launch) -> Option<Link> {
    let (read, written) =
        (launch.get("dram__bytes_read.sum")?, launch.get("dram__bytes_write.sum")?);
    let lines = vec![format!("{} read", bytes(read)), format!("{} written", bytes(written))];
    Some(Link { name: "L2 to DRAM", ..Link::of(lines, read + written, None) })
}

/// Shared memory moves up to 128 bytes in a wavefront.
const WAVEFRONT_BYTES: f64 = 128.0;

fn shared(launch: &Launch) -> Option<Link> {
    let wavefronts = launch
        .get("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum")
        .filter(|count| *count > 0.0)?;
    let wasted = wasted(
        launch.get("memory_l1_wavefronts_shared"),
        launch.get("memory_l1_wavefronts_shared_ideal"),
    );
    let lines = vec![spaced(wavefronts).trim_end().to_owned(), "wavefronts".to_owned()];
    Some(Link { name: "shared memory", ..Link::of(lines, WAVEFRONT_BYTES * wavefronts, wasted) })
}

impl Link {
    fn of(mut lines: Vec<String>, moved: f64, wasted: Option<f64>) -> Self {
        if moved > 0.0 && !lines.iter().any(|line| line.contains('B')) {
            lines.push(bytes(moved));
        }
        lines.extend(
            wasted
                .filter(|share| *share >= 0.005)
                .map(|share| format!("{} wasted", percent(share))),
        );
        Self { name: "", lines, bytes: moved, wasted }
    }
}

fn wasted(all: Option<f64>, needed: Option<f64>) -> Option<f64> {
    let (all, needed) = (all.filter(|all| *all > 0.0)?, needed?);
    Some((1.0 - needed / all).clamp(0.0, 1.0))
}

/// `12.4 M`, with a space behind it.
fn spaced(value: f64) -> String {
    format!("{} ", prefixed(value).trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_say_requests_sectors_bytes_and_waste() {
        let mut launch = Launch::default();
        assert!(figure("l0", &launch).is_none());
        for (name, value) in [
            ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 1e6),
            ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 16e6),
            ("memory_l2_theoretical_sectors_global", 16e6),
            ("memory_l2_theoretical_sectors_global_ideal", 4e6),
            ("lts__t_sectors_srcunit_tex.sum", 8e6),
            ("l1tex__t_sector_hit_rate.pct", 50.0),
        ] {
            launch.set(name, Some(value));
        }
        let link = global(&launch).unwrap();
        assert_eq!(
            link.lines,
            ["1.00 M requests", "16.0 M sectors", "16 per request", "512 MB", "75% wasted"]
        );
        assert_eq!(link.wasted, Some(0.75));
        let drawn = figure("l0", &launch).unwrap().drawn.into_string();
        // 16 M sectors of 32 bytes have the widest band, 12%, of which three quarters are striped; 8 M half of it.
        assert!(drawn.contains(r#"data-value="512000000" data-wasted="0.75""#), "{drawn}");
        assert!(drawn.contains(r#"width="3%""#) && drawn.contains(r#"width="9%""#), "{drawn}");
        assert!(drawn.contains(r#"width="6%""#), "{drawn}");
        assert!(drawn.contains(r#"data-label="L1" data-value="0.5""#), "{drawn}");
    }
}
