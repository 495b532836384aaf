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
pub(super) struct Read {
    pub of: Use,
    pub made: Vec<usize>,
}

/// What each executed instruction reads. A function's argument is made by its callers.
pub(super) fn reads(listing: &Listing, executed: &Marks) -> Vec<Vec<Read>> {
    let sass = listing.sass;
    let calls = calls(listing, executed);
    let mut reaching = Reaching::new(sass);
    let mut arguments: BTreeMap<(usize, Slot), Vec<usize>> = BTreeMap::new();
    let mut reads = Vec::with_capacity(sass.entries.len());
    for at in 0..sass.entries.len() {
        let uses = if executed[at] { sass.uses(at) } else { &[] };
        let of = |each: &Use| {
            let made = reaching.definitions(at, *each).map(|by| by as usize);
            let mut made: Vec<usize> = made.filter(|&by| executed[by]).collect();
            let is_argument = made.is_empty() && each.slot.is_general() && each.role != Role::Old;
            if is_argument && let Some((&begin, calls)) = calls.range(..=at).next_back() {
                let of_calls = arguments.entry((begin, each.slot)).or_insert_with(|| {
                    let before =
                        |&call: &usize| slot_before(listing, &mut reaching, call, each.slot);
                    calls.iter().flat_map(before).collect()
                });
                made.clone_from(of_calls);
            }
            Read { of: *each, made }
        };
        reads.push(uses.iter().map(of).collect());
    }
    reads
}

/// What may have made what a slot holds at a call.
fn slot_before(listing: &Listing, reaching: &mut Reaching, call: usize, slot: Slot) -> Vec<usize> {
    let sass = listing.sass;
    let start = sass.flow.blocks[sass.flow.block_of[call] as usize].start;
    if let Some(by) = (start..call).rev().find(|&by| sass.defs(by).contains(&slot)) {
        return vec![by];
    }
    let each = Use { slot, role: Role::Data, definition: None };
    reaching.definitions(call, each).map(|by| by as usize).collect()
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
