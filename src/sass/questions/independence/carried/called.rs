//! Values that a loop carries through functions that it calls.
//!
//! A function that is not inlined takes its arguments from registers and leaves its results in others; the loop itself has nothing
//! but a jump. Where its results are arguments of the next turn's call, as in `r = square(r)`, the turns need one another.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::sass::code::blocks::Loop;
use crate::sass::code::listing::Listing;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;

/// A set of registers.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Registers([u64; Slot::COUNT.div_ceil(64)]);

impl Registers {
    const NONE: Self = Self([0; Slot::COUNT.div_ceil(64)]);

    fn only(slot: Slot) -> Self {
        let mut only = Self::NONE;
        only.insert(slot);
        only
    }

    fn insert(&mut self, slot: Slot) {
        self.0[slot.index() / 64] |= 1 << (slot.index() % 64);
    }

    const fn has(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 == 1
    }

    fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
    }
}

/// What a value is made of: registers as they were at the beginning of the turn.
#[derive(Clone, Copy)]
struct Made {
    of: Registers,
    /// Those that went through a called function on the way.
    called: Registers,
}

impl Made {
    const NOTHING: Self = Self { of: Registers::NONE, called: Registers::NONE };

    fn add(&mut self, other: &Self) {
        self.of.add(&other.of);
        self.called.add(&other.called);
    }
}

/// True where a turn hands a called function what the function made of the turn before.
pub(super) fn hands_on_through_calls(listing: &Listing, of: &Loop) -> bool {
    let flow = &listing.sass.flow;
    let mut calls = listing.calls();
    calls.retain(|(call, _)| flow.is_in(of, *call) && listing.executed(*call) > 0.0);
    if calls.is_empty() {
        return false;
    }
    let mut functions: BTreeMap<usize, Function> = BTreeMap::new();
    let mut called: BTreeMap<usize, usize> = BTreeMap::new();
    for (call, range) in calls {
        called.insert(call, *range.start());
        functions.entry(*range.start()).or_insert_with(|| Function::of(listing, range));
    }
    // What each register holds, made of those at the beginning.
    let mut now: Vec<Made> = vec![Made::NOTHING; Slot::COUNT];
    for slot in written(listing, of, &functions) {
        now[slot.index()].of = Registers::only(slot);
    }
    for at in flow.places(of).filter(|&at| listing.executed(at) > 0.0) {
        if let Some(first) = called.get(&at) {
            let function = &functions[first];
            let mut made = Made::NOTHING;
            function.arguments.iter().for_each(|slot| made.add(&now[slot.index()]));
            made.called.add(&{ made.of });
            function.results.iter().for_each(|slot| now[slot.index()] = made);
            continue;
        }
        let mut made = Made::NOTHING;
        let uses = listing.sass.uses(at).iter();
        uses.for_each(|each| made.add(&now[each.slot.index()]));
        let stays = listing.sass.entries[at].conditional;
        for slot in listing.sass.defs(at) {
            let before = if stays { now[slot.index()] } else { Made::NOTHING };
            now[slot.index()] = made;
            now[slot.index()].add(&before);
        }
    }
    comes_round(&now)
}

/// True where some register goes through a called function into another that it is made of in turn.
fn comes_round(made: &[Made]) -> bool {
    let mut reaches: Vec<Registers> = made.iter().map(|made| made.of).collect();
    // Warshall's closure.
    for by in 0..reaches.len() {
        let through = reaches[by];
        if through == Registers::NONE {
            continue;
        }
        for each in reaches.iter_mut().filter(|each| each.has(by)) {
            each.add(&through);
        }
    }
    let is_back = |slot: usize, from: usize| from == slot || reaches[from].has(slot);
    made.iter().enumerate().any(|(slot, made)| {
        (0..reaches.len()).any(|from| made.called.has(from) && is_back(slot, from))
    })
}

/// The registers that a loop or the functions that it calls write.
fn written(listing: &Listing, of: &Loop, functions: &BTreeMap<usize, Function>) -> Vec<Slot> {
    let own = listing.sass.flow.places(of).filter(|&at| listing.executed(at) > 0.0);
    let own = own.flat_map(|at| listing.sass.defs(at).iter().copied());
    own.chain(functions.values().flat_map(|function| function.results.iter().copied())).collect()
}

/// A called function.
struct Function {
    /// The registers that it reads before it writes them.
    arguments: Vec<Slot>,
    /// Those that it writes.
    results: Vec<Slot>,
}

impl Function {
    fn of(listing: &Listing, range: RangeInclusive<usize>) -> Self {
        let (mut arguments, mut results) = (Registers::NONE, Registers::NONE);
        let mut function = Self { arguments: Vec::new(), results: Vec::new() };
        for at in range.filter(|&at| listing.executed(at) > 0.0) {
            // What it keeps in its frame it may only save for its caller.
            let family = listing.sass.entries[at].family;
            if matches!(family, Family::Load(Space::Local) | Family::Store(Space::Local)) {
                continue;
            }
            for each in listing.sass.uses(at).iter().filter(|each| each.role != Role::Old) {
                let index = each.slot.index();
                if !results.has(index) && !arguments.has(index) {
                    arguments.insert(each.slot);
                    function.arguments.push(each.slot);
                }
            }
            for &slot in listing.sass.defs(at) {
                if !results.has(slot.index()) {
                    results.insert(slot);
                    function.results.push(slot);
                }
            }
        }
        function
    }
}
