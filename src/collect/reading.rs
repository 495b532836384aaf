//! A report's pages: made by adoprof, which reads the report itself, or exported by ncu.

use std::path::Path;

use crate::diagnose::{diagnose, has_unread_code};
use crate::error::{Error, Result};
use crate::export::csv::Pages;
use crate::export::{Export, report};
use crate::frame::{Frames, Launch};
use crate::kernel_name;
use crate::ncu::{self, Limits, Ncu, Via};
use crate::text::count_of;

/// The most columns that a kernel's name takes in a notice.
const LONGEST_NAME: usize = 40;
/// Estimates that differ by no more than this agree: ncu's pages have two decimals.
const SAME_ESTIMATE: f64 = 0.02;
/// Differences that a notice names.
const MOST_NAMED: usize = 3;

/// The pages of a report without one of its launches, and what the user should know, each one sentence.
/// What adoprof can't read of a report ncu exports, which takes seconds.
///
/// # Errors
/// As [`ncu::import_pages`], where ncu is needed.
pub fn pages(
    ncu: &Ncu,
    report: &Path,
    via: Via,
    without: Option<u32>,
    limits: Limits,
) -> Result<(Pages, Vec<String>)> {
    let own = own(report, without);
    match (via, own) {
        (Via::Report, Ok(own)) => Ok(own),
        (Via::Report, Err(why)) => {
            let (pages, mut notices) = exported(ncu, report, without, limits)?;
            notices.insert(
                0,
                format!("ncu exported the report, since adoprof can't read all of it: {why}"),
            );
            Ok((pages, notices))
        }
        (Via::Csv, own) => {
            let (pages, mut notices) = exported(ncu, report, without, limits)?;
            notices.push(match own {
                Ok((own, _)) => compared(&own, &pages)?,
                Err(why) => format!("the report was not compared with ncu's pages: {why}"),
            });
            Ok((pages, notices))
        }
    }
}

/// The pages as adoprof reads the report; a clause that says why not where it can't read all of it.
fn own(report: &Path, without: Option<u32>) -> std::result::Result<(Pages, Vec<String>), String> {
    let bytes = std::fs::read(report).map_err(|error| format!("it can't be read: {error}"))?;
    let mut export = report::read_whole(&bytes, report).map_err(|error| match error {
        Error::Input { problem, .. } => problem,
        other => other.to_string(),
    })?;
    if let Some(launch) = without {
        export.forget(launch);
    }
    let notices = std::mem::take(&mut export.notices);
    let pages = Pages::of(&export).map_err(|error| error.to_string())?;
    // A launch's rows stand together.
    if export.source.chunk_by(|one, next| one.launch == next.launch).any(has_unread_code) {
        return Err("it has machine code that adoprof does not know".to_owned());
    }
    Ok((pages, notices))
}

fn launches(export: Export) -> Result<Vec<Launch>> {
    Launch::all(&Frames::new(export)?)
}

fn exported(
    ncu: &Ncu,
    report: &Path,
    without: Option<u32>,
    limits: Limits,
) -> Result<(Pages, Vec<String>)> {
    let (pages, notices) = ncu::import_pages(ncu, report, limits)?;
    let pages = match without {
        Some(launch) => pages.without_launch(launch)?,
        None => pages,
    };
    Ok((pages, notices))
}

/// What both ways of reading a report say of its launches, in one sentence.
///
/// # Errors
/// Where pages can't be read.
fn compared(own: &Pages, ncus: &Pages) -> Result<String> {
    let read = |pages: &Pages| {
        let mut export = pages.export(Path::new(""))?;
        // ncu's pages have no control codes: what they add is no difference in reading.
        export.source.iter_mut().for_each(|row| row.control = None);
        launches(export)
    };
    let (own, ncus) = (read(own)?, read(ncus)?);
    if own.len() != ncus.len() {
        return Ok(format!(
            "the report and ncu's pages differ: {} by the report, {} by the pages",
            count_of(own.len() as f64, "launch"),
            ncus.len()
        ));
    }
    let differences: Vec<String> =
        own.iter().zip(&ncus).filter_map(|(own, ncus)| difference(own, ncus)).collect();
    let named: Vec<&str> = differences.iter().take(MOST_NAMED).map(String::as_str).collect();
    let rest = match differences.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!("; and {}", count_of(more as f64, "other launch")),
    };
    Ok(match named.as_slice() {
        [] => "the report and ncu's pages give the same findings".to_owned(),
        named => format!("the report and ncu's pages differ: {}{rest}", named.join("; ")),
    })
}

/// What is said of a launch by one way and not by the other.
fn difference(own: &Launch, ncus: &Launch) -> Option<String> {
    let said = |launch: &Launch| -> Vec<(String, f64)> {
        let of = |finding: crate::finding::Finding| {
            (finding.rule, finding.estimate.map_or(1.0, |estimate| estimate.factor))
        };
        diagnose(launch).findings.into_iter().map(of).collect()
    };
    let (own_said, ncus_said) = (said(own), said(ncus));
    let is_same = |(one, other): (&(String, f64), &(String, f64))| {
        one.0 == other.0 && (one.1 / other.1 - 1.0).abs() <= SAME_ESTIMATE
    };
    if own_said.len() == ncus_said.len() && own_said.iter().zip(&ncus_said).all(is_same) {
        return None;
    }
    let at = own_said.iter().zip(&ncus_said).take_while(|pair| is_same(*pair)).count();
    let word = |said: &[(String, f64)]| match said.get(at) {
        Some((rule, factor)) => format!("{rule} {factor:.2}×"),
        None => "nothing".to_owned(),
    };
    Some(format!(
        "finding {} of {} is {} by the report and {} by the pages",
        at + 1,
        kernel_name::short(&own.row.kernel, LONGEST_NAME),
        word(&own_said),
        word(&ncus_said)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::testing::nop;

    const DRAM: &str = "dram__cycles_active.avg.pct_of_peak_sustained_elapsed";
    const L1: &str = "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed";

    fn launch(dram: f64, imbalance: f64) -> Launch {
        let mut launch = Launch::default();
        launch.row.kernel = "k(int)".to_owned();
        launch.instructions = vec![nop()];
        for (name, value) in [
            (DRAM, dram),
            (L1, 10.0),
            ("sm__cycles_active.avg", 100.0 - imbalance),
            ("sm__cycles_active.max", 100.0),
            ("gpc__cycles_elapsed.max", 100.0),
        ] {
            launch.set(name, Some(value));
        }
        launch
    }

    #[test]
    fn the_first_finding_that_differs_is_named() {
        assert_eq!(difference(&launch(95.0, 0.0), &launch(95.0, 0.0)), None);
        let differs = difference(&launch(95.0, 0.0), &launch(20.0, 20.0)).unwrap();
        assert!(
            differs.starts_with("finding 1 of k is at-memory-roof 1.00× by the report and "),
            "{differs}"
        );
        let differs = difference(&launch(95.0, 0.0), &launch(95.0, 9.0)).unwrap();
        assert!(differs.contains("finding 2 of k is nothing by the report and workload-imbalance"));
    }

    #[test]
    fn estimates_that_differ_by_rounding_agree() {
        assert_eq!(difference(&launch(60.0, 20.0), &launch(60.01, 20.0)), None);
        assert!(difference(&launch(60.0, 20.0), &launch(60.0, 30.0)).is_some());
    }
}
