//! Whether the turns of a kernel's outer loops could be shared out among more threads.
//!
//! What a loop carries from turn to turn is followed through its registers, and through memory where a thread loads what
//! it stored in the turn before. A counter, a pointer that is
//! moved on, and a sum do not tie the turns together: each thread can start at its own place and the sums
//! are added up at the end; nor do the best value so far and what is noted beside it, of which the best is taken. A value from which
//! the next one is worked out in another way does, and so does one that is kept or replaced by another condition. Where blocks fetch their turns
//! from a queue, chance decides which block gets which, so that no turn can need another. Where a loop multiplies on
//! the tensor units, turns may also scale the sums and keep the largest value so far: attention's softmax does, and
//! its parts are scaled once more when they are added up (Dao et al., Flash-Decoding, 2023). Where threads or blocks share
//! a loop's turns already, whatever each of them keeps is combined in the end, and may be kept by more of them.

mod carried;
mod dealt;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use crate::hardware::REGISTER_BYTES;
use crate::metric::stall::StallReason;
use crate::sass::code::blocks::Loop;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::flow::turns::turns;
use crate::sass::parse::access::Space;
use crate::sass::parse::number::without_offset;
use crate::sass::parse::opcode::Family;
use crate::sass::questions::grid_stride::steps_by_grid;
use crate::sass::questions::made_of_data::made_of_data;
use crate::sass::questions::{queue, statements};
use crate::sass::thresholds::{ENOUGH_SAMPLES, FEW_TURNS, LONG_SUM};
use carried::{Place, parts};
use dealt::{Among, dealt};

pub use dealt::Shape;

/// What could be shared out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shareable {
    /// The share of all executed instructions that such loops make up, 0 to 1.
    pub share: f64,
    /// Their share of the time of the warps, by their samples where there are enough: a loop may wait more, or less, than other
    /// code.
    pub time_share: f64,
    /// The turns of the largest of these loops, which its work could be divided into; 1 without one.
    pub turns: f64,
    /// What it is.
    pub what: What,
    /// What becomes of that loop's results once several share its turns.
    pub results: Results,
}

/// What becomes of the results of turns that are shared out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Results {
    /// Each turn stores its own, and needs nothing of the others.
    Apart,
    /// Some turns store their own, each behind the last one that did.
    Appended,
    /// Each turn stores its own, made of what the turns before it handed on: a window, a running sum.
    HandedOn,
    /// Each turn stores its own, which the next step of the loop around needs: lanes share the turns, and meet after each step.
    OfStep,
    /// The turns make sums, which are added up.
    Summed,
    /// Each turn also scales the sums so far, as a softmax on the way does.
    Scaled,
    /// The threads of a block share the turns already, and combine whatever each of them kept.
    OfThreads,
    /// Blocks share the turns already, and something behind the kernel combines their results.
    OfBlocks,
}

/// What is shared out, with the instruction to show for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Nothing.
    Nothing,
    /// The turns of a loop, by its branch back.
    Turns(usize),
    /// The same, where the loop's counter moves on by the grid's size: more blocks have fewer turns each.
    Strided(usize),
    /// Pieces of work that blocks fetch by an atomic, which is this one.
    Queue(usize),
    /// Statements in a row, of which this is the first one's store.
    Statements(usize),
}

/// What of a kernel could be shared out among more threads; `None` where the listing is only a part of
/// its code, or nothing counted how often its instructions were executed.
#[must_use]
pub fn shareable(listing: &Listing, shape: Shape) -> Option<Shareable> {
    shareable_of_warps(listing, shape, 1.0)
}

