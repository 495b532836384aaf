//! What rules on loops with matrix instructions ask of a launch.

use crate::metric::stall::StallReason;
use crate::sass::Listing;
use crate::sass::questions::matrix_loops::StagedLoop;

/// The stalls of a warp that waits for copies, or for the other warps that do.
pub(crate) const WAITS: [StallReason; 4] = [
    StallReason::LongScoreboard,
    StallReason::Barrier,
    StallReason::ShortScoreboard,
    StallReason::Sleeping,
];

/// The shares of the stalls that warps spend between the products of two turns of these loops.
pub(crate) fn waits(listing: Listing, loops: &[&StagedLoop]) -> Vec<(StallReason, f64)> {
    let share = |reason: StallReason| {
        let all = listing.sass.counts.stall_samples(reason);
        let waiting = loops.iter().flat_map(|each| &each.waiting);
        let theirs: f64 = waiting.map(|&at| listing.samples(at, reason)).sum();
        (reason, if all > 0.0 { (theirs / all).min(1.0) } else { 0.0 })
    };
    WAITS.into_iter().map(share).filter(|(_, share)| *share > 0.0).collect()
}

/// The share of all sectors that instructions ask of L2 which is gone, where so much of each goes.
pub(crate) fn sectors_gone(listing: Listing, gone: impl Fn(usize) -> f64) -> f64 {
    let (mut all, mut theirs) = (0.0, 0.0);
    for (index, _) in listing.entries() {
        let sectors = listing.row(index).counters.l2_sectors_global;
        all += sectors;
        if sectors > 0.0 {
            theirs += sectors * gone(index);
        }
    }
    if all > 0.0 { theirs / all } else { 0.0 }
}
