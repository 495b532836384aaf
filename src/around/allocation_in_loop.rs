//! Memory is taken and given back in a loop.

use super::blame::Blamed;
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
        hint: None,
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
        blamed: Blamed::calls(calls.iter().copied()),
    })
}

#[cfg(test)]
mod tests {
    use crate::around::testing::{Made, US, rules, saved};
    use crate::survey::samples::shape;

    #[test]
    fn memory_is_taken_in_the_loop() {
        let mut made = Made::new(vec![shape("a", 1000)]);
        for _ in 0..50 {
            made.call("cudaMalloc", 200 * US);
            made.launch(0, 20 * US);
            let until = made.device;
            made.call("cudaFree", until.saturating_sub(made.host) + 100 * US);
        }
        let found = made.found(20_000 * US);
        assert_eq!(rules(&found), ["allocation-in-loop"]);
        // Between kernels: 100 µs of cudaFree, 200 of cudaMalloc, 5 of the launch, less 1.5, 49 times.
        let idle = 49.0 * 303.5 / 20_000.0;
        assert!((saved(found[0].estimate.factor) - 0.9 * idle).abs() < 1e-9, "{:?}", found[0]);
        assert!((saved(found[0].estimate.low) - 0.5 * idle).abs() < 1e-9, "{:?}", found[0]);
        // At best the calls themselves: 49 times 200 µs and 50 times 120, with the kernel that cudaFree waits for.
        let calls = (49.0 * 200.0 + 50.0 * 120.0) / 20_000.0;
        assert!((saved(found[0].estimate.high) - calls).abs() < 1e-9, "{:?}", found[0]);
        // What comes from a pool costs little and is no fault.
        let mut made = Made::new(vec![shape("a", 1000)]);
        for _ in 0..50 {
            made.call("cudaMallocAsync", 2 * US);
            made.launch(0, 20 * US);
            made.call("cudaFreeAsync", 2 * US);
        }
        assert_eq!(made.found(2_000 * US), []);
    }

    #[test]
    fn memory_that_is_taken_before_the_work_or_given_back_after_it_is_in_no_loop() {
        let mut made = Made::new(vec![shape("a", 1000)]);
        for _ in 0..50 {
            made.call("cudaMalloc", 100 * US);
        }
        made.launch(0, 1000 * US);
        made.wait();
        for _ in 0..50 {
            made.call("cudaFree", 100 * US);
        }
        assert_eq!(made.found(12_000 * US), []);
    }

    #[test]
    fn pauses_between_calls_can_cost_more_than_the_calls() {
        let mut made = Made::new(vec![shape("a", 1000)]);
        for _ in 0..50 {
            made.call("cudaMalloc", 200 * US);
            made.launch(0, 20 * US);
            made.host += 20 * US + 50 * US;
        }
        // 49 times 200 µs of calls; 50 of the host's own, 200, and 5 of the launch, less 1.5.
        let found = made.found(20_000 * US);
        let idle = 49.0 * 253.5 / 20_000.0;
        assert_eq!(rules(&found), ["allocation-in-loop"]);
        assert!((saved(found[0].estimate.high) - idle).abs() < 1e-9, "{:?}", found[0]);
    }

    #[test]
    fn twenty_allocations_are_a_loop() {
        let allocations = |count: usize, name: &str| {
            let mut made = Made::new(vec![shape("a", 1000)]);
            made.launch(0, 20 * US);
            for _ in 0..count {
                made.call(name, 100 * US);
            }
            made.launch(0, 20 * US);
            rules(&made.found(2_500 * US)).contains(&"allocation-in-loop")
        };
        assert!(allocations(20, "cudaMalloc") && !allocations(19, "cudaMalloc"));
        assert!(!allocations(20, "cudaMallocAsync"), "it comes from a pool");
    }
}
