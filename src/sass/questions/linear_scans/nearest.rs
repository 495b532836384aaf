//! Loops that look for the entry of a list that is nearest to a value of each lane's own: they take the distance to every entry, and
//! keep the smallest so far with the entry's number.

use std::collections::BTreeSet;

use super::{Asks, LinearScan, is_addition, is_selection, loads};
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::flow::turns::turns;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;
use crate::sass::questions::matches::of_entries;
use crate::sass::questions::matrix_loops::members;

/// What an instruction may be in such a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The load of an entry, or of what belongs to it.
    Load,
    /// A difference.
    Difference,
    /// A comparison of distances.
    Comparison,
    /// The choice of the smaller distance, of its entry, or of the entry's number.
    Choice,
    /// What counts turns and moves pointers.
    Counter,
}

impl Part {
    fn of(listing: &Listing, at: usize) -> Option<Self> {
        let text = listing.text(at);
        match Instruction::base_of(text)? {
            "FADD" => Some(Self::Difference),
            "FSETP" => is_order(text).then_some(Self::Comparison),
            "FMNMX" => Some(Self::Choice),
            _ if matches!(listing.sass.entries[at].family, Family::Load(_) | Family::Constant) => {
                Some(Self::Load)
            }
            _ if is_selection(listing, at) => Some(Self::Choice),
            _ if is_addition(listing, at) => Some(Self::Counter),
            _ => matches!(
                listing.sass.entries[at].family,
                Family::Integer
                    | Family::IntegerMultiply
                    | Family::Move
                    | Family::Uniform
                    | Family::Control
                    | Family::Nop
            )
            .then_some(Self::Counter),
        }
    }
}

/// True for a comparison by order, also one that holds where a value is no number (`.GEU`).
fn is_order(text: &str) -> bool {
    [".LT", ".LE", ".GT", ".GE"].iter().any(|order| text.contains(order))
}

/// True for an innermost loop of such parts alone.
pub(super) fn may_look(listing: &Listing, of: usize) -> bool {
    let inside = members(listing, of);
    let parts: Option<Vec<Part>> = inside.iter().map(|&at| Part::of(listing, at)).collect();
    let has = |part: Part| parts.as_ref().is_some_and(|parts| parts.contains(&part));
    inside.iter().all(|&at| listing.sass.flow.innermost(at) == Some(of))
        && [Part::Load, Part::Difference, Part::Comparison].into_iter().all(has)
}

/// The loop's instructions by their parts.
struct Look<'a> {
    listing: &'a Listing<'a>,
    within: Marks,
    own: &'a Marks,
    entries: Marks,
}

/// The loop, where nothing else becomes of the entries.
pub(super) fn in_loop(listing: &Listing, of: usize, own: &Marks) -> Option<LinearScan> {
    let count = listing.sass.entries.len();
    let inside = members(listing, of);
    let mut within = Marks::new(count);
    for &at in &inside {
        within.insert(at);
    }
    let mut reaching = Reaching::new(listing.sass);
    let loads = loads(listing, &mut reaching, &inside, (&within, own))?;
    let entries = of_entries(listing, &mut reaching, &inside, &within, &loads);
    let look = Look { listing, within, own, entries };
    let mut compared: BTreeSet<(usize, Slot)> = BTreeSet::new();
    let mut differences = 0.0;
    for &at in &inside {
        if !look.fits(&mut reaching, at) {
            return None;
        }
        if Part::of(listing, at) == Some(Part::Difference) {
            compared.extend(look.entry_of(&mut reaching, at)?);
            differences += listing.executed(at);
        }
    }
    let each = &listing.sass.flow.loops[of];
    let all: f64 = compared.iter().map(|&(by, _)| listing.executed(by)).sum();
    let in_a_turn = all / listing.executed(each.head).max(f64::MIN_POSITIVE);
    (all > 0.0).then(|| LinearScan {
        loads: loads.iter().collect(),
        entries: in_a_turn * turns(listing, each),
        searches: differences / all,
        in_a_turn,
        inside,
        asks: Asks::Nearest,
    })
}

