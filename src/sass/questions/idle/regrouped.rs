//! Lanes that sit out what no other grouping of the threads would fill.
//!
//! Sorting items, or dealing them out otherwise, helps where a thread goes the same way all along. A branch that a loop decides
//! anew in each turn, by what that turn loads, sends other lanes past it each time: only those that take it, collected until
//! they fill a warp, would run it together, and collecting costs instructions too. Lanes that are out of an inner loop whose
//! turns need one another could only go on with the loop around it meanwhile, as one loop of both does: what that one has
//! besides is then executed in every turn in which some lane is through.

use std::ops::{Range, RangeInclusive};

use crate::hardware::WARP_LANES;
use crate::sass::code::blocks::{Exit, Loop};
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Sass;
use crate::sass::flow::cycles::cycles;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::instruction::{Instruction, Operand};
use crate::sass::parse::operands::Role;
use crate::sass::questions::independence::turns_need_one_another;
use crate::sass::thresholds::COLLECTING;

use super::lanes;

/// Lanes that no regrouping fills.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Unfilled {
    /// Of an average instruction, by the better of the two changes.
    pub lanes: f64,
    /// The share of all missing lanes that both together leave, 0 to 1.
    pub share: f64,
    /// The branch past which most lanes go, where collecting those that pass it is the better change, or the one that reaches most of
    /// the missing lanes.
    pub decided_anew: Option<usize>,
}

/// The lanes that the better of two changes does not fill; none without counted instructions.
///
/// One deals the items out otherwise, once: what each turn decides anew then sends away as many of a full warp's lanes as chance
/// does. The other collects the lanes that such a test lets pass, and leaves the rest of the code as it is.
#[must_use]
pub fn unfilled(listing: &Listing) -> Unfilled {
    let mut reaching = Reaching::with_guards(listing.sass);
    let skipped = skipped(listing, &mut reaching);
    let left = left(listing);
    // Lanes that begin to sit out at each place, less those that come back: their sums tell how many do.
    let count = listing.sass.entries.len();
    let mut off_from = vec![0.0; count + 1];
    let (mut sent, mut by_chance) = (vec![0.0; count], vec![0.0_f64; count]);
    for part in skipped.iter().chain(&left) {
        for place in &part.places {
            off_from[place.start] += part.lanes;
            off_from[place.end] -= part.lanes;
        }
    }
    for part in &skipped {
        for at in part.places.iter().cloned().flatten() {
            sent[at] += part.sent;
            by_chance[at] = by_chance[at].max(part.by_chance);
        }
    }
    let (mut executed, mut missing, mut off, mut anew) = (0.0, 0.0, 0.0, 0.0);
    let (mut dealt, mut collected) = (0.0, 0.0);
    let mut off_here = 0.0_f64;
    for (at, _) in listing.entries() {
        let runs = listing.executed(at);
        let absent = (WARP_LANES - lanes(listing, at)).clamp(0.0, WARP_LANES);
        off_here += off_from[at];
        let is_anew = sent[at] > 0.0;
        let stay = if !is_anew && is_of_one_lane(listing, at) {
            absent
        } else {
            off_here.clamp(0.0, absent)
        };
        executed += runs;
        missing += runs * absent;
        off += runs * stay;
        anew += runs * sent[at].clamp(0.0, absent);
        dealt += runs * by_chance[at].clamp(stay, absent);
        collected += runs * if is_anew { stay } else { absent };
    }
    if executed <= 0.0 || missing <= 0.0 {
        return Unfilled::default();
    }
    let most = skipped.iter().max_by(|a, b| a.missed.total_cmp(&b.missed));
    let are_collected = collected <= dealt || 2.0 * anew > missing;
    let decided_anew = most.filter(|_| are_collected).and_then(|part| part.branch);
    Unfilled { lanes: dealt.min(collected) / executed, share: off / missing, decided_anew }
}

/// True for what one lane of a warp does for all, as the first thread of a block: the others have nothing to do meanwhile.
fn is_of_one_lane(listing: &Listing, at: usize) -> bool {
    let counters = &listing.row(at).counters;
    counters.inst_executed > 0.0 && counters.thread_inst_executed <= counters.inst_executed
}

/// Code that lanes sit out.
struct Part {
    /// Its stretches of instructions.
    places: Vec<Range<usize>>,
    /// So many of an average warp do.
    sent: f64,
    /// And so many of these, whatever they are grouped with, unless what each turn decides anew is collected.
    lanes: f64,
    /// So many of a full warp would do that chance sends there, where each turn decides anew who does.
    by_chance: f64,
    /// The branch that sends them past it; none if they have left a loop.
    branch: Option<usize>,
    /// What the lanes miss, in executions by a lane.
    missed: f64,
}

