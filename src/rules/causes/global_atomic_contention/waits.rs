//! What waits for atomics on global memory.

use super::{ATOMIC_SECTORS, L2_SECTORS};
use crate::evidence::{ModeledLaunch, atomics};
use crate::metric::stall::StallReason;

/// Sectors that are stored in global and in local memory.
pub(super) const STORED: [&str; 2] = [
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
];

/// The share of each stall reason that is for them (0 to 1).
pub(super) fn stalls(launch: &ModeledLaunch) -> Vec<(StallReason, f64)> {
    let mut stalls = atomics::stalls(launch, atomics::is_global, 1.0);
    // Whoever waits in front of the queue, it is full of what L1 has still to send: where lanes share an address, each
    // sends a sector of its own.
    at_least(&mut stalls, StallReason::LgThrottle, share_of_l2(launch));
    // The warp that waits for its stores to leave has no instruction of theirs any more.
    at_least(&mut stalls, StallReason::Drain, share_of_stores(launch));
    stalls
}

fn at_least(stalls: &mut Vec<(StallReason, f64)>, reason: StallReason, least: f64) {
    match stalls.iter_mut().find(|(known, _)| *known == reason) {
        Some((_, share)) => *share = share.max(least),
        None if least > 0.0 => stalls.push((reason, least)),
        None => {}
    }
}

/// Their sectors over all of L2 (0 to 1).
pub(super) fn share_of_l2(launch: &ModeledLaunch) -> f64 {
    let sectors: f64 = ATOMIC_SECTORS.iter().filter_map(|name| launch.get(name)).sum();
    let all = launch.get(L2_SECTORS).filter(|&all| all > 0.0);
    all.map_or(0.0, |all| (sectors / all).min(1.0))
}

/// The sectors of those without a result over all that warps store (0 to 1); 0 where the stores were not counted.
fn share_of_stores(launch: &ModeledLaunch) -> f64 {
    let reduced = launch.get(ATOMIC_SECTORS[0]).filter(|&sectors| sectors > 0.0);
    let stored = launch.get(STORED[0]);
    let of_local = launch.get(STORED[1]).unwrap_or(0.0);
    reduced.zip(stored).map_or(0.0, |(reduced, stored)| reduced / (reduced + stored + of_local))
}
