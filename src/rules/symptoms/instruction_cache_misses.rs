//! Warps wait for instructions.

use crate::evidence::stalls::{Stall, THRESHOLDS};
use crate::evidence::threshold::{ISSUE, LATENCY};
use crate::metric::stall::StallReason;
use crate::rules::said_by_ncu::SaidByNcu;
use crate::rules::{Example, Kind, Rule};

const STALL: Stall = Stall {
    reason: StallReason::NoInstruction,
    waiting: "waiting for its next instruction to be fetched",
    hint: "\
Make the code at {place} smaller: unroll less, inline less, or split the kernel.",
    otherwise: "the hottest spot",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "instruction-cache-misses",
    kind: Kind::Symptom,
    summary: "warps wait for instructions",
    explanation: "\
The next instruction has not been fetched yet. Loop bodies larger than the instruction caches, \
code with many branches and very short kernels cause it.",
    examples: &[Example {
        fault: "\
#pragma unroll                            // 200 copies of a long body
for (int k = 0; k < 200; ++k)
    s = one_step(s, k);",
        repair: "\
#pragma unroll 2                          // two copies
for (int k = 0; k < 200; ++k)
    s = one_step(s, k);",
        note: "\
The loop fits into the instruction caches again; a long body gains little from being unrolled.",
    }],
    section: "WarpStateStats",
    thresholds: THRESHOLDS,
    needs: &[
        "smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio",
        LATENCY,
        ISSUE,
    ],
    said_by_ncu: &[SaidByNcu::stall(&["fetch an instruction"], &[StallReason::NoInstruction])],
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
