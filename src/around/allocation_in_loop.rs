//! Memory is taken and given back in a loop.

use super::run::{Cause, Kind, Run};
use super::{Found, Rule};
use crate::finding::Evidence;
use crate::survey::record::Call;
use crate::text::{count_of, duration};

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "allocation-in-loop",
    summary: "memory is allocated and freed while the device works",
    checks: "The program allocates and frees memory while the device works: cudaMalloc is slow, and cudaFree \
             waits for the device.",
    hint: "Allocate before the loop and reuse the memory, or use cudaMallocAsync and cudaFreeAsync, which take \
           it from a pool",
    check,
};

/// Fewer calls are no loop.
const LEAST_CALLS: usize = 20;

fn check(run: &Run) -> Option<Found> {
    let is_pooled = |call: &&Call| !run.name(call).contains("Async");
    let calls: Vec<&Call> = run.calls_in_progress(Kind::Allocation).filter(is_pooled).collect();
    let (idle, _) = run.idle(Cause::Allocation);
    if calls.len() < LEAST_CALLS {
        return None;
    }
    let host: f64 = calls.iter().map(|call| call.span.ns()).sum();
    Some(Found {
        saved_ns: [0.9 * idle, 0.5 * idle, idle.max(host)],
        message: format!(
            "The program allocates or frees memory {} while it runs ({}): {} of the host's time, with the GPU \
             idle for {}",
            count_of(calls.len() as f64, "time"),
            run.names(calls.iter().copied()),
            duration(host),
            duration(idle)
        ),
        evidence: vec![
            Evidence::new("calls", calls.len() as f64, ""),
            Evidence::new("time in these calls", host, "ns"),
            Evidence::new("idle during these calls", idle, "ns"),
        ],
    })
}
