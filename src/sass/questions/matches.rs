//! Loops in which each thread holds all entries of a list against an index of its own, to count those that are equal or to learn
//! whether there is one.
//!
//! Such a loop loads entries that are the same for all threads, compares each for equality with a value that stays, differs from
//! thread to thread, and makes nothing of the outcomes but counts and flags. Going through the list once, with a thread per entry
//! that marks the entry's own place, finds the same.

use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::questions::alike::of_threads_own;
use crate::sass::questions::lanes::addresses;
use crate::sass::questions::matrix_loops::members;

/// A loop of such comparisons.
#[derive(Debug, Clone, PartialEq)]
pub struct Matches {
    /// The comparisons for equality, ascending.
    pub compares: Vec<usize>,
    /// The instructions that are there for them: the loads of entries, what takes entries apart, the comparisons, and what
    /// counts or keeps their outcomes. Ascending.
    pub inside: Vec<usize>,
}

/// The loops that look for matches so, in a kernel of blocks and a grid of these shapes.
#[must_use]
pub fn matches(listing: &Listing, block: [u32; 3], grid: [u32; 3]) -> Vec<Matches> {
    let sass = listing.sass;
    let is_equality = |at: usize| is_equality(listing.text(at)) && listing.executed(at) > 0.0;
    let candidates = Marks::of(sass.entries.len(), is_equality);
    // Most kernels hold nothing for equality in a loop.
    if !candidates.iter().any(|at| sass.flow.innermost(at).is_some()) {
        return Vec::new();
    }
    let own = of_threads_own(listing);
    let loops = 0..sass.flow.loops.len();
    loops.filter_map(|of| in_loop(listing, of, &candidates, &own, (block, grid))).collect()
}

fn in_loop(
    listing: &Listing,
    of: usize,
    candidates: &Marks,
    own: &Marks,
    (block, grid): ([u32; 3], [u32; 3]),
) -> Option<Matches> {
    let sass = listing.sass;
    let count = sass.entries.len();
    let all = members(listing, of);
    if !all.iter().any(|&at| candidates[at]) {
        return None;
    }
    let within = Marks::of(count, |at| all.binary_search(&at).is_ok());
    let mut reaching = Reaching::new(sass);
    let mut uniform = Marks::new(count);
    for &at in &all {
        if is_entry_load(listing, at, block, grid) {
            uniform.insert(at);
        }
    }
    // What entries are made of, up to their loads.
    let mut entries = Marks::new(count);
    let mut compares = Marks::new(count);
    for &at in all.iter().filter(|&&at| candidates[at]) {
        let mut made = Marks::new(count);
        let (mut indices, mut loaded) = (0, 0);
        for each in sides(listing, at) {
            let by: Vec<usize> = reaching.definitions(at, each).map(|by| by as usize).collect();
            let of_entry = &mut Marks::new(count);
            if comes_from(listing, &mut reaching, &by, &within, &uniform, of_entry) {
                loaded += 1;
                of_entry.iter().for_each(|at| _ = made.insert(at));
            } else if by.iter().any(|&by| own[by]) && !is_of_data(listing, &mut reaching, &by) {
                indices += 1;
            }
        }
        if (indices, loaded) == (1, 1) {
            compares.insert(at);
            made.iter().for_each(|at| _ = entries.insert(at));
        }
    }
    let outcomes = outcomes(listing, &mut reaching, &all, &within, &compares)?;
    let is_part = |at: usize| entries[at] || compares[at] || outcomes[at];
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
    (!compares.is_empty()).then_some(Matches { compares, inside })
}

/// True for a comparison of integers that asks whether two values are equal.
fn is_equality(text: &str) -> bool {
    ["ISETP.EQ", "ISETP.NE"].iter().any(|base| text.contains(base))
}

/// The registers that a comparison holds against each other.
fn sides(listing: &Listing, compare: usize) -> Vec<Use> {
    let sides = listing.sass.uses(compare).iter();
    sides.filter(|each| each.role == Role::Data && each.slot.is_general()).copied().collect()
}

/// True for a load that gives all lanes of a warp the same entry, or the same few beside each other.
fn is_entry_load(listing: &Listing, at: usize, block: [u32; 3], grid: [u32; 3]) -> bool {
    let entry = &listing.sass.entries[at];
    let executed = listing.executed(at);
    match entry.family {
        Family::Load(Space::Global) => {
            let sectors = listing.row(at).counters.l2_sectors_global;
            executed > 0.0 && entry.width > 0 && sectors > 0.0 && sectors <= executed
        }
        Family::Load(Space::Shared) => addresses(listing, at, block, grid)
            .is_some_and(|lanes| lanes.bytes.iter().all(|&byte| byte == lanes.bytes[0])),
        Family::Constant => true,
        _ => false,
    }
}

/// True where values come from loads of entries alone, and what takes these apart; adds what they are made of in the loop.
fn comes_from(
    listing: &Listing,
    reaching: &mut Reaching,
    from: &[usize],
    within: &Marks,
    uniform: &Marks,
    made: &mut Marks,
) -> bool {
    let sass = listing.sass;
    let mut open: Vec<usize> = from.to_vec();
    let mut loads = false;
    while let Some(at) = open.pop() {
        if !within[at] || !made.insert(at) {
            continue;
        }
        if uniform[at] {
            loads = true;
            continue;
        }
        let takes_apart = matches!(
            sass.entries[at].family,
            Family::Integer | Family::IntegerMultiply | Family::Move | Family::Uniform
        );
        if !takes_apart {
            return false;
        }
        for each in sass.uses(at) {
            open.extend(reaching.definitions(at, *each).map(|by| by as usize));
        }
    }
    loads
}