impl Look<'_> {
    /// The makers in the loop of what an instruction reads as data, by register.
    fn makers(&self, reaching: &mut Reaching, at: usize) -> Vec<(Slot, Vec<usize>)> {
        let uses = self.listing.sass.uses(at).iter().filter(|each| each.role != Role::Address);
        let uses: Vec<_> = uses.copied().collect();
        let mut inside = |each| -> Vec<usize> {
            let by = reaching.definitions(at, each).map(|by| by as usize);
            by.filter(|&by| self.within[by]).collect()
        };
        uses.into_iter().map(|each| (each.slot, inside(each))).collect()
    }

    /// The entry whose distance from a value of the lane's own that stays is taken: what brings it, and the register.
    fn entry_of(&self, reaching: &mut Reaching, at: usize) -> Option<Vec<(usize, Slot)>> {
        let makers = self.makers(reaching, at);
        let (moving, staying): (Vec<_>, Vec<_>) =
            makers.into_iter().partition(|(_, by)| !by.is_empty());
        let [(slot, entry)] = moving.as_slice() else { return None };
        let is_entry = entry.iter().all(|&by| self.entries[by]);
        (is_entry && staying.len() == 1).then(|| entry.iter().map(|&by| (by, *slot)).collect())
    }

    /// True where an instruction works on what its part works on, and on nothing else.
    fn fits(&self, reaching: &mut Reaching, at: usize) -> bool {
        let part = |by: usize| Part::of(self.listing, by);
        let makers = self.makers(reaching, at);
        let mut all = makers.iter().flat_map(|(_, by)| by.iter().copied());
        match part(at) {
            // Loads and differences are looked at by themselves; and of what else is in the loop anything may be chosen.
            Some(Part::Load | Part::Difference | Part::Choice) => true,
            Some(Part::Comparison) => {
                let is_distance = self.listing.text(at).contains('|');
                let mut fits = all.all(|by| {
                    matches!(part(by), Some(Part::Difference | Part::Choice)) && self.own[by]
                });
                // A distance, with the smallest so far.
                fits &= [Part::Difference, Part::Choice].iter().all(|&kind| {
                    makers.iter().any(|(_, by)| {
                        !by.is_empty() && by.iter().all(|&by| part(by) == Some(kind))
                    })
                });
                is_distance && fits
            }
            Some(Part::Counter) => {
                self.entries[at] || all.all(|by| part(by) == Some(Part::Counter) && !self.own[by])
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Asks, LinearScan, linear_scans};
    use crate::sass::code::listing::tests::launch;

    /// A loop of 250 turns that keeps the nearest entry's number.
    fn of(changes: &[(usize, &'static str)]) -> Vec<LinearScan> {
        let mut code = vec![
            ("S2R R15, SR_TID.X", 10.0),
            ("I2FP.F32.S32 R16, R15", 10.0),
            ("LDC.64 R4, c[0x0][0x210]", 10.0),
            ("LDG.E R0, desc[UR6][R4.64]", 2500.0), // 3
            ("FADD R2, R16, -R0", 2500.0),
            ("FSETP.GEU.AND P0, PT, |R2|, R8, PT", 2500.0), // 5
            ("FSEL R8, |R2|, R8, !P0", 2500.0),
            ("SEL R9, R6, R9, !P0", 2500.0), // 7
            ("IADD3 R6, R6, 0x1, RZ", 2500.0),
            ("IADD3 R4, R4, 0x4, RZ", 2500.0),
            ("ISETP.NE.AND P1, PT, R6, 0xfa, PT", 2500.0),
            ("@P1 BRA 0x130", 2500.0),
            ("STG.E desc[UR6][R12.64], R9", 10.0),
            ("EXIT", 10.0),
        ];
        for &(at, text) in changes {
            code[at].0 = text;
        }
        linear_scans(&launch(&code).listing().unwrap())
    }

    #[test]
    fn the_nearest_of_a_list_is_looked_for() {
        let found = of(&[]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].asks, found[0].loads.as_slice()), (Asks::Nearest, &[3][..]));
        assert!((found[0].entries - 250.0).abs() < 1e-9 && (found[0].searches - 1.0).abs() < 1e-9);
    }

    #[test]
    fn other_questions_are_none_of_this() {
        let is_none = |change| of(&[change]).is_empty();
        assert!(is_none((4, "FADD R2, R2, -R0")), "a sum");
        assert!(is_none((4, "FFMA R2, R16, R0, R2")), "a product");
        assert!(is_none((5, "FSETP.GEU.AND P0, PT, R2, R8, PT")), "the smallest difference");
        assert!(is_none((5, "FSETP.GEU.AND P0, PT, |R2|, R17, PT")), "the last within a distance");
        assert!(is_none((3, "LDG.E R0, desc[UR6][R12.64+R15]")), "each lane its own entries");
        assert!(is_none((8, "IADD3 R6, R6, R9, RZ")), "a walk");
        assert!(is_none((9, "STG.E desc[UR6][R4.64], R2")), "distances are stored");
    }
}
