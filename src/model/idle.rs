//! SMs without a warp: too few blocks, a last wave, blocks that are longer than others.

use super::Model;
use super::thresholds::MOST_BLOCKS;
use crate::frame::Launch;
use crate::term::Term;

impl Model {
    /// The part of the uncovered share for which SMs have no resident warp.
    #[must_use]
    pub fn idle(&self) -> f64 {
        self.idle.min(self.uncovered())
    }

    /// The part of it for which SMs wait for blocks that are longer than others: what a last wave of equal blocks does
    /// not explain.
    #[must_use]
    pub fn uneven(&self) -> f64 {
        self.uneven.min(self.uncovered())
    }

    /// The share of an average SM's time that a unit's time covers, where that SM has no warp for a share of it (`idle`).
    /// SMs that get no block hold up no unit that all SMs share: it has as long as the others work.
    pub(super) fn per_sm(&self, term: Term, idle: f64) -> f64 {
        if !term.is_beyond_l1() {
            return 1.0;
        }
        let at_the_end = (self.idle - self.without_block).clamp(0.0, idle);
        if at_the_end < 1.0 { (1.0 - idle) / (1.0 - at_the_end) } else { 1.0 }
    }
}

/// Share of the SMs' cycles without a resident warp: 1 − active / elapsed.
pub(super) fn idle_share(launch: &Launch) -> f64 {
    let elapsed =
        launch.get("sm__cycles_elapsed.max").or_else(|| launch.get("gpc__cycles_elapsed.max"));
    match (launch.get("sm__cycles_active.avg"), elapsed) {
        (Some(active), Some(elapsed)) if elapsed > 0.0 => (1.0 - active / elapsed).clamp(0.0, 1.0),
        _ => 0.0,
    }
}

/// The share of the time, 0 to 1, for which a last wave of equal blocks leaves SMs idle at most: all of it but one block
/// for each place.
pub(super) fn last_wave(launch: &Launch) -> f64 {
    let counts = launch.get("launch__sm_count").zip(launch.get("launch__grid_size"));
    counts.map_or(1.0, |(sms, blocks)| (MOST_BLOCKS.value * sms / blocks).min(1.0))
}

/// The share of the SMs that get no block, 0 to 1, because there are fewer blocks than SMs; 0 where that is not known.
pub(super) fn without_block(launch: &Launch) -> f64 {
    let counts = launch.get("launch__sm_count").zip(launch.get("launch__grid_size"));
    counts.map_or(0.0, |(sms, blocks)| (1.0 - blocks / sms).max(0.0))
}
