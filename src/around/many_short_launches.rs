//! The device waits for launches.

use super::run::{Cause, Run};
use super::{Found, Rule};
use crate::finding::Evidence;
use crate::text::{count_of, duration, percent};

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "many-short-launches",
    summary: "kernels are so short that their launches set the pace",
    checks: "Kernels are so short that the host's launches, at 2 to 10 µs each, set the pace and the device waits for them.",
    hint: "Capture the loop in a CUDA graph, so that one call launches many kernels, or fuse neighbouring \
           kernels",
    check,
};

/// With a graph the kernels follow one another as fast as the device starts them, ns; what is saved is the rest.
const LIKELY: f64 = 0.85;

/// Fewer launches are no pattern.
const LEAST_LAUNCHES: usize = 100;

/// Kernels longer than this hide their launches, ns.
const SHORT_NS: f64 = 20_000.0;

fn check(run: &Run) -> Option<Found> {
    let plain = run.process.kernels.iter().filter(|kernel| kernel.place.graph == 0);
    let short = plain.filter(|kernel| kernel.span.ns() <= SHORT_NS);
    let (count, total) = short.fold((0, 0.0), |(n, ns), kernel| (n + 1, ns + kernel.span.ns()));
    let (idle, gaps) = run.idle(Cause::Launch);
    if count < LEAST_LAUNCHES || gaps < LEAST_LAUNCHES {
        return None;
    }
    let mean = total / count as f64;
    Some(Found {
        saved_ns: [LIKELY * idle, 0.5 * idle, idle],
        message: format!(
            "{} of {} on average leave the GPU waiting for the next launch for {}, {} of the time",
            count_of(count as f64, "launch"),
            duration(mean),
            duration(idle),
            percent(idle / run.wall_ns)
        ),
        evidence: vec![
            Evidence::new("short launches", count as f64, ""),
            Evidence::new("mean duration", mean, "ns"),
            Evidence::new("idle between launches", idle, "ns"),
        ],
    })
}
