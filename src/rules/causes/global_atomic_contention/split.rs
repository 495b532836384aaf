//! Sums that are split among blocks which nobody needs: along an axis of the grid blocks add to the same places, and without it the
//! device would be full as well.

use crate::evidence::atomic_traffic as traffic;
use crate::evidence::{ModeledLaunch, atomics};
use crate::sass::questions::sharing::addresses_by_blocks;
use crate::sass::{Family, Listing};
use crate::term::Term;
use crate::text::count;

use super::per_block::SMS;
use super::{GLOBAL_ACCESSES, SECTORS_APART};

/// The axes of a grid.
const AXES: [&str; 3] = ["x", "y", "z"];

/// Such a split.
pub(super) struct Split {
    axis: &'static str,
    /// Blocks that add to the same places.
    parts: f64,
    /// Blocks that are left without it.
    others: f64,
    /// Blocks that run at once.
    at_once: f64,
}

/// The split that a launch's atomics serve. `None` where any of them wants the old value or adds up what lanes have for one address,
/// where blocks can't be told by their addresses, and where the others would leave multiprocessors without a block.
pub(super) fn split(launch: &ModeledLaunch) -> Option<Split> {
    let listing = launch.profile.listing()?;
    let is_atomic =
        |at: &usize| atomics::is_global(listing.row(*at)) && listing.executed(*at) > 0.0;
    let all: Vec<usize> = listing.entries().map(|(at, _)| at).filter(is_atomic).collect();
    if all.is_empty() || !all.iter().all(|&at| only_adds_apart(&listing, at)) {
        return None;
    }
    let by: Vec<[bool; 3]> =
        all.iter().map(|&at| addresses_by_blocks(&listing, at)).collect::<Option<_>>()?;
    let grid = launch.profile.row.grid.map(|extent| f64::from(extent.max(1)));
    let axis = (0..3).find(|&axis| grid[axis] > 1.0 && by.iter().all(|by| !by[axis]))?;
    let others = grid.iter().product::<f64>() / grid[axis];
    let at_once = launch.blocks_per_sm()? * launch.get(SMS)?;
    (others >= at_once).then_some(Split { axis: AXES[axis], parts: grid[axis], others, at_once })
}

fn only_adds_apart(listing: &Listing, at: usize) -> bool {
    let sectors = listing.row(at).counters.l2_sectors_global;
    matches!(listing.sass.entries[at].family, Family::Reduction(_))
        && sectors >= SECTORS_APART * listing.executed(at)
}

impl Split {
    /// What they do to one another.
    pub(super) fn said(&self) -> String {
        format!(
            " {} blocks along blockIdx.{} add to the same places, although the other {} would fill the device: {} run at once.",
            count(self.parts),
            self.axis,
            count(self.others),
            count(self.at_once),
        )
    }

    /// What to do about it.
    pub(super) fn hint(&self, at: &str) -> String {
        format!(
            "Let one block do the work of all {} along blockIdx.{}, part after part in its own loop, and store the sum at {at} once: no \
             atomics are then needed, nor zeros to add to. Split a sum among blocks only where there would be too few without that.",
            count(self.parts),
            self.axis,
        )
    }

    /// What goes: of the additions all but as many stores as places, with all that they read from memory, and most blocks.
    pub(super) fn removed(&self, launch: &ModeledLaunch, requests: f64) -> Vec<(Term, f64)> {
        let goes = self.goes();
        let (read, written) = traffic::shares_of_dram(launch);
        let global: f64 = GLOBAL_ACCESSES.iter().filter_map(|name| launch.get(name)).sum();
        vec![
            (Term::Atomic, 1.0),
            (Term::Dram, (read + goes * written).min(1.0)),
            (Term::L2, goes * traffic::share_of_l2(launch)),
            (Term::L2Requests, goes * traffic::share_of_requests(launch)),
            (Term::Lsu, goes * requests / (requests + global)),
            (Term::BlockScheduler, goes),
        ]
    }

    /// The share of the waits for atomics that goes.
    pub(super) fn goes(&self) -> f64 {
        1.0 - 1.0 / self.parts
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ATOMS, RULE};
    use super::*;
    use crate::rules::testing::{check, sass};

    /// Blocks along x add up for all along y, while so many run on each of 100 multiprocessors.
    fn of(per_sm: f64, grid: [u32; 3], sectors: f64) -> Option<crate::evidence::Draft> {
        let mut launch = sass(
            &[
                (ATOMS, 0.0),
                (super::super::REDS, 1000.0),
                (SMS, 100.0),
                ("launch__occupancy_limit_warps", per_sm),
                ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 4000.0),
                (traffic::ATOMIC_SECTORS[0], 4000.0),
                ("dram__bytes_read.sum", 256_000.0),
                ("dram__bytes_write.sum", 128_000.0),
                ("dram__cycles_active.avg.pct_of_peak_sustained_elapsed", 90.0),
            ],
            &[
                ("S2R R0, SR_CTAID.X", 1000.0),
                ("S2R R1, SR_CTAID.Y", 1000.0),
                ("LDC.64 R2, c[0x0][0x210]", 1000.0),
                ("IMAD.WIDE R8, R1, 0x4, R2", 1000.0),
                ("LDG.E R5, desc[UR4][R8.64]", 1000.0),
                ("IMAD.WIDE R6, R0, 0x4, R2", 1000.0),
                ("REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R6.64], R5", 1000.0),
                ("EXIT", 1000.0),
            ],
        );
        launch.row.grid = grid;
        launch.instructions[6].counters.l2_sectors_global = sectors;
        check(&RULE, &launch)
    }

    #[test]
    fn an_axis_that_nobody_needs_makes_the_atomics() {
        let draft = of(4.0, [500, 8, 1], 4000.0).unwrap();
        // Half of what is read and all that is written: a third, and seven of eight parts of another third.
        let dram = draft.effect.share_of(Term::Dram);
        assert!((dram - (1.0 / 3.0 + 7.0 / 8.0 / 3.0)).abs() < 1e-12, "{dram}");
        assert!((draft.effect.share_of(Term::BlockScheduler) - 7.0 / 8.0).abs() < 1e-12);
        assert!(draft.hint.contains("all 8 along blockIdx.y"), "{}", draft.hint);
        assert!(draft.message.contains("the other 500 would fill"), "{}", draft.message);
        assert!(of(4.0, [399, 8, 1], 4000.0).is_none(), "too few blocks without it");
        assert!(of(4.0, [500, 1, 1], 4000.0).is_none(), "no such axis");
        assert!(of(4.0, [500, 8, 1], 1000.0).is_none(), "lanes with one address");
    }
}
