//! Warps wait for data from L1, L2 or device memory.

use crate::evidence::stalls::{Stall, THRESHOLDS};
use crate::evidence::threshold::{ISSUE, LATENCY};
use crate::metric::stall::StallReason;
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
    said_by_ncu: &[SaidByNcu::stall(&["scoreboard", "l1tex"], &[StallReason::LongScoreboard])
        .unless(&["not to l1tex"])],
    check: |launch| crate::evidence::stalls::check(launch, &STALL),
    ..Rule::DEFAULT
};

#[cfg(test)]
mod tests {
    #[test]
    fn fires_from_a_large_share_while_slots_are_free() {
        crate::rules::testing::assert_stall_rule(&super::RULE, super::STALL.reason);
    }
}
