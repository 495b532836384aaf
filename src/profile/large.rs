//! Reports of gigabytes, diagnosed in parts: of a launch only its diagnosis is kept, a tenth of what it takes itself.

use std::fs::File;
use std::path::Path;

use foldhash::HashMap;

use super::files::large_report;
use super::{Profile, diagnosed};
use crate::diagnose::Remarks;
use crate::document::{Document, LaunchReport};
use crate::error::Result;
use crate::export::LaunchRow;
use crate::export::report;
use crate::frame::{Frames, Launch};

/// The largest report that is read, bytes: hundreds of thousands of launches with all that ncu counts.
const MOST_BYTES: u64 = 64 << 30;
/// So many launches are in memory at once: some 40 MB with instructions.
const AT_ONCE: usize = 256;

/// The kernel, grid and block of launches that are alike.
type Shape = (String, [u32; 3], [u32; 3]);

/// The document of a report that is read from its file in parts; `None` for a path that is no such report, or where no
/// kernel is wanted: that is told with the kernels that there are.
///
/// # Errors
/// [`crate::error::Error::Input`] where it can't be read.
pub fn diagnose_large(path: &Path, wants: impl Fn(&str) -> bool) -> Result<Option<Document>> {
    let Some((file, size)) = large_report(path, MOST_BYTES) else { return Ok(None) };
    diagnose_in_parts(&file, size, path, AT_ONCE, &wants)
}

fn diagnose_in_parts(
    file: &File,
    size: u64,
    path: &Path,
    at_once: usize,
    wants: &impl Fn(&str) -> bool,
) -> Result<Option<Document>> {
    let mut alike: HashMap<Shape, usize> = HashMap::default();
    for row in report::shapes(file, size, path)? {
        *alike.entry(shape(&row)).or_default() += 1;
    }
    let count = |launch: &mut Launch| {
        launch.alike = alike.get(&shape(&launch.row)).copied().unwrap_or(launch.alike);
    };
    let mut said = Remarks::default();
    let mut launches: Vec<LaunchReport> = Vec::new();
    let mut take = |part| {
        let frames = Frames::new(part)?.of_kernels(wants)?;
        launches.extend(diagnosed(&frames, &mut said, &[], count)?);
        Ok(())
    };
    let rest = report::read_in_parts(file, size, path, at_once, &mut take)?;
    if launches.is_empty() {
        return Ok(None);
    }
    let profile = Profile::from_export(path.display().to_string(), rest)?;
    Ok(Some(profile.document(launches, said, None, None)))
}

fn shape(row: &LaunchRow) -> Shape {
    (row.kernel.clone(), row.grid, row.block)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Write;

    use super::*;
    use crate::export::Export;
    use crate::export::report::sample;
    use crate::profile::{group, read_files};

    /// A report of five launches: three too short for their launch and alike, one of another shape, one of another
    /// kernel and with an impossible value.
    fn report() -> Vec<u8> {
        let mut pages = Export::default();
        for (id, (kernel, blocks, ns)) in [
            ("a(int)", 8, 1500.0),
            ("b(int)", 8, -1.0),
            ("a(int)", 8, 1600.0),
            ("a(int)", 9, 1400.0),
            ("a(int)", 8, 1700.0),
        ]
        .into_iter()
        .enumerate()
        {
            let launch = id as u32;
            let row = LaunchRow {
                id: launch,
                kernel: kernel.to_owned(),
                grid: [blocks, 1, 1],
                block: [32, 1, 1],
                ..LaunchRow::default()
            };
            let value = |metric: &str, value| crate::export::MetricRow {
                launch,
                metric: metric.into(),
                value: Some(value),
                ..Default::default()
            };
            pages.launches.push(LaunchRow {
                device: Some("NVIDIA H200".to_owned()),
                compute_capability: Some((9, 0)),
                ..row
            });
            pages.metrics.push(value("gpu__time_duration.sum", ns));
            pages.metrics.push(value("smsp__inst_executed.sum", 1000.0 + f64::from(launch)));
        }
        sample::of_pages(&pages, &BTreeMap::new(), &[])
    }

    #[test]
    fn in_parts_the_same_is_said_as_of_the_whole() {
        let bytes = report();
        let mut file = tempfile::Builder::new().suffix(".ncu-rep").tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        let path = file.path().to_owned();
        let whole = read_files(&group(std::slice::from_ref(&path))[0]).unwrap();
        let expected = whole.diagnose(None).unwrap();
        let found = expected.launches[0].findings[0].message.clone();
        assert!(found.contains("3 such launches"), "{found}");
        let size = bytes.len() as u64;
        for at_once in [1, 2, 4, 5, 100] {
            let in_parts = diagnose_in_parts(file.as_file(), size, &path, at_once, &|_| true);
            assert_eq!(in_parts.unwrap().unwrap(), expected, "{at_once} at once");
        }
    }

    #[test]
    fn only_the_kernels_that_are_wanted_are_diagnosed() {
        let bytes = report();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        let of = |name: &'static str| {
            let wants = move |kernel: &str| kernel.starts_with(name);
            diagnose_in_parts(&file, bytes.len() as u64, Path::new("x"), 2, &wants).unwrap()
        };
        let of_b = of("b").unwrap();
        assert_eq!(of_b.launches.iter().map(|one| &*one.kernel).collect::<Vec<_>>(), ["b(int)"]);
        assert!(of_b.notices.iter().any(|notice| notice.contains("no counter can show")));
        assert_eq!(of("c"), None);
    }
}
