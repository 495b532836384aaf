//! Warps that could be resident are not.

use crate::evidence::modeled_launch::{BLOCKS_AT_ONCE, WAVES};
use crate::evidence::occupancy::{EXPLAINS, THEORETICAL, WORTH_LIMIT, worth_warps};
use crate::evidence::threshold::{ISSUE, NOISE, NOISE_SOURCE, UNIT_SATURATED};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::model::Effect;
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Cure, Example, Kind, Rule, Trial};
use crate::sass::questions::bystanders;
use crate::term::Term;
use crate::text::{count, count_of, percent};

const ACHIEVED: &str = "sm__warps_active.avg.pct_of_peak_sustained_active";

/// Points of occupancy between what could be and what is.
const GAP: f64 = 10.0;

/// The rule.
pub const RULE: Rule = Rule {
    name: "achieved-occupancy-below-theoretical",
    kind: Kind::Cause,
    summary: "fewer warps are resident than could be",
    explanation: "\
Registers, shared memory and block size allow a certain number of resident warps; on average fewer \
are resident. Slots stay empty where blocks end at different times, where some warps of a block \
end early, and where blocks are so short that starting them takes longer than running them. The \
rule does not fire where a small grid or idle SMs are the reason, since other rules name those, \
nor where more warps would gain less than 5%. Even out the work of warps and blocks, or let each \
block do more.",
    examples: &[Example {
        fault: "\
// a block of 32 warps keeps its place until its longest ray has ended;
// meanwhile the slots of the warps that are done stay empty
int threads = 1024;
march<<<(rays + threads - 1) / threads, threads>>>(depth, steps, rays);",
        repair: "\
// blocks of 4 warps end early and make room for the next
int threads = 128;
march<<<(rays + threads - 1) / threads, threads>>>(depth, steps, rays);",
        note: "\
Smaller blocks wait for fewer long rays, so that warps which have ended are replaced sooner; \
more blocks have to be started, which matters only where they are very short.",
    }],
    section: "Occupancy",
    thresholds: &[
        Threshold {
            what: "theoretical minus achieved occupancy, more than",
            value: GAP,
            unit: "percentage points",
            source: "ncu's AchievedOccupancy rule: 10 points",
        },
        Threshold {
            what: "share of the time in which SMs have no work (not checked where starting blocks \
                   takes longer than anything else), less than",
            value: NOISE,
            unit: "%",
            source: NOISE_SOURCE,
        },
        WORTH_LIMIT,
        Threshold {
            what: "issue slots used, for the hint to advise fewer blocks that loop where starting blocks takes \
                   longer than anything else, less than",
            value: UNIT_SATURATED,
            unit: "%",
            source: "derivation: a unit that is busy 70% of the time bounds the gain at 1.4, and the loop's \
                     control adds to its work. Of three such changes to other people's kernels, the two with at \
                     most 51% of the slots used gained 1.09 and 1.60; the one with 75% lost a quarter",
        },
    ],
    needs: &[THEORETICAL, ACHIEVED, ISSUE],
    sharpened_by: &[BLOCKS_AT_ONCE, WAVES],
    cure: Cure::MoreWarps,
    trials: &[Trial::Tunables],
    said_by_ncu: &[
        // Its text also offers imbalance as a cause, which has a rule of its own.
        SaidByNcu::any("AchievedOccupancy", Acts::Latency),
    ],
    explains: EXPLAINS,
    in_triton: "\
a larger BLOCK makes programs that run longer, and a loop over tl.num_programs(0) lets as \
many programs as fit on the device do all of the work.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let (theoretical, achieved) = (launch.need(THEORETICAL), launch.need(ACHIEVED));
    let waves = launch.waves();
    let full = waves.is_none_or(|waves| waves >= 1.0);
    // The instructions need not be read where there is no gap.
    if !(theoretical - achieved > GAP && full) {
        return None;
    }
    let effect = Effect {
        hidden: 1.0 - achieved / theoretical,
        // Blocks that loop need not be more than fit at once.
        removed: waves
            .filter(|&waves| waves > 1.0 && !most_do_nothing(launch))
            .map(|waves| (Term::BlockScheduler, 1.0 - 1.0 / waves))
            .into_iter()
            .collect(),
        ..Effect::default()
    };
    // SMs that wait for their next block have no warp either.
    let starts = launch.model.busiest().filter(|(term, _)| *term == Term::BlockScheduler);
    let idle = starts.is_none() && 100.0 * launch.model.idle() >= NOISE;
    if !worth_warps(launch, &effect) || idle {
        return None;
    }
    // A loop around the body adds instructions to each turn: where the slots for them are taken, it loses.
    let issue = launch.model.utilization(Term::Issue);
    if starts.is_some() && issue.is_some_and(|busy| 100.0 * busy >= UNIT_SATURATED) {
        return None;
    }
    let blocks = launch.get("launch__grid_size");
    let why = starts.zip(blocks).map_or_else(String::new, |((_, share), blocks)| {
        format!(
            " Blocks start one after another, and starting {} takes {} of the time.",
            count_of(blocks, "block"),
            percent(share)
        )
    });
    Some(Draft {
        message: format!(
            "{theoretical:.0}% of the warp slots could be filled, but on average only \
             {achieved:.0}% are. Schedulers issue in {:.0}% of their active cycles.{why}",
            launch.need(ISSUE),
        ),
        evidence: vec![
            Evidence::new(THEORETICAL, theoretical, "%"),
            Evidence::new(ACHIEVED, achieved, "%"),
        ],
        locations: Vec::new(),
        hint: match starts.and(blocks).zip(waves) {
            Some((blocks, waves)) => format!(
                "Let each block loop over several pieces of the work: {} blocks fit on the device at once, but \
                 {} are started.",
                count((blocks / waves).round()),
                count(blocks)
            ),
            None => {
                "Give the warps of a block, and the blocks of the grid, equal work; where blocks \
                 are very short, let each handle several pieces in a loop."
                    .to_owned()
            }
        },
        effect,
    })
}

