//! The host works on its own while the device has nothing to do.

use super::blame::Blamed;
use super::run::{Cause, Run, sum_ns};
use super::{Found, Rule};
use crate::finding::Evidence;
use crate::text::{count_of, duration};

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "gpu-idle-between-launches",
    summary: "the device idles while the host does work of its own",
    checks: "Between its first work and its last, the device has nothing to do while the host computes, reads \
             or writes.",
    hint: "Queue the device's next work before the host does its own: prepare input in other threads, keep \
           results on the device, and launch ahead",
    check,
};

/// Preparing on other threads takes the host's work out of the way wholly only where it is shorter than the
/// device's; so much of it is expected to go.
const LIKELY: f64 = 0.7;

fn check(run: &Run) -> Option<Found> {
    let (idle, count) = run.idle(Cause::Host);
    if count == 0 {
        return None;
    }
    // What is hidden behind the device's work can't be more than that is.
    let busy: f64 = sum_ns(&run.busy);
    let most = idle.min(busy);
    let active = run.active_ns();
    Some(Found {
        hint: None,
        saved_ns: [LIKELY * most, 0.3 * most, idle],
        message: format!(
            "The GPU has nothing to do for {} of the {} between its first work and its last, in {}, while \
             the host does work of its own",
            duration(idle),
            duration(active),
            count_of(count as f64, "pause")
        ),
        evidence: vec![
            Evidence::new("idle while the host works", idle, "ns"),
            Evidence::new("pauses", count as f64, ""),
            Evidence::new("longest pause", longest(run), "ns"),
        ],
        blamed: Blamed::weighted(run.after_gaps(Cause::Host), "idle time before these calls"),
    })
}

fn longest(run: &Run) -> f64 {
    let of_host = run.gaps.iter().filter(|gap| gap.cause == Cause::Host);
    of_host.map(|gap| gap.span.ns()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use crate::around::testing::{Made, US, rules, saved};
    use crate::survey::samples::shape;

    #[test]
    fn the_host_works_while_the_device_waits() {
        let mut made = Made::new(vec![shape("a", 1000)]);
        for _ in 0..11 {
            made.launch(0, 1000 * US);
            made.wait();
            // Half a millisecond of its own.
            made.host += 500 * US;
        }
        let found = made.found(20_000 * US);
        assert_eq!(rules(&found), ["gpu-idle-between-launches"]);
        // Ten pauses of 506 µs less 1.5.
        let most = 10.0 * 504.5 / 20_000.0;
        assert!((saved(found[0].estimate.high) - most).abs() < 1e-9, "{:?}", found[0].estimate);
        assert!((saved(found[0].estimate.factor) - 0.7 * most).abs() < 1e-9);
        // Kernels of 100 µs can hide no more than 1.1 ms of it.
        let mut made = Made::new(vec![shape("a", 1000)]);
        for _ in 0..11 {
            made.launch(0, 100 * US);
            made.wait();
            made.host += 500 * US;
        }
        let estimate = made.found(20_000 * US)[0].estimate;
        assert!((saved(estimate.high) - most).abs() < 1e-9, "{estimate:?}");
        assert!((saved(estimate.factor) - 0.7 * 1.1 / 20.0).abs() < 1e-9, "{estimate:?}");
        assert!((saved(estimate.low) - 0.3 * 1.1 / 20.0).abs() < 1e-9, "{estimate:?}");
    }
}
