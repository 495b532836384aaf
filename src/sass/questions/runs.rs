//! Runs of elements that each lane goes through by itself, as a thread per string or per row of a sparse matrix does.
//!
//! Wherever such runs begin, their elements lie side by side. Lanes that share a run go to neighbouring addresses.

use std::collections::{BTreeMap, BTreeSet};

use crate::hardware::SECTOR_BYTES;
use crate::sass::code::blocks::Loop;
use crate::sass::code::listing::Listing;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::{Instruction, OperandKind};
use crate::sass::parse::number::without_offset;
use crate::sass::parse::opcode::Family;
use crate::sass::questions::independence::turns_for_lanes;
use crate::sass::questions::lanes::bytes_to_next_turn;
use crate::sass::thresholds::RUN_SECTORS;

/// The accesses among these, given in their order, by which each lane goes through a run of its own that its neighbours could
/// share with it, each with the runs that it begins.
#[must_use]
pub fn runs_of_lanes(listing: &Listing, accesses: &[usize]) -> BTreeMap<usize, f64> {
    let of_all = Group::of_all(listing);
    let mut runs = BTreeMap::new();
    for (group, members) in &of_all {
        let mut asked = members.iter().filter(|at| accesses.binary_search(at).is_ok()).peekable();
        if asked.peek().is_none() {
            continue;
        }
        let Some(begun) = group.runs(listing, members) else { continue };
        runs.extend(asked.map(|&at| (at, begun / members.len() as f64)));
    }
    runs
}

/// The places at which these accesses stand at a time: those of one loop that go by the same registers stand at one.
#[must_use]
pub fn places_at_a_time(listing: &Listing, accesses: &[usize]) -> usize {
    let group = |&at: &usize| Group::of(listing, listing.sass.flow.innermost(at)?, at);
    accesses.iter().filter_map(group).collect::<BTreeSet<_>>().len()
}

/// The turns of the loop around an access that neighbouring lanes could share out among themselves and then lie side by side:
/// those by which it goes through neighbouring elements; 1 where there is no such loop.
#[must_use]
pub fn turns_side_by_side(listing: &Listing, access: usize) -> f64 {
    let group = listing.sass.flow.innermost(access).and_then(|of| {
        let group = Group::of(listing, of, access)?;
        let members = group.members(listing);
        group.is_whole(listing, &members).then_some(group)
    });
    group.map_or(1.0, |_| turns_for_lanes(listing, access))
}

/// Accesses of one loop that go by the same registers.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    /// The loop.
    of: usize,
    base: String,
    is_store: bool,
    bytes: u8,
}

impl Group {
    fn of(listing: &Listing, of: usize, at: usize) -> Option<Self> {
        let entry = &listing.sass.entries[at];
        let is_store = match entry.family {
            Family::Load(Space::Global | Space::Generic) => false,
            Family::Store(Space::Global | Space::Generic) => true,
            _ => return None,
        };
        let instruction = Instruction::parse(listing.text(at))?;
        let mut operands = instruction.operands.iter();
        let address = operands.find(|operand| operand.kind == OperandKind::Memory)?.text;
        let base = without_offset(address)?.0.to_owned();
        Some(Self { of, base, is_store, bytes: entry.width })
    }

    /// The groups of all loops, each with its accesses.
    fn of_all(listing: &Listing) -> BTreeMap<Self, Vec<usize>> {
        let mut groups = BTreeMap::<Self, Vec<usize>>::new();
        for at in 0..listing.sass.entries.len() {
            let group = listing.sass.flow.innermost(at).and_then(|of| Self::of(listing, of, at));
            if let Some(group) = group {
                groups.entry(group).or_default().push(at);
            }
        }
        groups
    }

    fn members(&self, listing: &Listing) -> Vec<usize> {
        let flow = &listing.sass.flow;
        let places = flow.places(&flow.loops[self.of]);
        let own = places.filter(|&at| flow.innermost(at) == Some(self.of));
        own.filter(|&at| Self::of(listing, self.of, at).as_ref() == Some(self)).collect()
    }

    /// Bytes from turn to turn.
    fn a_turn(&self, listing: &Listing, members: &[usize]) -> Option<f64> {
        let of = &listing.sass.flow.loops[self.of];
        bytes_to_next_turn(listing, of, *members.first()?).map(f64::from)
    }

    /// True where these accesses go through more than half of what lies between two turns.
    fn is_whole(&self, listing: &Listing, members: &[usize]) -> bool {
        let accessed = members.len() as f64 * f64::from(self.bytes);
        let a_turn = self.a_turn(listing, members);
        a_turn.is_some_and(|a_turn| a_turn > 0.0 && a_turn < 2.0 * accessed)
    }

    /// The runs that all lanes together go through, where their turns could be shared out; `None` where these are no such runs.
    fn runs(&self, listing: &Listing, members: &[usize]) -> Option<f64> {
        let (of, first) = (&listing.sass.flow.loops[self.of], *members.first()?);
        let begun = lanes_that_come(listing, of);
        let turns = listing.row(first).counters.thread_inst_executed_pred_on / begun;
        let is_long = self.a_turn(listing, members)? * turns >= RUN_SECTORS.value * SECTOR_BYTES;
        let could_be_shared = || turns_for_lanes(listing, first) > 1.0;
        (is_long && self.is_whole(listing, members) && could_be_shared()).then_some(begun)
    }
}

/// Lanes that come to a loop.
fn lanes_that_come(listing: &Listing, of: &Loop) -> f64 {
    let flow = &listing.sass.flow;
    let head = flow.block_of[of.head] as usize;
    let from = flow.blocks[head].before.iter().filter(|&&from| !of.holds(from));
    let lanes = |from: &u32| {
        let last = flow.blocks[*from as usize].end - 1;
        listing.row(last).counters.thread_inst_executed
    };
    from.map(lanes).sum::<f64>().max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// A thread per run of bytes, which begins where it has loaded, and moves on by so many.
    fn runs(step: &'static str, turns: f64) -> BTreeMap<usize, f64> {
        let mut launch = launch(&[
            ("S2R R0, SR_TID.X", 1.0),
            ("IMAD.WIDE R2, R0, 0x4, R10", 1.0),
            ("LDG.E R4, desc[UR4][R2.64]", 1.0),
            ("IADD3 R6, P0, R4, c[0x0][0x210], RZ", 1.0),
            ("LDG.E.U8 R8, desc[UR4][R6.64]", turns), // 4
            ("STG.E.U8 desc[UR4][R14.64], R8", turns),
            (step, turns),
            ("IADD3 R14, P0, R14, 0x1, RZ", turns),
            ("@P1 BRA 0x140", turns),
            ("EXIT", 1.0),
        ]);
        for row in &mut launch.instructions {
            row.counters.thread_inst_executed = 32.0 * row.counters.inst_executed;
            row.counters.thread_inst_executed_pred_on = row.counters.thread_inst_executed;
        }
        runs_of_lanes(&launch.listing().unwrap(), &[4])
    }

    #[test]
    fn a_thread_per_string_goes_through_a_run_of_its_own() {
        let step = "IADD3 R6, P0, R6, 0x1, RZ";
        assert_eq!(runs(step, 32.0), BTreeMap::from([(4, 32.0)]));
        assert_eq!(runs(step, 31.0), BTreeMap::new(), "short");
        assert_eq!(runs("IADD3 R6, P0, R6, 0x2, RZ", 64.0), BTreeMap::new(), "every other byte");
        assert_eq!(runs("IADD3 R6, P0, R6, R8, RZ", 64.0), BTreeMap::new(), "by what it loads");
    }
}
