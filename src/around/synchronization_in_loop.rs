//! The host waits for the device in a loop.

use super::run::{Cause, Kind, Run};
use super::{Found, Rule};
use crate::finding::Evidence;
use crate::survey::record::Call;
use crate::text::{count_of, duration, percent};

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "synchronization-in-loop",
    checks: "The host waits again and again until the device has finished and only then gives it more to do, so that each time the device waits for a launch.",
    hint: "Leave the wait out: launches of one stream run in order without it. Wait once behind the loop, use events between streams, and check results every few rounds",
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
            "The GPU runs empty {} because the host waits for it ({names}): {}, {} of the time",
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