/// What branches skip that fresh data decides in each turn, as far as collecting lanes would not pay.
fn skipped(listing: &Listing, reaching: &mut Reaching) -> Vec<Part> {
    let sass = listing.sass;
    let count = sass.entries.len();
    // Executions of all that come before a place.
    let mut before = vec![0.0; count + 1];
    for at in 0..count {
        before[at + 1] = before[at] + listing.executed(at);
    }
    let calls = listing.calls();
    let mut parts = Vec::new();
    for (branch, entry) in listing.entries() {
        let (first, Exit::Branch(target)) = (branch + 1, entry.exit()) else { continue };
        let end = target.min(count);
        if end <= first || listing.executed(first) <= 0.0 {
            continue;
        }
        let entered = listing.executed(first);
        let sent = (lanes(listing, branch) - lanes(listing, first)).max(0.0);
        let places = with_called(listing, &calls, first..end);
        let executed = |of: &Range<usize>| before[of.end] - before[of.start];
        let missed = sent * places.iter().map(executed).sum::<f64>();
        if missed <= 0.0 || !is_fresh(listing, reaching, branch) {
            continue;
        }
        let collecting = WARP_LANES * COLLECTING.value * entered;
        let lanes = sent * (collecting / missed).min(1.0);
        let by_chance = if is_of_items(listing, branch) {
            0.0
        } else {
            WARP_LANES - passing(listing, branch, first)
        };
        parts.push(Part { places, sent, lanes, by_chance, branch: Some(branch), missed });
    }
    parts
}

/// True where the innermost loop around a branch is in no other, and its turns need none of one another's values: each turn is
/// an item of its own, and what decides is known of it before the loop.
fn is_of_items(listing: &Listing, branch: usize) -> bool {
    let flow = &listing.sass.flow;
    flow.innermost(branch).map(|at| &flow.loops[at]).is_some_and(|of| {
        smallest_around(listing, of).is_none() && !turns_need_one_another(listing, of)
    })
}

/// Lanes of a full warp that pass a test together, where chance decides for each of them as often as it does now, at least as many as
/// do now: of the warps of which any lane passes.
fn passing(listing: &Listing, branch: usize, first: usize) -> f64 {
    let tested = listing.executed(branch) * lanes(listing, branch);
    let pass = (listing.executed(first) * lanes(listing, first) / tested).clamp(0.0, 1.0);
    let any = 1.0 - (1.0 - pass).powf(WARP_LANES);
    if any > 0.0 {
        (WARP_LANES * pass / any).max(lanes(listing, first)).min(WARP_LANES)
    } else {
        0.0
    }
}

/// A stretch of code and the functions that are called from nowhere else.
fn with_called(
    listing: &Listing,
    calls: &[(usize, RangeInclusive<usize>)],
    stretch: Range<usize>,
) -> Vec<Range<usize>> {
    let mut places = vec![stretch];
    loop {
        let holds = |at: usize| places.iter().any(|place| place.contains(&at));
        let is_own = |of: &RangeInclusive<usize>| {
            let mut callers = calls.iter().filter(|(_, function)| function == of);
            callers.all(|(call, _)| holds(*call) || listing.executed(*call) <= 0.0)
        };
        let added = calls
            .iter()
            .find(|(call, function)| holds(*call) && !holds(*function.start()) && is_own(function));
        let Some((_, function)) = added else { return places };
        places.push(*function.start()..function.end() + 1);
    }
}

/// True where what the innermost loop around a branch loads in the same turn takes part in its condition, or what each turn makes of
/// the last one's by a product, as random numbers are drawn.
fn is_fresh(listing: &Listing, reaching: &mut Reaching, branch: usize) -> bool {
    let sass = listing.sass;
    let Some(around) = sass.flow.innermost(branch) else { return false };
    let around = &sass.flow.loops[around];
    let mut seen = Marks::new(sass.entries.len());
    let mut open = vec![branch as u32];
    while let Some(at) = open.pop() {
        if sass.entries[at as usize].family.is_memory() {
            return true;
        }
        let known = open.len();
        made_in(sass, reaching, around, at as usize, &mut open);
        let mut kept = known;
        for next in known..open.len() {
            if seen.insert(open[next] as usize) {
                open.swap(kept, next);
                kept += 1;
            }
        }
        open.truncate(kept);
    }
    let turning = cycles(sass.entries.len(), seen.iter(), |at, found| {
        made_in(sass, reaching, around, at, found);
    });
    turning.iter().any(|at| multiplies_on(listing, reaching, &turning, at))
}

