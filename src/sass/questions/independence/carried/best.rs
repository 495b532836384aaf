//! The best value so far, and what is noted beside it.
//!
//! A thread that keeps the largest value it has seen, and where that was, replaces both under one condition, by which a new value
//! is better than the one that it keeps; in an unrolled loop it does so several times per turn. Several threads can each keep the
//! best of a part, of which the best is taken in the end, as long as nothing else goes by the best so far: a search that leaves
//! out what can't be better needs to know it.

use std::collections::{BTreeMap, BTreeSet};

use super::walk::Walk;
use crate::sass::code::blocks::Exit;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;
use crate::sass::thresholds::MOST_READERS;

/// What makes the best values so far that a loop carries, and what it notes beside them.
pub(super) struct Bests(BTreeSet<usize>);

impl Bests {
    /// Those of the loop's carried values that nothing else goes by.
    pub(super) fn of(walk: &Walk, reaching: &mut Reaching) -> Self {
        let mut found = BTreeSet::new();
        let mut readers = None;
        for carried in &walk.carried {
            let [only] = carried.definitions[..] else { continue };
            if takes_better(walk, reaching, only) {
                let readers = readers.get_or_insert_with(|| Readers::of(walk, reaching));
                found.extend(best(walk, reaching, readers, only).unwrap_or_default());
            }
        }
        Self(found)
    }

    /// True for a definition that takes the larger or smaller of the best so far and a new value, or replaces what is noted beside
    /// it under the condition that compares the two.
    pub(super) fn has(&self, definition: usize) -> bool {
        self.0.contains(&definition)
    }
}

/// The instructions of a loop that use what an instruction of it makes.
struct Readers(BTreeMap<usize, Vec<(usize, Use)>>);

impl Readers {
    fn of(walk: &Walk, reaching: &mut Reaching) -> Self {
        let sass = walk.listing.sass;
        let mut readers: BTreeMap<usize, Vec<(usize, Use)>> = BTreeMap::new();
        for at in sass.flow.places(walk.of) {
            for each in sass.uses(at) {
                let made_at = reaching.definitions(at, *each).map(|by| by as usize);
                for by in made_at.filter(|&by| walk.contains(by)) {
                    readers.entry(by).or_default().push((at, *each));
                }
            }
        }
        Self(readers)
    }

    /// Those of a definition; `None` where they are too many to look at.
    fn of_definition(&self, at: usize) -> Option<&[(usize, Use)]> {
        let readers = self.0.get(&at).map_or(&[][..], Vec::as_slice);
        (readers.len() <= MOST_READERS.whole()).then_some(readers)
    }
}

/// The choices between the best so far, which one definition hands on, and new values, and what is replaced beside it; `None` where
/// anything else is made of these.
fn best(
    walk: &Walk,
    reaching: &mut Reaching,
    readers: &Readers,
    handed_on: usize,
) -> Option<BTreeSet<usize>> {
    let text = |at: usize| walk.listing.text(at);
    let mut choices = BTreeSet::from([handed_on]);
    let mut comparisons = BTreeSet::new();
    let mut open = vec![handed_on];
    while let Some(at) = open.pop() {
        for &(reader, _) in readers.of_definition(at)? {
            if takes_better(walk, reaching, reader) {
                if choices.insert(reader) {
                    open.push(reader);
                }
            } else if is_order(text(reader)) {
                comparisons.insert(reader);
            } else {
                return None;
            }
        }
    }
    // Larger values alone are better, or smaller ones alone: a clamp goes by the order of its values.
    let last = |&at: &usize| {
        let is_extreme = text(at).contains("MNMX");
        is_extreme.then(|| text(at).rsplit(',').next().unwrap_or_default().trim())
    };
    let ways: BTreeSet<&str> = choices.iter().filter_map(last).collect();
    let opcodes: BTreeSet<&str> =
        comparisons.iter().filter_map(|&at| text(at).split(' ').next()).collect();
    if ways.len() > 1 || opcodes.len() > 1 {
        return None;
    }
    // One side is the best so far, the other one new.
    let mut first_is_best = None;
    for &comparison in &comparisons {
        let uses = walk.listing.sass.uses(comparison).iter();
        let data = uses.filter(|each| each.role == Role::Data && !each.slot.is_predicate());
        let is_best = data.map(|each| {
            reaching.definitions(comparison, *each).any(|by| choices.contains(&(by as usize)))
        });
        let sides: Vec<bool> = is_best.collect();
        let [one, other] = sides[..] else { return None };
        if one == other || *first_is_best.get_or_insert(one) != one {
            return None;
        }
    }
    let mut replaced = BTreeSet::new();
    for &comparison in &comparisons {
        let by_it = readers.of_definition(comparison)?.iter().map(|(at, _)| *at);
        replaced.extend(by_it.filter(|at| !choices.contains(at)));
    }
    for &at in &replaced {
        let entry = &walk.listing.sass.entries[at];
        let is_plain = entry.exit() == Exit::Next && !entry.family.is_memory();
        let conditions = conditions(walk, at);
        let goes_by_them = !conditions.is_empty()
            && conditions.into_iter().all(|each| {
                reaching.definitions(at, each).all(|by| comparisons.contains(&(by as usize)))
            });
        let read = readers.of_definition(at)?.iter().filter(|(_, each)| each.role != Role::Old);
        let stays_beside =
            read.into_iter().all(|(by, _)| replaced.contains(by) || is_order(text(*by)));
        if !(is_plain && goes_by_them && stays_beside) {
            return None;
        }
    }
    choices.extend(replaced);
    Some(choices)
}

/// True for what takes the larger or smaller of two values, and for a copy or a choice under the condition that compares the two.
fn takes_better(walk: &Walk, reaching: &mut Reaching, definition: usize) -> bool {
    let sass = walk.listing.sass;
    let base = Instruction::base_of(walk.listing.text(definition)).unwrap_or_default();
    if matches!(base, "FMNMX" | "FMNMX3" | "HMNMX2" | "IMNMX" | "VIMNMX") {
        return true;
    }
    if !matches!(base, "MOV" | "FSEL" | "SEL") {
        return false;
    }
    let [condition] = conditions(walk, definition)[..] else { return false };
    let made: Vec<usize> =
        reaching.definitions(definition, condition).map(|by| by as usize).collect();
    let [comparison] = made[..] else { return false };
    let values = |at: usize| -> Vec<Slot> {
        let uses = sass.uses(at).iter().filter(|each| each.role != Role::Guard);
        let mut slots: Vec<Slot> =
            uses.map(|each| each.slot).filter(|slot| !slot.is_predicate()).collect();
        slots.sort_unstable_by_key(|slot| slot.index());
        slots.dedup();
        slots
    };
    walk.contains(comparison) && values(comparison) == values(definition)
}

/// The conditions under which a definition replaces what was there: its guard, and what it chooses by.
fn conditions(walk: &Walk, definition: usize) -> Vec<Use> {
    let chooses = ["SEL", "FSEL"]
        .contains(&Instruction::base_of(walk.listing.text(definition)).unwrap_or_default());
    let is_condition =
        |each: &&Use| each.role == Role::Guard || chooses && each.slot.is_predicate();
    walk.listing.sass.uses(definition).iter().filter(is_condition).copied().collect()
}

/// True for a comparison that asks which of two values is larger.
fn is_order(text: &str) -> bool {
    Instruction::parse(text).is_some_and(|instruction| instruction.compares_by_order())
}
