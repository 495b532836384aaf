//! The best value so far, and what is noted beside it.
//!
//! A thread that keeps the largest value it has seen, and where that was, replaces both under one condition, by which a new value
//! is better than the one that it keeps. Several threads can each keep the best of a part, of which the best is taken in the
//! end, as long as nothing else goes by the best so far: a search that leaves out what can't be better needs to know it.

use super::walk::Walk;
use crate::sass::code::blocks::Exit;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;
use crate::sass::thresholds::MOST_READERS;

/// True where the definition of a carried value takes the larger or smaller of it and a new one, or replaces it under a condition that
/// compares a new value with such a carried one.
pub(super) fn is_best_so_far(
    walk: &Walk,
    reaching: &mut Reaching,
    own: usize,
    definition: usize,
) -> bool {
    keeps_best(walk, reaching, own, definition)
        || condition(walk, definition)
            .is_some_and(|each| is_for_better(walk, reaching, definition, each))
}

/// True where a carried value is the larger or smaller of what it was and a new value, and nothing else is made of it than comparisons
/// with new values, by which values are replaced.
fn keeps_best(walk: &Walk, reaching: &mut Reaching, own: usize, definition: usize) -> bool {
    let [only] = walk.carried[own].definitions[..] else { return false };
    if only != definition || !takes_better(walk, reaching, definition) {
        return false;
    }
    let readers = readers(walk, reaching, definition, |_| true);
    readers.len() <= MOST_READERS.whole()
        && readers.into_iter().all(|at| at == definition || only_replaces(walk, reaching, at))
}

/// True for what takes the larger or smaller of two values, and for a copy or a choice under the condition that compares the two.
fn takes_better(walk: &Walk, reaching: &mut Reaching, definition: usize) -> bool {
    let sass = walk.listing.sass;
    let base = Instruction::base_of(walk.listing.text(definition)).unwrap_or_default();
    if matches!(base, "FMNMX" | "FMNMX3" | "HMNMX2" | "IMNMX" | "VIMNMX") {
        return true;
    }
    let Some(condition) = condition(walk, definition) else { return false };
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
    matches!(base, "MOV" | "FSEL" | "SEL") && values(comparison) == values(definition)
}

/// True where a comparison decides nothing but whether values are replaced that no instruction of the loop reads but comparisons.
fn only_replaces(walk: &Walk, reaching: &mut Reaching, comparison: usize) -> bool {
    if !is_order(walk.listing.text(comparison)) {
        return false;
    }
    let sass = walk.listing.sass;
    let deciding = readers(walk, reaching, comparison, |each| each.slot.is_predicate());
    let is_few = deciding.len() <= MOST_READERS.whole();
    is_few
        && deciding.into_iter().all(|at| {
            let is_plain =
                sass.entries[at].exit() == Exit::Next && !sass.entries[at].family.is_memory();
            let read = readers(walk, reaching, at, |each| each.role != Role::Old);
            is_plain && read.into_iter().all(|by| by == at || is_order(walk.listing.text(by)))
        })
}

/// The instructions of the loop that make some use of a definition.
fn readers(
    walk: &Walk,
    reaching: &mut Reaching,
    definition: usize,
    of: fn(&Use) -> bool,
) -> Vec<usize> {
    let sass = walk.listing.sass;
    let reads = |at: &usize| {
        let mut uses = sass.uses(*at).iter().filter(|each| of(each));
        uses.any(|each| reaching.definitions(*at, *each).any(|by| by as usize == definition))
    };
    sass.flow.places(walk.of).filter(reads).collect()
}

/// True where a condition compares a carried best value with one that is not carried.
fn is_for_better(walk: &Walk, reaching: &mut Reaching, at: usize, condition: Use) -> bool {
    let sass = walk.listing.sass;
    let made: Vec<usize> = reaching.definitions(at, condition).map(|by| by as usize).collect();
    let [comparison] = made[..] else { return false };
    if !walk.contains(comparison) || !is_order(walk.listing.text(comparison)) {
        return false;
    }
    let data = sass.uses(comparison).iter().filter(|each| each.role == Role::Data);
    let sides: Vec<Use> = data.filter(|each| !each.slot.is_predicate()).copied().collect();
    let mut best = 0;
    for each in &sides {
        let by: Vec<usize> =
            reaching.definitions(comparison, *each).map(|by| by as usize).collect();
        let carried = walk.carried.iter().position(|carried| {
            carried.slot == Some(each.slot)
                && carried.definitions.iter().any(|one| by.contains(one))
        });
        if let Some(own) = carried {
            let [only] = walk.carried[own].definitions[..] else { return false };
            if !keeps_best(walk, reaching, own, only) {
                return false;
            }
            best += 1;
        }
    }
    best == 1 && sides.len() == 2
}

/// The condition under which a definition replaces what was there: its guard, or what it chooses by.
fn condition(walk: &Walk, definition: usize) -> Option<Use> {
    let uses = walk.listing.sass.uses(definition);
    let guard = uses.iter().find(|each| each.role == Role::Guard);
    let chooses = ["SEL", "FSEL"]
        .contains(&Instruction::base_of(walk.listing.text(definition)).unwrap_or_default());
    let by = uses.iter().find(|each| chooses && each.slot.is_predicate());
    guard.or(by).copied()
}

/// True for a comparison that asks which of two values is larger.
fn is_order(text: &str) -> bool {
    Instruction::parse(text).is_some_and(|instruction| instruction.compares_by_order())
}
