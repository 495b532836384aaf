//! Values that groups of neighbouring lanes work out alike, each lane for itself.
//!
//! Where several lanes serve one item, the item's number is the thread's index shifted to the right. What is made of it, of
//! arguments, and of what these alone lead to is the same in all lanes of the group: a key's hash, a division by a row's length.
//! Each lane of a warp could work it out for an item of its own, and hand it to the group that serves the item.

mod common;
mod reads;

use std::collections::BTreeSet;

use crate::hardware::WARP_LANES;
use crate::sass::code::blocks::Exit;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;
use common::{Common, LANE_BITS, adds, of_register, shift};
use reads::{Read, Readers, Reads};

/// Rounds in which branches that part lanes, and what they part, are found.
const ROUNDS: u32 = 8;

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

/// The arithmetic whose results are the same in groups of the lanes of a warp, in blocks of this shape.
#[must_use]
pub fn same_for_lanes(listing: &Listing, block: [u32; 3]) -> SameForLanes {
    // Where rows of a block end within a warp, lanes stand in several.
    let is_one_row = block[0].is_multiple_of(1 << LANE_BITS) || block[1] <= 1 && block[2] <= 1;
    if !is_one_row || !makes_groups(listing) {
        return SameForLanes::default();
    }
    Lanes::new(listing).map(|lanes| lanes.found()).unwrap_or_default()
}

/// True where some bits of a lane's index, but not all, are shifted out of what is made of it by sums.
fn makes_groups(listing: &Listing) -> bool {
    let sass = listing.sass;
    let mut reaching = Reaching::new(sass);
    let mut seen = Marks::new(sass.entries.len());
    let makes_group = |at: usize| {
        listing.executed(at) > 0.0 && shift(listing, at).is_some_and(|bits| bits < LANE_BITS)
    };
    let mut open: Vec<usize> = (0..sass.entries.len()).filter(|&at| makes_group(at)).collect();
    while let Some(at) = open.pop() {
        for each in sass.uses(at) {
            let made = reaching.definitions(at, *each);
            // A function's argument: which it is, its callers know.
            if made.len() == 0 && each.slot.is_general() && each.role != Role::Old {
                return true;
            }
            for by in made.map(|by| by as usize) {
                let entry = &sass.entries[by];
                let is_index = entry.family == Family::System
                    && of_register(listing.text(by)) == Common::ButIndex;
                if is_index {
                    return true;
                }
                if !entry.family.is_memory() && seen.insert(by) {
                    open.push(by);
                }
            }
        }
    }
    false
}

struct Lanes<'a, 'b> {
    listing: &'b Listing<'a>,
    executed: Marks,
    /// What each instruction reads.
    reads: Reads,
    /// Who reads what each makes.
    readers: Readers,
    /// What each instruction's results have in common.
    common: Vec<Common>,
    /// What some lanes of a group may skip, or repeat, while others don't.
    parted: Marks,
}

impl<'a, 'b> Lanes<'a, 'b> {
    /// `None` where what parts lanes does not become clear in a few rounds.
    fn new(listing: &'b Listing<'a>) -> Option<Self> {
        let count = listing.sass.entries.len();
        let executed = Marks::of(count, |at| listing.executed(at) > 0.0);
        let reads = Reads::new(listing, &executed);
        let readers = reads.readers();
        let common = vec![Common::All; count];
        let parted = Marks::new(count);
        let mut lanes = Self { listing, executed, reads, readers, common, parted };
        for _ in 0..ROUNDS {
            lanes.settle();
            let parted = lanes.partings();
            if parted == lanes.parted {
                return Some(lanes);
            }
            lanes.parted = parted;
        }
        None
    }

    /// Marks what branches skip or repeat that go by what lanes of a group don't have in common.
    fn partings(&self) -> Marks {
        let sass = self.listing.sass;
        let count = sass.entries.len();
        let mut begins = vec![0_usize; count + 1];
        let mut ends = vec![0_usize; count + 1];
        for at in self.executed.iter().filter(|&at| self.common[at] <= Common::ButIndex) {
            if let Exit::Branch(target) = sass.entries[at].exit() {
                let (begin, end) = if target > at { (at + 1, target) } else { (target, at + 1) };
                begins[begin.min(count)] += 1;
                ends[end.min(count)] += 1;
            }
        }
        let mut inside = 0;
        let mut parted = Marks::new(count);
        for at in 0..count {
            inside = inside + begins[at] - ends[at];
            if inside > 0 {
                parted.insert(at);
            }
        }
        parted
    }

