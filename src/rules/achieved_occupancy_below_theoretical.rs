//! Warps that could be resident are not.

use super::limits::{ISSUE, NOISE, NOISE_SOURCE};
use super::occupancy::{EXPLAINS, THEORETICAL, WORTH_LIMIT, worth_warps};
use super::{Case, Draft, Kind, Rule, Threshold};
use crate::finding::Evidence;
use crate::model::Effect;

const ACHIEVED: &str = "sm__warps_active.avg.pct_of_peak_sustained_active";

/// Points of occupancy between what could be and what is.
const GAP: f64 = 10.0;

/// The rule.
pub const RULE: Rule = Rule {
    name: "achieved-occupancy-below-theoretical",
    kind: Kind::Cause,
    summary: "warps that could be resident are not",
    explanation: "\
Registers, shared memory and block size allow a number of resident warps; on average there are \
fewer. Blocks that end at different times, warps of a block that end early, and blocks so short that \
starting them takes long leave the slots empty. The rule is quiet where a small grid or idle SMs \
are the reason, which other rules name, and where more warps would gain less than 5%. Even out the work of \
warps and blocks, or let each block do more.",
    section: "Occupancy",
    thresholds: &[
        Threshold {
            what: "theoretical less achieved occupancy, more than",
            value: GAP,
            unit: "percentage points",
            source: "ncu's AchievedOccupancy rule: 10 points",
        },
        Threshold {
            what: "SMs without work, share of the time, less than",
            value: NOISE,
            unit: "%",
            source: NOISE_SOURCE,
        },
        WORTH_LIMIT,
    ],
    needs: &[THEORETICAL, ACHIEVED, ISSUE],
    explains: EXPLAINS,
    check,
};

fn check(case: &Case) -> Option<Draft> {
    let (theoretical, achieved) = (case.need(THEORETICAL), case.need(ACHIEVED));
    let full = case.waves().is_none_or(|waves| waves >= 1.0);
    let effect = Effect { hidden: 1.0 - achieved / theoretical, ..Effect::default() };
    let gap = theoretical - achieved > GAP;
    if !(gap && full && worth_warps(case, &effect)) || 100.0 * case.model.idle() >= NOISE {
        return None;
    }
    Some(Draft {
        message: format!(
            "{theoretical:.0}% of the warp slots could be filled, {achieved:.0}% are on average, \
             while schedulers issue in {:.0}% of the cycles.",
            case.need(ISSUE),
        ),
        evidence: vec![
            Evidence::new(THEORETICAL, theoretical, "%"),
            Evidence::new(ACHIEVED, achieved, "%"),
        ],
        locations: Vec::new(),
        hint:
            "Give the warps of a block, and the blocks of the grid, equal work; where blocks are \
               very short, let each handle several pieces in a loop."
                .to_owned(),
        effect,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_sides, launch};
    use super::*;

    #[test]
    fn a_gap_counts_unless_the_grid_or_a_busy_device_explains_it() {
        let gap = launch(&[
            (THEORETICAL, 100.0),
            (ACHIEVED, 50.0),
            (ISSUE, 30.0),
            ("sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed", 20.0),
        ]);
        let draft = assert_sides(
            &RULE,
            &gap,
            &[
                &[(ACHIEVED, 90.0)],
                &[("launch__waves_per_multiprocessor", 0.5)],
                &[("sm__cycles_active.avg", 95.0), ("gpc__cycles_elapsed.max", 100.0)],
                &[("sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed", 91.0)],
            ],
        );
        assert!((draft.effect.hidden - 0.5).abs() < 1e-12);
    }
}
