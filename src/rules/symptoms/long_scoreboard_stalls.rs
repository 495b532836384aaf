//! Warps wait for data from L1, L2 or device memory.

use crate::evidence::loads_in_flight::{chained_share, covered, loads_in_flight};
use crate::evidence::modeled_launch::{BLOCKS_AT_ONCE, WAVES};
use crate::evidence::stalls::{self, AT_BARRIERS, Stall, THRESHOLDS};
use crate::evidence::threshold::{ISSUE, LATENCY};
use crate::evidence::{Draft, ModeledLaunch};
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::rules::said_by_ncu::SaidByNcu;
use crate::rules::{Example, Kind, Rule};

const STALL: Stall = Stall {
    reason: StallReason::LongScoreboard,
    waiting: "waiting for data from global, local or texture memory",
    hint: "\
Start the loads whose data {place} uses earlier, several at a time, before the first result is \
used.",
    otherwise: "the hottest instruction",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "long-scoreboard-stalls",
    kind: Kind::Symptom,
    summary: "warps wait for data from L1, L2 or device memory",
    explanation: "\
The warp needs the result of a global, local or texture access that has not arrived. The stall is \
counted where the data is used, not where it is loaded. More independent loads in flight or more \
warps hide the wait; fewer cache misses shorten it.",
    examples: &[Example {
        fault: "\
for (int k = 0; k < tiles; ++k) {
    tile[t] = in[k * 256 + t];            // all warps wait for the load
    __syncthreads();
    sum += work(tile, t);
    __syncthreads();
}",
        repair: "\
float next = in[t];
for (int k = 0; k < tiles; ++k) {
    tile[t] = next;
    __syncthreads();
    if (k + 1 < tiles) next = in[(k + 1) * 256 + t];
    sum += work(tile, t);                 // meanwhile the load is under way
    __syncthreads();
}",
        note: "\
The next tile is on its way while this one is worked on, so that its latency overlaps with \
arithmetic; it costs one register per thread.",
    }],
    section: "WarpStateStats",
    thresholds: THRESHOLDS,
    needs: &[
        "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
        LATENCY,
        ISSUE,
    ],
    sharpened_by: &[AT_BARRIERS, BLOCKS_AT_ONCE, WAVES],
    said_by_ncu: &[SaidByNcu::stall(&["scoreboard", "l1tex"], &[StallReason::LongScoreboard])
        .unless(&["not to l1tex"])],
    check,
    ..Rule::DEFAULT
};

/// The advice is to start loads earlier, so no more is promised than that covers.
fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let draft = stalls::check(launch, &STALL)?;
    let covers = covered(launch, &loads_in_flight(launch), chained_share(launch));
    let effect = Effect { stalls: vec![(STALL.reason, covers)], ..Effect::default() };
    Some(Draft { effect, ..draft })
}

#[cfg(test)]
mod tests {
    use crate::evidence::loads_in_flight::LONG;
    use crate::evidence::threshold::LATENCY;
    use crate::metric::stall::StallReason;
    use crate::rules::testing::{check, sass};

    #[test]
    fn no_more_is_promised_than_earlier_loads_cover() {
        let goes = |load: &'static str| {
            let code = [(load, 10.0), ("FADD R4, R4, R5", 10.0), ("EXIT", 10.0)];
            let waves = ("launch__waves_per_multiprocessor", 2.0);
            let mut launch = sass(&[(LONG, 80.0), (LATENCY, 100.0), waves], &code);
            launch.set(crate::evidence::threshold::ISSUE, Some(20.0));
            let samples = &mut launch.instructions[1].counters.stall_samples;
            samples[StallReason::LongScoreboard as usize] = 9.0;
            check(&super::RULE, &launch).unwrap().effect.share_of_stall(StallReason::LongScoreboard)
        };
        assert!(
            (goes("LDG.E R4, desc[UR4][R2.64]") - 0.75).abs() < 1e-12,
            "a float4 in place of a float"
        );
        assert!(goes("LDG.E.128 R4, desc[UR4][R2.64]").abs() < 1e-12);
    }

    #[test]
    fn fires_from_a_large_share_while_slots_are_free() {
        crate::rules::testing::assert_stall_rule(&super::RULE, super::STALL.reason);
    }
}
