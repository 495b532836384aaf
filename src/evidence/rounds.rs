//! Rounds of blocks, and what fewer warps can't shorten.

use crate::evidence::ModeledLaunch;
use crate::evidence::stalls::FOR_OTHERS;
use crate::evidence::threshold::LATENCY;

/// The share of the rounds of blocks that goes where the same work takes so much fewer warps; 0 where it is not known.
/// Warps that are all resident run at once: of fewer, each takes as long.
pub(crate) fn rounds_saved(launch: &ModeledLaunch, wasted: f64) -> f64 {
    launch.waves().map_or(0.0, |waves| 1.0 - (waves * (1.0 - wasted)).max(1.0) / waves.max(1.0))
}

/// The share of the time that stays however few warps do the work, since they run at once already: a warp's own
/// instructions take as long, but for its turns behind others. 0 where the waits or the rounds of blocks are not known.
pub(crate) fn one_after_another(launch: &ModeledLaunch, wasted: f64) -> f64 {
    let all = launch.get(LATENCY).filter(|&all| all > 0.0);
    all.zip(launch.waves()).map_or(0.0, |(all, _)| {
        let for_others: f64 = FOR_OTHERS.iter().map(|&reason| launch.stall(reason)).sum();
        (1.0 - rounds_saved(launch, wasted)) * (1.0 - (for_others / all).min(1.0))
    })
}