    /// Lowers what lanes have in common until it holds everywhere: whatever reads what was lowered is looked at again.
    fn settle(&mut self) {
        let mut open: Vec<usize> = self.executed.iter().collect();
        open.reverse();
        let mut waits = self.executed.clone();
        while let Some(at) = open.pop() {
            waits.remove(at);
            let less = self.of(at).min(self.common[at]);
            if less < self.common[at] {
                self.common[at] = less;
                let readers = self.readers.of(at).iter().map(|&reader| reader as usize);
                open.extend(readers.filter(|&reader| waits.insert(reader)));
            }
        }
    }

    /// What lanes have in common of an instruction's results.
    fn of(&self, at: usize) -> Common {
        let family = self.listing.sass.entries[at].family;
        let is_read = match family {
            Family::System => return of_register(self.listing.text(at)),
            Family::Shuffle | Family::Vote | Family::Tensor | Family::Texture => {
                return Common::Nothing;
            }
            Family::Load(Space::Global | Space::Shared) | Family::Constant => true,
            family if family.is_memory() => return Common::Nothing,
            _ => false,
        };
        let of_reads = self.reads.of(at).map(|read| (read, self.of_read(at, read)));
        let least = of_reads.clone().map(|(_, common)| common).min().unwrap_or(Common::All);
        if least != Common::ButIndex {
            return least;
        }
        let mut indices = of_reads.clone().filter(|(_, of)| *of == Common::ButIndex);
        let index = indices.next().filter(|_| indices.next().is_none());
        let others = of_reads.map(|(_, common)| common).filter(|of| *of != Common::ButIndex);
        let rest = others.min().unwrap_or(Common::All);
        if is_read {
            return Common::Nothing;
        }
        if let Some(bits) = shift(self.listing, at) {
            return Common::InGroups(bits).min(rest);
        }
        // Nothing of a group's own may be added.
        let keeps = rest >= Common::InGroups(LANE_BITS);
        if keeps && index.is_some_and(|(read, _)| adds(self.listing, at, read.of.slot)) {
            Common::ButIndex
        } else {
            Common::Nothing
        }
    }

    /// What lanes have in common of a value that is read: nothing, where lanes that went different ways come with different ones.
    fn of_read(&self, at: usize, read: Read) -> Common {
        let Some(&first) = read.made.first() else {
            // Nobody here has made it.
            let is_unknown = read.of.slot.is_general() && read.of.role != Role::Old;
            return if is_unknown { Common::Nothing } else { Common::All };
        };
        let is_one = read.made.len() == 1 && (first as usize) < at;
        if !is_one && read.made.iter().any(|&by| self.parted[by as usize]) {
            return Common::Nothing;
        }
        read.made.iter().map(|&by| self.common[by as usize]).min().unwrap_or(Common::All)
    }