/// The same for warps that work so many times as long as the average one, and turn in loops as many times as often.
#[must_use]
pub fn shareable_of_warps(listing: &Listing, of: Shape, times: f64) -> Option<Shareable> {
    let total = listing.total();
    if !listing.is_whole() || total <= 0.0 {
        return None;
    }
    let flow = &listing.sass.flow;
    let called = Called::of(listing);
    let executed = |each: &Loop| -> f64 {
        let own: f64 = flow.places(each).map(|at| listing.executed(at)).sum();
        own + called.within(listing, each)
    };
    let mut found = Shareable {
        turns: 1.0,
        what: What::Nothing,
        results: Results::Apart,
        share: 0.0,
        time_share: 0.0,
    };
    let mut largest = 0.0;
    // Of which no samples are known where functions have them.
    let (mut samples, mut calls) = (0.0, false);
    let mut turning = false;
    let mut reaching = Reaching::new(listing.sass);
    let mut open: Vec<usize> = outermost(listing, None);
    // Loops whose turns are the work of one step of a loop around them, of which each step needs the one before it.
    let mut steps: BTreeSet<usize> = BTreeSet::new();
    while let Some(at) = open.pop() {
        let each = &flow.loops[at];
        // What a loop calls belongs to that loop, loops in there included.
        if called.for_loops[each.head] {
            continue;
        }
        // A loop that turns once does so for all warps.
        let on_average = turns(listing, each);
        let repeats = on_average >= FEW_TURNS.value;
        let of_loop = if repeats { on_average * times } else { on_average };
        if of_loop < FEW_TURNS.value {
            let inner = outermost(listing, Some(at));
            if steps.contains(&at) {
                steps.extend(inner.iter().copied());
            }
            open.extend(inner);
            continue;
        }
        turning = true;
        let (what, results) = if let Some(fetch) = queue::fetch(listing, &mut reaching, each) {
            (What::Queue(fetch), Results::Apart)
        } else {
            let Some((results, least_turns)) = results(listing, &mut reaching, each, of) else {
                // Lanes can still share the turns of a loop within, step by step.
                let inner = outermost(listing, Some(at));
                steps.extend(inner.iter().copied());
                open.extend(inner);
                continue;
            };
            let is_step = steps.contains(&at);
            let results = match results {
                // Where threads meet after each step, that costs as much as adding up.
                Results::Apart if is_step && of_step(listing, each, of_loop) >= LONG_SUM.value => {
                    Results::OfStep
                }
                _ if is_step => continue,
                results => results,
            };
            if of_loop < least_turns {
                continue;
            }
            let may_stride =
                matches!(results, Results::Apart | Results::Summed | Results::OfBlocks);
            let what = if may_stride && steps_by_grid(listing, &mut reaching, each) {
                What::Strided(each.back)
            } else {
                What::Turns(each.back)
            };
            (what, results)
        };
        let share = executed(each) / total;
        found.share += share;
        samples += flow.places(each).map(|at| all_samples(listing, at)).sum::<f64>();
        calls |= called.within(listing, each) > 0.0;
        if share > largest {
            largest = share;
            let turns = match results {
                Results::OfStep => of_step(listing, each, of_loop),
                _ => of_loop,
            };
            found = Shareable { turns, what, results, ..found };
        }
    }
    found.share = found.share.min(1.0);
    let all: f64 = listing.sass.counts.sampled().map(|at| all_samples(listing, at)).sum();
    let is_known = all >= ENOUGH_SAMPLES.value && !calls;
    found.time_share = if is_known { samples / all } else { found.share };
    if !turning && let Some(pieces) = statements::pieces(listing, &mut reaching) {
        let what = What::Statements(pieces.first);
        let (turns, results) = (pieces.most, Results::Apart);
        found = Shareable { share: 1.0, time_share: 1.0, turns, what, results };
    }
    Some(found)
}

/// The samples of warps at a place, whatever they did there.
fn all_samples(listing: &Listing, at: usize) -> f64 {
    StallReason::all().map(|reason| listing.samples(at, reason)).sum()
}

