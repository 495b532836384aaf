//! Loops in which a warp does nothing but read one address until another block has written it.

use crate::sass::code::blocks::{Exit, Loop};
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;

/// A loop that waits for another block.
#[derive(Debug, Clone, PartialEq)]
pub struct SpinLoop {
    /// Its instructions.
    pub inside: Vec<usize>,
    /// The loads of what it waits for.
    pub flags: Vec<usize>,
    /// What follows on its branches back, each with the share of the samples there that the branch made: the profiler
    /// charges a branch that is on its way to the instruction behind it.
    pub behind: Vec<(usize, f64)>,
    /// Where the warps of the block that do not spin wait for those that do: the first barrier after the loop, and what stands
    /// behind it up to the next. Empty where the barrier is in the loop.
    pub met_at: Vec<usize>,
    /// Warps that enter the loop; `None` where it is not counted.
    pub warps: Option<f64>,
}

/// The executed loops that wait for another block.
#[must_use]
pub fn spin_loops(listing: &Listing) -> Vec<SpinLoop> {
    let sass = listing.sass;
    if !sass.entries.iter().enumerate().any(|(at, _)| is_flag(listing, at)) {
        return Vec::new();
    }
    let mut reaching = Reaching::new(sass);
    let all = &sass.flow.loops;
    let is_inner = |each: &Loop| !all.iter().any(|other| other != each && encloses(each, other));
    all.iter()
        .filter(|each| is_inner(each) && !is_for_lock(listing, each))
        .filter_map(|each| spin_loop(listing, &mut reaching, each))
        .collect()
}

fn encloses(outer: &Loop, inner: &Loop) -> bool {
    inner.lies_in(outer)
}

/// True where the loop, or one around it, tries a compare-and-swap: whoever comes first goes on, which is a lock and no
/// order of blocks.
fn is_for_lock(listing: &Listing, each: &Loop) -> bool {
    let sass = listing.sass;
    let around = sass.flow.loops.iter().filter(|outer| encloses(outer, each));
    around.flat_map(|outer| &outer.blocks).any(|&block| {
        let block = &sass.flow.blocks[block as usize];
        (block.start..block.end).any(|at| {
            matches!(sass.entries[at].family, Family::Atomic(_))
                && listing.text(at).contains(".CAS")
        })
    })
}

fn spin_loop(listing: &Listing, reaching: &mut Reaching, each: &Loop) -> Option<SpinLoop> {
    let sass = listing.sass;
    let count = sass.entries.len();
    let is_inside = Marks::of(count, |at| sass.flow.is_in(each, at));
    if listing.executed(each.head) <= 0.0 || is_inside.iter().any(|at| is_work(listing, at)) {
        return None;
    }
    let flags: Vec<usize> = is_inside
        .iter()
        .filter(|&at| is_flag(listing, at) && stays(listing, reaching, &is_inside, at))
        .collect();
    if flags.is_empty() || !leaves_by(listing, reaching, &is_inside, &flags) {
        return None;
    }
    let leaves = |at: usize| match sass.entries[at].exit() {
        Exit::Branch(target) => [Some(at + 1), Some(target)],
        Exit::Jump(target) => [Some(target), None],
        _ => [None, None],
    };
    let mut behind = Vec::new();
    let mut after = Vec::new();
    for &block in &each.blocks {
        let last = sass.flow.blocks[block as usize].end - 1;
        let outside = |&to: &usize| to < count && !is_inside[to];
        after.extend(leaves(last).into_iter().flatten().filter(outside));
        let next = last + 1;
        if next < count && !is_inside[next] && listing.executed(last) > 0.0 {
            let left = listing.executed(next) / listing.executed(last);
            behind.push((next, (1.0 - left).max(0.0)));
        }
    }
    let has_barrier = is_inside.iter().any(|at| listing.is_block_barrier(at));
    let met_at = if has_barrier { Vec::new() } else { behind_barrier(listing, &after) };
    Some(SpinLoop {
        inside: is_inside.iter().collect(),
        flags,
        behind,
        met_at,
        warps: entering(listing, &is_inside, each.head),
    })
}

/// True for a load that other blocks' writes are seen by, and for an atomic that adds nothing.
pub(super) fn is_flag(listing: &Listing, at: usize) -> bool {
    let text = listing.text(at);
    match listing.sass.entries[at].family {
        Family::Load(Space::Global | Space::Generic) => text.contains(".STRONG."),
        Family::Atomic(Space::Global | Space::Generic) => {
            [".ADD.", ".OR.", ".XOR."].iter().any(|name| text.contains(name))
                && text.trim_end_matches([';', ' ']).ends_with(", RZ")
        }
        _ => false,
    }
}

