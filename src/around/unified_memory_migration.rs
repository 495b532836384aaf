//! Managed memory moves while it is used.

use super::run::{Run, merged, sum_ns};
use super::{Found, Rule};
use crate::finding::Evidence;
use crate::text::{count_of, duration, percent};

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "unified-memory-migration",
    summary: "managed memory migrates in small pieces when it is touched",
    checks: "Managed memory moves between host and device in small pieces when it is touched, and kernels wait for it.",
    hint: "Call cudaMemPrefetchAsync before either side uses the memory, set cudaMemAdvise for read-only data, \
           or copy explicitly",
    check,
};

/// CUPTI's numbers of what is counted.
const TO_DEVICE: u32 = 1;
const TO_HOST: u32 = 2;
const GPU_FAULTS: u32 = 4;

fn check(run: &Run) -> Option<Found> {
    let of = |counters: &'static [u32]| {
        run.process.migrations.iter().filter(move |moved| counters.contains(&moved.counter))
    };
    let bytes: f64 = of(&[TO_DEVICE, TO_HOST]).map(|moved| moved.value as f64).sum();
    let faults: f64 = of(&[GPU_FAULTS]).map(|moved| moved.value as f64).sum();
    let spans = merged(of(&[TO_DEVICE, TO_HOST, GPU_FAULTS]).map(|moved| moved.span).collect());
    if bytes <= 0.0 {
        return None;
    }
    let ns = sum_ns(&spans);
    // A prefetch moves the same bytes at the link's rate.
    let saved = (ns - bytes / run.link_rate() * 1e9).max(0.0);
    Some(Found {
        saved_ns: [0.8 * saved, 0.4 * saved, saved],
        message: format!(
            "Managed memory moves {} in pieces as it is touched, with {}: {}, {} of the time",
            crate::text::bytes(bytes),
            count_of(faults, "GPU page fault"),
            duration(ns),
            percent(ns / run.wall_ns)
        ),
        evidence: vec![
            Evidence::new("managed bytes moved", bytes, "byte"),
            Evidence::new("page faults of the GPU", faults, ""),
            Evidence::new("time of moves and faults", ns, "ns"),
        ],
    })
}
