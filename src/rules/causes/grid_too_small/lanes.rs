//! What loops gain whose turns are divided among more blocks, and among the lanes that blocks of less than a warp leave empty.

use crate::evidence::ModeledLaunch;
use crate::evidence::modeled_launch::BLOCK;
use crate::evidence::removal::Removal;
use crate::hardware::{MOST_THREADS, WARP_LANES};
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::sass::questions::independence::{Results, Shareable, What};
use crate::sass::questions::spin_loops::spin_loops;
use crate::sass::thresholds::FEW_WARPS;

/// The effect where a loop's turns are divided into so many parts for each block, and among the lanes that it leaves empty.
pub(super) fn shared_out(
    launch: &ModeledLaunch,
    work: Option<Shareable>,
    more: f64,
    threads: Option<f64>,
    effect: Effect,
) -> Effect {
    match work {
        // What is in no such loop takes as long as before.
        Some(work) if more > 1.0 => {
            let lanes = empty_lanes(threads, Some(work), more);
            let parts = more * lanes;
            let divided = work.time_share.min(1.0 - for_few(launch, work));
            // Lanes that have a step's elements side by side also access them so, which can give more than their number.
            let is_bound = parts >= 2.0 && work.results != Results::OfStep;
            let effect = Effect {
                least: 1.0 - divided * (1.0 - 1.0 / parts),
                at_most: is_bound.then_some(parts),
                ..effect
            };
            if lanes > 1.0 { filled(launch, work, lanes, effect) } else { effect }
        }
        _ => effect,
    }
}

/// The share of the time in which most warps wait at barriers for a few: where all warps turn in the loop, that work is another's
/// and takes as long as before.
fn for_few(launch: &ModeledLaunch, work: Shareable) -> f64 {
    let (What::Turns(back) | What::Strided(back)) = work.what else { return 0.0 };
    let Some(listing) = launch.profile.listing() else { return 0.0 };
    let come_in = listing.executed(back) / work.turns.max(1.0);
    if come_in <= FEW_WARPS.value * listing.executed(0) {
        return 0.0;
    }
    let waits = launch.model.barriers_for_few();
    launch.model.stall_share(&[(StallReason::Barrier, waits)])
}

/// Among how many lanes, for each that there is, the turns of a loop can be divided as well, where blocks of so many threads leave
/// lanes empty and each of its turns is divided into `more` parts already; at least 1.
fn empty_lanes(threads: Option<f64>, work: Option<Shareable>, more: f64) -> f64 {
    let (Some(threads), Some(work)) = (threads, work) else { return 1.0 };
    let is_loop = matches!(work.what, What::Turns(_) | What::Strided(_));
    if !is_loop || threads < 1.0 || !more.is_finite() {
        return 1.0;
    }
    (WARP_LANES / threads).min(work.turns / more).max(1.0)
}

/// The effect of so many lanes beside each that there is: a warp's instructions in such loops do the work of as many
/// turns at once.
fn filled(launch: &ModeledLaunch, work: Shareable, lanes: f64, effect: Effect) -> Effect {
    let Some(mut removal) = Removal::new(launch) else { return effect };
    let listing = removal.listing;
    let in_loops: Vec<usize> = listing
        .entries()
        .map(|(at, _)| at)
        .filter(|&at| listing.sass.flow.innermost(at).is_some())
        .collect();
    let executed: f64 = in_loops.iter().map(|&at| listing.executed(at)).sum();
    if executed <= 0.0 {
        return effect;
    }
    let shared = (work.share * listing.total() / executed).min(1.0);
    for at in in_loops {
        removal.remove(at, shared * (1.0 - 1.0 / lanes));
    }
    let of_lanes = removal.effect(launch);
    Effect { removed: of_lanes.removed, stalls: of_lanes.stalls, ..effect }
}

/// How many times the threads blocks could have instead of so many parts, where they wait for one another; `None` where they don't, or
/// have as many as can be.
pub(super) fn wider(launch: &ModeledLaunch, more: f64) -> Option<f64> {
    let (listing, threads) = launch.profile.listing().zip(launch.get(BLOCK))?;
    let times = more.min(MOST_THREADS / threads).floor();
    (times >= 2.0 && times.is_finite() && !spin_loops(&listing).is_empty()).then_some(times)
}

#[cfg(test)]
mod tests {
    use crate::evidence::threshold::LATENCY;
    use crate::metric::stall::StallReason;
    use crate::rules::causes::grid_too_small::{GRID, RULE, SMS};
    use crate::rules::testing::{check, sass};

    #[test]
    fn what_a_few_warps_do_for_all_is_not_shared_out() {
        // A loop of the block's ten warps, and a branch of one of them, for which nine wait at a barrier.
        let few = |waits: f64| {
            let code = [
                ("MOV R0, RZ", 10.0),
                ("LDG.E R4, desc[UR4][R2.64]", 400.0),
                ("FADD R0, R0, R4", 400.0),
                ("IADD3 R2, R2, 0x4, RZ", 400.0),
                ("@P0 BRA 0x110", 400.0),
                ("@P1 BRA 0x170", 10.0),
                ("FADD R1, R1, R2", 1.0),
                ("BAR.SYNC.DEFER_BLOCKING 0x0", 10.0), // 0x170
                ("EXIT", 10.0),
            ];
            let mut few = sass(&[(GRID, 1.0), (SMS, 132.0)], &code);
            few.instructions[7].counters.stall_samples[StallReason::Barrier as usize] = 9.0;
            few.set(&StallReason::Barrier.ratio_metric(), Some(waits));
            few.set(&StallReason::LongScoreboard.ratio_metric(), Some(100.0 - waits));
            few.set(LATENCY, Some(100.0));
            check(&RULE, &few).unwrap().effect.least
        };
        let loop_alone = 1.0 - 1600.0 / 1641.0 * (1.0 - 1.0 / 40.0);
        assert!((few(0.0) - loop_alone).abs() < 1e-9, "{}", few(0.0));
        assert!((few(40.0) - (1.0 - 0.6 * (1.0 - 1.0 / 40.0))).abs() < 1e-9, "{}", few(40.0));
    }
}
