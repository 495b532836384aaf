//! Loops that hold a value of each lane's own against all entries of a list, by order, and only count those on one side of it
//! or keep the last of them.
//!
//! All lanes read the same entry in a turn, as the turn alone says which. Where the entries ascend, those on one side of a value
//! come first: their number, and the last of them, are where a search by halving ends.

mod nearest;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::flow::turns::turns;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;
use crate::sass::questions::alike::is_own_in_itself;
use crate::sass::questions::linear_searches::{is_order, made_of};
use crate::sass::questions::matches::of_entries;
use crate::sass::questions::matrix_loops::members;

/// A loop that goes through all of a list so.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearScan {
    /// All that the loop executes, ascending.
    pub inside: Vec<usize>,
    /// The loads of entries, and of what belongs to them.
    pub loads: Vec<usize>,
    /// How many entries it compares for each warp that comes to it.
    pub entries: f64,
    /// Values of each lane that it holds against an entry.
    pub searches: f64,
    /// Entries that it compares in a turn.
    pub in_a_turn: f64,
    /// What it asks of them.
    pub asks: Asks,
}

/// What is asked of the entries of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// How many lie on one side of a value, or which of these is the last.
    Side,
    /// Which is the nearest.
    Nearest,
}

/// The loops that do nothing but scan so.
#[must_use]
pub fn linear_scans(listing: &Listing) -> Vec<LinearScan> {
    let loops = 0..listing.sass.flow.loops.len();
    let asks = |of: usize| {
        let side = may_scan(listing, of).then_some(Asks::Side);
        side.or_else(|| nearest::may_look(listing, of).then_some(Asks::Nearest))
    };
    let candidates: Vec<(usize, Asks)> = loops.filter_map(|of| Some((of, asks(of)?))).collect();
    if candidates.is_empty() {
        return Vec::new();
    }
    let own = made_of_lanes(listing);
    let found = candidates.into_iter().filter_map(|(of, asks)| match asks {
        Asks::Side => in_loop(listing, of, &own),
        Asks::Nearest => nearest::in_loop(listing, of, &own),
    });
    found.collect()
}

/// True for an innermost loop that loads, compares by order, and has nothing in it that a scan has not.
fn may_scan(listing: &Listing, of: usize) -> bool {
    let inside = members(listing, of);
    let (mut loads, mut compares) = (false, false);
    for &at in &inside {
        let is_compare = is_order(listing.text(at));
        compares |= is_compare;
        match listing.sass.entries[at].family {
            Family::Load(_) | Family::Constant => loads = true,
            Family::Integer
            | Family::IntegerMultiply
            | Family::Move
            | Family::Uniform
            | Family::Control
            | Family::Nop => {}
            _ if is_compare || is_selection(listing, at) => {}
            _ => return false,
        }
        if listing.sass.flow.innermost(at) != Some(of) {
            return false;
        }
    }
    loads && compares
}

/// What the lane's index or anything else of its own takes part in, over any number of steps.
fn made_of_lanes(listing: &Listing) -> Marks {
    let sass = listing.sass;
    let count = sass.entries.len();
    let mut own = Marks::of(count, |at| is_own_in_itself(listing, at));
    let mut reaching = Reaching::new(sass);
    own.spread(&Marks::of(count, |_| true), |at, own| {
        sass.uses(at).iter().any(|each| {
            let mut by = reaching.definitions(at, *each);
            by.any(|by| own[by as usize])
        })
    });
    own
}

/// What each instruction of a loop has to do with its entries.
struct Parts<'a> {
    within: Marks,
    own: &'a Marks,
    /// The loads of entries, and what takes these apart.
    entries: Marks,
    /// The comparisons of entries.
    compares: Marks,
    /// What goes by the comparisons' outcomes.
    results: Marks,
}

fn in_loop(listing: &Listing, of: usize, own: &Marks) -> Option<LinearScan> {
    let sass = listing.sass;
    let count = sass.entries.len();
    let inside = members(listing, of);
    let mut within = Marks::new(count);
    for &at in &inside {
        within.insert(at);
    }
    let mut reaching = Reaching::new(sass);
    let loads = loads(listing, &mut reaching, &inside, (&within, own))?;
    let entries = of_entries(listing, &mut reaching, &inside, &within, &loads);
    let mut parts =
        Parts { within, own, entries, compares: Marks::new(count), results: Marks::new(count) };
    // Which entries, and with how many of the lane's values, each once.
    let mut compared: BTreeSet<(usize, Slot)> = BTreeSet::new();
    let mut comparisons = 0.0;
    for &at in inside.iter().filter(|&&at| is_order(listing.text(at))) {
        if let Some(found) = parts.entry_compared(listing, &mut reaching, at) {
            parts.compares.insert(at);
            // The upper halves of long values are no others.
            if !is_upper_half(listing.text(at)) {
                comparisons += listing.executed(at);
                compared.extend(found);
            }
        }
    }
    let mut tainted = parts.compares.clone();
    tainted.spread(&parts.within, |at, tainted| {
        let mut uses = sass.uses(at).iter();
        uses.any(|each| reaching.definitions(at, *each).any(|by| tainted[by as usize]))
    });
    for &at in inside.iter().filter(|&&at| tainted[at]) {
        if !parts.compares[at] {
            parts.results.insert(at);
        }
    }
    if parts.results.are_none() || !parts.only_counts_or_keeps(listing, &mut reaching, &inside) {
        return None;
    }
    let each = &sass.flow.loops[of];
    let head = listing.executed(each.head);
    let all: f64 = compared.iter().map(|&(by, _)| listing.executed(by)).sum();
    let in_a_turn = all / head.max(f64::MIN_POSITIVE);
    (all > 0.0 && head > 0.0).then(|| LinearScan {
        inside,
        loads: loads.iter().collect(),
        entries: in_a_turn * turns(listing, each),
        searches: comparisons / all,
        in_a_turn,
        asks: Asks::Side,
    })
}

