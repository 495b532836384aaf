//! Rows that are given to several lanes each, which brings more warps into play.

use super::layout::most_excess;
use crate::evidence::ModeledLaunch;
use crate::evidence::modeled_launch::{GRID, SMS};
use crate::finding::LEAST_GAIN;
use crate::hardware::WARP_LANES;
use crate::model::Effect;
use crate::sass::questions::independence::turns_for_lanes;

/// How many lanes could share what one thread does now at the access with most excess, at most a warp's: the
/// turns of its loop, where none needs another's value. `None` where the code is not known.
pub(super) fn lanes_for_a_thread(launch: &ModeledLaunch) -> Option<f64> {
    let (listing, most) = most_excess(launch)?;
    Some(turns_for_lanes(&listing, most).min(WARP_LANES))
}

/// Rows that are given to several lanes each bring as many times the warps into play: SMs that have none now
/// get work, and below one wave the others get more to hide latency with. `None` where that alone is worth more
/// than dense accesses: then the grid is the fault, which has a rule of its own.
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
    let byproduct = gain(&warps) >= LEAST_GAIN && gain(dense) > gain(&warps);
    byproduct.then(|| Effect {
        idle: warps.idle,
        hidden: warps.hidden,
        at_least: Some(Box::new(dense.clone())),
        ..dense.clone()
    })
}