/// What becomes of a loop's results once several share its turns, and the turns from which these are worth sharing; `None` where a
/// turn needs what an earlier one found.
fn results(
    listing: &Listing,
    reaching: &mut Reaching,
    of: &Loop,
    shape: Shape,
) -> Option<(Results, f64)> {
    let Some(parts) = parts(listing, reaching, of) else {
        return Some(match dealt(listing, reaching, of, shape)? {
            // What each part keeps is combined afterwards, as a sum is.
            Among::Threads => (Results::OfThreads, LONG_SUM.value),
            Among::Blocks => (Results::OfBlocks, FEW_TURNS.value),
        });
    };
    let stores = stores_each_turn(listing, of) && !adds_to_memory(listing, reaching, of);
    let results = match (parts.are_scaled || parts.appends, stores, parts.carries) {
        (true, ..) if parts.are_scaled => Results::Scaled,
        (true, ..) => Results::Appended,
        (_, true, true) => Results::HandedOn,
        (_, true, false) => Results::Apart,
        (_, false, _) => Results::Summed,
    };
    Some((results, parts.least_turns))
}

/// What called functions execute.
struct Called {
    /// The calls, each with what the function executes for it.
    calls: Vec<(usize, f64)>,
    /// The instructions of functions that loops call.
    for_loops: Marks,
}

impl Called {
    fn of(listing: &Listing) -> Self {
        let flow = &listing.sass.flow;
        let calls = listing.calls();
        // Of each function its range and how often it is called, by its first instruction.
        let mut functions: BTreeMap<usize, (RangeInclusive<usize>, f64)> = BTreeMap::new();
        let mut for_loops = Marks::new(listing.sass.entries.len());
        for (call, function) in &calls {
            let known = functions.entry(*function.start());
            let known = known.or_insert_with(|| (function.clone(), 0.0));
            known.1 += listing.executed(*call);
            let is_new = flow.innermost(*call).is_some() && !for_loops[*function.start()];
            if is_new {
                function.clone().for_each(|at| _ = for_loops.insert(at));
            }
        }
        let per_call: BTreeMap<usize, f64> = functions
            .iter()
            .map(|(first, (function, called))| {
                let executed: f64 = function.clone().map(|at| listing.executed(at)).sum();
                (*first, if *called > 0.0 { executed / called } else { 0.0 })
            })
            .collect();
        let takes = |(call, function): &(usize, RangeInclusive<usize>)| {
            (*call, listing.executed(*call) * per_call[function.start()])
        };
        Self { calls: calls.iter().map(takes).collect(), for_loops }
    }

    /// The instructions that the functions which a loop calls execute for it.
    fn within(&self, listing: &Listing, of: &Loop) -> f64 {
        let in_loop = self.calls.iter().filter(|(call, _)| listing.sass.flow.is_in(of, *call));
        in_loop.map(|(_, executed)| executed).sum()
    }
}

/// True where turns of a loop store something to global memory.
fn stores_each_turn(listing: &Listing, of: &Loop) -> bool {
    stores(listing, of).next().is_some()
}

/// The executed stores of a loop to global memory.
fn stores(listing: &Listing, of: &Loop) -> impl Iterator<Item = usize> {
    let stores = |at: &usize| {
        matches!(listing.sass.entries[*at].family, Family::Store(Space::Global | Space::Generic))
            && listing.executed(*at) > 0.0
    };
    listing.sass.flow.places(of).filter(stores)
}

/// The elements that a loop of so many turns stores each time it is come to: several per turn where it is unrolled.
fn of_step(listing: &Listing, of: &Loop, turns: f64) -> f64 {
    let stored: f64 = stores(listing, of).map(|at| listing.executed(at)).sum();
    turns * (stored / listing.executed(of.back).max(1.0)).max(1.0)
}

