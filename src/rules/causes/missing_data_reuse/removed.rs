//! What goes of a launch's work where each value is loaded once for several uses.

use super::repeated::{Gathers, SharedLoads};
use super::{EXECUTED, L2_ALL, L2_ASKED, L2_MISSED, LOADS};
use crate::evidence::removal::Removal;
use crate::evidence::{ModeledLaunch, look_ups};
use crate::export::SourceRow;
use crate::hardware::SECTORS_PER_LINE;
use crate::model::Effect;
use crate::sass::flow::slice;
use crate::sass::{Family, Marks, Space};
use crate::term::Term;

/// The sectors that the addresses of loads need; `None` where the instructions don't tell. The metric of
/// that name has the stores' as well.
pub(super) fn needed_by_loads(launch: &ModeledLaunch) -> Option<f64> {
    let listing = launch.profile.listing()?;
    let loads = listing
        .entries()
        .filter(|(_, entry)| matches!(entry.family, Family::Load(Space::Global | Space::Generic)));
    let needed: f64 =
        loads.map(|(index, _)| listing.row(index).counters.l2_sectors_global_ideal).sum();
    (needed > 0.0).then_some(needed)
}

/// What goes of the instructions: the loads of what was loaded before, with their addressing where the
/// profile has the machine code.
pub(super) fn instructions(
    launch: &ModeledLaunch,
    goes: f64,
    shared: Option<&SharedLoads>,
    gathers: &Gathers,
) -> Effect {
    let Some(mut removal) = Removal::new(launch) else {
        let loads = launch.get(LOADS);
        let all = launch.get(EXECUTED).filter(|&all| all > 0.0);
        let share = loads.zip(all).map_or(0.0, |(loads, all)| goes * (loads / all).min(1.0));
        return Effect::on(Term::Issue, share);
    };
    let listing = removal.listing;
    let again = |index: usize| match (listing.sass.entries[index].family, shared) {
        (Family::Load(Space::Global | Space::Generic), Some(shared)) => {
            shared.part(listing.row(index)).min(goes)
        }
        (Family::Load(Space::Global | Space::Generic), None)
            if !gathers.has(listing.row(index)) =>
        {
            goes
        }
        _ => 0.0,
    };
    let picked = Marks::of(listing.sass.entries.len(), |index| again(index) > 0.0);
    let beside = removal.beside(|index| picked[index]);
    let of_beside = removal.addressing(&beside, |index| picked[index]);
    let (work, theirs) = (slice::work(&listing), slice::addresses_only_of(&listing, &picked));
    for (index, _) in listing.entries() {
        if picked[index] {
            removal.remove_but_l1(index, again(index));
        } else if theirs[index] {
            removal.remove_but_l1(index, goes);
        } else if beside[index] && !work[index] {
            removal.remove_but_l1(index, goes * of_beside);
        }
    }
    removal.effect(launch)
}

/// The share of L2's sectors that loads hit there: data that some block fetched before. Stores go to L2 in any
/// case, and find their place there.
pub(super) fn l2_hit_share(launch: &ModeledLaunch) -> f64 {
    let all = launch.get(L2_ALL).filter(|&all| all > 0.0);
    let asked = launch.get(L2_ASKED);
    let missed = launch.get(L2_MISSED);
    let stored = of_stores(launch, |row| row.counters.l2_sectors_global);
    match (all, asked, missed) {
        (Some(all), Some(asked), Some(missed)) => ((asked - missed - stored) / all).clamp(0.0, 1.0),
        _ => 0.0,
    }
}

/// The lines that L1 looks up for loads of dense addresses, gathers left out: those that all lanes of a warp share
/// take one look-up for a single sector. Of sectors without instructions four are a look-up.
pub(super) fn look_ups_of_loads(launch: &ModeledLaunch, sectors: f64, gathers: &Gathers) -> f64 {
    let by_instruction = launch.profile.listing().map_or(0.0, |listing| {
        let is_load = |family| matches!(family, Family::Load(Space::Global | Space::Generic));
        let loads = listing.entries().filter(|(_, entry)| is_load(entry.family));
        let rows = loads.map(|(at, _)| listing.row(at)).filter(|row| !gathers.has(row));
        rows.map(look_ups::needed).sum()
    });
    if by_instruction > 0.0 { by_instruction } else { sectors / SECTORS_PER_LINE }
}

/// The part that loads have of the look-ups in L1; 1 where the instructions don't tell.
pub(super) fn of_loads_in_l1(launch: &ModeledLaunch) -> f64 {
    let all: f64 =
        launch.profile.instructions.iter().map(|row| row.counters.l1_tag_requests_global).sum();
    let stored = of_stores(launch, |row| row.counters.l1_tag_requests_global);
    if all > 0.0 { (1.0 - stored / all).clamp(0.0, 1.0) } else { 1.0 }
}

/// What a counter has of the stores to global memory.
fn of_stores(launch: &ModeledLaunch, counter: impl Fn(&SourceRow) -> f64) -> f64 {
    let Some(listing) = launch.profile.listing() else { return 0.0 };
    let is_store = |family| matches!(family, Family::Store(Space::Global | Space::Generic));
    let stores = listing.entries().filter(|(_, entry)| is_store(entry.family));
    stores.map(|(at, _)| counter(listing.row(at))).sum()
}
