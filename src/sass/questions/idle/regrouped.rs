//! Lanes that sit out what no other grouping of the threads would fill.
//!
//! Sorting items, or dealing them out otherwise, helps where a thread goes the same way all along. A branch that a loop decides
//! anew in each turn, by what that turn loads, sends other lanes past it each time: only those that take it, collected until
//! they fill a warp, would run it together, and collecting costs instructions too. Lanes that are out of an inner loop whose
//! turns need one another could only go on with the loop around it meanwhile, as one loop of both does: what that one has
//! besides is then executed in every turn in which some lane is through.

use std::ops::Range;

use crate::hardware::WARP_LANES;
use crate::sass::code::blocks::{Exit, Loop};
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::operands::Role;
use crate::sass::questions::independence::turns_need_one_another;
use crate::sass::thresholds::COLLECTING;

use super::lanes;

/// Lanes that no regrouping fills.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Unfilled {
    /// Of an average instruction.
    pub lanes: f64,
    /// Their share of all lanes that are missing, 0 to 1.
    pub share: f64,
    /// The branch past which most lanes go, where branches that each turn decides anew send most of the missing ones away.
    pub decided_anew: Option<usize>,
}

/// The lanes that no regrouping fills; none without counted instructions.
#[must_use]
pub fn unfilled(listing: &Listing) -> Unfilled {
    let mut reaching = Reaching::with_guards(listing.sass);
    let skipped = skipped(listing, &mut reaching);
    let left = left(listing);
    // Lanes that begin to sit out at each place, less those that come back: their sums tell how many do.
    let count = listing.sass.entries.len();
    let (mut off_from, mut sent_from) = (vec![0.0; count + 1], vec![0.0; count + 1]);
    for part in skipped.iter().chain(&left) {
        for place in &part.places {
            off_from[place.start] += part.lanes;
            off_from[place.end] -= part.lanes;
        }
    }
    for part in &skipped {
        for place in &part.places {
            sent_from[place.start] += part.sent;
            sent_from[place.end] -= part.sent;
        }
    }
    let (mut executed, mut missing, mut off, mut anew) = (0.0, 0.0, 0.0, 0.0);
    let (mut off_here, mut sent_here) = (0.0_f64, 0.0_f64);
    for (at, _) in listing.entries() {
        let runs = listing.executed(at);
        let absent = (WARP_LANES - lanes(listing, at)).clamp(0.0, WARP_LANES);
        off_here += off_from[at];
        sent_here += sent_from[at];
        executed += runs;
        missing += runs * absent;
        off += runs * off_here.clamp(0.0, absent);
        anew += runs * sent_here.clamp(0.0, absent);
    }
    if executed <= 0.0 || missing <= 0.0 {
        return Unfilled::default();
    }
    let most = skipped.iter().max_by(|a, b| a.missed.total_cmp(&b.missed));
    let decided_anew = most.filter(|_| 2.0 * anew > missing).and_then(|part| part.branch);
    Unfilled { lanes: off / executed, share: off / missing, decided_anew }
}

/// Code that lanes sit out.
struct Part {
    /// Its stretches of instructions.
    places: Vec<Range<usize>>,
    /// So many of an average warp do.
    sent: f64,
    /// And so many of these, whatever they are grouped with.
    lanes: f64,
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
    let mut parts = Vec::new();
    for (branch, entry) in listing.entries() {
        let (first, Exit::Branch(target)) = (branch + 1, entry.exit()) else { continue };
        let end = target.min(count);
        if end <= first || listing.executed(first) <= 0.0 {
            continue;
        }
        let entered = listing.executed(first);
        let sent = (lanes(listing, branch) - lanes(listing, first)).max(0.0);
        let missed = sent * (before[end] - before[first]);
        if missed <= 0.0 || !is_fresh(listing, reaching, branch) {
            continue;
        }
        let collecting = WARP_LANES * COLLECTING.value * entered;
        let lanes = sent * (collecting / missed).min(1.0);
        let places = std::iter::once(first..end).collect();
        parts.push(Part { places, sent, lanes, branch: Some(branch), missed });
    }
    parts
}

