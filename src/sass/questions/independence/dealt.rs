//! Loops whose turns are dealt out already: among the threads of a block, or among blocks.
//!
//! Where a loop's counter starts at the index of a thread, a warp or a block and moves on by as much as their starts take up, each
//! of them has every so many-th turn. Whatever one of them keeps is then of its own turns only (a sum, a list of
//! the largest values, a maximum by which sums are scaled), and what combines it with what the others kept is there
//! already: more of them can take part.

mod combined;
mod offsets;

use crate::sass::code::blocks::{Exit, Loop};
use crate::sass::code::listing::Listing;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::{Instruction, Operand, OperandKind};
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::thresholds::MOST_FOLLOWED;
use combined::are_combined;
use offsets::{Offset, Offsets, Over};

/// How many blocks there are, and threads in each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shape {
    /// The threads of a block along each direction.
    pub block: [u32; 3],
    /// The blocks of the grid along each direction.
    pub grid: [u32; 3],
    /// Where in the first constant bank the block's shape begins, and where the grid's does, in bytes.
    pub constants_at: [u32; 2],
}

impl Shape {
    /// The shape of a launch on a device of this compute capability: up to Hopper its constants begin the bank, from Blackwell on
    /// they stand behind other numbers of the launch.
    #[must_use]
    pub fn new(block: [u32; 3], grid: [u32; 3], compute_capability: Option<(u32, u32)>) -> Self {
        let is_behind_others = compute_capability.is_some_and(|(major, _)| major >= 10);
        Self { block, grid, constants_at: if is_behind_others { [0x360, 0x370] } else { [0, 0xc] } }
    }
}

/// Among whom turns are dealt out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Among {
    /// The threads of a block, which combine what they kept after the loop.
    Threads,
    /// Blocks, whose results are combined after the kernel.
    Blocks,
}

/// Among whom a loop's turns are dealt out; `None` where nobody shares them, or where they hand something to each other on the way.
pub(super) fn dealt(
    listing: &Listing,
    reaching: &mut Reaching,
    of: &Loop,
    shape: Shape,
) -> Option<Among> {
    let does = |is: &dyn Fn(usize) -> bool| {
        listing.sass.flow.places(of).any(|at| listing.executed(at) > 0.0 && is(at))
    };
    let family = |at: usize| listing.sass.entries[at].family;
    // What a turn leaves in global memory another one may read, whoever has that.
    let writes = |at: usize| {
        matches!(
            family(at),
            Family::Store(Space::Global | Space::Generic)
                | Family::Atomic(Space::Global | Space::Generic)
                | Family::Reduction(_)
                | Family::Fence
        )
    };
    if does(&writes) {
        return None;
    }
    let counters = counters(listing, reaching, of, shape);
    let dealt_over = |over: Over| {
        let mut offsets = Offsets::new(listing, shape, over);
        counters.iter().find(|counter| counter.is_dealt(&mut offsets))
    };
    if let Some(counter) = dealt_over(Over::Threads) {
        let meets = |at: usize| {
            listing.is_block_barrier(at)
                || matches!(
                    family(at),
                    Family::Store(Space::Shared)
                        | Family::Atomic(Space::Shared)
                        | Family::AsyncCopy
                )
        };
        let exchanges = |at: usize| matches!(family(at), Family::Shuffle | Family::Vote);
        // Lanes may work on a turn together where their warp has it to itself.
        let is_of_warps = || counter.is_one_for(listing, shape, Over::Lanes);
        let apart = !does(&meets) && (!does(&exchanges) || is_of_warps());
        return (apart && are_combined(listing, reaching, of)).then_some(Among::Threads);
    }
    // The threads of a block may do anything together in a turn that their block has to itself.
    let counter = dealt_over(Over::Blocks)?;
    counter.is_one_for(listing, shape, Over::Threads).then_some(Among::Blocks)
}

/// A register that decides whether a loop ends and moves on by the same number in every turn.
struct Counter {
    /// What makes it before the loop.
    starts: Vec<usize>,
    /// By how much it moves on.
    step: u64,
}

impl Counter {
    /// True where the counters of all that take part start within a step, at the same distance from each other: together they
    /// have all turns, and none twice.
    fn is_dealt(&self, offsets: &mut Offsets) -> bool {
        let takes_up = |start: Offset| start.most.saturating_add(start.apart);
        let start = offsets.of_all(&self.starts).filter(|start| start.most > 0);
        start.is_some_and(|start| self.step.is_multiple_of(takes_up(start)))
    }

    /// True where it is the same for all of these.
    fn is_one_for(&self, listing: &Listing, shape: Shape, over: Over) -> bool {
        let start = Offsets::new(listing, shape, over).of_all(&self.starts);
        start.is_some_and(|start| start.most == 0)
    }
}

