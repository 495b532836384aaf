//! Tiles of rows and columns whose rows end by turn, and whose columns end in all turns alike.
//!
//! A load of such a tile is on where its row is one of the block's own and its column lies in the matrix. The second condition is
//! worked out before the loop. No counter tells how many lanes it switches off in turns with work, but seldom does a tile reach
//! beyond the matrix with more than half of its columns.
//!
//! Columns are masked beside rows of which all blocks have as many, too: a product of matrices masks the last turn so. There the
//! loop ends by the same number. Rows of unequal length are walked to one end only where their number is loaded and the loop's
//! end is not.

use std::collections::BTreeSet;

use super::{Around, Mask, is_order};
use crate::hardware::WARP_LANES;
use crate::sass::code::blocks::Exit;
use crate::sass::code::sass::Use;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;

/// The part of a tile that lies in the matrix, along each of its edges, at least.
pub const OF_A_TILE: f64 = 0.5;

impl Around<'_, '_> {
    /// The comparisons with a thread's own place that make a condition before the loop; `None` where anything else does.
    pub(super) fn edges(&mut self, at: usize, each: Use) -> Option<BTreeSet<usize>> {
        let sass = self.listing.sass;
        let mut open: Vec<usize> =
            self.reaching.definitions(at, each).map(|by| by as usize).collect();
        let mut seen: BTreeSet<usize> = open.iter().copied().collect();
        let mut edges = BTreeSet::new();
        while let Some(by) = open.pop() {
            let text = self.listing.text(by);
            let compares = is_order(text);
            let makes_conditions = sass.defs(by).iter().all(|slot| slot.is_predicate());
            if !makes_conditions || sass.entries[by].family.is_memory() {
                return None;
            }
            // The upper half of a comparison of 64 bits belongs to the lower.
            let is_upper = Instruction::parse(text).is_some_and(|it| it.has("EX"));
            if compares && !is_upper {
                if !self.is_of_thread(by) {
                    return None;
                }
                edges.insert(by);
            }
            for each in sass.uses(by).iter().filter(|each| each.slot.is_predicate()) {
                let made = self.reaching.definitions(by, *each).map(|by| by as usize);
                open.extend(made.filter(|by| seen.insert(*by)));
            }
        }
        (!edges.is_empty()).then_some(edges)
    }

    /// The share of the turns in which all loads are off, at least, where rows are of unequal length; `None` elsewhere.
    pub(super) fn off_in_rows(
        &mut self,
        masks: &[Mask],
        loads: &[usize],
        edges: usize,
    ) -> Option<f64> {
        let by_turn: Vec<usize> = masks.iter().flat_map(|mask| mask.by_turn.clone()).collect();
        if !by_turn.iter().any(|&at| self.goes_by_data(at)) || self.ends_by_data() {
            return None;
        }
        // Of several loads, the first rows of the tile have work in all turns that have any.
        let on = |&at: &usize| {
            let row = self.listing.row(at);
            row.counters.thread_inst_executed_pred_on / (WARP_LANES * self.listing.executed(at))
        };
        let most = loads.iter().map(on).fold(0.0, f64::max);
        let of_tile = OF_A_TILE.powi(i32::try_from(edges).ok()?);
        Some(1.0 - most / of_tile)
    }

    /// True where a comparison takes something that differs from thread to thread.
    fn is_of_thread(&mut self, at: usize) -> bool {
        let uses = self.listing.sass.uses(at).iter();
        let mut values = uses.filter(|each| !each.slot.is_predicate());
        let own = self.own;
        values.any(|each| self.reaching.definitions(at, *each).any(|by| own[by as usize]))
    }

    /// True where any way out of the loop goes by what was loaded.
    fn ends_by_data(&mut self) -> bool {
        let is_inside = |at: usize| self.inside.binary_search(&at).is_ok();
        let leaves = |at: &usize| match self.listing.sass.entries[*at].exit() {
            Exit::Branch(target) => is_inside(target) != is_inside(*at + 1),
            Exit::MaybeEnd => true,
            Exit::Next | Exit::Jump(_) | Exit::End => false,
        };
        let ways_out: Vec<usize> = self.inside.iter().copied().filter(leaves).collect();
        ways_out.into_iter().any(|at| self.goes_by_data(at))
    }

