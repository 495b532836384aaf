//! The host waits for the device in a loop.

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
    })
}