/// True for what a loop that only waits does not do. Shared memory may pass the flag on to the block's other warps.
fn is_work(listing: &Listing, at: usize) -> bool {
    let family = listing.sass.entries[at].family;
    let is_harmless = matches!(
        family,
        Family::Load(_) | Family::Store(Space::Shared) | Family::Constant | Family::Fence
    );
    (family.is_memory() && !is_harmless && !is_flag(listing, at))
        || family.is_float()
        || listing.sass.entries[at].callee().is_some()
}

/// True where nothing that a loop changes is in the address of a load. Instructions of the loop may copy it together anew in
/// each turn.
fn stays(listing: &Listing, reaching: &mut Reaching, is_inside: &Marks, load: usize) -> bool {
    let sass = listing.sass;
    let mut seen = Marks::new(sass.entries.len());
    let mut open: Vec<usize> = Vec::new();
    let addresses = sass.uses(load).iter().filter(|each| each.role == Role::Address);
    for each in addresses {
        open.extend(reaching.definitions(load, *each).map(|by| by as usize));
    }
    while let Some(at) = open.pop() {
        if !is_inside[at] || !seen.insert(at) {
            continue;
        }
        let family = sass.entries[at].family;
        if family.is_memory() || matches!(family, Family::Shuffle | Family::Vote) {
            return false;
        }
        for each in sass.uses(at) {
            for by in reaching.definitions(at, *each).map(|by| by as usize) {
                // What a turn makes of the turn before changes.
                if is_inside[by] && by >= at {
                    return false;
                }
                open.push(by);
            }
        }
    }
    true
}

/// True where branches that leave the loop are decided by what was loaded, which may go through shared memory.
fn leaves_by(
    listing: &Listing,
    reaching: &mut Reaching,
    is_inside: &Marks,
    flags: &[usize],
) -> bool {
    let sass = listing.sass;
    let mut of_flag = Marks::of(sass.entries.len(), |at| flags.binary_search(&at).is_ok());
    let is_in_shared = |by: usize| sass.entries[by].family == Family::Store(Space::Shared);
    of_flag.spread(is_inside, |at, of_flag| {
        let reads_shared = sass.entries[at].family == Family::Load(Space::Shared)
            && of_flag.iter().any(is_in_shared);
        let mut uses = sass.uses(at).iter().filter(|each| each.role != Role::Address);
        reads_shared
            || uses.any(|each| reaching.definitions(at, *each).any(|by| of_flag[by as usize]))
    });
    let goes_out = |at: usize| match sass.entries[at].exit() {
        Exit::Branch(target) => !is_inside[target] || !is_inside[at + 1],
        _ => false,
    };
    is_inside.iter().any(|at| at + 1 < sass.entries.len() && of_flag[at] && goes_out(at))
}