    fn found(&self) -> SameForLanes {
        let sass = self.listing.sass;
        let of_groups = self.of_groups();
        let stays = self.decides();
        let lanes_of =
            |at: usize| of_groups[at].map(|bits| f64::from(1_u32 << bits.min(LANE_BITS)));
        let mut found = SameForLanes::default();
        for at in self.executed.iter() {
            let Some(lanes) = lanes_of(at) else { continue };
            // Where a group sends one lane, nothing is repeated.
            let on = self.listing.row(at).counters.thread_inst_executed_pred_on;
            if on * lanes < 2.0 * WARP_LANES * self.listing.executed(at) || stays[at] {
                continue;
            }
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
        let mut taken: BTreeSet<(usize, Slot)> = BTreeSet::new();
        for at in self.executed.iter().filter(|&at| of_groups[at].is_none()) {
            for read in self.reads.of(at).filter(|read| read.of.role != Role::Old) {
                let of_group = read.made.iter().filter(|&&by| of_groups[by as usize].is_some());
                taken.extend(of_group.map(|&by| (by as usize, read.of.slot)));
            }
        }
        found.handed_on = taken.into_iter().map(|(at, _)| self.listing.executed(at)).sum();
        found
    }

    /// What decides about ways through the code: every lane goes them, whoever has worked out the rest.
    fn decides(&self) -> Marks {
        let sass = self.listing.sass;
        let is_way =
            |at: usize| matches!(sass.entries[at].exit(), Exit::Branch(_) | Exit::MaybeEnd);
        let mut open: Vec<usize> = self.executed.iter().filter(|&at| is_way(at)).collect();
        let mut decides = Marks::new(self.common.len());
        while let Some(at) = open.pop() {
            let is_memory = sass.entries[at].family.is_memory();
            for &by in self.reads.of(at).filter(|_| !is_memory).flat_map(|read| read.made) {
                if decides.insert(by as usize) {
                    open.push(by as usize);
                }
            }
        }
        decides
    }

    /// Of each instruction whose results groups have in common, the bits that tell a group's lanes apart; likewise of what all
    /// lanes have in common, where it only goes into such.
    fn of_groups(&self) -> Vec<Option<u32>> {
        let bits_of = |common: &Common| match common {
            // A warp per item is another design: its lanes walk the item's data together.
            Common::InGroups(bits) if *bits < LANE_BITS => Some(*bits),
            _ => None,
        };
        let mut of_groups: Vec<Option<u32>> = self.common.iter().map(bits_of).collect();
        // A reader stands behind what it reads, but for loops.
        for at in self.executed.iter().collect::<Vec<_>>().into_iter().rev() {
            let readers = self.readers.of(at);
            if self.common[at] == Common::All && !readers.is_empty() {
                let mut of_readers = readers.iter().map(|&by| of_groups[by as usize]);
                let least = |least: u32, bits: Option<u32>| Some(least.min(bits?));
                of_groups[at] = of_readers.try_fold(LANE_BITS, least);
            }
        }
        of_groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// Code all of whose lanes are on.
    fn all_lanes(code: &[(&'static str, f64)]) -> crate::frame::Launch {
        let mut launch = launch(code);
        for (row, (_, executed)) in launch.instructions.iter_mut().zip(code) {
            row.counters.thread_inst_executed_pred_on = executed * WARP_LANES;
        }
        launch
    }

    fn of(index: &'static str, shift: &'static str, block: [u32; 3]) -> SameForLanes {
        let launch = all_lanes(&[
            ("S2R R5, SR_CTAID.X", 4.0),
            ("SHF.R.U32.HI R20, RZ, 0x3, R5", 4.0),
            (index, 4.0),
            ("IMAD R4, R5, 0x80, R2", 4.0),
            (shift, 4.0),
            ("LDC.64 R6, c[0x0][0x210]", 4.0),
            ("IMAD.WIDE R6, R8, 0x4, R6", 4.0),
            ("LDG.E R9, desc[UR4][R6.64]", 4.0), // 7
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
        assert_eq!(at, [4, 6, 8, 9], "and the index itself");
        assert!(found.repeated.iter().all(|(_, lanes)| (lanes - 8.0).abs() < 1e-12));
        assert_eq!(found.loads, [(7, 8.0)]);
        // The last mix is added to the thread's own index; both words of the address go to a store.
        assert!((found.handed_on - 12.0).abs() < 1e-12, "{}", found.handed_on);
        let masked = of(INDEX, "LOP3.LUT R8, R4, 0xfffffff0, RZ, 0xc0, !PT", [128, 1, 1]);
        assert!(masked.repeated.iter().all(|(_, lanes)| (lanes - 16.0).abs() < 1e-12));
        assert_eq!(masked.repeated.len(), 4);
    }

    #[test]
    fn what_lanes_have_of_their_own_is_not() {
        assert!(of(INDEX, "IMAD.MOV.U32 R8, RZ, RZ, R4", [128, 1, 1]).repeated.is_empty());
        assert!(of(INDEX, "SHF.L.U32 R8, R4, 0x3, RZ", [128, 1, 1]).repeated.is_empty());
        assert!(of(INDEX, SHIFT, [16, 8, 1]).repeated.is_empty(), "two rows per warp");
        let rotated = "SHF.R.W.U32 R8, R4, 0x3, R4";
        assert!(of(INDEX, rotated, [128, 1, 1]).repeated.is_empty(), "no bit is lost");
        let data = "LDG.E R2, desc[UR4][R14.64]";
        assert!(of(data, SHIFT, [128, 1, 1]).repeated.is_empty(), "from an unknown address");
    }

    #[test]
    fn lanes_that_went_different_ways_come_with_different_values() {
        let of = |condition: &'static str| {
            let launch = all_lanes(&[
                ("S2R R2, SR_TID.X", 4.0),
                ("SHF.R.U32.HI R8, RZ, 0x3, R2", 4.0),
                (condition, 4.0),
                ("MOV R9, 0x1", 4.0),
                ("@P0 BRA 0x160", 4.0),
                ("MOV R9, 0x2", 4.0),
                ("IMAD R10, R8, R9, RZ", 4.0), // 0x160
                ("IMAD R11, R10, R10, R8", 4.0),
                ("IADD3 R12, R11, R2, RZ", 4.0),
                ("STG.E desc[UR4][R6.64], R12", 4.0),
                ("EXIT", 4.0),
            ]);
            same_for_lanes(&launch.listing().unwrap(), [128, 1, 1]).repeated.len()
        };
        assert_eq!(of("ISETP.NE.AND P0, PT, R8, 0x4, PT"), 4, "groups part, their lanes don't");
        assert_eq!(of("ISETP.NE.AND P0, PT, R2, 0x4, PT"), 1, "the shift alone");
    }

    #[test]
    fn a_function_is_given_what_its_callers_have() {
        let of = |argument: &'static str| {
            let launch = all_lanes(&[
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
