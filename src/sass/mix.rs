//! What a launch's executed instructions are, by family and by unit.

use std::collections::HashMap;

use super::listing::Listing;
use super::opcode::Family;
use crate::frame::Launch;
use crate::model::Term;

/// Executed instructions.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Count {
    /// Warp instructions, those with their guard off included.
    pub warp: f64,
    /// Thread instructions whose guard was on.
    pub thread: f64,
}

/// A loop's counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoopCount {
    /// The place of the branch back in the listing.
    pub back: usize,
    /// How often warps went through the branch: iterations.
    pub iterations: f64,
    /// Warp instructions executed in the loop, inner loops included.
    pub warp: f64,
}

/// The mix of a launch's executed instructions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mix {
    families: HashMap<Family, Count>,
    terms: [f64; Term::COUNT],
    /// Everything executed.
    pub total: Count,
    /// The loops, most instructions first.
    pub loops: Vec<LoopCount>,
}

impl Mix {
    /// The mix of a launch, worked out once; `None` without SASS.
    #[must_use]
    pub fn of(launch: &Launch) -> Option<&Self> {
        Listing::of(launch).map(|listing| listing.mix())
    }

    /// The mix of a listing.
    #[must_use]
    pub(super) fn new(listing: &Listing) -> Self {
        let mut mix = Self::default();
        for (index, entry) in listing.entries() {
            let counters = &listing.row(index).counters;
            for count in [mix.families.entry(entry.family).or_default(), &mut mix.total] {
                count.warp += counters.inst_executed;
                count.thread += counters.thread_inst_executed_pred_on;
            }
            mix.terms[Term::Issue as usize] += counters.inst_executed;
            if let Some(term) = entry.term {
                mix.terms[term as usize] += f64::from(entry.turns) * counters.inst_executed;
            }
        }
        let flow = &listing.sass.flow;
        mix.loops = flow
            .loops
            .iter()
            .map(|each| LoopCount {
                back: each.back,
                iterations: listing.executed(each.back),
                warp: each
                    .blocks
                    .iter()
                    .flat_map(|&block| {
                        let block = &flow.blocks[block as usize];
                        block.start..block.end
                    })
                    .map(|index| listing.executed(index))
                    .sum(),
            })
            .collect();
        mix.loops.sort_by(|a, b| b.warp.total_cmp(&a.warp));
        mix
    }

    /// What was executed of a family.
    #[must_use]
    pub fn family(&self, family: Family) -> Count {
        self.families.get(&family).copied().unwrap_or_default()
    }

    /// Warp instructions executed of all families that are picked.
    #[must_use]
    pub fn warp(&self, pick: impl Fn(Family) -> bool) -> f64 {
        self.families.iter().filter(|(family, _)| pick(**family)).map(|(_, count)| count.warp).sum()
    }

    /// Warp instructions executed on a unit; all of them for the issue slots.
    #[must_use]
    pub fn on(&self, term: Term) -> f64 {
        self.terms[term as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::super::listing::tests::launch;
    use super::*;

    #[test]
    fn families_units_and_loops_are_counted() {
        let mut code = launch(&[
            ("MOV R0, RZ", 2.0),
            ("FFMA R1, R1, R1, R1", 10.0),
            ("IADD3 R0, R0, 0x1, RZ", 10.0),
            ("ISETP.NE.AND P0, PT, R0, R9, PT", 10.0),
            ("@P0 BRA 0x110", 10.0),
            ("EXIT", 2.0),
        ]);
        code.instructions[1].counters.thread_inst_executed_pred_on = 300.0;
        let mix = Mix::of(&code).unwrap();
        assert_eq!(mix.family(Family::Fp32Fma), Count { warp: 10.0, thread: 300.0 });
        for (term, executed) in [(Term::Fma, 10.0), (Term::Alu, 22.0), (Term::Issue, 44.0)] {
            assert!((mix.on(term) - executed).abs() < f64::EPSILON, "{term:?}");
        }
        assert!((mix.warp(Family::is_float) - 10.0).abs() < f64::EPSILON);
        assert_eq!(mix.loops, [LoopCount { back: 4, iterations: 10.0, warp: 40.0 }]);
        assert_eq!(Mix::of(&Launch::default()), None);
    }
}