    /// True where an instruction takes anything that is made of what was loaded.
    fn goes_by_data(&mut self, at: usize) -> bool {
        let sass = self.listing.sass;
        let mut seen = BTreeSet::from([at]);
        let mut open = vec![at];
        while let Some(at) = open.pop() {
            for each in sass.uses(at).iter().filter(|each| each.role != Role::Old) {
                for by in self.reaching.definitions(at, *each).map(|by| by as usize) {
                    match sass.entries[by].family {
                        Family::Load(Space::Global | Space::Generic | Space::Shared) => {
                            return true;
                        }
                        _ if seen.insert(by) => open.push(by),
                        _ => {}
                    }
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use crate::sass::code::listing::tests::launch;
    use crate::sass::questions::empty_turns::{EmptyTurns, How, empty_turns};

    /// A loop of 40 turns that loads a tile whose columns end, too, in lanes on average.
    fn of(changes: &[(usize, &'static str)], lanes: f64) -> Vec<EmptyTurns> {
        let mut code = [
            ("S2R R3, SR_TID.X", 8.0),
            ("LDC.64 R10, c[0x0][0x210]", 8.0),
            ("LDG.E R6, desc[UR4][R10.64]", 8.0), // 2
            ("ISETP.GE.AND P6, PT, R3, c[0x0][0x224], PT", 8.0),
            ("MOV R7, c[0x0][0x220]", 8.0), // 4
            ("MOV R2, R3", 8.0),
            ("IADD3 R2, R2, 0x80, RZ", 320.0), // 6
            ("ISETP.LT.AND P1, PT, R2, R6, !P6", 320.0),
            ("IMAD.WIDE R12, R2, 0x4, R10", 320.0),
            ("@P1 LDG.E R4, desc[UR4][R12.64]", 320.0), // 9
            ("FADD R5, R5, R4", 320.0),
            ("ISETP.GE.AND P0, PT, R2, R7, PT", 320.0),
            ("@!P0 BRA 0x160", 320.0),
            ("STG.E desc[UR4][R10.64], R5", 8.0),
            ("EXIT", 8.0),
        ];
        for (at, text) in changes {
            code[*at].0 = text;
        }
        let mut launch = launch(&code);
        launch.instructions[9].counters.thread_inst_executed_pred_on = 320.0 * lanes;
        empty_turns(&launch.listing().unwrap())
    }

    #[test]
    fn as_many_turns_are_empty_as_if_half_of_the_tile_were() {
        let found = of(&[], 8.0);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].how, &found[0].loads[..]), (How::MaskedTile, &[9][..]));
        // A quarter of the lanes, and as many that the edge may switch off.
        assert!((found[0].empty - (0.5 - 1.5 / 40.0)).abs() < 1e-12, "{}", found[0].empty);
        assert!(of(&[], 15.5).is_empty(), "all turns may have work");
    }

    #[test]
    fn an_edge_beside_rows_that_all_blocks_have_alike_is_no_fault() {
        let none = |changes: &[(usize, &'static str)], why: &str| {
            assert!(of(changes, 8.0).is_empty(), "{why}");
        };
        none(&[(2, "MOV R6, c[0x0][0x220]")], "as many rows for all: the last turn is cut");
        none(&[(4, "MOV R7, R6")], "ends where the rows do");
        none(&[(3, "ISETP.GE.AND P6, PT, R10, c[0x0][0x224], PT")], "whole blocks are off");
        none(&[(3, "ISETP.NE.AND P6, PT, R3, c[0x0][0x224], PT")], "some lanes for themselves");
        none(&[(7, "ISETP.LT.AND P1, PT, R3, R6, !P6")], "the same in all turns");
    }
}
