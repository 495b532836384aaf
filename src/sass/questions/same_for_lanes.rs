//! Values that groups of neighbouring lanes work out alike, each lane for itself.
//!
//! Where several lanes serve one item, the item's number is the thread's index shifted to the right. What is made of it, of
//! arguments, and of what these alone lead to is the same in all lanes of the group: a key's hash, a division by a row's length.
//! Each lane of a warp could work it out for an item of its own, and hand it to the group that serves the item.

use std::collections::{BTreeMap, BTreeSet};

use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::{Instruction, OperandKind};
use crate::sass::parse::number::word;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;
use crate::sass::parse::system_register;

/// Bits of the index of a lane in its warp.
const LANE_BITS: u32 = 5;

/// Work that groups of lanes repeat.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SameForLanes {
    /// The arithmetic, ascending, each with the lanes that do it alike.
    pub repeated: Vec<(usize, f64)>,
    /// The loads at addresses that the lanes of a group share, likewise.
    pub loads: Vec<(usize, f64)>,
    /// Executions of what other work takes from it: values that would be handed on by shuffles.
    pub handed_on: f64,
}

/// What lanes have in common, from nothing to all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Common {
    /// Each lane has a value of its own.
    Nothing,
    /// Each lane has its index, plus something that all share.
    ButIndex,
    /// Lanes whose indices agree but for so many of the lowest bits have the same.
    InGroups(u32),
    /// All have the same.
    All,
}

/// The arithmetic whose results are the same in groups of the lanes of a warp, in blocks of this shape.
#[must_use]
pub fn same_for_lanes(listing: &Listing, block: [u32; 3]) -> SameForLanes {
    // Where rows of a block end within a warp, lanes stand in several.
    let is_one_row = block[0].is_multiple_of(1 << LANE_BITS) || block[1] * block[2] == 1;
    let shifts = |at: usize| listing.executed(at) > 0.0 && shift(listing, at).is_some();
    if !is_one_row || !(0..listing.sass.entries.len()).any(shifts) {
        return SameForLanes::default();
    }
    Lanes::new(listing).found()
}

struct Lanes<'a, 'b> {
    listing: &'b Listing<'a>,
    reaching: Reaching<'a>,
    executed: Marks,
    /// What each instruction's results have in common.
    common: Vec<Common>,
    /// Where functions begin, each with the calls that lead there.
    calls: BTreeMap<usize, Vec<usize>>,
}

impl<'a, 'b> Lanes<'a, 'b> {
    fn new(listing: &'b Listing<'a>) -> Self {
        let sass = listing.sass;
        let count = sass.entries.len();
        let executed = Marks::of(count, |at| listing.executed(at) > 0.0);
        let calls = calls(listing, &executed);
        let common = vec![Common::All; count];
        let mut lanes = Self { listing, reaching: Reaching::new(sass), executed, common, calls };
        // What lanes have in common only grows less.
        loop {
            let mut changed = false;
            for at in lanes.executed.iter().collect::<Vec<_>>() {
                let less = lanes.of(at).min(lanes.common[at]);
                changed |= less < lanes.common[at];
                lanes.common[at] = less;
            }
            if !changed {
                return lanes;
            }
        }
    }

    /// What lanes have in common of an instruction's results.
    fn of(&mut self, at: usize) -> Common {
        let family = self.listing.sass.entries[at].family;
        let read = match family {
            Family::System => return of_register(self.listing.text(at)),
            Family::Shuffle | Family::Vote | Family::Tensor | Family::Texture => {
                return Common::Nothing;
            }
            Family::Load(Space::Global | Space::Shared) | Family::Constant => true,
            family if family.is_memory() => return Common::Nothing,
            _ => false,
        };
        let uses: Vec<Use> = self.listing.sass.uses(at).to_vec();
        let of_uses: Vec<Common> = uses.iter().map(|each| self.of_use(at, *each)).collect();
        let least = of_uses.iter().copied().min().unwrap_or(Common::All);
        if least != Common::ButIndex {
            return least;
        }
        let mut indices = uses.iter().zip(&of_uses).filter(|(_, of)| **of == Common::ButIndex);
        let index = indices.next().filter(|_| indices.next().is_none());
        let others = of_uses.iter().filter(|&&common| common != Common::ButIndex);
        let rest = others.copied().min().unwrap_or(Common::All);
        if read {
            return Common::Nothing;
        }
        if let Some(bits) = shift(self.listing, at) {
            return Common::InGroups(bits).min(rest);
        }
        // Nothing of a group's own may be added.
        let keeps = rest >= Common::InGroups(LANE_BITS);
        if keeps && index.is_some_and(|(each, _)| adds(self.listing, at, each.slot)) {
            Common::ButIndex
        } else {
            Common::Nothing
        }
    }

    fn of_use(&mut self, at: usize, each: Use) -> Common {
        let made: Vec<usize> = self.reaching.definitions(at, each).map(|by| by as usize).collect();
        if made.is_empty() && each.slot.is_general() && each.role != Role::Old {
            return self.of_argument(at, each.slot);
        }
        let executed = made.into_iter().filter(|&by| self.executed[by]);
        executed.map(|by| self.common[by]).min().unwrap_or(Common::All)
    }

