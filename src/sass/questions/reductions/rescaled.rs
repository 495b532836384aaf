//! Sums of exponentials that a running maximum rescales.
//!
//! Each turn of an online softmax finds the largest value of all lanes, and adds up exponentials of what the values are below it;
//! what was added up before is scaled by the exponential of how much the maximum has grown. Each lane can keep a maximum of its own and
//! sums below that, and all are brought to the largest maximum behind the loop.

use std::collections::{BTreeMap, BTreeSet};

use super::{CombiningLoop, Operand, Turn, is_copy, is_exchange};
use crate::sass::code::marks::Marks;
use crate::sass::flow::turns::turns;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::opcode::Family;
use crate::sass::questions::moved_down::taking_part;

/// What a tree over lanes takes of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tree {
    Largest,
    Sum,
}

/// What instructions do, by the beginning of their names.
const LARGEST: [&str; 3] = ["FMNMX", "HMNMX2", "VIMNMX"];
const SUMS: [&str; 3] = ["FADD", "DADD", "HADD2"];
const DIFFERENCES: [&str; 4] = ["FADD", "FFMA", "FMUL", "FSETP"];
const LINEAR: [&str; 5] = ["FADD", "FFMA", "FMUL", "FSEL", "MOV"];

/// The loop of a turn that combines lanes so; `None` for any other.
pub(super) fn rescaled(turn: &mut Turn, of_data: &Marks) -> Option<CombiningLoop> {
    Rescaling::new(turn).found(of_data)
}

struct Rescaling<'t, 'a, 'b> {
    turn: &'t mut Turn<'a, 'b>,
    /// The instructions of the loop that use what one of them makes, each with whether only as a condition.
    readers: BTreeMap<usize, Vec<(usize, bool)>>,
}

impl<'t, 'a, 'b> Rescaling<'t, 'a, 'b> {
    fn new(turn: &'t mut Turn<'a, 'b>) -> Self {
        let mut readers: BTreeMap<usize, Vec<(usize, bool)>> = BTreeMap::new();
        for at in turn.inside.iter().collect::<Vec<_>>() {
            for each in taking_part(turn.listing, at).collect::<Vec<_>>() {
                for by in turn.makes(at, *each) {
                    readers.entry(by).or_default().push((at, each.slot.is_predicate()));
                }
            }
        }
        Self { turn, readers }
    }

