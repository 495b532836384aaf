//! Many copies with little in each.

use super::run::{Cause, Run, merged, overlap_ns, sum_ns};
use super::{Found, Rule};
use crate::finding::Evidence;
use crate::survey::record::Copy;
use crate::text::{count, duration};

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "small-copies",
    summary: "many copies are so small that their fixed cost is most of their time",
    checks: "Many copies between host and device are so small that their fixed cost, 1 to 10 µs each, is most of their time.",
    hint: "Gather small copies in one buffer and copy it once, pass small values as kernel parameters, or keep the data on the device",
    check,
};

/// A copy of fewer bytes takes longer to start than to move.
const SMALL_BYTES: u64 = 64 << 10;

/// Fewer are no pattern.
const LEAST_COPIES: usize = 200;

fn check(run: &Run) -> Option<Found> {
    let is_small =
        |copy: &&Copy| copy.bytes < SMALL_BYTES && (copy.direction == 1 || copy.direction == 2);
    let copies: Vec<&Copy> = run.process.copies.iter().filter(is_small).collect();
    if copies.len() < LEAST_COPIES {
        return None;
    }
    let bytes: f64 = copies.iter().map(|copy| copy.bytes as f64).sum();
    let spans = merged(copies.iter().map(|copy| copy.span).collect());
    let alone = sum_ns(&spans) - overlap_ns(&spans, &run.kernels);
    // The host's own time for these copies shows as pauses of the device.
    let (idle, _) = run.idle(Cause::Copy);
    let saved = (alone + idle - bytes / run.link_rate() * 1e9).max(0.0);
    Some(Found {
        saved_ns: [0.8 * saved, 0.4 * saved, saved],
        message: format!(
            "{} copies, of {} on average, keep the GPU from other work for {}",
            count(copies.len() as f64),
            crate::text::bytes(bytes / copies.len() as f64),
            duration(alone + idle)
        ),
        evidence: vec![
            Evidence::new("small copies", copies.len() as f64, ""),
            Evidence::new("bytes of small copies", bytes, "byte"),
            Evidence::new("time of small copies while no kernel runs", alone, "ns"),
            Evidence::new("idle while the host prepares copies", idle, "ns"),
        ],
    })
}
