//! Loops in which each thread compares all entries of a list with an index of its own, to count those that are equal, to add up
//! what belongs to them, or to learn whether there is one.
//!
//! Such a loop loads entries that are the same for all threads, compares each for equality with a value that stays, differs from
//! thread to thread, and makes nothing of the outcomes but counts and flags, or sums of what the few that are equal stand for.
//! Going through the list once, with a thread per entry that goes to the entry's own place, finds the same.

mod outcomes;

use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::flow::turns::turns;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::questions::alike::of_threads_own;
use crate::sass::questions::lanes::addresses;
use crate::sass::questions::matrix_loops::members;
use outcomes::Outcomes;

/// A loop of such comparisons.
#[derive(Debug, Clone, PartialEq)]
pub struct Matches {
    /// The comparisons for equality, ascending.
    pub compares: Vec<usize>,
    /// The instructions that are there for them: the loads of entries, what takes entries apart, the comparisons, and what
    /// counts or keeps their outcomes or adds up what belongs to those that are equal. Ascending.
    pub inside: Vec<usize>,
    /// The comparisons that a warp makes on its way through the loop, on average.
    pub entries: f64,
    /// Where something is added up for entries that are equal: the share of the comparing lanes that find theirs.
    pub matched: Option<f64>,
}

/// The loops that look for matches so, in a kernel of blocks and a grid of these shapes.
#[must_use]
pub fn matches(listing: &Listing, block: [u32; 3], grid: [u32; 3]) -> Vec<Matches> {
    let sass = listing.sass;
    let is_equality = |at: usize| {
        listing.executed(at) > 0.0
            && sass.flow.innermost(at).is_some()
            && is_equality(listing.text(at))
    };
    let candidates = Marks::of(sass.entries.len(), is_equality);
    // Most kernels ask for nothing equal in a loop.
    if candidates.are_none() {
        return Vec::new();
    }
    let (own, of_data) = (of_threads_own(listing), made_of_data(listing));
    let loops = 0..sass.flow.loops.len();
    loops
        .filter_map(|of| in_loop(listing, of, &candidates, (&own, &of_data), (block, grid)))
        .collect()
}

fn in_loop(
    listing: &Listing,
    of: usize,
    candidates: &Marks,
    (own, of_data): (&Marks, &Marks),
    (block, grid): ([u32; 3], [u32; 3]),
) -> Option<Matches> {
    let sass = listing.sass;
    let count = sass.entries.len();
    let all = members(listing, of);
    let within = Marks::of(count, |at| all.binary_search(&at).is_ok());
    let mut reaching = Reaching::new(sass);
    let mut asks = |at: usize| {
        let mut is_index = |each: &Use| {
            let by: Vec<usize> = reaching.definitions(at, *each).map(|by| by as usize).collect();
            !by.iter().any(|&by| within[by]) && by.iter().any(|&by| own[by] && !of_data[by])
        };
        sides(listing, at).iter().filter(|each| is_index(each)).count() == 1
    };
    let asked: Vec<usize> = (all.iter().copied())
        .filter(|&at| candidates[at] && sass.flow.innermost(at) == Some(of) && asks(at))
        .collect();
    if asked.is_empty() {
        return None;
    }
    let mut loads = Marks::new(count);
    for &at in &all {
        let is_entry = is_entry_load(listing, at, own, (block, grid));
        if is_entry && changes(listing, &mut reaching, at, &all, &within) {
            loads.insert(at);
        }
    }
    let of_entries = of_entries(listing, &mut reaching, &all, &within, &loads);
    let mut compares = Marks::new(count);
    for at in asked {
        // The other side is an entry.
        let mut is_entry = |each: &Use| {
            let by: Vec<usize> = reaching.definitions(at, *each).map(|by| by as usize).collect();
            by.iter().any(|&by| within[by]) && by.iter().all(|&by| of_entries[by])
        };
        if sides(listing, at).iter().filter(|each| is_entry(each)).count() == 1 {
            compares.insert(at);
        }
    }
    // What is there for these comparisons alone, up to the loads.
    let mut entries = Marks::new(count);
    let mut open: Vec<usize> = compares.iter().collect();
    while let Some(at) = open.pop() {
        for each in sass.uses(at) {
            let by = reaching.definitions(at, *each).map(|by| by as usize);
            let by: Vec<usize> = by.filter(|&by| of_entries[by]).collect();
            for by in by {
                if entries.insert(by) && !loads[by] {
                    open.push(by);
                }
            }
        }
    }
    let outcomes = Outcomes::find(listing, &mut reaching, &all, &within, &compares)?;
    let is_part = |at: usize| entries[at] || compares[at] || outcomes.are_kept[at];
    // With fewer turns, what only counts them and moves addresses on goes as well.
    let counts = |at: usize| {
        matches!(
            sass.entries[at].family,
            Family::Integer
                | Family::IntegerMultiply
                | Family::Move
                | Family::Uniform
                | Family::Control
        )
    };
    let does_no_more = all.iter().all(|&at| is_part(at) || counts(at));
    let inside = all.into_iter().filter(|&at| does_no_more || is_part(at));
    let inside: Vec<usize> = inside.filter(|&at| listing.executed(at) > 0.0).collect();
    let compares: Vec<usize> = compares.iter().collect();
    let each = &sass.flow.loops[of];
    let entered = listing.executed(each.head) / turns(listing, each).max(1.0);
    let all_asked: f64 = compares.iter().map(|&at| listing.executed(at)).sum();
    let entries = all_asked / entered.max(f64::MIN_POSITIVE);
    let matched = outcomes.matched;
    (!compares.is_empty()).then_some(Matches { compares, inside, entries, matched })
}

