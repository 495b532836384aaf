//! A dependent chain, with too few warps or independent instructions to hide it.

use crate::evidence::modeled_launch::place;
use crate::evidence::occupancy::{HIGH_ENOUGH, HIGH_ENOUGH_LIMIT};
use crate::evidence::stalls::on_chains;
use crate::evidence::threshold::{
    ISSUE, ISSUE_LOW, ISSUE_LOW_LIMIT, LATENCY, STALL_SHARE, STALL_SHARE_LIMIT, UNIT_SATURATED,
    UNIT_SATURATED_LIMIT,
};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::rules::said_by_ncu::SaidByNcu;
use crate::rules::{Cure, Example, Kind, Rule, Trial};
use crate::text::percent;

const WAIT: &str = "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio";
const WARPS: &str = "smsp__warps_active.avg.per_cycle_active";
const MOST_WARPS: &str = "smsp__warps_active.avg.peak_sustained";

/// Waits for results of arithmetic: of the fixed-latency pipes, and of special functions and
/// conversions.
const STALLS: [StallReason; 2] = [StallReason::Wait, StallReason::Dispatch];

/// The rule.
pub const RULE: Rule = Rule {
    name: "low-instruction-parallelism",
    kind: Kind::Cause,
    summary: "a dependent chain, with too few warps or independent instructions to hide it",
    explanation: "\
The result of an addition or multiplication is ready after a handful of cycles. A warp whose next \
instruction needs it waits; other warps, or independent instructions of the same warp, fill the \
gap. Where warps are few and each follows one long chain (a sum in one accumulator, a \
recurrence), the pipes idle most of the time. The rule fires where warps mostly wait for this \
fixed latency while schedulers have slots to spare and no unit is near its limit. It counts the waits \
in chains that can be split: sums over a loop's iterations, long rows of additions, and recurrences \
that a thread runs through for one element after another. What an iteration computes for itself is not \
counted, since two iterations at once take the registers of two and leave room for half of the warps. \
Split the chain: use several accumulators, or let each thread work on several of its elements side by \
side. Or keep more warps resident.",
    examples: &[Example {
        fault: "\
float sum = 0.0f;                         // each sum waits for the last
for (int k = 0; k < terms; ++k)
    sum = fmaf(weight[k], signal[k], sum);",
        repair: "\
float a = 0.0f, b = 0.0f, c = 0.0f, d = 0.0f;   // four independent chains
for (int k = 0; k < terms; k += 4) {
    a = fmaf(weight[k], signal[k], a);
    b = fmaf(weight[k + 1], signal[k + 1], b);
    c = fmaf(weight[k + 2], signal[k + 2], c);
    d = fmaf(weight[k + 3], signal[k + 3], d);
}
float sum = (a + b) + (c + d);",
        note: "\
Four sums take turns, so that an addition no longer waits for the one before; terms must be a \
multiple of 4, and the sum is rounded in another order.",
    }],
    section: "WarpStateStats",
    thresholds: &[
        STALL_SHARE_LIMIT,
        ISSUE_LOW_LIMIT,
        UNIT_SATURATED_LIMIT,
        Threshold {
            what: "active warps, share of what an SM can hold, less than",
            ..HIGH_ENOUGH_LIMIT
        },
    ],
    needs: &[WAIT, LATENCY, ISSUE, WARPS, MOST_WARPS],
    trials: &[Trial::Tunables],
    said_by_ncu: &[
        // Fixed latency is what a dependent chain shows as; the text advises to unroll and restructure.
        SaidByNcu::stall(&["fixed latency"], &[StallReason::Wait]),
    ],
    cure: Cure::MoreIndependence,
    explains: &["fixed-latency-stalls", "issue-slots-underused"],
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let (wait, all, issue) = (launch.need(WAIT), launch.need(LATENCY), launch.need(ISSUE));
    let saturated = launch.model.busiest().is_some_and(|(_, busy)| 100.0 * busy >= UNIT_SATURATED);
    let (warps, most) = (launch.need(WARPS), launch.need(MOST_WARPS));
    let few = 100.0 * warps / most < HIGH_ENOUGH;
    if !(few && 100.0 * wait / all >= STALL_SHARE && issue < ISSUE_LOW) || saturated {
        return None;
    }
    // The others wait for what each turn works out for itself.
    let on_chains = on_chains(launch);
    if 100.0 * wait * on_chains / all < STALL_SHARE {
        return None;
    }
    let locations = launch.stalled_places(&STALLS, "waits for arithmetic");
    let chains = (ISSUE_LOW / issue.max(1.0)).ceil().clamp(2.0, 8.0);
    Some(Draft {
        message: format!(
            "A warp waits {wait:.1} of {all:.1} cycles between two instructions ({}) for the \
             result of its own previous instruction. A scheduler has {warps:.1} warps to choose from and \
             issues in {issue:.0}% of its active cycles.",
            percent(wait / all),
        ),
        evidence: vec![
            Evidence::new(WAIT, wait, "cycle"),
            Evidence::new(LATENCY, all, "cycle"),
            Evidence::new(ISSUE, issue, "%"),
        ],
        hint: format!(
            "Split the work at {} into at least {chains:.0} independent chains: separate \
             accumulators that are added up at the end, or several elements per thread side by \
             side.",
            place(&locations, "the innermost loop"),
        ),
        locations,
        effect: Effect {
            stalls: STALLS.map(|reason| (reason, on_chains)).to_vec(),
            ..Effect::default()
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{assert_sides, launch};

    #[test]
    fn waiting_for_ones_own_result_counts_while_slots_are_free() {
        let chain = launch(&[
            (WAIT, 3.0),
            (LATENCY, 10.0),
            (ISSUE, 25.0),
            (WARPS, 12.7),
            (MOST_WARPS, 16.0),
        ]);
        let fma = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed";
        let draft = assert_sides(
            &RULE,
            &chain,
            &[&[(WAIT, 2.9)], &[(ISSUE, 60.0)], &[(WARPS, 12.8)], &[(fma, 70.0)]],
        );
        // 60 / 25 = 2.4 chains.
        assert!(draft.hint.contains("at least 3 independent chains"), "{}", draft.hint);
    }
}
