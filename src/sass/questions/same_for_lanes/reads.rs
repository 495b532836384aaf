//! What each instruction reads, and who may have made it, with what callers hand to functions.

use std::collections::BTreeMap;

use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;

/// What an instruction reads, and the instructions that may have made it.
#[derive(Clone, Copy)]
pub(super) struct Read<'a> {
    pub of: Use,
    pub made: &'a [u32],
}

/// What all executed instructions read, one after another.
pub(super) struct Reads {
    /// What is read, and where its makers end.
    each: Vec<(Use, u32)>,
    makers: Vec<u32>,
    /// By instruction, where what it reads ends.
    ends: Vec<u32>,
}

impl Reads {
    /// A function's argument is made by its callers.
    pub(super) fn new(listing: &Listing, executed: &Marks) -> Self {
        let sass = listing.sass;
        let count = sass.entries.len();
        let calls = calls(listing, executed);
        let mut reaching = Reaching::new(sass);
        let mut arguments: BTreeMap<(usize, Slot), Vec<u32>> = BTreeMap::new();
        let mut all = Self {
            each: Vec::with_capacity(4 * count),
            makers: Vec::with_capacity(4 * count),
            ends: Vec::with_capacity(count),
        };
        for at in 0..count {
            let uses = if executed[at] { sass.uses(at) } else { &[] };
            for each in uses {
                let begin = all.makers.len();
                let made = reaching.definitions(at, *each);
                all.makers.extend(made.filter(|&by| executed[by as usize]));
                let is_unmade = all.makers.len() == begin;
                let is_argument = is_unmade && each.slot.is_general() && each.role != Role::Old;
                if is_argument && let Some((&begin, calls)) = calls.range(..=at).next_back() {
                    let of_calls = arguments.entry((begin, each.slot)).or_insert_with(|| {
                        let before =
                            |&call: &usize| slot_before(listing, &mut reaching, call, each.slot);
                        calls.iter().flat_map(before).collect()
                    });
                    all.makers.extend_from_slice(of_calls);
                }
                all.each.push((*each, all.makers.len() as u32));
            }
            all.ends.push(all.each.len() as u32);
        }
        all
    }

    /// What an instruction reads.
    pub(super) fn of(&self, at: usize) -> impl Iterator<Item = Read<'_>> + Clone {
        let end_before =
            |ends: &[u32], at: usize| at.checked_sub(1).map_or(0, |before| ends[before]);
        let range = end_before(&self.ends, at) as usize..self.ends[at] as usize;
        range.map(|place| {
            let begin = place.checked_sub(1).map_or(0, |before| self.each[before].1);
            let (of, end) = self.each[place];
            Read { of, made: &self.makers[begin as usize..end as usize] }
        })
    }

    /// Who reads what each instruction makes, in the same order.
    pub(super) fn readers(&self) -> Readers {
        let count = self.ends.len();
        let mut begins = vec![0_u32; count + 1];
        self.makers.iter().for_each(|&by| begins[by as usize + 1] += 1);
        for at in 0..count {
            begins[at + 1] += begins[at];
        }
        let mut next = begins.clone();
        let mut readers = vec![0; self.makers.len()];
        for at in 0..count {
            for &by in self.of(at).flat_map(|read| read.made) {
                readers[next[by as usize] as usize] = at as u32;
                next[by as usize] += 1;
            }
        }
        Readers { begins, readers }
    }
}

/// The readers of what each instruction makes.
pub(super) struct Readers {
    begins: Vec<u32>,
    readers: Vec<u32>,
}

impl Readers {
    /// Those of one instruction, ascending.
    pub(super) fn of(&self, at: usize) -> &[u32] {
        &self.readers[self.begins[at] as usize..self.begins[at + 1] as usize]
    }
}

/// What may have made what a slot holds at a call.
fn slot_before(listing: &Listing, reaching: &mut Reaching, call: usize, slot: Slot) -> Vec<u32> {
    let sass = listing.sass;
    let start = sass.flow.blocks[sass.flow.block_of[call] as usize].start;
    if let Some(by) = (start..call).rev().find(|&by| sass.defs(by).contains(&slot)) {
        return vec![by as u32];
    }
    let each = Use { slot, role: Role::Data, definition: None };
    reaching.definitions(call, each).collect()
}

/// Where functions begin that are called, with their calls.
fn calls(listing: &Listing, executed: &Marks) -> BTreeMap<usize, Vec<usize>> {
    let place: BTreeMap<u64, usize> =
        listing.entries().filter_map(|(at, _)| Some((listing.row(at).address?, at))).collect();
    let mut calls: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for at in executed.iter() {
        let text = listing.text(at);
        let called = text
            .contains("CALL")
            .then(|| Instruction::parse(text))
            .flatten()
            .filter(|instruction| instruction.base() == "CALL")
            .and_then(|instruction| place.get(&instruction.target()?).copied());
        if let Some(called) = called {
            calls.entry(called).or_default().push(at);
        }
    }
    calls
}