/// Puts what an instruction uses and a loop makes behind what is in the list, and the branches that lead past one of these.
fn made_in(sass: &Sass, reaching: &mut Reaching, of: &Loop, at: usize, found: &mut Vec<u32>) {
    let known = found.len();
    for each in sass.uses(at).iter().filter(|each| each.role != Role::Old) {
        let made = reaching.definitions(at, *each);
        found.extend(made.filter(|&made| sass.flow.is_in(of, made as usize)));
    }
    for next in known..found.len() {
        let made = found[next] as usize;
        let branches = sass.flow.places(of).take_while(|&branch| branch < made);
        let past =
            |&branch: &usize| matches!(sass.entries[branch].exit(), Exit::Branch(to) if to > made);
        found.extend(branches.filter(past).map(|branch| branch as u32));
    }
}

/// True where a product has a factor that is made of what it made in an earlier turn. What is doubled is no such product: lanes
/// agree on it.
fn multiplies_on(listing: &Listing, reaching: &mut Reaching, turning: &Marks, at: usize) -> bool {
    let Some(parsed) = Instruction::parse(listing.text(at)) else { return false };
    if !matches!(parsed.base(), "IMAD" | "FMUL" | "FFMA" | "DMUL" | "DFMA")
        || ["MOV", "IADD", "SHL"].iter().any(|form| parsed.has(form))
    {
        return false;
    }
    parsed.operands.iter().skip(1).take(2).filter_map(Operand::slot).any(|slot| {
        let mut uses = listing.sass.uses(at).iter().filter(|each| each.slot == slot);
        uses.any(|each| reaching.definitions(at, *each).any(|made| turning[made as usize]))
    })
}

/// Inner loops that lanes leave one after another and whose turns need one another, as far as one loop of both would not pay.
fn left(listing: &Listing) -> Vec<Part> {
    let flow = &listing.sass.flow;
    let mut parts = Vec::new();
    for of in &flow.loops {
        let Some(around) = smallest_around(listing, of) else { continue };
        let (come, stay) = (come(listing, of), lanes(listing, of.head));
        let (turns, around_turns) = (listing.executed(of.head), listing.executed(around.head));
        let sent = come - stay;
        if sent <= 0.0 || turns <= 0.0 {
            continue;
        }
        let executed =
            |of: &Loop| -> f64 { flow.places(of).map(|at| listing.executed(at)).sum::<f64>() };
        let own = executed(of);
        let besides = (executed(around) - own).max(0.0) / around_turns.max(1.0);
        // Full warps take a part of the turns, and what the loop around has besides comes with each of them.
        let full_turns = turns * stay / come;
        let spared = own * sent / come;
        let added = (full_turns - around_turns).max(0.0) * besides;
        if added <= 0.0 || !turns_need_one_another(listing, of) {
            continue;
        }
        let blocks = of.blocks.iter().map(|&block| &flow.blocks[block as usize]);
        let places = blocks.map(|block| block.start..block.end).collect();
        let lanes = sent * (added / spared).min(1.0);
        parts.push(Part { places, sent, lanes, by_chance: 0.0, branch: None, missed: sent * own });
    }
    parts
}

/// The smallest loop around a loop.
#[must_use]
pub fn smallest_around<'a>(listing: &Listing<'a>, of: &Loop) -> Option<&'a Loop> {
    let loops = listing.sass.flow.loops.iter();
    let around = loops.filter(|outer| outer.blocks.len() > of.blocks.len() && of.lies_in(outer));
    around.min_by_key(|outer| outer.blocks.len())
}

/// Lanes that an average warp comes to a loop with, not counting what a branch leads past it.
#[must_use]
pub fn come(listing: &Listing, of: &Loop) -> f64 {
    let flow = &listing.sass.flow;
    let head = flow.block_of[of.head] as usize;
    let last = |&from: &u32| flow.blocks[from as usize].end - 1;
    let before = flow.blocks[head].before.iter().filter(|&&from| !of.holds(from)).map(last);
    let enter = before.filter(|&at| !matches!(listing.sass.entries[at].exit(), Exit::Branch(_)));
    enter.map(|at| lanes(listing, at)).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests;
