//! Warps wait for each other at barriers.

use crate::evidence::stalls::{Stall, THRESHOLDS};
use crate::evidence::thresholds::{ISSUE, LATENCY};
use crate::metric::stall::StallReason;
use crate::rules::{Kind, Rule};

const STALL: Stall = Stall {
    reason: StallReason::Barrier,
    waiting: "at a barrier for the rest of the block",
    hint: "\
See whether the barrier at {place} can go: exchange within a warp by shuffles, or give each \
warp an equal share of the work before it.",
    otherwise: "the most frequent __syncthreads()",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "barrier-stalls",
    kind: Kind::Symptom,
    summary: "warps wait for each other at barriers",
    explanation: "\
A warp that reaches a barrier waits until every warp of its block is there. Much of it means \
that warps of a block have uneven work between barriers, or that barriers are frequent. Look \
for the work in front of the barrier first: its slowest warp sets the pace. Smaller blocks, \
warp-level primitives instead of block-wide steps, or fewer barriers help.",
    section: "WarpStateStats",
    thresholds: THRESHOLDS,
    needs: &["smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", LATENCY, ISSUE],
    explains: &[],
    check: |case| crate::evidence::stalls::check(case, &STALL),
};

#[cfg(test)]
mod tests {
    #[test]
    fn fires_from_a_large_share_while_slots_are_free() {
        crate::evidence::stalls::assert_stall_rule(&super::RULE, super::STALL.reason);
    }
}
