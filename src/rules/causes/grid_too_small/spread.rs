//! What more blocks would give.

use crate::evidence::ModeledLaunch;
use crate::evidence::removal::gains;
use crate::evidence::stalls::FOR_OTHERS;
use crate::evidence::threshold::LATENCY;
use crate::hardware::WARP_LANES;
use crate::model::Effect;
use crate::sass::questions::side_by_side::{SideBySide, side_by_side};

use super::BLOCK;

/// How many parts a block's turns make that fill a wave at most: whole ones, since one block more than a wave
/// holds would run alone behind it.
pub(super) fn parts(at_most: f64) -> f64 {
    if at_most >= 2.0 { at_most.floor() } else { at_most.max(1.0) }
}

/// The effect of `then` blocks in place of `blocks` where an SM holds so many of `each`: they fill idle SMs first, then those that
/// have one.
pub(super) fn filling(blocks: f64, then: f64, sms: f64, each: Option<f64>) -> Effect {
    let each = each.map_or(1.0, |each| (then / sms).clamp(1.0, each));
    Effect {
        idle: (then / sms).min(1.0) - blocks / sms,
        hidden: 1.0 - 1.0 / each,
        ..Effect::default()
    }
}

/// The elements of which each thread could take fewer, and what as many times the blocks would give.
pub(super) fn by_elements(
    launch: &ModeledLaunch,
    blocks: f64,
    sms: f64,
    each: Option<f64>,
) -> Option<(SideBySide, Effect)> {
    let apart = side_by_side(&launch.profile.listing()?)?;
    let effect =
        Effect { least: apart.left, ..filling(blocks, blocks * apart.elements, sms, each) };
    gains(launch, &effect).then_some((apart, effect))
}

/// The effect of blocks so small that all their warps find an SM of their own as far as there are SMs.
/// Warps take turns at issue slots and queues less often then; a warp's own instructions, one after
/// another, take as long as before. `None` where blocks can't be divided, or every SM has one.
pub(super) fn spread(launch: &ModeledLaunch, blocks: f64, sms: f64) -> Option<Effect> {
    let warps = blocks * (launch.get(BLOCK)? / WARP_LANES).ceil();
    let then = warps.min(sms);
    if then <= blocks {
        return None;
    }
    let all = launch.get(LATENCY).filter(|&all| all > 0.0)?;
    let for_others: f64 = FOR_OTHERS.iter().map(|&reason| launch.stall(reason)).sum();
    let gone = (for_others / all).min(1.0) * (1.0 - blocks / then);
    Some(Effect { idle: (then - blocks) / sms, least: 1.0 - gone, ..Effect::default() })
}