/// The counters by which a loop ends.
fn counters(listing: &Listing, reaching: &mut Reaching, of: &Loop, shape: Shape) -> Vec<Counter> {
    let sass = listing.sass;
    let contains = |at: &usize| sass.flow.is_in(of, *at);
    let branches = sass.flow.places(of).filter(|&at| {
        matches!(sass.entries[at].exit(), Exit::Branch(_) | Exit::MaybeEnd)
            && listing.executed(at) > 0.0
    });
    let mut compared: Vec<usize> = Vec::new();
    for branch in branches {
        let guards = sass.uses(branch).iter().filter(|each| each.role == Role::Guard);
        let conditions = guards.flat_map(|each| {
            reaching.definitions(branch, *each).map(|by| by as usize).collect::<Vec<_>>()
        });
        let conditions: Vec<usize> = conditions.filter(contains).collect();
        for condition in conditions {
            for each in sass.uses(condition).iter().filter(|each| each.role == Role::Data) {
                let made = reaching.definitions(condition, *each).map(|by| by as usize);
                compared.extend(made.filter(contains));
            }
        }
    }
    compared.sort_unstable();
    compared.dedup();
    let mut numbers = Offsets::new(listing, shape, Over::Threads);
    compared.iter().filter_map(|&at| counter(listing, reaching, of, &mut numbers, at)).collect()
}

/// The counter that an instruction moves on, perhaps with others before it in the same turn.
fn counter(
    listing: &Listing,
    reaching: &mut Reaching,
    of: &Loop,
    numbers: &mut Offsets,
    last: usize,
) -> Option<Counter> {
    let sass = listing.sass;
    let (mut at, mut step) = (last, 0_u64);
    for _ in 0..MOST_FOLLOWED.whole() {
        if sass.entries[at].conditional {
            return None;
        }
        let parsed = Instruction::parse(listing.text(at))?;
        let (moved, by) = moves_on(numbers, at, &parsed)?;
        step += u64::from(by);
        let slot = moved.slot()?;
        let each = sass.uses(at).iter().copied().find(|each| each.slot == slot)?;
        let made = reaching.definitions(at, each).map(|by| by as usize);
        let (inside, starts): (Vec<usize>, Vec<usize>) =
            made.partition(|&by| sass.flow.is_in(of, by));
        match inside[..] {
            [only] if only == last => return (step > 0).then_some(Counter { starts, step }),
            [only] if starts.is_empty() => at = only,
            _ => return None,
        }
    }
    None
}

