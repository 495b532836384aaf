//! The host waits for the device in a loop.

use super::blame::Blamed;
use super::run::{Cause, Kind, Run};
use super::{Found, Rule};
use crate::finding::Evidence;
use crate::survey::record::Call;
use crate::text::{count_of, duration, percent};

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "synchronization-in-loop",
    summary: "the host waits for the device again and again before it launches more",
    checks: "The host repeatedly waits until the device has finished and only then gives it more to do, so the \
             device waits for a launch each time.",
    hint: "Drop the wait: launches on one stream run in order without it. Wait once after the loop, use events \
           between streams, and check results every few iterations",
    check,
};

/// Fewer waits are no loop.
const LEAST_WAITS: usize = 20;

fn check(run: &Run) -> Option<Found> {
    let (idle, pauses) = run.idle(Cause::Wait);
    let waits: Vec<&Call> = run.calls_in_progress(Kind::Wait).collect();
    let blocking = run
        .calls_in_progress(Kind::Copy)
        .filter(|call| !run.name(call).contains("Async"))
        .collect::<Vec<_>>();
    if pauses < LEAST_WAITS || waits.len() + blocking.len() < LEAST_WAITS {
        return None;
    }
    let names = run.names(waits.iter().chain(&blocking).copied());
    Some(Found {
        hint: None,
        saved_ns: [0.85 * idle, 0.4 * idle, idle],
        message: format!(
            "The GPU goes idle {} because the host waits for it ({names}): {}, {} of the time",
            count_of(pauses as f64, "time"),
            duration(idle),
            percent(idle / run.wall_ns)
        ),
        evidence: vec![
            Evidence::new("waits", waits.len() as f64, ""),
            Evidence::new("copies that wait", blocking.len() as f64, ""),
            Evidence::new("idle after waits", idle, "ns"),
        ],
        blamed: Blamed::calls(waits.iter().chain(&blocking).copied()),
    })
}

#[cfg(test)]
mod tests {
    use crate::around::testing::{Made, US, rules, saved};
    use crate::survey::samples::shape;

    #[test]
    fn waits_in_a_loop_let_the_device_run_empty() {
        let mut made = Made::new(vec![shape("a", 1000)]);
        for _ in 0..101 {
            made.launch(0, 20 * US);
            made.wait();
        }
        let found = made.found(5_000 * US);
        assert_eq!(rules(&found), ["synchronization-in-loop"]);
        // Each wait returns 1 µs after the kernel's end and the next launch takes 5: 100 pauses of 6 µs less 1.5.
        assert!((saved(found[0].estimate.high) - 0.45 / 5.0).abs() < 1e-9, "{:?}", found[0]);
        assert!(
            (saved(found[0].estimate.factor) - 0.85 * 0.45 / 5.0).abs() < 1e-9,
            "{:?}",
            found[0]
        );
        assert!((saved(found[0].estimate.low) - 0.4 * 0.45 / 5.0).abs() < 1e-9, "{:?}", found[0]);
        let names = "cudaDeviceSynchronize 101 times";
        assert!(found[0].message.contains(names), "{}", found[0].message);
    }

    #[test]
    fn a_copy_for_which_the_host_waits_is_a_wait() {
        let found = |name: &str| {
            let mut made = Made::new(vec![shape("a", 1000)]);
            for _ in 0..25 {
                made.launch(0, 20 * US);
                let until = made.device - made.host + US;
                made.call(name, until);
            }
            made.found(1000 * US)
        };
        let blocking = found("cudaMemcpy");
        assert_eq!(rules(&blocking), ["synchronization-in-loop"]);
        assert!(blocking[0].message.contains("cudaMemcpy 25 times"), "{}", blocking[0].message);
        assert_eq!(found("cudaMemcpyAsync"), [], "nothing that waits by its name");
    }

    #[test]
    fn twenty_waits_with_a_pause_behind_each_are_a_loop() {
        // Of these waits each has a pause behind it, the last one not.
        let waits = |pauses: usize, more: usize| {
            let mut made = Made::new(vec![shape("a", 1000)]);
            for _ in 0..pauses {
                made.launch(0, 20 * US);
                made.wait();
            }
            made.launch(0, 2000 * US);
            for _ in 0..more {
                made.wait();
            }
            rules(&made.found(2_500 * US)).contains(&"synchronization-in-loop")
        };
        assert!(waits(20, 0) && !waits(19, 5));
    }
}
