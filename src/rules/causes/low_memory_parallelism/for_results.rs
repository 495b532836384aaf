//! Waits for what loads bring, apart from those until an atomic has been taken.

use crate::evidence::ModeledLaunch;
use crate::metric::stall::StallReason;
use crate::sass::Family;

/// The part of the waits that is for results, 0 to 1. An atomic without a result makes warps wait as well, until the queue in front of L1
/// has taken its operands, however many loads are in flight.
pub(super) fn share_for_results(launch: &ModeledLaunch) -> f64 {
    let Some(listing) = launch.profile.listing() else { return 1.0 };
    let brings_nothing = |at: usize| {
        let family = listing.sass.entries[at].family;
        matches!(family, Family::Atomic(_) | Family::Reduction(_))
            && listing.sass.defs(at).is_empty()
    };
    let charges = listing.charges(StallReason::LongScoreboard);
    let all: f64 = charges.iter().map(|each| each.samples).sum();
    let without = charges.iter().filter(|each| brings_nothing(each.producer));
    let without: f64 = without.map(|each| each.samples).sum();
    if all > 0.0 { 1.0 - without / all } else { 1.0 }
}
