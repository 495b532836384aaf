//! Floats that all blocks along one direction of the grid work out, each for itself.

use crate::evidence::fetched_again::of_dram;
use crate::evidence::modeled_launch::place;
use crate::evidence::products::sectors_gone;
use crate::evidence::removal::{Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::sass::questions::same_for_blocks::{Alike, alike_along_grid};
use crate::term::Term;
use crate::text::{count, percent};

/// Blocks whose results one block can keep at once.
pub(super) const KEPT: Threshold = Threshold {
    what: "constant: blocks along a direction of the grid whose results one block keeps at once, at most",
    value: 4.0,
    unit: "block",
    source: "derivation: with four, three quarters of the repeated work goes; each more takes another set of registers and saves \
             less",
};

/// Names of the grid's directions.
const AXES: [&str; 3] = ["x", "y", "z"];

pub(super) fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let grid = launch.profile.row.grid;
    // Of fewer blocks enough must be left to fill the device.
    let most = KEPT.value.min(launch.waves().unwrap_or(1.0).floor());
    if most < 2.0 {
        return None;
    }
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let mut found = alike_along_grid(&listing, grid);
    let mut of_axis = [0.0; 3];
    for each in found.iter().filter(|each| !each.is_load) {
        of_axis[each.axis] += listing.executed(each.at);
    }
    let axis = (0..3).max_by(|&a, &b| of_axis[a].total_cmp(&of_axis[b]))?;
    let repeated = of_axis[axis];
    found.retain(|each| each.axis == axis);
    let extent = f64::from(grid[axis]);
    let together = extent.min(most);
    if repeated <= 0.0 || together < 2.0 {
        return None;
    }
    let gone = 1.0 - 1.0 / together;
    for each in &found {
        removal.remove(each.at, gone);
    }
    // They stand in the order of their places.
    let alike =
        |at: usize| found.binary_search_by_key(&at, |each| each.at).ok().map(|of| found[of]);
    let mut effect = removal.effect(launch);
    let of_l2 = sectors_gone(listing, |at| if alike(at).is_some() { gone } else { 0.0 });
    effect.removed.extend([
        (Term::L2, of_l2),
        (Term::L2Requests, of_l2),
        (Term::Dram, of_dram(launch, of_l2)),
    ]);
    if !gains(launch, &effect) {
        return None;
    }
    let weight = |at: usize| match alike(at) {
        Some(Alike { is_load: false, .. }) => listing.executed(at),
        _ => 0.0,
    };
    let locations = locations(launch, listing, weight, "repeated work");
    let at = place(&locations, "the kernel");
    let name = AXES[axis];
    Some(Draft {
        message: format!(
            "{} of the executed instructions work out floats that do not depend on blockIdx.{name}, most of them at {at}: each of the {} \
             blocks along {name} works them out again.",
            percent(repeated / listing.total()),
            count(extent),
        ),
        evidence: vec![
            Evidence::new("executed instructions that blocks repeat", repeated, "inst"),
            Evidence::new("blocks that repeat them", extent, "block"),
        ],
        hint: format!(
            "Let one block do the work of {} along {name}, with a set of results for each: what {at} loads and works out then serves all of \
             them.",
            count(together),
        ),
        locations,
        effect,
    })
}

#[cfg(test)]
mod tests {
    use super::super::RULE;
    use super::*;
    use crate::frame::Launch;
    use crate::rules::testing::{assert_sides, sass};

    const ISSUE_BUSY: &str = "sm__issue_active.avg.pct_of_peak_sustained_elapsed";
    const WAVES: &str = "launch__waves_per_multiprocessor";

    /// Weights by blockIdx.x, each converted so often, and one product with what blockIdx.y brings.
    fn weights(conversions: usize) -> Launch {
        let mut code = vec![
            ("S2R R1, SR_TID.X", 64.0),
            ("S2R R5, SR_CTAID.X", 64.0),
            ("S2R R6, SR_CTAID.Y", 64.0),
            ("LDC.64 R10, c[0x0][0x210]", 64.0),
            ("LDC.64 R12, c[0x0][0x218]", 64.0),
            ("IMAD R2, R5, 0x80, R1", 64.0),
            ("IMAD.WIDE R10, R2, 0x4, R10", 64.0),
            ("IMAD R3, R6, 0x80, R1", 64.0),
            ("IMAD.WIDE R8, R3, 0x4, R12", 64.0),
            ("LDG.E R4, desc[UR4][R10.64]", 64.0),
            ("LDG.E R7, desc[UR4][R8.64]", 64.0),
        ];
        code.extend(vec![("I2FP.F32.S32 R4, R4", 64.0); conversions]);
        code.extend([
            ("FMUL R4, R4, R7", 64.0),
            ("STG.E desc[UR4][R8.64], R4", 64.0),
            ("EXIT", 64.0),
        ]);
        let executed = 64.0 * code.len() as f64;
        let metrics = [(super::super::EXECUTED, executed), (ISSUE_BUSY, 80.0), (WAVES, 8.0)];
        let mut launch = sass(&metrics, &code);
        (launch.row.grid, launch.row.block) = ([16, 4, 1], [32, 1, 1]);
        launch
    }

    #[test]
    fn conversions_that_four_blocks_repeat_are_named() {
        let draft = assert_sides(&RULE, &weights(10), &[&[(ISSUE_BUSY, 0.1)], &[(WAVES, 1.9)]]);
        // Three of four executions of ten conversions and a load, of 24 instructions.
        let share = draft.effect.share_of(Term::Issue);
        assert!((share - 0.75 * 11.0 / 24.0).abs() < 1e-12, "{share}");
        assert!(
            draft.message.starts_with("42% of the executed instructions work out floats"),
            "{}",
            draft.message
        );
        assert!(draft.hint.contains("the work of 4 along y"), "{}", draft.hint);
    }
}