/// True for a comparison of integers that asks whether two values are equal. Of 64 bits the lower ones count, the upper ones
/// go by their outcome.
fn is_equality(text: &str) -> bool {
    ["ISETP.EQ", "ISETP.NE"].iter().any(|base| text.contains(base)) && !text.contains(".EX")
}

/// The registers that a comparison holds against each other.
fn sides(listing: &Listing, compare: usize) -> Vec<Use> {
    let sides = listing.sass.uses(compare).iter();
    sides.filter(|each| each.role == Role::Data && each.slot.is_general()).copied().collect()
}

/// True for a load that gives all lanes of a warp the same entry.
fn is_entry_load(
    listing: &Listing,
    at: usize,
    own: &Marks,
    (block, grid): ([u32; 3], [u32; 3]),
) -> bool {
    match listing.sass.entries[at].family {
        Family::Load(Space::Global) | Family::Constant => !own[at],
        Family::Load(Space::Shared) => addresses(listing, at, block, grid)
            .is_some_and(|lanes| lanes.bytes.iter().all(|&byte| byte == lanes.bytes[0])),
        _ => false,
    }
}

/// True where a load brings another entry in each turn: its address moves on, or the loop fills shared memory anew.
fn changes(
    listing: &Listing,
    reaching: &mut Reaching,
    load: usize,
    all: &[usize],
    within: &Marks,
) -> bool {
    let sass = listing.sass;
    let mut address = sass.uses(load).iter().filter(|each| each.role == Role::Address);
    let moves_on =
        address.any(|each| reaching.definitions(load, *each).any(|by| within[by as usize]));
    let is_shared = sass.entries[load].family == Family::Load(Space::Shared);
    moves_on
        || is_shared
            && all.iter().any(|&at| sass.entries[at].family == Family::Store(Space::Shared))
}

/// The loads of entries, and what takes these apart within the same turn.
pub(super) fn of_entries(
    listing: &Listing,
    reaching: &mut Reaching,
    all: &[usize],
    within: &Marks,
    loads: &Marks,
) -> Marks {
    let sass = listing.sass;
    let mut found = loads.clone();
    for &at in all {
        let takes_apart = matches!(
            sass.entries[at].family,
            Family::Integer | Family::IntegerMultiply | Family::Move | Family::Uniform
        );
        // A comparison says something about the entry.
        if !takes_apart || sass.defs(at).iter().all(|slot| slot.is_predicate()) {
            continue;
        }
        let (mut of_entry, mut of_others) = (false, false);
        for each in sass.uses(at) {
            for by in reaching.definitions(at, *each).map(|by| by as usize) {
                of_entry |= found[by];
                of_others |= within[by] && !found[by];
            }
        }
        if of_entry && !of_others {
            found.insert(at);
        }
    }
    found
}