    fn base(&self, at: usize) -> &'a str {
        Instruction::base_of(self.turn.listing.text(at)).unwrap_or_default()
    }

    fn readers(&self, at: usize) -> Vec<(usize, bool)> {
        self.readers.get(&at).cloned().unwrap_or_default()
    }

    /// What becomes of an exchanged or a loaded value; `None` for anything but one kind of tree.
    fn tree(&self, at: usize) -> Option<Tree> {
        let readers = self.readers(at);
        let all = |names: &[&str], of: Tree| {
            readers.iter().all(|&(by, _)| {
                names.contains(&self.base(by))
                    || is_copy(self.turn.listing, by)
                    || self.base(by) == "R2UR"
                    || of == Tree::Sum && self.base(by) == "FFMA"
                    || is_exchange(self.turn.listing, by)
            })
        };
        if readers.is_empty() {
            None
        } else if all(&LARGEST, Tree::Largest) {
            Some(Tree::Largest)
        } else if all(&SUMS, Tree::Sum) {
            Some(Tree::Sum)
        } else {
            None
        }
    }

    fn found(&mut self, of_data: &Marks) -> Option<CombiningLoop> {
        let listing = self.turn.listing;
        let inside: Vec<usize> = self.turn.inside.iter().collect();
        let leaves = |&at: &usize| {
            matches!(
                self.turn.family(at),
                Family::Store(Space::Global | Space::Generic) | Family::Atomic(_) | Family::Tensor
            )
        };
        if inside.iter().any(leaves) {
            return None;
        }
        let exchanges: Vec<usize> =
            inside.iter().copied().filter(|&at| is_exchange(listing, at)).collect();
        let mut largest = BTreeSet::new();
        let mut sums = BTreeSet::new();
        for &at in &exchanges {
            match self.tree(at)? {
                Tree::Largest => largest.insert(at),
                Tree::Sum => sums.insert(at),
            };
        }
        if largest.is_empty() || sums.is_empty() {
            return None;
        }
        let above = self.grow(&mut largest, Tree::Largest);
        let totals = self.grow(&mut sums, Tree::Sum);
        let exponentials = self.exponentials(above, of_data)?;
        let ends = |at: usize| sums.contains(&at) || totals.contains(&at);
        self.are_added_up(&exponentials, ends)?;
        let is_running = |turn: &mut Turn, at: usize| {
            let uses: Vec<_> = taking_part(turn.listing, at).copied().collect();
            uses.iter().any(|each| turn.makes(at, *each).iter().any(|&by| by >= at))
        };
        // What the sums go into is scaled from turn to turn, and nothing else is made of them.
        if !totals
            .iter()
            .all(|&at| ["FFMA", "FMUL"].contains(&self.base(at)) && is_running(self.turn, at))
        {
            return None;
        }
        let adding: BTreeSet<usize> = largest
            .iter()
            .chain(&totals)
            .copied()
            .filter(|&at| !self.turn.family(at).is_memory() && is_running(self.turn, at))
            .collect();
        // A copy of the maximum hands it on to the next turn.
        let hands_on = |turn: &mut Turn, at: usize| {
            let each = listing.sass.uses(at).first().copied();
            is_copy(listing, at)
                && each
                    .is_some_and(|each| turn.makes(at, each).iter().all(|by| adding.contains(by)))
        };
        let combining: BTreeSet<usize> = largest
            .union(&sums)
            .copied()
            .filter(|&at| !adding.contains(&at) && !hands_on(self.turn, at))
            .collect();
        if adding.is_empty() {
            return None;
        }
        let is_shared = |at: &usize| {
            let family = self.turn.family(*at);
            matches!(family, Family::Load(Space::Shared) | Family::Store(Space::Shared))
        };
        let all_of_trees =
            inside.iter().filter(|at| is_shared(at)).all(|at| combining.contains(at));
        let is_barrier = |at: &usize| all_of_trees && listing.is_block_barrier(*at);
        Some(CombiningLoop {
            barriers: inside.iter().copied().filter(is_barrier).collect(),
            loads: self.turn.loads(),
            exchanges,
            rescalings: exponentials.iter().map(|&at| listing.executed(at)).sum(),
            combining: combining.into_iter().collect(),
            adding: adding.into_iter().collect(),
            turns: turns(listing, &listing.sass.flow.loops[self.turn.of]),
        })
    }

    /// Lets a tree grow from its exchanges through what it consists of, and gives what else uses its values.
    fn grow(&self, members: &mut BTreeSet<usize>, of: Tree) -> BTreeSet<usize> {
        let names = if of == Tree::Largest { LARGEST } else { SUMS };
        let listing = self.turn.listing;
        let mut others = BTreeSet::new();
        let is_load = |at: &usize| {
            self.turn.family(*at) == Family::Load(Space::Shared) && self.tree(*at) == Some(of)
        };
        let loads: Vec<usize> = self.turn.inside.iter().filter(is_load).collect();
        let mut open: Vec<usize> = members.iter().copied().collect();
        while let Some(at) = open.pop() {
            let stores = self.turn.family(at) == Family::Store(Space::Shared);
            let next: Vec<usize> = if stores {
                loads.clone()
            } else {
                self.readers(at).into_iter().map(|(by, _)| by).collect()
            };
            for by in next {
                let base = self.base(by);
                let belongs = names.contains(&base)
                    || base == "R2UR"
                    || is_copy(listing, by)
                    || is_exchange(listing, by)
                    || matches!(
                        self.turn.family(by),
                        Family::Load(Space::Shared) | Family::Store(Space::Shared)
                    );
                if !belongs {
                    others.insert(by);
                } else if members.insert(by) {
                    open.push(by);
                }
            }
        }
        others
    }

    /// The exponentials of what values are below the maximum, where that is all that the maximum is for.
    fn exponentials(&mut self, above: BTreeSet<usize>, of_data: &Marks) -> Option<BTreeSet<usize>> {
        let mut differences = above.clone();
        let mut open: Vec<usize> = above.into_iter().collect();
        let mut found = BTreeSet::new();
        let mut of_lanes = false;
        while let Some(at) = open.pop() {
            if !DIFFERENCES.contains(&self.base(at)) {
                return None;
            }
            for each in taking_part(self.turn.listing, at).collect::<Vec<_>>() {
                let operand = self.turn.operand(at, *each, of_data);
                let is_of_lane = matches!(operand, Operand::OfData | Operand::HandedOver);
                // A difference is scaled by constants alone.
                if is_of_lane && self.base(at) == "FMUL" {
                    return None;
                }
                of_lanes |= is_of_lane;
            }
            for (by, is_condition) in self.readers(at) {
                if self.turn.listing.text(by).contains("MUFU.EX2") {
                    found.insert(by);
                } else if is_condition && !LINEAR.contains(&self.base(by)) {
                    // It decides more than how an exponential is worked out.
                    return None;
                } else if !is_condition && differences.insert(by) {
                    open.push(by);
                }
            }
        }
        (of_lanes && !found.is_empty()).then_some(found)
    }

    /// `Some` where exponentials, times other values of a lane, end up in sums alone.
    fn are_added_up(
        &self,
        exponentials: &BTreeSet<usize>,
        ends: impl Fn(usize) -> bool,
    ) -> Option<()> {
        let mut seen = exponentials.clone();
        let mut open: Vec<usize> = exponentials.iter().copied().collect();
        while let Some(at) = open.pop() {
            for (by, _) in self.readers(at) {
                if ends(by) {
                    continue;
                }
                if !LINEAR.contains(&self.base(by)) {
                    return None;
                }
                if seen.insert(by) {
                    open.push(by);
                }
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::in_loops;
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// A loop that keeps a maximum in R6 and a sum in R7.
    fn of(below: &'static str, last: &'static str) -> Vec<CombiningLoop> {
        let code = [
            ("MOV R6, RZ", 8.0),
            ("LDG.E R4, desc[UR4][R2.64]", 160.0), // 0x110
            ("SHFL.BFLY PT, R5, R4, 0x1, 0x1f", 160.0),
            ("FMNMX R5, R4, R5, !PT", 160.0),
            ("FMNMX R8, R6, R5, !PT", 160.0),
            ("FADD R9, R6, -R8", 160.0),
            ("FMUL R9, R9, 1.4426950216293334961", 160.0),
            ("MUFU.EX2 R9, R9", 160.0),
            (below, 160.0),
            ("MUFU.EX2 R10, R10", 160.0),
            ("SHFL.BFLY PT, R11, R10, 0x1, 0x1f", 160.0),
            ("FADD R11, R10, R11", 160.0),
            ("FFMA R7, R7, R9, R11", 160.0),
            (last, 160.0),
            ("MOV R6, R8", 160.0),
            ("IADD3 R2, R2, 0x80, RZ", 160.0),
            ("ISETP.GE.AND P0, PT, R2, R19, PT", 160.0),
            ("@!P0 BRA 0x110", 160.0),
            ("STG.E desc[UR4][R12.64], R7", 8.0),
            ("EXIT", 8.0),
        ];
        in_loops(&launch(&code).listing().unwrap())
    }

    const BELOW: &str = "FADD R10, R4, -R8";

    #[test]
    fn an_online_softmax_can_wait_for_the_end() {
        let found = of(BELOW, "NOP");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].combining, [2, 3, 10, 11]);
        assert_eq!(found[0].adding, [4, 12], "the maximum and the sum stay");
        assert!((found[0].rescalings - 320.0).abs() < 1e-12);
    }

    #[test]
    fn a_turn_that_needs_its_maximum_or_sum_combines_for_itself() {
        assert!(of(BELOW, "STG.E desc[UR4][R16.64], R10").is_empty(), "exponentials are stored");
        assert!(of("FMUL R10, R4, R8", "FMUL R18, R10, R11").is_empty(), "a product by the sum");
        assert!(of(BELOW, "MUFU.RCP R18, R11").is_empty(), "a turn's own sum");
        assert!(of("MUFU.RCP R10, R8", "NOP").is_empty(), "more than a difference");
    }
}
