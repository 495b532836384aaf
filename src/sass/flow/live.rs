//! Registers that hold a value still needed.

use std::ops::Range;

use crate::sass::code::blocks::Loop;
use crate::sass::code::listing::Listing;
pub use crate::sass::code::live_sets::Live;
use crate::sass::code::live_sets::Registers;
use crate::sass::code::sass::Sass;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::register::Slot;

/// The registers that a kernel's loops can't do without, however the compiler is told to economise: of
/// each loop the values that it carries from one turn to the next, its addresses and indices, and what one
/// of its instructions takes besides. Values that only lie there while the loop runs are left out: they
/// could be fetched later, or spilt once. So are factors and summands that stay the same: shared or constant
/// memory could hold them. Loops with less than `least_share` of the executed instructions are, too:
/// spilling there costs little. 0 without loops.
#[must_use]
pub fn needed_in_loops(listing: &Listing, live: &Live, least_share: f64) -> u32 {
    let sass = listing.sass;
    let total = listing.total();
    let needed = sass.flow.loops.iter().map(|each| {
        let instructions = || sass.flow.places(each);
        let executed: f64 = instructions().map(|index| listing.executed(index)).sum();
        if !(total > 0.0 && executed / total >= least_share) {
            return 0;
        }
        let mut held = NONE;
        instructions().for_each(|index| tie(sass, index, &mut held));
        let kept = meet(live.at_start[sass.flow.block_of[each.head] as usize], held);
        let mut most = 0;
        for index in instructions() {
            // An instruction has few operands, and most have fewer than some other one.
            let at_most = sass.defs(index).len() + sass.uses(index).len();
            if at_most > most as usize {
                most = most.max(count(without(operands(sass, index), kept)));
            }
        }
        count(kept) + most
    });
    needed.max().unwrap_or(0)
}

const NONE: Registers = [0; 4];

/// The live registers of a launch's code, found once.
#[must_use]
pub fn of<'a>(listing: &Listing<'a>) -> &'a Live {
    let sass = listing.sass;
    listing.facts.live(|| Live::of(sass))
}

impl Live {
    fn of(sass: &Sass) -> Self {
        let blocks = &sass.flow.blocks;
        let effects: Vec<(Registers, Registers)> =
            blocks.iter().map(|block| effect(sass, block.start..block.end)).collect();
        let mut at_start = vec![NONE; blocks.len()];
        let mut at_end = vec![NONE; blocks.len()];
        let mut open: Vec<usize> = (0..blocks.len()).collect();
        while let Some(block) = open.pop() {
            let (read, written) = effects[block];
            at_start[block] = join(read, without(at_end[block], written));
            for &before in &blocks[block].before {
                let before = before as usize;
                let end = join(at_end[before], at_start[block]);
                if end != at_end[before] {
                    at_end[before] = end;
                    open.push(before);
                }
            }
        }
        Self { at_start, at_end }
    }
}

/// What a run of instructions reads from outside, and what it writes.
fn effect(sass: &Sass, run: Range<usize>) -> (Registers, Registers) {
    let (mut read, mut written) = (NONE, NONE);
    for index in run.rev() {
        step_back(sass, index, &mut read);
        sass.defs(index).iter().for_each(|slot| insert(&mut written, *slot));
    }
    (read, written)
}

/// From the registers that are live behind an instruction to those in front of it.
fn step_back(sass: &Sass, index: usize, live: &mut Registers) {
    sass.defs(index).iter().for_each(|slot| remove(live, *slot));
    sass.uses(index).iter().for_each(|each| insert(live, each.slot));
}

/// Uniform registers and predicates are left out: their words are none of a set's.
fn insert(set: &mut Registers, slot: Slot) {
    if let Some(word) = set.get_mut(slot.index() / 64) {
        *word |= 1 << (slot.index() % 64);
    }
}

fn remove(set: &mut Registers, slot: Slot) {
    if let Some(word) = set.get_mut(slot.index() / 64) {
        *word &= !(1 << (slot.index() % 64));
    }
}

/// Adds what has to be in registers for an instruction in every turn: what it changes, and what it reads unless
/// that is an operand of float arithmetic.
fn tie(sass: &Sass, index: usize, held: &mut Registers) {
    sass.defs(index).iter().for_each(|slot| insert(held, *slot));
    if sass.entries[index].operation.is_none() {
        sass.uses(index).iter().for_each(|each| insert(held, each.slot));
    }
}

fn operands(sass: &Sass, index: usize) -> Registers {
    let read = sass.uses(index).iter().map(|each| each.slot);
    set(sass.defs(index).iter().copied().chain(read))
}

fn set(slots: impl Iterator<Item = Slot>) -> Registers {
    let mut set = NONE;
    slots.for_each(|slot| insert(&mut set, slot));
    set
}

