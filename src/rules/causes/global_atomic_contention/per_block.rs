//! Atomics of which each block makes one already: only fewer blocks make fewer of them.

use crate::evidence::{ModeledLaunch, Threshold, atomics};
use crate::export::SourceRow;
use crate::text::count;

/// Multiprocessors of the device.
pub(super) const SMS: &str = "launch__sm_count";

/// Atomics of so many of the blocks, at least, are those of every block.
pub(super) const NEARLY_ALL: Threshold = Threshold {
    what: "lanes that execute an atomic outside of loops, as a share of the blocks, for each block to add once there, at least",
    value: 0.9,
    unit: "share",
    source: "definition: nearly all; the last blocks may have nothing to add",
};

/// The blocks that fit on the device at once as a share of the grid, where every block adds once at each place and the grid
/// is larger than that; `None` elsewhere, and where nothing counted the lanes.
pub(super) fn stays(launch: &ModeledLaunch) -> Option<f64> {
    let blocks: f64 =
        launch.profile.row.grid.iter().map(|&extent| f64::from(extent.max(1))).product();
    let listing = launch.profile.listing()?;
    let mut added = listing
        .entries()
        .map(|(at, _)| (at, listing.row(at)))
        .filter(|(_, row)| atomics::is_global(row) && row.counters.inst_executed > 0.0)
        .peekable();
    added.peek()?;
    let is_once = |(at, row): (usize, &SourceRow)| {
        let lanes = row.counters.thread_inst_executed_pred_on;
        let every = NEARLY_ALL.value * blocks..=blocks;
        every.contains(&lanes) && listing.sass.flow.innermost(at).is_none()
    };
    if !added.all(is_once) {
        return None;
    }
    let resident = launch.blocks_per_sm()? * launch.get(SMS)?;
    Some(resident / blocks).filter(|share| *share > 0.0 && *share < 1.0)
}

/// What to do about them.
pub(super) fn hint(launch: &ModeledLaunch, at: &str) -> Option<String> {
    let resident = launch.blocks_per_sm()? * launch.get(SMS)?;
    Some(format!(
        "Each block adds no more than once at {at} already, so that only fewer blocks make fewer atomics: launch the {} blocks that \
         fit on the device at once, let each loop over several pieces of the work (a grid-stride loop) with the result so far kept in \
         registers, and combine it and add once at the end.",
        count(resident),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::modeled_launch::OCCUPANCY_LIMITS;
    use crate::model::Model;
    use crate::rules::testing::sass;

    fn share(blocks: u32, lanes: f64) -> Option<f64> {
        let limits = OCCUPANCY_LIMITS.map(|name| (name, 8.0));
        let metrics: Vec<(&str, f64)> = limits.into_iter().chain([(SMS, 10.0)]).collect();
        let mut launch = sass(&metrics, &[("REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R5", 160.0)]);
        launch.row.grid = [blocks, 1, 1];
        launch.instructions[0].counters.thread_inst_executed_pred_on = lanes;
        stays(&ModeledLaunch { profile: &launch, model: &Model::new(&launch) })
    }

    #[test]
    fn fewer_blocks_leave_as_many_atomics_as_fit_at_once() {
        assert_eq!(share(160, 160.0), Some(0.5), "80 of 160");
        assert_eq!(share(160, 161.0), None, "some block adds twice");
        assert_eq!(share(160, 143.0), None, "some blocks add nothing");
        assert_eq!(share(80, 80.0), None, "all fit at once");
        assert_eq!(share(160, 0.0), None, "nothing counted the lanes");
    }
}
