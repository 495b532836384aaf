//! What waits for atomics on global memory.

use crate::evidence::atomic_traffic as traffic;
use crate::evidence::{ModeledLaunch, atomics};
use crate::metric::stall::StallReason;
use crate::model::QUEUES;
use crate::term::Term;

/// The share of each stall reason that is for them (0 to 1).
pub(super) fn stalls(launch: &ModeledLaunch) -> Vec<(StallReason, f64)> {
    let mut stalls = atomics::stalls_at(launch, atomics::is_global, 1.0);
    // Whoever waits in front of the queue, it is full of what L1 has still to send: where lanes share an address, each
    // sends a sector of its own.
    at_least(&mut stalls, StallReason::LgThrottle, traffic::share_of_l2(launch));
    // The warp that waits for its stores to leave has no instruction of theirs any more.
    at_least(&mut stalls, StallReason::Drain, traffic::share_of_stores(launch));
    // Where slices work one after another, one of them is what the queue stands in front of at any time.
    if launch.model.atomics_in_turn() {
        let busy = launch.model.utilization(Term::Atomic).unwrap_or(0.0);
        for queue in QUEUES {
            at_least(&mut stalls, queue, busy);
        }
    }
    stalls
}

fn at_least(stalls: &mut Vec<(StallReason, f64)>, reason: StallReason, least: f64) {
    match stalls.iter_mut().find(|(known, _)| *known == reason) {
        Some((_, share)) => *share = share.max(least),
        None if least > 0.0 => stalls.push((reason, least)),
        None => {}
    }
}