fn count(set: Registers) -> u32 {
    set.iter().map(|word| word.count_ones()).sum()
}

fn join(a: Registers, b: Registers) -> Registers {
    std::array::from_fn(|word| a[word] | b[word])
}

fn meet(a: Registers, b: Registers) -> Registers {
    std::array::from_fn(|word| a[word] & b[word])
}

fn without(a: Registers, b: Registers) -> Registers {
    std::array::from_fn(|word| a[word] & !b[word])
}

/// The most registers that hold a value still needed, at any executed place of a loop, or of the code outside
/// of loops, that makes up at least a share of the instructions: as the compiler has ordered them, so many are
/// in use at once. Values that were loaded are left out: they can be loaded later, or once more where they are
/// needed. 0 without such code.
#[must_use]
pub fn most_in_use(listing: &Listing, live: &Live, least_share: f64) -> u32 {
    let sass = listing.sass;
    let flow = &sass.flow;
    let total = listing.total();
    let loaded = loaded_at_starts(sass);
    let outside: Vec<u32> = (0_u32..)
        .zip(&flow.blocks)
        .filter(|(_, block)| flow.innermost(block.start).is_none())
        .map(|(number, _)| number)
        .collect();
    let mut most = 0;
    let mut in_front: Vec<Registers> = Vec::new();
    // A block of a loop in a loop is in two regions, and has as much in use in both.
    let mut known = vec![false; flow.blocks.len()];
    for region in flow.loops.iter().map(|each| &each.blocks).chain([&outside]) {
        let blocks = || region.iter().map(|&block| (block as usize, &flow.blocks[block as usize]));
        let executed: f64 = blocks()
            .flat_map(|(_, block)| block.start..block.end)
            .map(|index| listing.executed(index))
            .sum();
        if !(total > 0.0 && executed / total >= least_share) {
            continue;
        }
        for (number, block) in blocks().filter(|(_, block)| listing.executed(block.start) > 0.0) {
            if std::mem::replace(&mut known[number], true) {
                continue;
            }
            // Values that were loaded, in front of each instruction.
            let mut here = loaded[number];
            in_front.clear();
            in_front.extend((block.start..block.end).map(|index| {
                let before = here;
                step_on(sass, index, &mut here);
                before
            }));
            let mut live = live.at_end[number];
            for index in (block.start..block.end).rev() {
                step_back(sass, index, &mut live);
                most = most.max(count(without(live, in_front[index - block.start])));
            }
        }
    }
    most
}

/// How many registers hold a value that is still needed in front of each instruction, by its place in the
/// listing. An instruction that no way of control leads to the end from has what it reads itself.
#[must_use]
pub fn at_each(listing: &Listing) -> Vec<u32> {
    let sass = listing.sass;
    let Live { at_end, .. } = of(listing);
    let mut counts = vec![0; sass.entries.len()];
    for (number, block) in sass.flow.blocks.iter().enumerate() {
        let mut live = at_end[number];
        for index in (block.start..block.end).rev() {
            step_back(sass, index, &mut live);
            counts[index] = count(live);
        }
    }
    counts
}

/// The registers that hold a loaded value at each block's start, whatever way control came.
fn loaded_at_starts(sass: &Sass) -> Vec<Registers> {
    let blocks = &sass.flow.blocks;
    let effects: Vec<(Registers, Registers)> =
        blocks.iter().map(|block| loads_and_writes(sass, block.start..block.end)).collect();
    let all = [u64::MAX; 4];
    let mut at_end = vec![all; blocks.len()];
    let mut at_start = vec![all; blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (number, block) in blocks.iter().enumerate() {
            let before = block.before.iter().map(|&before| at_end[before as usize]);
            // The first block may be a loop's head: control comes to it from nowhere, too.
            at_start[number] = before.reduce(meet).filter(|_| number > 0).unwrap_or(NONE);
            let (loaded, written) = effects[number];
            let end = join(without(at_start[number], written), loaded);
            changed |= end != at_end[number];
            at_end[number] = end;
        }
    }
    at_start
}

/// The registers that hold a loaded value behind a run of instructions, and those of which the run tells.
fn loads_and_writes(sass: &Sass, run: Range<usize>) -> (Registers, Registers) {
    let (mut loaded, mut written) = (NONE, NONE);
    for index in run {
        step_on(sass, index, &mut loaded);
        sass.defs(index).iter().for_each(|slot| insert(&mut written, *slot));
    }
    (loaded, written)
}

/// From the registers with a loaded value in front of an instruction to those behind it.
fn step_on(sass: &Sass, index: usize, loaded: &mut Registers) {
    let note = match sass.entries[index].family {
        Family::Load(_) => insert,
        _ => remove,
    };
    sass.defs(index).iter().for_each(|slot| note(loaded, *slot));
}