/// The first barrier on each way from some places, with what follows it up to the next: a wait is sampled where its end is
/// needed.
fn behind_barrier(listing: &Listing, from: &[usize]) -> Vec<usize> {
    let sass = listing.sass;
    let mut seen = Marks::new(sass.entries.len());
    let mut open = from.to_vec();
    let mut found = Vec::new();
    while let Some(start) = open.pop() {
        let end = sass.flow.blocks[sass.flow.block_of[start] as usize].end;
        if !seen.insert(start) {
            continue;
        }
        if let Some(barrier) = (start..end).find(|&at| listing.is_block_barrier(at)) {
            found.extend(listing.waits_of_barrier(barrier));
            continue;
        }
        match sass.entries[end - 1].exit() {
            Exit::Branch(target) => open.extend([target, end]),
            Exit::Jump(target) => open.push(target),
            Exit::Next | Exit::MaybeEnd => open.push(end),
            Exit::End => {}
        }
        open.retain(|&at| at < sass.entries.len());
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Warps that come to a loop's head from outside; `None` where a branch of which it is not counted leads there.
fn entering(listing: &Listing, is_inside: &Marks, head: usize) -> Option<f64> {
    let flow = &listing.sass.flow;
    let before = &flow.blocks[flow.block_of[head] as usize].before;
    let last = before.iter().map(|&block| flow.blocks[block as usize].end - 1);
    let mut warps = 0.0;
    for at in last.filter(|&at| !is_inside[at]) {
        match listing.sass.entries[at].exit() {
            Exit::Next | Exit::Jump(_) => warps += listing.executed(at),
            _ => return None,
        }
    }
    (warps > 0.0).then_some(warps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn found(load: &str, step: &str, test: &str, back: &str) -> Vec<SpinLoop> {
        let launch = launch(&[
            ("IMAD.WIDE.U32 R4, R7, 0x4, R4", 8.0),
            (load, 800.0), // 0x110: head
            (step, 800.0),
            (test, 800.0),
            (back, 800.0),
            ("CCTL.IVALL", 8.0),
            ("BAR.SYNC.DEFER_BLOCKING 0x0", 64.0), // 6
            ("LDS R5, [UR4]", 64.0),
            ("BAR.SYNC.DEFER_BLOCKING 0x0", 64.0),
            ("EXIT", 64.0),
        ]);
        spin_loops(&launch.listing().unwrap())
    }

    const LOAD: &str = "LDG.E.STRONG.GPU R0, desc[UR6][R4.64]";
    const TEST: &str = "ISETP.NE.AND P0, PT, R0, RZ, PT";
    const BACK: &str = "@!P0 BRA 0x110";

    #[test]
    fn a_loop_that_reads_one_flag_spins() {
        let found = found(LOAD, "YIELD", TEST, BACK);
        let expected = SpinLoop {
            inside: vec![1, 2, 3, 4],
            flags: vec![1],
            behind: vec![(5, 0.99)],
            met_at: vec![6, 7],
            warps: Some(8.0),
        };
        assert_eq!(found, [expected]);
    }

    #[test]
    fn an_atomic_that_adds_nothing_reads() {
        let of = |load| found(load, "YIELD", TEST, BACK).len();
        assert_eq!(of("ATOMG.E.ADD.STRONG.GPU PT, R0, desc[UR6][R4.64], RZ"), 1);
        assert_eq!(of("ATOMG.E.ADD.STRONG.GPU PT, R0, desc[UR6][R4.64], R9"), 0, "takes a number");
        assert_eq!(of("ATOMG.E.EXCH.STRONG.GPU PT, R0, desc[UR6][R4.64], R9"), 0, "a lock");
        assert_eq!(of("ATOMG.E.CAS.STRONG.GPU PT, R0, [R4], R8, R9"), 0, "a lock");
        assert_eq!(of("LDG.E R0, desc[UR6][R4.64]"), 0, "never sees another block's write");
    }

    #[test]
    fn a_loop_that_goes_on_works_or_leaves_by_something_else_is_none() {
        let of = |step, test| found(LOAD, step, test, BACK).len();
        assert_eq!(of("YIELD", TEST), 1);
        assert_eq!(of("IADD3 R4, P1, R4, 0x4, RZ", TEST), 0, "the next address");
        assert_eq!(of("MOV R4, R0", TEST), 0, "a list");
        assert_eq!(of("STG.E desc[UR6][R8.64], R0", TEST), 0, "work");
        assert_eq!(of("FADD R9, R9, R0", TEST), 0, "work");
        assert_eq!(of("IADD3 R3, R3, 0x1, RZ", "ISETP.NE.AND P0, PT, R3, 0x10, PT"), 0, "counted");
    }

    #[test]
    fn a_flag_goes_to_the_block_through_shared_memory() {
        let launch = launch(&[
            ("BAR.SYNC.DEFER_BLOCKING 0x0", 400.0), // 0x100: head
            ("@!P0 BRA 0x150", 400.0),
            ("IMAD.U32 R2, RZ, RZ, UR4", 100.0),
            ("IMAD.U32 R3, RZ, RZ, UR5", 100.0),
            (LOAD_FROM_COPY, 100.0),
            ("@P0 STS [UR8], R0", 400.0), // 0x150
            ("BAR.SYNC.DEFER_BLOCKING 0x0", 400.0),
            ("LDS R9, [UR8]", 400.0),
            ("ISETP.NE.U32.AND P1, PT, R9, RZ, PT", 400.0),
            ("@!P1 BRA P2, 0x100", 400.0),
            ("EXIT", 4.0),
        ]);
        let found = spin_loops(&launch.listing().unwrap());
        assert_eq!(found.len(), 1);
        assert!(found[0].met_at.is_empty(), "the barriers are in the loop");
    }

    const LOAD_FROM_COPY: &str = "LDG.E.STRONG.GPU R0, desc[UR12][R2.64]";

    #[test]
    fn reading_before_a_compare_and_swap_is_for_a_lock() {
        let code = |swap: &'static str| {
            launch(&[
                (LOAD, 800.0), // 0x100: heads of both
                (TEST, 800.0),
                ("@P0 BRA 0x100", 800.0),
                ("NOP", 90.0),
                (swap, 90.0),
                ("ISETP.NE.AND P0, PT, R1, RZ, PT", 90.0),
                ("@P0 BRA 0xf0", 90.0),
                ("EXIT", 8.0),
            ])
        };
        let of = |swap| {
            let mut code = code(swap);
            // An instruction in front, at 0xf0, begins the outer loop.
            let mut first = code.instructions[3].clone();
            first.address = Some(0xf0);
            code.instructions.push(first);
            spin_loops(&code.listing().unwrap()).len()
        };
        assert_eq!(of("ATOMG.E.CAS.STRONG.GPU PT, R1, [R4], R8, R9"), 0);
        assert_eq!(
            of("ATOMG.E.EXCH.STRONG.GPU PT, R1, desc[UR6][R8.64], R9"),
            1,
            "a tile's own flag"
        );
    }
}
