//! Work that every thread of a block repeats, as advice beside a finding on what that work is.

use crate::evidence::removal::MATTERS;
use crate::evidence::threshold::{NOISE, NOISE_SOURCE};
use crate::evidence::{ModeledLaunch, Threshold};
use crate::sass::questions::alike;
use crate::sass::questions::sharing::share_of_block;
use crate::term::Term;
use crate::text::percent;

/// The share of the executed instructions from which it is said.
pub(crate) const ALIKE_LIMIT: Threshold = Threshold {
    what: "share of the executed instructions that compute the same in all threads of a block, for the hint to say \
           so, at least",
    value: NOISE,
    unit: "%",
    source: NOISE_SOURCE,
};

/// What to do about loads that ask for the same in all threads of a block; empty where the load/store unit would hardly
/// be freer without them. In five steps of public convolutions (A40) the weights went to constant memory, which gained 1.21
/// to 1.32.
pub(crate) fn advice_on_loads(launch: &ModeledLaunch) -> String {
    let share = share_of_loads(launch);
    let busy = launch.model.utilization(Term::Lsu).unwrap_or(0.0);
    if share * busy < MATTERS {
        return String::new();
    }
    format!(
        " {} of the loads ask for the same address in all threads of a block: if the host alone writes that array, and \
         it takes 64 kB at most, declare it __constant__, which spares these loads.",
        percent(share)
    )
}

/// The share of the executed global loads, 0 to 1, that ask for the same in all threads of a block.
pub(crate) fn share_of_loads(launch: &ModeledLaunch) -> f64 {
    launch.profile.listing().map_or(0.0, share_of_block)
}

/// What to do about values that all threads of a block work out alike; empty where there are too few of them.
pub(crate) fn advice(launch: &ModeledLaunch) -> String {
    let share = launch.profile.listing().map_or(0.0, |listing| alike::share(&listing));
    if 100.0 * share < ALIKE_LIMIT.value {
        return String::new();
    }
    format!(
        " {} of the executed instructions compute values that depend neither on the thread's index nor on its data, \
         so that all threads of a block get the same: compute these once, on the host or in a kernel before this \
         one, or let one thread compute them and hand them on through shared memory.",
        percent(share)
    )
}