/// The registers that a loop hands on from turn to turn: written in it, and read at its head's start or
/// later before they are written again.
#[must_use]
pub fn carried(sass: &Sass, live: &Live, of: &Loop) -> Vec<Slot> {
    let live = live.at_start[sass.flow.block_of[of.head] as usize];
    let places = sass.flow.places(of);
    let mut found: Vec<Slot> = Vec::new();
    for slot in places.flat_map(|at| sass.defs(at)) {
        let word = live.get(slot.index() / 64);
        let is_live = word.is_some_and(|word| word & (1 << (slot.index() % 64)) != 0);
        if is_live && !found.contains(slot) {
            found.push(*slot);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::{SourceCounters, SourceRow};
    use crate::frame::Launch;

    /// A launch whose instructions each ran ten times.
    fn launch(texts: &[&str]) -> Launch {
        let row = |(index, text): (u64, &&str)| SourceRow {
            address: Some(16 * index),
            text: (*text).to_owned(),
            counters: SourceCounters { inst_executed: 10.0, ..SourceCounters::default() },
            ..SourceRow::default()
        };
        let mut launch = Launch::default();
        launch.instructions = (0_u64..).zip(texts).map(row).collect();
        launch
    }

    #[test]
    fn live_registers_are_counted_in_front_of_each_instruction() {
        let launch = launch(&[
            "MOV R0, RZ",        // nothing is read before it is written
            "MOV R2, 0x1",       // R0
            "FADD R4, R0, R2",   // R0, R2
            "STG.E [R8.64], R4", // R4 and the address, which nobody wrote here
            "EXIT",
        ]);
        let counts = at_each(&launch.listing().unwrap());
        // R8 and R9 are live all the way to the store.
        assert_eq!(counts, [2, 3, 4, 3, 0]);
    }

    #[test]
    fn a_loop_needs_what_it_carries_and_one_instruction_besides() {
        let launch = launch(&[
            "MOV R0, RZ",
            "MOV R2, c[0x0][0x160]",
            "MOV R3, c[0x0][0x164]",
            "LDG.E R9, desc[UR4][R2.64]", // waits in its register for the end
            "LDG.E.128 R4, desc[UR4][R2.64]", // 0x40: the head
            "FADD R8, R4, R5",
            "FADD R8, R8, R6",
            "FADD R0, R0, R8",
            "IADD3 R2, R2, 0x10, RZ",
            "ISETP.NE.AND P0, PT, R2, RZ, PT",
            "@P0 BRA 0x40",
            "FADD R0, R0, R9",
            "STG.E desc[UR4][R2.64], R0",
            "EXIT",
        ]);
        let listing = launch.listing().unwrap();
        // R0, R2 and R3 are carried; the load writes R4 to R7 besides. R9 only lies there.
        assert_eq!(needed_in_loops(&listing, of(&listing), 0.05), 7);
        // The loop's 7 of 14 instructions are half of all.
        assert_eq!(needed_in_loops(&listing, of(&listing), 0.51), 0);
    }

    #[test]
    fn what_is_in_use_at_once_counts_in_its_order() {
        let launch = launch(&[
            "LDG.E R4, desc[UR4][R2.64]", // 0x0: the head; R2 and R3 the pointer
            "LDG.E R5, desc[UR4][R2.64+0x4]",
            "LDG.E R6, desc[UR4][R2.64+0x8]",
            "FADD R4, R4, R5",
            "FADD R0, R4, R6",
            "STG.E desc[UR4][R2.64], R0",
            "IADD3 R2, R2, 0x4, RZ",
            "ISETP.NE.AND P0, PT, R2, RZ, PT",
            "@P0 BRA 0x0",
            "EXIT",
        ]);
        // The pointer and R4, once a sum: what is loaded could be loaded later.
        let listing = launch.listing().unwrap();
        let live = of(&listing);
        assert_eq!(most_in_use(&listing, live, 0.05), 3);
        assert_eq!(most_in_use(&listing, live, 0.95), 0);
    }

    #[test]
    fn without_a_loop_nothing_is_carried_and_values_are_in_use() {
        let launch = launch(&[
            "MOV R0, c[0x0][0x160]",
            "MOV R1, c[0x0][0x164]",
            "FADD R2, R0, R1",
            "FADD R2, R2, R1",
            "EXIT",
        ]);
        let listing = launch.listing().unwrap();
        let live = of(&listing);
        assert_eq!(needed_in_loops(&listing, live, 0.0), 0);
        // R1 for the last sum beside R0 or the first one.
        assert_eq!(most_in_use(&listing, live, 0.0), 2);
    }
}