/// True where what the innermost loop around a branch loads in the same turn takes part in its condition.
fn is_fresh(listing: &Listing, reaching: &mut Reaching, branch: usize) -> bool {
    let sass = listing.sass;
    let Some(around) = sass.flow.innermost(branch) else { return false };
    let around = &sass.flow.loops[around];
    let mut seen = Marks::new(sass.entries.len());
    let mut open = vec![branch];
    while let Some(at) = open.pop() {
        if sass.entries[at].family.is_memory() {
            return true;
        }
        for each in sass.uses(at).iter().filter(|each| each.role != Role::Old) {
            let made = reaching.definitions(at, *each).map(|made| made as usize);
            open.extend(made.filter(|&made| sass.flow.is_in(around, made) && seen.insert(made)));
        }
    }
    false
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
        parts.push(Part { places, sent, lanes, branch: None, missed: sent * own });
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
mod tests {
    use super::*;
    use crate::rules::testing::sass;

    /// What is not filled of code with so many executions and lanes per instruction.
    fn of(code: &[(&'static str, f64, f64)]) -> Unfilled {
        let counted: Vec<(&str, f64)> = code.iter().map(|(text, runs, _)| (*text, *runs)).collect();
        let mut launch = sass(&[], &counted);
        for (row, (_, _, lanes)) in launch.instructions.iter_mut().zip(code) {
            row.counters.thread_inst_executed = lanes * row.counters.inst_executed;
        }
        unfilled(&launch.listing().unwrap())
    }

    /// A loop that skips a part of so many instructions by what this makes.
    fn skipping(made: &'static str, skipped: usize) -> Unfilled {
        let end = format!("@P0 BRA {:#x}", 0x140 + 0x10 * skipped).leak();
        let mut code = vec![("MOV R0, RZ", 10.0, 32.0), (made, 100.0, 32.0)]; // the loop is at 0x110
        code.extend([("ISETP.GT.AND P0, PT, R4, R5, PT", 100.0, 32.0), (&*end, 100.0, 32.0)]);
        code.extend(vec![("FADD R1, R1, R2", 100.0, 16.0); skipped]);
        code.extend([("IADD3 R0, R0, 0x1, RZ", 100.0, 32.0), ("@P1 BRA 0x110", 100.0, 32.0)]);
        code.push(("EXIT", 10.0, 32.0));
        of(&code)
    }

    #[test]
    fn lanes_that_each_turn_sends_away_anew_stay_away() {
        let fresh = "LDG.E R4, desc[UR4][R2.64]";
        let short = skipping(fresh, 12);
        assert!((short.share - 1.0).abs() < 1e-12, "{short:?}");
        assert_eq!(short.decided_anew, Some(3));
        // Half the lanes of 12 instructions, of 1720 executed.
        assert!((short.lanes - 12.0 * 100.0 * 16.0 / 1720.0).abs() < 1e-12, "{short:?}");
        // Of 96 with half the lanes, 48 would go, for 24 more in each turn.
        let long = skipping(fresh, 96);
        assert!((long.share - 0.5).abs() < 1e-12 && long.decided_anew.is_some(), "{long:?}");
        assert_eq!(skipping("IADD3 R4, R0, R6, RZ", 12).decided_anew, None, "by the counter");
    }

    #[test]
    fn lanes_out_of_an_inner_loop_go_on_where_the_loop_around_has_little_besides() {
        let nested = |inner: &'static str, besides: usize| {
            let mut code = vec![
                ("MOV R3, RZ", 10.0, 32.0),
                ("MOV R0, R3", 100.0, 32.0), // 0x110
                (inner, 400.0, 16.0),        // 0x120
                ("IADD3 R2, R2, 0x1, RZ", 400.0, 16.0),
                ("IADD3 R5, R5, 0x1, RZ", 400.0, 16.0),
                ("@P0 BRA 0x120", 400.0, 16.0),
            ];
            code.extend(vec![("FADD R8, R8, R9", 100.0, 32.0); besides]);
            code.extend([("@P1 BRA 0x110", 100.0, 32.0), ("EXIT", 10.0, 32.0)]);
            of(&code)
        };
        let serial = "FMUL R0, R0, R4";
        // Half of 400 turns are enough, which spares 800 instructions; two besides come 100 times more often.
        let short = nested(serial, 0);
        assert!((short.share - 0.25).abs() < 1e-12, "{short:?}");
        assert_eq!(short.decided_anew, None);
        assert!((nested(serial, 6).share - 1.0).abs() < 1e-12);
        assert_eq!(nested("FADD R0, R0, R4", 6).share.to_bits(), 0, "a sum may be shared out");
    }
}