/// True where all that turns of a loop store is added to what lies there, at addresses that are looked up: several turns may add to
/// one value.
fn adds_to_memory(listing: &Listing, reaching: &mut Reaching, of: &Loop) -> bool {
    let flow = &listing.sass.flow;
    let is = |at: usize, family: fn(Space) -> Family| {
        let spaces = [Space::Global, Space::Generic];
        spaces.map(family).contains(&listing.sass.entries[at].family) && listing.executed(at) > 0.0
    };
    let mut place = |at: usize| Place::of(listing, reaching, at);
    // Of each place the first load.
    let mut loads: BTreeMap<Place, usize> = BTreeMap::new();
    for load in flow.places(of).filter(|&at| is(at, Family::Load)) {
        loads.entry(place(load)).or_insert(load);
    }
    let stores = flow.places(of).filter(|&at| is(at, Family::Store));
    let added_to = |at: usize| loads.get(&place(at)).copied().filter(|&load| load < at);
    let added_to: Option<Vec<usize>> = stores.map(added_to).collect();
    added_to.is_some_and(|loads| {
        let by_data = made_of_data(listing);
        loads.iter().all(|&load| by_data[load])
    })
}

/// The turns of the loop around an access that neighbouring lanes could share out among themselves: those of
/// the innermost one, where no turn needs another's values but a sum's; 1 where there is none, or they do.
#[must_use]
pub fn turns_for_lanes(listing: &Listing, access: usize) -> f64 {
    let Some(around) = listing.sass.flow.innermost(access) else { return 1.0 };
    let around = &listing.sass.flow.loops[around];
    let turns = turns(listing, around);
    let are_apart = || {
        let mut reaching = Reaching::new(listing.sass);
        parts(listing, &mut reaching, around).is_some()
    };
    let apart = turns >= FEW_TURNS.value && are_apart();
    if apart { turns } else { 1.0 }
}

/// The steps of a loop, of which an unrolled turn has several, that so many others could share out; 1 where a turn needs another's
/// values but a sum's, or where there are too few for the sums to be added up afterwards.
#[must_use]
pub fn steps_to_share(listing: &Listing, of: usize) -> f64 {
    let each = &listing.sass.flow.loops[of];
    let turns = turns(listing, each);
    let steps = turns * elements_per_turn(listing, of).max(1.0);
    let mut reaching = Reaching::new(listing.sass);
    let parts = parts(listing, &mut reaching, each);
    let is_worth_it = |least: f64| turns >= least.min(FEW_TURNS.value) && steps >= least;
    if parts.is_some_and(|parts| is_worth_it(parts.least_turns)) { steps } else { 1.0 }
}

/// Elements that a turn of a loop itself loads by way of one register, the most of any.
fn elements_per_turn(listing: &Listing, of: usize) -> f64 {
    let flow = &listing.sass.flow;
    let mut by_base = BTreeMap::<&str, f64>::new();
    for at in flow.places(&flow.loops[of]).filter(|&at| flow.innermost(at) == Some(of)) {
        let entry = &listing.sass.entries[at];
        let is_load =
            matches!(entry.family, Family::Load(Space::Global | Space::Shared | Space::Generic));
        if let Some(base) = base(listing.text(at)).filter(|_| is_load) {
            *by_base.entry(base).or_default() += (f64::from(entry.width) / REGISTER_BYTES).max(1.0);
        }
    }
    by_base.into_values().fold(0.0, f64::max)
}

/// The register of an access's address, without what is added to it.
fn base(text: &str) -> Option<&str> {
    without_offset(text.rsplit_once('[')?.1).map(|(base, _)| base)
}

/// True where a turn of a loop needs another's values, but a sum's.
#[must_use]
pub fn turns_need_one_another(listing: &Listing, of: &Loop) -> bool {
    parts(listing, &mut Reaching::new(listing.sass), of).is_none()
}

/// The loops in a loop, or in the kernel, that are in no smaller one.
fn outermost(listing: &Listing, around: Option<usize>) -> Vec<usize> {
    let loops = &listing.sass.flow.loops;
    let within = |inner: &Loop, outer: &Loop| {
        inner.head != outer.head && inner.blocks.len() < outer.blocks.len() && inner.lies_in(outer)
    };
    let inside = |at: &usize| around.is_none_or(|around| within(&loops[*at], &loops[around]));
    let all: Vec<usize> = (0..loops.len()).filter(inside).collect();
    let is_outer = |at: &usize| !all.iter().any(|&other| within(&loops[*at], &loops[other]));
    all.iter().copied().filter(is_outer).collect()
}
