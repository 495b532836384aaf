//! What waits stay once each thread takes several elements.

use foldhash::{HashMap, HashMapExt};

use crate::evidence::ModeledLaunch;
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