/// A loop's loads, where the turn alone says what each brings; `None` where a lane's own value, or one that was loaded, does.
fn loads(
    listing: &Listing,
    reaching: &mut Reaching,
    inside: &[usize],
    (within, own): (&Marks, &Marks),
) -> Option<Marks> {
    let family = |at: usize| listing.sass.entries[at].family;
    let is_load = |at: usize| matches!(family(at), Family::Load(_));
    let mut found = Marks::new(listing.sass.entries.len());
    for &at in inside.iter().filter(|&&at| is_load(at) || family(at) == Family::Constant) {
        let made = made_of(listing, reaching, at, within, |role| role == Role::Address);
        if made.are_none() && family(at) == Family::Constant {
            continue;
        }
        if own[at] || made.are_none() || made.iter().any(is_load) {
            return None;
        }
        found.insert(at);
    }
    (!found.are_none()).then_some(found)
}

impl Parts<'_> {
    /// The entry that a comparison holds against a value of the lane's own that stays: what brings it, and the register.
    fn entry_compared(
        &self,
        listing: &Listing,
        reaching: &mut Reaching,
        at: usize,
    ) -> Option<Vec<(usize, Slot)>> {
        let (mut values, mut entry) = (0, None);
        for each in listing.sass.uses(at) {
            let by: Vec<usize> = reaching.definitions(at, *each).map(|by| by as usize).collect();
            let inside: Vec<usize> = by.iter().copied().filter(|&by| self.within[by]).collect();
            if each.slot.is_predicate() {
                // Whether a turn comes in at all may count; another condition on the entries makes another question.
                let lower_half = is_upper_half(listing.text(at)) && each.role == Role::Data;
                let is_fine = |by: usize| !self.own[by] || lower_half && self.compares[by];
                if !inside.iter().all(|&by| is_fine(by) && !self.entries[by]) {
                    return None;
                }
            } else if inside.is_empty() {
                values += usize::from(by.iter().any(|&by| self.own[by]));
            } else if entry.is_none() && inside.iter().all(|&by| self.entries[by]) {
                entry = Some(inside.into_iter().map(|by| (by, each.slot)).collect());
            } else {
                return None;
            }
        }
        entry.filter(|_| values == 1)
    }

    /// True where entries go into the comparisons alone, and nothing is made of the outcomes but numbers of them and the entry
    /// or the turn that one belongs to.
    fn only_counts_or_keeps(
        &self,
        listing: &Listing,
        reaching: &mut Reaching,
        inside: &[usize],
    ) -> bool {
        let sass = listing.sass;
        let keeps = self.keeps(listing, reaching);
        inside.iter().all(|&at| {
            let mut made_of = |among: &Marks, roles: &[Role]| {
                let mut uses = sass.uses(at).iter().filter(|each| roles.contains(&each.role));
                uses.any(|each| reaching.definitions(at, *each).any(|by| among[by as usize]))
            };
            if !self.results[at] {
                let all = [Role::Data, Role::Address, Role::Guard, Role::Old];
                return self.entries[at] || self.compares[at] || !made_of(&self.entries, &all);
            }
            if is_selection(listing, at) {
                return !self.entries[at];
            }
            // What is added to a number of outcomes is a number of outcomes, or stays.
            is_addition(listing, at) && !(keeps[at] && made_of(&self.results, &[Role::Data]))
        }) && self.results.iter().all(|at| self.takes_nothing_else(listing, reaching, at))
    }

    /// The results in which an entry or a turn takes part, not only outcomes.
    fn keeps(&self, listing: &Listing, reaching: &mut Reaching) -> Marks {
        let sass = listing.sass;
        let mut keeps = Marks::new(sass.entries.len());
        keeps.spread(&self.results, |at, keeps| {
            let mut uses = sass.uses(at).iter().filter(|each| {
                matches!(each.role, Role::Data | Role::Old) && !each.slot.is_predicate()
            });
            uses.any(|each| {
                let mut by = reaching.definitions(at, *each).map(|by| by as usize);
                by.any(|by| keeps[by] || self.within[by] && !self.results[by])
            })
        });
        keeps
    }

    /// True where a result is made of entries, outcomes, turns, and what stays, but of nothing else of the lane's own.
    fn takes_nothing_else(&self, listing: &Listing, reaching: &mut Reaching, at: usize) -> bool {
        listing.sass.uses(at).iter().all(|each| {
            let mut by = reaching.definitions(at, *each).map(|by| by as usize);
            by.all(|by| {
                !self.within[by]
                    || self.entries[by]
                    || self.compares[by]
                    || self.results[by]
                    || !self.own[by]
            })
        })
    }
}

/// True for the comparison of the upper halves of two long values, which goes by that of the lower ones.
fn is_upper_half(text: &str) -> bool {
    text.contains(".EX ") || text.contains(".EX.")
}

/// True for a copy or a choice between two values.
fn is_selection(listing: &Listing, at: usize) -> bool {
    Instruction::parse(listing.text(at)).is_some_and(|instruction| {
        matches!(instruction.base(), "SEL" | "FSEL" | "MOV")
            || instruction.base() == "IMAD" && instruction.has("MOV")
    })
}

/// True for an addition of integers.
fn is_addition(listing: &Listing, at: usize) -> bool {
    Instruction::parse(listing.text(at)).is_some_and(|instruction| {
        matches!(instruction.base(), "IADD3" | "IADD" | "VIADD")
            || instruction.base() == "IMAD" && (instruction.has("IADD") || instruction.has("X"))
    })
}
