//! Values that groups of neighbouring lanes work out alike, each lane for itself.
//!
//! Where several lanes serve one item, the item's number is the thread's index shifted to the right. What is made of it, of
//! arguments, and of what these alone lead to is the same in all lanes of the group: a key's hash, a division by a row's length.
//! Each lane of a warp could work it out for an item of its own, and hand it to the group that serves the item.

mod common;
mod reads;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::hardware::WARP_LANES;
use crate::sass::code::blocks::Exit;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;
use crate::sass::thresholds::EVERY_TURN;
use common::{Common, LANE_BITS, brings_together, of_index, of_register};
use reads::{Read, reads};

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
    let shifts = |at: usize| listing.executed(at) > 0.0 && brings_together(listing, at);
    if !is_one_row || !(0..listing.sass.entries.len()).any(shifts) {
        return SameForLanes::default();
    }
    Lanes::new(listing).map(|lanes| lanes.found()).unwrap_or_default()
}

struct Lanes<'a, 'b> {
    listing: &'b Listing<'a>,
    executed: Marks,
    /// What each instruction reads.
    reads: Vec<Vec<Read>>,
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
        let reads = reads(listing, &executed);
        let common = vec![Common::All; count];
        let mut lanes = Self { listing, executed, reads, common, parted: Marks::new(count) };
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
        for at in self.executed.iter().filter(|&at| self.common[at] < Common::InGroups(0)) {
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
        let mut readers: Vec<Vec<usize>> = vec![Vec::new(); self.common.len()];
        for (at, reads) in self.reads.iter().enumerate() {
            for &by in reads.iter().flat_map(|read| &read.made) {
                readers[by].push(at);
            }
        }
        let mut open: Vec<usize> = self.executed.iter().collect();
        open.reverse();
        while let Some(at) = open.pop() {
            let less = self.of(at).min(self.common[at]);
            if less < self.common[at] {
                self.common[at] = less;
                open.extend(&readers[at]);
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
        let parts = family == Family::Control || !self.is_on_everywhere(at);
        let reads: Vec<&Read> =
            self.reads[at].iter().filter(|read| parts || read.of.role != Role::Guard).collect();
        let of_reads: Vec<Common> = reads.iter().map(|read| self.of_read(at, read)).collect();
        let least = of_reads.iter().copied().min().unwrap_or(Common::All);
        let Common::ButIndex(Reverse(up)) = least else { return least };
        let is_index = |of: &Common| matches!(of, Common::ButIndex(_));
        let mut indices = reads.iter().zip(&of_reads).filter(|(_, of)| is_index(of));
        let index = indices.next().filter(|_| indices.next().is_none());
        let others = of_reads.iter().filter(|of| !is_index(of));
        let rest = others.copied().min().unwrap_or(Common::All);
        let Some((index, _)) = index.filter(|_| !is_read) else { return Common::Nothing };
        match of_index(self.listing, at, index.of.slot, up) {
            // Nothing of a group's own may be added.
            Common::ButIndex(_) if rest < Common::InGroups(LANE_BITS) => Common::Nothing,
            of_result => of_result.min(rest),
        }
    }

    /// True where a guard switches hardly any lane off, so that it parts none of a group.
    fn is_on_everywhere(&self, at: usize) -> bool {
        let on = self.listing.row(at).counters.thread_inst_executed_pred_on;
        on >= EVERY_TURN.value * WARP_LANES * self.listing.executed(at)
    }

    /// What lanes have in common of a value that is read: nothing, where lanes that went different ways come with different ones.
    fn of_read(&self, at: usize, read: &Read) -> Common {
        let Some(&first) = read.made.first() else {
            // Nobody here has made it.
            let is_unknown = read.of.slot.is_general() && read.of.role != Role::Old;
            return if is_unknown { Common::Nothing } else { Common::All };
        };
        let is_one = read.made.len() == 1 && first < at;
        if !is_one && read.made.iter().any(|&by| self.parted[by]) {
            return Common::Nothing;
        }
        read.made.iter().map(|&by| self.common[by]).min().unwrap_or(Common::All)
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
            for read in self.reads[at].iter().filter(|read| read.of.role != Role::Old) {
                let of_group = read.made.iter().filter(|&&by| of_groups[by].is_some());
                taken.extend(of_group.map(|&by| (by, read.of.slot)));
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
            for &by in self.reads[at].iter().filter(|_| !is_memory).flat_map(|read| &read.made) {
                if decides.insert(by) {
                    open.push(by);
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
        let mut readers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for at in self.executed.iter() {
            for &by in self.reads[at].iter().flat_map(|read| &read.made) {
                if self.common[by] == Common::All {
                    readers.entry(by).or_default().push(at);
                }
            }
        }
        // A reader stands behind what it reads, but for loops.
        for (at, by) in readers.into_iter().rev() {
            let mut of_readers = by.into_iter().map(|by| of_groups[by]);
            of_groups[at] = of_readers.try_fold(LANE_BITS, |least, bits| Some(least.min(bits?)));
        }
        of_groups
    }
}

#[cfg(test)]
mod tests;
