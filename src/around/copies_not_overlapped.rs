//! Copies that no kernel runs beside.

use super::run::{Run, overlap_ns, sum_ns};
use super::{Found, Rule};
use crate::finding::Evidence;
use crate::text::{duration, percent};

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "copies-not-overlapped",
    summary: "copies between host and device run while no kernel does",
    checks: "Copies between host and device run while no kernel does, although copies and kernels on different \
             streams can overlap.",
    hint: "Cut the data into parts, and copy the next part with cudaMemcpyAsync from page-locked memory on another stream while kernels work on this one",
    check,
};

/// Of copies and kernels the shorter can at best be hidden behind the longer; the first and the last part of
/// the data always stand alone.
const LIKELY: f64 = 0.6;

fn check(run: &Run) -> Option<Found> {
    let copies = sum_ns(&run.copies);
    let common = overlap_ns(&run.copies, &run.kernels);
    let (alone, kernels) = (copies - common, sum_ns(&run.kernels) - common);
    let hidden = alone.min(kernels);
    if hidden <= 0.0 {
        return None;
    }
    let bytes: f64 = run.process.copies.iter().map(|copy| copy.bytes as f64).sum();
    Some(Found {
        saved_ns: [LIKELY * hidden, 0.0, hidden],
        message: format!(
            "Copies between host and device take {}, {} of the time; for {} of that no kernel runs",
            duration(copies),
            percent(copies / run.wall_ns),
            duration(alone)
        ),
        evidence: vec![
            Evidence::new("copies", copies, "ns"),
            Evidence::new("copies while no kernel runs", alone, "ns"),
            Evidence::new("kernels while no copy runs", kernels, "ns"),
            Evidence::new("copied", bytes, "byte"),
        ],
    })
}