    /// What lanes have in common of a function's argument.
    fn of_argument(&mut self, at: usize, slot: Slot) -> Common {
        let Some((_, calls)) = self.calls.range(..=at).next_back() else { return Common::Nothing };
        let of_calls: Vec<Common> =
            calls.clone().into_iter().map(|call| self.of_slot_before(call, slot)).collect();
        of_calls.into_iter().min().unwrap_or(Common::Nothing)
    }

    fn of_slot_before(&mut self, call: usize, slot: Slot) -> Common {
        let sass = self.listing.sass;
        let start = sass.flow.blocks[sass.flow.block_of[call] as usize].start;
        if let Some(by) = (start..call).rev().find(|&by| sass.defs(by).contains(&slot)) {
            return self.common[by];
        }
        let each = Use { slot, role: Role::Data, definition: None };
        let made = self.reaching.definitions(call, each).map(|by| by as usize);
        made.map(|by| self.common[by]).min().unwrap_or(Common::Nothing)
    }

    fn found(mut self) -> SameForLanes {
        let sass = self.listing.sass;
        let of_groups = self.of_groups();
        let lanes_of =
            |at: usize| of_groups[at].map(|bits| f64::from(1_u32 << bits.min(LANE_BITS)));
        let mut found = SameForLanes::default();
        for at in self.executed.iter() {
            let Some(lanes) = lanes_of(at) else { continue };
            match sass.entries[at].family {
                Family::Load(Space::Global) => found.loads.push((at, lanes)),
                Family::Control
                | Family::Uniform
                | Family::System
                | Family::Constant
                | Family::Nop => {}
                family if family.is_memory() => {}
                _ => found.repeated.push((at, lanes)),
            }
        }
        let mut taken: BTreeSet<usize> = BTreeSet::new();
        for at in self.executed.iter().collect::<Vec<_>>() {
            if of_groups[at].is_none() {
                for each in sass.uses(at).iter().filter(|each| each.slot.is_general()) {
                    let made = self.reaching.definitions(at, *each).map(|by| by as usize);
                    taken.extend(made.filter(|&by| of_groups[by].is_some()));
                }
            }
        }
        found.handed_on = taken.into_iter().map(|at| self.listing.executed(at)).sum();
        found
    }

    /// Of each instruction whose results groups have in common, the bits that tell a group's lanes apart; likewise of what all
    /// lanes have in common, where it only goes into such.
    fn of_groups(&mut self) -> Vec<Option<u32>> {
        let sass = self.listing.sass;
        let bits_of = |common: &Common| match common {
            // A warp per item is another design: its lanes walk the item's data together.
            Common::InGroups(bits) if *bits < LANE_BITS => Some(*bits),
            _ => None,
        };
        let mut of_groups: Vec<Option<u32>> = self.common.iter().map(bits_of).collect();
        let all: Vec<usize> =
            self.executed.iter().filter(|&at| self.common[at] == Common::All).collect();
        let mut readers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for at in self.executed.iter().collect::<Vec<_>>() {
            for each in sass.uses(at) {
                for by in self.reaching.definitions(at, *each).map(|by| by as usize) {
                    if self.common[by] == Common::All {
                        readers.entry(by).or_default().push(at);
                    }
                }
            }
        }
        // A reader stands behind what it reads, but for loops.
        for at in all.into_iter().rev() {
            let of_readers = readers.get(&at).map(|by| by.iter().map(|&by| of_groups[by]));
            let least = of_readers
                .and_then(|mut of| of.try_fold(LANE_BITS, |least, bits| Some(least.min(bits?))));
            of_groups[at] = least;
        }
        of_groups
    }
}

/// Where functions begin that are called, with their calls.
fn calls(listing: &Listing, executed: &Marks) -> BTreeMap<usize, Vec<usize>> {
    let place: BTreeMap<u64, usize> =
        listing.entries().filter_map(|(at, _)| Some((listing.row(at).address?, at))).collect();
    let mut calls: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for at in executed.iter() {
        let called = Instruction::parse(listing.text(at))
            .filter(|instruction| instruction.base() == "CALL")
            .and_then(|instruction| place.get(&instruction.target()?).copied());
        if let Some(called) = called {
            calls.entry(called).or_default().push(at);
        }
    }
    calls
}

fn of_register(text: &str) -> Common {
    if text.contains("SR_TID.X") || text.contains("SR_LANEID") {
        Common::ButIndex
    } else if text.contains("SR_TID.Y") || text.contains("SR_TID.Z") {
        Common::InGroups(LANE_BITS)
    } else if system_register::is_of_block(text) {
        Common::All
    } else {
        Common::Nothing
    }
}