/// True where memory takes part in what makes values, over any number of steps.
fn is_of_data(listing: &Listing, reaching: &mut Reaching, from: &[usize]) -> bool {
    let sass = listing.sass;
    let mut seen = Marks::new(sass.entries.len());
    let mut open: Vec<usize> = from.to_vec();
    while let Some(at) = open.pop() {
        let family = sass.entries[at].family;
        if family.is_memory() && family != Family::Constant {
            return true;
        }
        if seen.insert(at) {
            for each in sass.uses(at).iter().filter(|each| each.role == Role::Data) {
                open.extend(reaching.definitions(at, *each).map(|by| by as usize));
            }
        }
    }
    false
}

/// True where an instruction only hands on what some others made, and goes by it neither in its guard nor in its address.
fn passes_on(listing: &Listing, reaching: &mut Reaching, at: usize, others: &Marks) -> bool {
    let mut steers = listing.sass.uses(at).iter().filter(|each| each.role != Role::Data);
    !steers.any(|each| reaching.definitions(at, *each).any(|by| others[by as usize]))
}

/// What of a loop goes by the outcomes of comparisons: integers, flags, and branches. `None` where anything else does, such as
/// an access to memory or arithmetic on floats.
fn outcomes(
    listing: &Listing,
    reaching: &mut Reaching,
    all: &[usize],
    within: &Marks,
    compares: &Marks,
) -> Option<Marks> {
    let sass = listing.sass;
    let mut found = Marks::new(sass.entries.len());
    let among = within.clone();
    let mut of_these = compares.clone();
    of_these.spread(&among, |at, of_these| {
        sass.uses(at)
            .iter()
            .any(|each| reaching.definitions(at, *each).any(|by| of_these[by as usize]))
    });
    for &at in all.iter().filter(|&&at| of_these[at] && !compares[at]) {
        match sass.entries[at].family {
            Family::Integer | Family::IntegerMultiply | Family::Move => _ = found.insert(at),
            Family::Control | Family::Vote => {}
            // Lanes and warps add their counts up.
            Family::Shuffle | Family::Store(Space::Shared)
                if passes_on(listing, reaching, at, &of_these) => {}
            _ if listing.executed(at) <= 0.0 => {}
            _ => return None,
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;
    use crate::sass::code::listing::tests::launch;

    fn code(changes: &[(usize, &'static str)]) -> Launch {
        let mut code = vec![
            ("S2R R15, SR_TID.X", 10.0),
            ("MOV R6, RZ", 10.0),
            ("LDG.E R0, desc[UR6][R4.64]", 500.0),
            ("IADD3 R4, R4, 0x4, RZ", 500.0),
            ("ISETP.NE.AND P0, PT, R0, R15, PT", 500.0),
            ("@!P0 IADD3 R6, R6, 0x1, RZ", 500.0),
            ("ISETP.GE.AND P1, PT, R4, R9, PT", 500.0),
            ("@!P1 BRA 0x120", 500.0),
            ("STG.E desc[UR6][R8.64], R6", 10.0),
            ("EXIT", 10.0),
        ];
        for &(at, text) in changes {
            code[at].0 = text;
        }
        let mut launch = launch(&code);
        launch.instructions[2].counters.l2_sectors_global = 500.0;
        launch
    }

    fn of(changes: &[(usize, &'static str)]) -> Vec<Matches> {
        matches(&code(changes).listing().unwrap(), [128, 1, 1], [4, 1, 1])
    }

    #[test]
    fn entries_held_against_each_thread_s_index_are_matches() {
        let expected = Matches { compares: vec![4], inside: (2..8).collect() };
        assert_eq!(of(&[]), [expected], "the loop does nothing else");
        let beside = of(&[(3, "FADD R8, R8, R8")]);
        assert_eq!(beside[0].inside, [2, 4, 5], "it does");
        let shifted = of(&[(3, "SHF.R.U32.HI R0, RZ, 0x2, R0"), (6, "FADD R8, R8, R8")]);
        assert_eq!(shifted[0].inside, [2, 3, 4, 5], "an entry that is taken apart");
        let flag = of(&[(4, "ISETP.EQ.OR P0, PT, R0, R15, P0"), (5, "FADD R8, R8, R8")]);
        assert_eq!(flag[0].inside, [2, 4]);
        let summed = of(&[(3, "SHFL.BFLY PT, R8, R6, 0x10, 0x1f")]);
        assert_eq!(summed[0].compares, [4], "lanes add up");
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
        none(&[(3, "FADD R0, R0, R0")]);
        // Entries of each lane's own.
        let mut own = code(&[]);
        own.instructions[2].counters.l2_sectors_global = 2000.0;
        assert!(matches(&own.listing().unwrap(), [128, 1, 1], [4, 1, 1]).is_empty());
    }

    #[test]
    fn entries_in_shared_memory_are_told_by_their_addresses() {
        let shared = |address: &'static str| {
            of(&[(2, address), (3, "NOP"), (6, "ISETP.GE.AND P1, PT, R0, R9, PT")]).len()
        };
        assert_eq!(shared("LDS R0, [UR4+0x10]"), 0, "an address that is not known");
        assert_eq!(shared("LDS R0, [0x10]"), 1);
    }
}