/// True where most blocks are started for nothing: that is another fault, and with it goes what starting
/// them takes.
fn most_do_nothing(launch: &ModeledLaunch) -> bool {
    let listing = launch.profile.listing();
    listing.is_some_and(|listing| bystanders::find(&listing).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{assert_sides, launch};

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

    #[test]
    fn blocks_that_take_longer_to_start_than_they_live_are_told_how_many_fit() {
        let mut short = launch(&[
            (THEORETICAL, 100.0),
            (ACHIEVED, 25.0),
            (ISSUE, 10.0),
            ("sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed", 20.0),
            ("launch__grid_size", 1e5),
            ("launch__waves_per_multiprocessor", 50.0),
            ("gpc__cycles_elapsed.max", 120_300.0 / 0.9),
            ("sm__cycles_active.avg", 0.8 * 120_300.0 / 0.9),
        ]);
        short.row.compute_capability = Some((9, 0));
        let draft = assert_sides(&RULE, &short, &[&[("launch__grid_size", 2e4)]]);
        assert!(draft.message.contains("starting 100,000 blocks takes 90%"), "{}", draft.message);
        assert!(draft.hint.contains("2,000 blocks fit"), "{}", draft.hint);
        let busy = "sm__issue_active.avg.pct_of_peak_sustained_elapsed";
        let slots = |busy_percent: f64| {
            let mut few = short.clone();
            few.set(busy, Some(busy_percent));
            crate::rules::testing::check(&RULE, &few)
        };
        assert!(slots(69.0).is_some());
        assert!(slots(70.0).is_none(), "the loop's own instructions find no slots");
        // A wave in 50 is left.
        assert!((draft.effect.share_of(Term::BlockScheduler) - 0.98).abs() < 1e-12);
    }
}