/// By how many bits an instruction shifts to the right, or how many of the lowest bits it takes away.
fn shift(listing: &Listing, at: usize) -> Option<u32> {
    let instruction = Instruction::parse(listing.text(at))?;
    let numbers = || {
        let others = instruction.operands.iter().filter(|each| each.kind == OperandKind::Other);
        others.filter_map(|each| word(each.text))
    };
    let bits = match instruction.base() {
        "SHF" | "USHF" if instruction.has("R") => numbers().next()?,
        "LOP3" | "ULOP3" => {
            let [mask, 0xc0] = numbers().collect::<Vec<_>>()[..] else { return None };
            mask.trailing_zeros()
        }
        _ => return None,
    };
    (bits > 0).then_some(bits.min(LANE_BITS))
}

/// True for what leaves an index as it is, or adds to it.
fn adds(listing: &Listing, at: usize, index: Slot) -> bool {
    let Some(instruction) = Instruction::parse(listing.text(at)) else { return false };
    // What is multiplied or shifted stands before what is added.
    let is_added = |place: usize| {
        let operand = instruction.operands.get(place);
        operand.is_some_and(|operand| operand.slots().any(|(slot, _)| slot == index))
    };
    match instruction.base() {
        "MOV" | "UMOV" | "R2UR" | "IADD3" | "UIADD3" | "VIADD" | "IADD" => true,
        "IMAD" => instruction.has("IADD") || !instruction.has("SHL") && is_added(3),
        "LEA" => is_added(2),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn of(index: &'static str, shift: &'static str, block: [u32; 3]) -> SameForLanes {
        let launch = launch(&[
            ("S2R R5, SR_CTAID.X", 4.0),
            (index, 4.0),
            ("IMAD R4, R5, 0x80, R2", 4.0),
            (shift, 4.0),
            ("LDC.64 R6, c[0x0][0x210]", 4.0),
            ("IMAD.WIDE R6, R8, 0x4, R6", 4.0),
            ("LDG.E R9, desc[UR4][R6.64]", 4.0), // 6
            ("IMAD R10, R9, 0x27d4eb4f, RZ", 4.0),
            ("LOP3.LUT R11, R10, R9, RZ, 0x3c, !PT", 4.0),
            ("IADD3 R12, R11, R2, RZ", 4.0),
            ("STG.E desc[UR4][R6.64], R12", 4.0),
            ("EXIT", 4.0),
        ]);
        same_for_lanes(&launch.listing().unwrap(), block)
    }

    const INDEX: &str = "S2R R2, SR_TID.X";
    const SHIFT: &str = "SHF.R.U32.HI R8, RZ, 0x3, R4";

    #[test]
    fn what_is_made_of_a_shifted_index_is_the_same_in_groups() {
        let found = of(INDEX, SHIFT, [128, 1, 1]);
        let at: Vec<usize> = found.repeated.iter().map(|(at, _)| *at).collect();
        assert_eq!(at, [3, 5, 7, 8], "and the index itself");
        assert!(found.repeated.iter().all(|(_, lanes)| (lanes - 8.0).abs() < 1e-12));
        assert_eq!(found.loads, [(6, 8.0)]);
        // The last mix is added to the thread's own index; the address goes to a store.
        assert!((found.handed_on - 8.0).abs() < 1e-12, "{}", found.handed_on);
        let masked = of(INDEX, "LOP3.LUT R8, R4, 0xfffffff0, RZ, 0xc0, !PT", [128, 1, 1]);
        assert!(masked.repeated.iter().all(|(_, lanes)| (lanes - 16.0).abs() < 1e-12));
        assert_eq!(masked.repeated.len(), 4);
    }

    #[test]
    fn what_lanes_have_of_their_own_is_not() {
        assert!(of(INDEX, "IMAD.MOV.U32 R8, RZ, RZ, R4", [128, 1, 1]).repeated.is_empty());
        assert!(of(INDEX, "SHF.L.U32 R8, R4, 0x3, RZ", [128, 1, 1]).repeated.is_empty());
        assert!(of(INDEX, SHIFT, [16, 8, 1]).repeated.is_empty(), "two rows per warp");
        let data = "LDG.E R2, desc[UR4][R14.64]";
        assert!(of(data, SHIFT, [128, 1, 1]).repeated.is_empty(), "an argument's data");
    }

    #[test]
    fn a_function_is_given_what_its_callers_have() {
        let of = |argument: &'static str| {
            let launch = launch(&[
                ("S2R R2, SR_TID.X", 4.0),
                ("SHF.R.U32.HI R8, RZ, 0x3, R2", 4.0),
                (argument, 4.0),
                ("CALL.REL.NOINC 0x170", 4.0),
                ("IADD3 R12, R10, R2, RZ", 4.0),
                ("STG.E desc[UR4][R6.64], R12", 4.0),
                ("EXIT", 4.0),
                ("IMAD R10, R9, 0x5, RZ", 4.0), // 0x170
                ("RET.REL.NODEC R20 0x0", 4.0),
            ]);
            same_for_lanes(&launch.listing().unwrap(), [128, 1, 1]).repeated
        };
        let of_group = of("IMAD R9, R8, 0x3, RZ");
        assert_eq!(of_group.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [1, 2, 7]);
        assert_eq!(of("IMAD R9, R2, 0x3, RZ").len(), 1, "the shift alone");
    }
}
