//! Loops that hold a value of each lane's own against all entries of a list, by order, and only count those on one side of it
//! or keep the last of them.
//!
//! All lanes read the same entry in a turn, as the turn alone says which. Where the entries ascend, those on one side of a value
//! come first: their number, and the last of them, are where a search by halving ends.

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
}

/// The loops that do nothing but scan so.
#[must_use]
pub fn linear_scans(listing: &Listing) -> Vec<LinearScan> {
    let loops = 0..listing.sass.flow.loops.len();
    let candidates: Vec<usize> = loops.filter(|&of| may_scan(listing, of)).collect();
    if candidates.is_empty() {
        return Vec::new();
    }
    let own = made_of_lanes(listing);
    candidates.into_iter().filter_map(|of| in_loop(listing, of, &own)).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// A loop that counts the entries up to a lane's value.
    fn of(changes: &[(usize, &'static str)]) -> Vec<LinearScan> {
        let mut code = vec![
            ("S2R R15, SR_TID.X", 10.0),
            ("LDC.64 R4, c[0x0][0x210]", 10.0),
            ("LDG.E R0, desc[UR6][R4.64]", 500.0),
            ("MOV R20, RZ", 500.0),
            ("ISETP.GE.AND P0, PT, R15, R0, PT", 500.0),
            ("@P0 IADD3 R6, R6, 0x1, RZ", 500.0),
            ("IADD3 R9, R9, 0x1, RZ", 500.0),
            ("IADD3 R4, R4, 0x4, RZ", 500.0),
            ("ISETP.GE.AND P1, PT, R4, c[0x0][0x218], PT", 500.0),
            ("@!P1 BRA 0x120", 500.0),
            ("STG.E desc[UR6][R10.64], R6", 10.0),
            ("EXIT", 10.0),
        ];
        for &(at, text) in changes {
            code[at].0 = text;
        }
        linear_scans(&launch(&code).listing().unwrap())
    }

    #[test]
    fn numbers_and_last_places_of_entries_are_what_a_search_finds() {
        let expected = LinearScan {
            inside: (2..10).collect(),
            loads: vec![2],
            entries: 50.0,
            searches: 1.0,
            in_a_turn: 1.0,
        };
        assert_eq!(of(&[]), [expected]);
        let one =
            |changes: &[(usize, &'static str)]| assert_eq!(of(changes).len(), 1, "{changes:?}");
        one(&[(5, "SEL R6, R9, R6, P0")]);
        one(&[(5, "SEL R6, R6, R0, !P0")]);
        one(&[(5, "@P0 IMAD.MOV.U32 R6, RZ, RZ, R9")]);
        one(&[(5, "@P0 IADD3 R6, R9, 0x1, RZ")]);
        one(&[(5, "SEL R7, RZ, 0x1, !P0"), (6, "IADD3 R6, R6, R7, RZ")]);
        one(&[(4, "FSETP.GE.AND P0, PT, R15, R0, PT")]);
        // The register of the entry takes over what is kept.
        one(&[(5, "@!P0 SEL R0, R6, R6, P1"), (6, "IMAD.MOV.U32 R6, RZ, RZ, R0")]);
        // What another list has at the same place.
        one(&[(3, "LDG.E R21, desc[UR6][R4.64+0x100]"), (5, "SEL R6, R21, R6, P0")]);
    }

    #[test]
    fn two_values_of_a_lane_are_two_searches() {
        let two = of(&[
            (3, "ISETP.GE.AND P2, PT, R16, R0, PT"),
            (6, "@P2 IADD3 R8, R8, 0x1, RZ"),
            (10, "IADD3 R16, R15, 0x80, RZ"),
        ]);
        assert!(two.is_empty(), "R16 comes from nowhere of the lane's own");
        let two = of(&[
            (1, "IADD3 R16, R15, 0x80, RZ"),
            (3, "ISETP.GE.AND P2, PT, R16, R0, PT"),
            (6, "@P2 IADD3 R8, R8, 0x1, RZ"),
        ]);
        assert!((two[0].searches - 2.0).abs() < 1e-12);
        assert!((two[0].entries - 50.0).abs() < 1e-12);
    }

    #[test]
    fn long_values_are_compared_in_two_halves() {
        let long = of(&[
            (1, "IMAD.WIDE R14, R15, 0x4, R12"),
            (2, "LDG.E.64 R0, desc[UR6][R4.64]"),
            (3, "ISETP.GE.U32.AND P0, PT, R14, R0, PT"),
            (4, "ISETP.GE.AND.EX P0, PT, R15, R1, PT, P0"),
        ]);
        assert_eq!(long.len(), 1);
        assert!((long[0].searches - 1.0).abs() < 1e-12);
    }

    #[test]
    fn other_results_and_other_comparisons_are_no_search() {
        let none =
            |changes: &[(usize, &'static str)]| assert!(of(changes).is_empty(), "{changes:?}");
        none(&[(4, "ISETP.NE.AND P0, PT, R15, R0, PT")]);
        // Sums, also of what was chosen or of turns; the largest.
        none(&[(5, "@P0 IADD3 R6, R6, R0, RZ")]);
        none(&[(5, "@P0 IADD3 R6, R6, R9, RZ")]);
        none(&[(5, "SEL R7, R0, RZ, P0"), (6, "IADD3 R6, R6, R7, RZ")]);
        none(&[(5, "@P0 FADD R6, R6, R7")]);
        none(&[(5, "SEL R7, R0, RZ, P0"), (6, "IMNMX R6, R6, R7, !PT")]);
        none(&[(3, "IADD3 R20, R20, R0, RZ")]);
        none(&[(3, "STG.E desc[UR6][R12.64], R0")]);
        // The nearest so far, and a value that moves on.
        none(&[(4, "ISETP.GE.AND P0, PT, R6, R0, PT"), (5, "SEL R6, R0, R6, P0")]);
        none(&[(3, "IADD3 R15, R15, 0x20, RZ")]);
        // Two conditions on the entries.
        none(&[(3, "ISETP.GE.AND P2, PT, R15, R0, PT"), (4, "ISETP.GE.AND P0, PT, R15, R0, P2")]);
        none(&[(5, "ISETP.GE.AND P0, PT, R0, RZ, P0"), (6, "@P0 IADD3 R6, R6, 0x1, RZ")]);
        // Entries of each lane's own, one entry only, and entries that name the next.
        none(&[(1, "IMAD R4, R15, 0x4, R5")]);
        none(&[(2, "LDG.E R0, desc[UR6][R12.64]")]);
        none(&[(7, "IADD3 R4, R0, 0x4, RZ")]);
        // One value for all lanes, and what is only done where the outcome says so.
        none(&[(0, "S2R R15, SR_CTAID.X")]);
        none(&[(5, "@P0 BRA 0x170")]);
    }
}
