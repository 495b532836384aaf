//! Loops that load on behind a row's end and then throw the values away.
//!
//! Where a row's length is loaded, a loop up to the longest row may load without a condition and only take what lies in the row:
//! it multiplies by 0 or 1, or selects 0 or minus infinity in place of what lies behind. Such loads are on in all turns, so that
//! nothing in a profile says how many were for nothing.

use std::collections::BTreeSet;

use super::{Around, EmptyTurns, How, LAST_TURN, condition, off_in_loads};
use crate::sass::code::blocks::Exit;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::turns::turns;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::questions::alike::of_threads_own;
use crate::sass::questions::matrix_loops::members;
use crate::sass::questions::moved_down::taking_part;

/// The part of the turns that lie behind a row's end, where the length is loaded and nothing counts them.
pub const BEHIND_THE_END: f64 = 0.5;

/// The loops that select what lies before a loaded end, after they have loaded all.
pub(super) fn zeroed_turns(listing: &Listing) -> Vec<EmptyTurns> {
    let sass = listing.sass;
    let selects = |at: usize| listing.executed(at) > 0.0 && is_select(listing, at);
    let loops: BTreeSet<usize> = (0..sass.entries.len())
        .filter(|&at| selects(at))
        .filter_map(|at| sass.flow.innermost(at))
        .collect();
    if loops.is_empty() {
        return Vec::new();
    }
    let own = of_threads_own(listing);
    let found = loops.into_iter().filter_map(|of| {
        let inside = members(listing, of);
        let family = |at: &usize| sass.entries[*at].family;
        let loads: Vec<usize> =
            inside.iter().copied().filter(|at| family(at) == Family::Load(Space::Global)).collect();
        let leaves_anything = |at: &usize| {
            let shared = Family::Store(Space::Shared);
            matches!(family(at), Family::Store(_) | Family::Atomic(_) | Family::Reduction(_))
                && family(at) != shared
        };
        if loads.is_empty() || inside.iter().any(leaves_anything) {
            return None;
        }
        let turns = turns(listing, &sass.flow.loops[of]);
        // An edge that all rows share is off in the last turn.
        if off_in_loads(listing, &loads) > 1.0 / turns {
            return None;
        }
        let mut around = Around::new(listing, &inside, &own);
        if around.ends_with_a_row() || !around.takes_only_what_is_selected(&loads) {
            return None;
        }
        let empty = BEHIND_THE_END - LAST_TURN / turns;
        let going = inside.iter().map(|&at| (at, empty)).collect();
        (empty > 0.0).then_some(EmptyTurns { going, loads, turns, empty, how: How::Zeroed })
    });
    found.collect()
}

fn is_select(listing: &Listing, at: usize) -> bool {
    let text = listing.text(at);
    text.contains("SEL") && matches!(Instruction::base_of(text), Some("FSEL" | "SEL"))
}

impl Around<'_, '_> {
    /// True where the loop ends by a loaded number itself, such as turns that are counted down: what is selected is then its
    /// last turn.
    fn ends_with_a_row(&mut self) -> bool {
        let sass = self.listing.sass;
        let is_branch = |at: &usize| matches!(sass.entries[*at].exit(), Exit::Branch(_));
        let branches = self.inside.iter().copied().filter(is_branch);
        let mut open: Vec<(usize, Use)> = branches
            .flat_map(|at| condition(&self.listing, at).map(move |each| (at, *each)))
            .collect();
        let mut seen = BTreeSet::new();
        while let Some((at, each)) = open.pop() {
            let made: Vec<usize> =
                self.reaching.definitions(at, each).map(|by| by as usize).collect();
            for by in made.into_iter().filter(|by| seen.insert(*by)) {
                match sass.entries[by].family {
                    Family::Load(Space::Global) => return true,
                    family if family.is_memory() => {}
                    _ => open.extend(taking_part(&self.listing, by).map(|each| (by, *each))),
                }
            }
        }
        false
    }

    /// True where all that becomes of loaded values goes through a selection by the counter and a loaded end.
    fn takes_only_what_is_selected(&mut self, loads: &[usize]) -> bool {
        let count = self.listing.sass.entries.len();
        let is_one_of_two = |at: &usize| is_select(&self.listing, *at) && self.data(*at).len() <= 1;
        let selects: Vec<usize> = self.inside.iter().copied().filter(is_one_of_two).collect();
        let by_end = selects.into_iter().filter(|&at| {
            let mask = self.mask(at);
            mask.is_some_and(|mask| mask.by_turn.iter().any(|&by| self.has_loaded_end(by)))
        });
        let by_end: Vec<usize> = by_end.collect();
        if by_end.is_empty() {
            return false;
        }
        let selected = Marks::of(count, |at| by_end.binary_search(&at).is_ok());
        let mut loaded = Marks::of(count, |at| loads.binary_search(&at).is_ok());
        let mut is_taken = false;
        // Ascending order settles all but what goes from turn to turn, which is asked about below.
        let inside = self.inside;
        for &at in inside {
            let family = self.listing.sass.entries[at].family;
            let made: Vec<usize> = self.makers(at);
            let of_loaded = made.iter().any(|&by| loaded[by]);
            let is_gate =
                selected[at] || made.iter().any(|&by| selected[by] && self.zeroes(at, by));
            is_taken |= is_gate && of_loaded;
            if of_loaded && !is_gate && family == Family::Store(Space::Shared) {
                // Somebody else may take all of it.
                return false;
            }
            if of_loaded && !is_gate && !family.is_memory() {
                loaded.insert(at);
            }
        }
        let is_kept = |around: &mut Self, at: usize| {
            let made: Vec<usize> = around.makers(at);
            made.iter().any(|&by| by >= at && loaded[by] && loads.binary_search(&by).is_err())
        };
        is_taken && !inside.iter().any(|&at| loaded[at] && is_kept(self, at))
    }

