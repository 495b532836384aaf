//! Work that every thread of a block repeats, as advice beside a finding on what that work is.

use crate::evidence::threshold::{NOISE, NOISE_SOURCE};
use crate::evidence::{ModeledLaunch, Threshold};
use crate::sass::questions::alike;
use crate::text::percent;

/// The share of the executed instructions from which it is said.
pub(crate) const ALIKE_LIMIT: Threshold = Threshold {
    what: "share of the executed instructions that compute the same in all threads of a block, for the hint to say \
           so, at least",
    value: NOISE,
    unit: "%",
    source: NOISE_SOURCE,
};

/// What to do about values that all threads of a block work out alike; empty where there are too few of them.
pub(crate) fn advice(launch: &ModeledLaunch) -> String {
    let share = launch.profile.listing().map_or(0.0, |listing| alike::share(&listing));
    if 100.0 * share < ALIKE_LIMIT.value {
        return String::new();
    }
    format!(
        " {} of the executed instructions compute values in which no thread's index and none of its data take part, \
         so that all threads of a block get the same: compute these once, on the host or in a kernel before this \
         one, or let one thread compute them and hand them on through shared memory.",
        percent(share)
    )
}
