//! Rows that are given to several lanes each, which brings more warps into play.

use super::layout::{is_wide, most_excess};
use crate::evidence::ModeledLaunch;
use crate::evidence::modeled_launch::{BLOCK, GRID, SMS};
use crate::finding::LEAST_GAIN;
use crate::hardware::{L1_BYTES, SECTOR_BYTES, SECTORS_PER_LINE, WARP_LANES};
use crate::model::Effect;
use crate::sass::questions::runs::{places_at_a_time, turns_side_by_side};
use crate::term::Term;

/// How many lanes could share what one thread does now at the access with most excess, at most a warp's: the
/// turns of its loop, where none needs another's value. `None` where the code is not known.
pub(super) fn lanes_for_a_thread(launch: &ModeledLaunch) -> Option<f64> {
    let (listing, most) = most_excess(launch)?;
    Some(turns_side_by_side(&listing, most).min(WARP_LANES))
}

/// Rows that are given to several lanes each bring as many times the warps into play: SMs that have none now
/// get work, and below one wave the others get more to hide latency with. `None` where that alone is worth more
/// than dense accesses: then the grid is the fault, which has a rule of its own. Not where L1 holds the excess now and could not
/// for as many threads: more of them alone would send it to L2 (measured on an H100: a thread per row of 8 KB, 32 blocks that
/// became 1,056, 0.98x).
pub(super) fn spread(launch: &ModeledLaunch, lanes: f64, dense: &Effect) -> Option<Effect> {
    if lanes <= 1.0 {
        return None;
    }
    let at_work = 1.0 - launch.model.idle();
    let each = launch.blocks_per_sm().unwrap_or(1.0).max(1.0);
    let on_an_sm = launch.get(GRID)? / launch.get(SMS)?;
    let now = on_an_sm.clamp(1.0, each);
    let then = (on_an_sm * lanes).clamp(now, each);
    let warps = Effect {
        idle: (at_work * lanes).min(1.0) - at_work,
        hidden: 1.0 - now / then,
        ..Effect::default()
    };
    let gain = |effect: &Effect| launch.model.without(effect).map_or(1.0, |gain| gain.factor);
    let loses_lines = || dense.share_of(Term::L2) <= 0.0 && exceeds_l1(launch, then);
    let byproduct = gain(&warps) >= LEAST_GAIN && (gain(dense) > gain(&warps) || loses_lines());
    byproduct.then(|| Effect {
        idle: warps.idle,
        hidden: warps.hidden,
        at_least: Some(Box::new(dense.clone())),
        ..dense.clone()
    })
}

/// True where the lines that so many blocks on an SM stand at with excess are more than L1 holds.
fn exceeds_l1(launch: &ModeledLaunch, blocks: f64) -> bool {
    let Some((listing, threads)) = launch.profile.listing().zip(launch.get(BLOCK)) else {
        return false;
    };
    let wide: Vec<usize> = listing
        .entries()
        .map(|(at, _)| at)
        .filter(|&at| is_wide(listing.row(at)) && listing.executed(at) > 0.0)
        .collect();
    let lines = blocks * threads * places_at_a_time(&listing, &wide) as f64;
    lines * SECTORS_PER_LINE * SECTOR_BYTES > L1_BYTES
}
