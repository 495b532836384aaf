//! What waits stay once each thread takes several elements.

use foldhash::{HashMap, HashMapExt};

use crate::device::Quantity;
use crate::evidence::ModeledLaunch;
use crate::evidence::modeled_launch::{GRID, SMS};
use crate::hardware::WARP_LANES;
use crate::sass::Listing;
use crate::sass::questions::independence::turns_for_lanes;

/// Whether warps wait as often once each thread takes several elements: the elements are another thread's where no
/// turn of the loop can take those of the next ones, and if all warps run at once already, fewer of them take as long.
pub(super) struct Waits<'a> {
    listing: Listing<'a>,
    all_run_at_once: bool,
    /// By innermost loop: whether its turns need one another's values.
    tied: HashMap<usize, bool>,
}

impl<'a> Waits<'a> {
    pub(super) fn new(launch: &ModeledLaunch, listing: Listing<'a>) -> Self {
        let all_run_at_once = launch.waves().is_some_and(|waves| waves <= 1.0);
        Self { listing, all_run_at_once, tied: HashMap::new() }
    }

    pub(super) fn stay(&mut self, access: usize) -> bool {
        let Some(around) = self.listing.sass.flow.innermost(access) else { return false };
        let are_tied = || turns_for_lanes(&self.listing, access) <= 1.0;
        self.all_run_at_once && *self.tied.entry(around).or_insert_with(are_tied)
    }
}

/// True where all warps run at once, and so many fewer would leave a scheduler without one, as nothing takes the place of what the
/// others did meanwhile. `merged` is the share of the threads that goes.
pub(super) fn leaves_schedulers_empty(launch: &ModeledLaunch, merged: f64) -> bool {
    let schedulers = launch.profile.device_facts().get(Quantity::Schedulers);
    let threads: f64 = launch.profile.row.block.iter().map(|&side| f64::from(side)).product();
    let warps = launch.get(GRID).map(|blocks| blocks * (threads / WARP_LANES).ceil());
    let of_sm = warps.zip(launch.get(SMS)).map(|(warps, sms)| warps / sms);
    launch.waves().is_some_and(|waves| waves <= 1.0)
        && of_sm
            .zip(schedulers)
            .is_some_and(|(warps, schedulers)| warps * (1.0 - merged) < schedulers)
}

#[cfg(test)]
mod tests {
    use super::leaves_schedulers_empty;
    use crate::evidence::ModeledLaunch;
    use crate::evidence::modeled_launch::{GRID, OCCUPANCY_LIMITS, SMS};
    use crate::model::Model;
    use crate::rules::testing::launch;

    #[test]
    fn a_warp_per_scheduler_must_be_left() {
        let of = |blocks: f64, each: f64| {
            let mut launch = launch(&[(GRID, blocks), (SMS, 100.0), (OCCUPANCY_LIMITS[0], each)]);
            launch.row.block = [64, 1, 1];
            launch.row.compute_capability = Some((9, 0));
            let case = ModeledLaunch { profile: &launch, model: &Model::new(&launch) };
            leaves_schedulers_empty(&case, 0.75)
        };
        assert!(of(792.0, 16.0), "15.84 warps per SM, 3.96 of which remain");
        assert!(!of(800.0, 16.0));
        assert!(!of(792.0, 4.0), "others wait for their turn");
    }
}