/// What memory takes part in, over any number of steps.
fn made_of_data(listing: &Listing) -> Marks {
    let sass = listing.sass;
    let count = sass.entries.len();
    let mut found = Marks::of(count, |at| {
        let family = sass.entries[at].family;
        family.is_memory() && family != Family::Constant
    });
    let mut reaching = Reaching::new(sass);
    let all = Marks::of(count, |_| true);
    found.spread(&all, |at, found| {
        let mut data = sass.uses(at).iter().filter(|each| each.role == Role::Data);
        data.any(|each| reaching.definitions(at, *each).any(|by| found[by as usize]))
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;
    use crate::sass::code::listing::tests::launch;

    fn code(changes: &[(usize, &'static str)]) -> Launch {
        let mut code = vec![
            ("S2R R15, SR_TID.X", 10.0),
            ("LDC.64 R4, c[0x0][0x210]", 10.0),
            ("LDG.E R0, desc[UR6][R4.64]", 500.0),
            ("MOV R20, RZ", 500.0),
            ("ISETP.NE.AND P0, PT, R0, R15, PT", 500.0),
            ("@!P0 IADD3 R6, R6, 0x1, RZ", 500.0),
            ("IADD3 R4, R4, 0x4, RZ", 500.0),
            ("ISETP.GE.AND P1, PT, R4, c[0x0][0x218], PT", 500.0),
            ("@!P1 BRA 0x120", 500.0),
            ("STG.E desc[UR6][R8.64], R6", 10.0),
            ("EXIT", 10.0),
        ];
        for &(at, text) in changes {
            code[at].0 = text;
        }
        launch(&code)
    }

    fn of(changes: &[(usize, &'static str)]) -> Vec<Matches> {
        matches(&code(changes).listing().unwrap(), [128, 1, 1], [4, 1, 1])
    }

    #[test]
    fn entries_held_against_each_thread_s_index_are_matches() {
        let inside = (2..9).collect();
        let expected = Matches { compares: vec![4], inside, entries: 50.0, matched: None };
        assert_eq!(of(&[]), [expected], "the loop does nothing else");
        let beside = of(&[(3, "FADD R8, R8, R8")]);
        assert_eq!(beside[0].inside, [2, 4, 5], "it does");
        let shifted = of(&[(3, "SHF.R.U32.HI R0, RZ, 0x2, R0")]);
        assert_eq!(shifted[0].compares, [4], "an entry that is taken apart");
        let flag = of(&[(4, "ISETP.EQ.OR P0, PT, R0, R15, P0"), (5, "FADD R8, R8, R8")]);
        assert_eq!(flag[0].inside, [2, 4]);
        let summed = of(&[(3, "SHFL.BFLY PT, R8, R6, 0x10, 0x1f")]);
        assert_eq!(summed[0].compares, [4], "lanes add up");
    }

    /// A loop that adds up what belongs to matches, which so many of 16,000 comparing lanes find.
    fn sum(lanes: f64, changes: &[(usize, &'static str)]) -> Option<f64> {
        let body = [
            (3, "ISETP.NE.AND P0, PT, R0, R15, PT"),
            (4, "@!P0 LDG.E R9, desc[UR6][R10.64]"),
            (5, "@!P0 FADD R6, R6, R9"),
        ];
        let mut launch = code(&[&body, changes].concat());
        for row in &mut launch.instructions {
            row.counters.thread_inst_executed = 16000.0;
            row.counters.thread_inst_executed_pred_on = 16000.0;
        }
        for at in [4, 5] {
            launch.instructions[at].counters.thread_inst_executed_pred_on = lanes;
        }
        matches(&launch.listing().unwrap(), [128, 1, 1], [4, 1, 1]).first()?.matched
    }

    #[test]
    fn sums_count_where_fewer_than_one_lane_per_warp_adds() {
        assert_eq!(sum(160.0, &[]), Some(0.01));
        assert_eq!(sum(500.0, &[]), None, "a lane per warp");
        assert_eq!(sum(160.0, &[(4, "@P0 BRA 0x160")]), Some(0.01), "passed by");
        assert_eq!(sum(160.0, &[(5, "FADD R6, R6, R9")]), None, "for all entries");
        assert_eq!(sum(160.0, &[(5, "@!P0 BAR.SYNC 0x0")]), None, "no sum");
    }

    #[test]
    fn what_else_is_made_of_a_match_is_another_kernel() {
        let none =
            |changes: &[(usize, &'static str)]| assert!(of(changes).is_empty(), "{changes:?}");
        none(&[(4, "ISETP.GT.AND P0, PT, R0, R15, PT")]);
        none(&[(5, "@!P0 FADD R6, R6, R7")]);
        none(&[(5, "@!P0 STG.E desc[UR6][R10.64], R0")]);
        none(&[(0, "MOV R15, c[0x0][0x170]")]);
        none(&[(3, "IMAD.MOV.U32 R15, RZ, RZ, R0")]);
        none(&[(2, "LDG.E R0, desc[UR6][R10.64]")]);
        none(&[(2, "LDC R0, c[0x0][0x210]")]);
        // What a branch passes by is done for those that are equal.
        none(&[(5, "@P0 BRA 0x170")]);
        none(&[(3, "FADD R0, R0, R0")]);
        // Entries of each lane's own, and an index that moves on.
        none(&[(1, "IMAD R4, R15, 0x4, R5")]);
        none(&[(3, "IADD3 R15, R15, 0x20, RZ")]);
    }

    #[test]
    fn entries_in_shared_memory_are_told_by_their_addresses() {
        let shared = |address: &'static str| {
            of(&[(2, address), (3, "STS [R8], R9"), (7, "ISETP.GE.AND P1, PT, R0, RZ, PT")]).len()
        };
        assert_eq!(shared("LDS R0, [UR4+0x10]"), 0, "an address that is not known");
        assert_eq!(shared("LDS R0, [0x10]"), 1);
    }
}