/// The register to which an instruction adds a number, and the number.
fn moves_on<'a>(
    numbers: &mut Offsets,
    at: usize,
    parsed: &Instruction<'a>,
) -> Option<(Operand<'a>, u32)> {
    let values = parsed.operands.iter().filter(|each| each.kind != OperandKind::Predicate).skip(1);
    let values: Vec<Operand> = values.copied().collect();
    let mut number = |operand: &Operand| numbers.number(at, operand);
    let (terms, mut sum): (Vec<Operand>, u32) = match (parsed.base(), &values[..]) {
        (_, _) if ["X", "HI", "WIDE"].iter().any(|each| parsed.has(each)) => return None,
        ("MOV" | "UMOV", [value]) => return Some((*value, 0)),
        ("IADD3" | "UIADD3" | "IADD" | "VIADD", terms) => (terms.to_vec(), 0),
        ("IMAD" | "UIMAD", [one, other, added]) => match (number(one), number(other)) {
            (Some(one), Some(other)) => (vec![*added], one.wrapping_mul(other)),
            (None, Some(1)) => (vec![*one, *added], 0),
            _ => return None,
        },
        ("LEA" | "ULEA", [shifted, added, by]) => {
            (vec![*added], number(shifted)?.unbounded_shl(number(by)?))
        }
        _ => return None,
    };
    let mut moved = None;
    for term in terms {
        match number(&term) {
            Some(value) => sum = sum.wrapping_add(value),
            None if moved.is_none() && !term.text.starts_with('-') => moved = Some(term),
            None => return None,
        }
    }
    Some((moved?, sum))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;
    use crate::sass::questions::independence::{Results, What, shareable};

    const SHAPE: Shape = Shape { block: [256, 1, 1], grid: [4, 1, 32], constants_at: [0, 0xc] };

    /// What becomes of a loop of 40 turns whose counter is R3, with this before it, in it and behind it.
    fn of(before: &[&str], body: &[&str], behind: &[&str]) -> Option<Results> {
        let head = format!("@!P0 BRA {:#x}", 0x100 + 16 * before.len());
        let mut code: Vec<(&str, f64)> = before.iter().map(|text| (*text, 10.0)).collect();
        code.extend(body.iter().map(|text| (*text, 400.0)));
        code.extend([("ISETP.GE.AND P0, PT, R3, UR7, PT", 400.0), (head.as_str(), 400.0)]);
        code.extend(behind.iter().map(|text| (*text, 10.0)));
        code.push(("EXIT", 10.0));
        let found = shareable(&launch(&code).listing().unwrap(), SHAPE).unwrap();
        (found.what != What::Nothing).then_some(found.results)
    }

    const TID: [&str; 3] = ["S2R R0, SR_TID.X", "LDC R12, c[0x0][RZ]", "MOV R3, R0"];
    /// The thread replaces the smallest of its list, of whose place only the list tells.
    const LIST: [&str; 4] =
        ["LDG.E R4, desc[UR4][R10.64]", "LDL R6, [R1+0x20]", "STL [R6], R4", "STL [R1+0x20], R4"];
    const NEXT: &str = "IMAD.IADD R3, R12, 0x1, R3";
    const MERGE: [&str; 4] = [
        "LDL R7, [R1+0x20]",
        "SHFL.BFLY PT, R8, R7, 0x10, 0x1f",
        "FMNMX R9, R7, R8, !PT",
        "STG.E desc[UR4][R20.64], R9",
    ];

    fn list(next: &str, beside: &str) -> Option<Results> {
        of(&TID, &[&LIST[..], &[beside, next]].concat(), &MERGE)
    }

    #[test]
    fn lists_of_threads_that_share_the_turns_are_merged() {
        let merged = Some(Results::OfThreads);
        assert_eq!(list(NEXT, "NOP"), merged);
        assert_eq!(list("IADD3 R3, R3, 0x100, RZ", "NOP"), merged, "a block of known size");
        assert_eq!(list("VIADD R3, R3, 0x400", "NOP"), merged, "four at once");
        assert_eq!(
            list("IADD3 R3, R3, 0x1, RZ", "NOP"),
            None,
            "each thread goes over its own part"
        );
        assert_eq!(list("IADD3 R3, R3, 0x80, RZ", "NOP"), None, "a turn is two threads'");
        let alike = [TID[0], TID[1], "MOV R3, RZ"];
        let all = [&LIST[..], &[NEXT]].concat();
        assert_eq!(of(&alike, &all, &MERGE), None, "all do the same");
        let unrolled = [&LIST[..], &["VIADD R5, R3, 0x100", "VIADD R3, R5, 0x100"]].concat();
        assert_eq!(of(&TID, &unrolled, &MERGE), merged);
    }

    #[test]
    fn threads_that_meet_on_the_way_may_need_each_other() {
        for meeting in [
            "BAR.SYNC.DEFER_BLOCKING 0x0",
            "STS [R14], R4",
            "ATOMS.ADD RZ, [R14], R4",
            "SHFL.IDX PT, R15, R4, RZ, 0x1f",
            "STG.E desc[UR4][R16.64], R4",
            "RED.E.ADD.STRONG.GPU desc[UR4][R16.64], R4",
        ] {
            assert_eq!(list(NEXT, meeting), None, "{meeting}");
        }
        let warps = [TID[0], "SHF.R.U32.HI R3, RZ, 0x5, R0"];
        let body = [&LIST[..], &["SHFL.IDX PT, R15, R4, RZ, 0x1f", "VIADD R3, R3, 0x8"]].concat();
        assert_eq!(of(&warps, &body, &MERGE), Some(Results::OfThreads), "a warp's own turn");
    }

    #[test]
    fn what_each_thread_stores_for_itself_is_not_combined() {
        let body = [&LIST[..], &[NEXT]].concat();
        let own = ["LDL R7, [R1+0x20]", "STG.E desc[UR4][R20.64], R7"];
        assert_eq!(of(&TID, &body, &own), None);
        let both = [&MERGE[..], &["STG.E desc[UR4][R22.64], R7"]].concat();
        assert_eq!(of(&TID, &body, &both), None);
        let shared = ["LDL R7, [R1+0x20]", "STS [R14], R7"];
        assert_eq!(of(&TID, &body, &shared), Some(Results::OfThreads));
        // A state for each channel, whose steps lie a row apart.
        let state = ["LDG.E R4, desc[UR4][R10.64]", "FFMA R9, R9, R5, R4", NEXT];
        assert_eq!(of(&TID, &state, &["STG.E desc[UR4][R20.64], R9"]), None);
    }

    #[test]
    fn blocks_that_share_the_turns_leave_results_to_combine() {
        let block = [
            "S2UR UR4, SR_CTAID.X",
            "USHF.L.U32 UR4, UR4, 0x7, URZ",
            "ULOP3.LUT UR4, UR4, 0x180, URZ, 0xc0, !UPT",
            "MOV R3, UR4",
        ];
        let keeps = |next: &str, beside: &str| {
            let body = ["STS [R14], R9", "BAR.SYNC.DEFER_BLOCKING 0x0", "FMUL R9, R9, R5"];
            of(&block, &[&body[..], &[beside, next]].concat(), &["STG.E desc[UR4][R20.64], R9"])
        };
        assert_eq!(keeps("IADD3 R3, R3, 0x200, RZ", "NOP"), Some(Results::OfBlocks));
        assert_eq!(keeps("IADD3 R3, R3, 0x80, RZ", "NOP"), None, "parts one behind the other");
        let store = "STG.E desc[UR4][R16.64], R9";
        assert_eq!(keeps("IADD3 R3, R3, 0x200, RZ", store), None, "each turn's is wanted");
        let threads = [&block[..3], &["S2R R0, SR_TID.X", "IADD3 R3, R0, UR4, RZ"]].concat();
        let state = ["FMUL R9, R9, R5", "IADD3 R3, R3, 0x200, RZ"];
        assert_eq!(of(&threads, &state, &[store]), None, "a channel for each thread");
    }
}
