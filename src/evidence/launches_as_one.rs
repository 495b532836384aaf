//! Launches of one kernel that need nothing of one another, and what a thread spares that does the work of several.

use crate::evidence::passed_on::Passed;
use crate::evidence::removal::Removal;
use crate::evidence::{ModeledLaunch, Threshold};
use crate::hardware::first_parameter;
use crate::model::Effect;
use crate::sass::Family;
use crate::sass::flow::slice;
use crate::sass::questions::through_parameters::stores_through_others;
use crate::term::Term;

/// How many results one thread makes side by side.
pub(crate) const RESULTS_PER_THREAD: Threshold = Threshold {
    what: "constant: launches whose work one thread does side by side, at most",
    value: 4.0,
    unit: "launch",
    source: "derivation: each has results of its own in registers; with four, most of what they share is spared",
};

/// The part of the loads that must be shared for one thread to do the work of several launches.
pub(crate) const MOST_IS_SHARED: Threshold = Threshold {
    what: "constant: share of the loads' sectors that launches in a row all ask for, at least, for one thread to do the work of several",
    value: 0.5,
    unit: "share",
    source: "derivation: below that, what a thread loads grows faster than what it spares",
};

/// How many launches the program makes in a row of which, as far as is known, none needs what another made; 1 where it makes none.
pub(crate) fn in_a_row(launch: &ModeledLaunch) -> u64 {
    let profile = launch.profile;
    if profile.if_only_read.is_empty() || only_reads(launch, &profile.if_only_read) == Some(true) {
        profile.in_a_row.max(1)
    } else {
        1
    }
}

/// True where nothing is stored through pointers that stand there among the bytes of a launch's parameters.
fn only_reads(launch: &ModeledLaunch, pointers: &[u32]) -> Option<bool> {
    let begin = first_parameter(launch.profile.row.compute_capability?);
    let pointers: Vec<u32> = pointers.iter().map(|at| begin + at).collect();
    Some(stores_through_others(&launch.profile.listing()?, begin, &pointers))
}

/// What goes of one launch where a thread does the work of so many side by side: what they all load is loaded once, addresses, loops, and
/// barriers serve all, and what each loads for itself arrives meanwhile. At least the traffic that is given goes.
pub(crate) fn side_by_side(
    launch: &ModeledLaunch,
    all_load: &Passed,
    launches: f64,
    of_traffic: Effect,
) -> Option<Effect> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let spared = 1.0 - 1.0 / launches;
    let work = slice::work(&listing);
    for (at, entry) in listing.entries() {
        let is_shared = all_load.accesses.contains(&at);
        if is_shared || !work[at] {
            removal.remove(at, spared);
        } else if entry.family == Family::Barrier {
            removal.remove(at, spared);
            removal.remove_waits_for_others(at, spared);
        } else if matches!(entry.family, Family::Load(_)) {
            removal.remove_latency(at, spared);
        }
    }
    let mut effect = removal.effect(launch);
    let of_memory = [Term::L2, Term::L2Requests, Term::Dram];
    effect.removed.extend(of_memory.map(|term| (term, of_traffic.share_of(term))));
    effect.removed.push((Term::BlockScheduler, spared));
    Some(Effect { at_least: Some(Box::new(of_traffic)), pauses: spared, ..effect })
}