    /// True where what an instruction makes of a selection counts nothing behind the end: a product with 0, or a sum with minus
    /// infinity.
    fn zeroes(&self, at: usize, selection: usize) -> bool {
        let base = Instruction::base_of(self.listing.text(at)).unwrap_or_default();
        let is_product = ["MUL", "FMA", "IMAD"].iter().any(|name| base.contains(name));
        is_product || base.contains("ADD") && self.listing.text(selection).contains("-INF")
    }

    /// The instructions of the loop that make what an instruction reads: values and conditions, but no addresses.
    fn makers(&mut self, at: usize) -> Vec<usize> {
        let uses: Vec<Use> = taking_part(&self.listing, at)
            .filter(|each| matches!(each.role, Role::Data | Role::Guard))
            .copied()
            .collect();
        uses.into_iter().flat_map(|each| self.made_inside(at, each)).collect()
    }

    fn data(&self, at: usize) -> Vec<Use> {
        let uses = taking_part(&self.listing, at);
        uses.filter(|each| each.role == Role::Data && !each.slot.is_predicate()).copied().collect()
    }

    /// True where the counter is compared with a number made of something that was loaded before the loop.
    fn has_loaded_end(&mut self, compare: usize) -> bool {
        let mut open: Vec<(usize, Use)> =
            self.data(compare).into_iter().map(|each| (compare, each)).collect();
        let mut seen = BTreeSet::new();
        while let Some((at, each)) = open.pop() {
            if !self.made_inside(at, each).is_empty() {
                continue;
            }
            for by in self.reaching.definitions(at, each).map(|by| by as usize).collect::<Vec<_>>()
            {
                if self.listing.sass.entries[by].family == Family::Load(Space::Global) {
                    return true;
                }
                if seen.insert(by) {
                    open.extend(self.data(by).into_iter().map(|each| (by, each)));
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use crate::sass::code::listing::tests::launch;
    use crate::sass::questions::empty_turns::{How, empty_turns};

    /// A loop of 40 turns that loads everything and takes what a factor leaves.
    fn is_found(length: &str, factor: &str, sum: &str) -> bool {
        is_found_up_to("c[0x0][0x220]", length, factor, sum)
    }

    /// The same with another end of the loop.
    fn is_found_up_to(end: &str, length: &str, factor: &str, sum: &str) -> bool {
        let end = format!("ISETP.GE.AND P0, PT, R2, {end}, PT");
        let launch = launch(&[
            ("S2R R3, SR_TID.X", 8.0),
            ("LDC.64 R10, c[0x0][0x210]", 8.0),
            (length, 8.0),
            ("MOV R2, RZ", 8.0),
            ("IMAD.WIDE R12, R2, 0x4, R10", 320.0), // 0x140
            ("IADD3 R7, R3, R2, RZ", 320.0),
            ("ISETP.GE.AND P1, PT, R7, R6, PT", 320.0),
            (factor, 320.0),
            ("LDG.E R4, desc[UR4][R12.64]", 320.0),
            (sum, 320.0),
            ("IADD3 R2, R2, 0x80, RZ", 320.0),
            (&end, 320.0),
            ("@!P0 BRA 0x140", 320.0),
            ("STG.E desc[UR4][R10.64], R5", 8.0),
            ("EXIT", 8.0),
        ]);
        let mut launch = launch;
        launch.instructions[8].counters.thread_inst_executed_pred_on = 320.0 * 32.0;
        let found = empty_turns(&launch.listing().unwrap());
        let first = found.first();
        assert!(first.is_none_or(|one| (one.empty - (0.5 - 0.5 / 40.0)).abs() < 1e-12));
        first.is_some_and(|one| one.how == How::Zeroed && one.loads == [8])
    }

    const LENGTH: &str = "LDG.E R6, desc[UR4][R10.64]";
    const FACTOR: &str = "FSEL R8, RZ, 1, P1";
    const SUM: &str = "FFMA R5, R8, R4, R5";

    #[test]
    fn values_behind_a_loaded_end_are_multiplied_by_nothing() {
        assert!(is_found(LENGTH, FACTOR, SUM));
        assert!(!is_found("LDC R6, c[0x0][0x224]", FACTOR, SUM), "an edge that all rows share");
        assert!(!is_found(LENGTH, "FSEL R8, RZ, 1, P2", SUM), "by something else");
        assert!(!is_found(LENGTH, FACTOR, "FADD R5, R4, R5"), "all of it is taken");
        assert!(!is_found(LENGTH, FACTOR, "FADD R5, R4, R8"), "added, all of it counts");
        let other = "FSEL R8, R9, R11, P1";
        assert!(!is_found(LENGTH, other, SUM), "another value in its place");
        assert!(!is_found_up_to("R6", LENGTH, FACTOR, SUM), "the loop ends there as well");
    }
}
