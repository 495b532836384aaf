//! Warps wait for the fixed latency of their own last instruction.

use crate::evidence::stalls::{Stall, THRESHOLDS};
use crate::evidence::threshold::{ISSUE, LATENCY};
use crate::metric::stall::StallReason;
use crate::rules::said_by_ncu::SaidByNcu;
use crate::rules::{Example, Kind, Rule};

const STALL: Stall = Stall {
    reason: StallReason::Wait,
    waiting: "waiting for its own previous instruction, whose latency is fixed",
    hint: "\
Give each thread two or more independent chains at {place} (unroll, several accumulators), so \
that one has an instruction ready while the other waits.",
    otherwise: "the hottest spot",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "fixed-latency-stalls",
    kind: Kind::Symptom,
    summary: "warps wait for the fixed latency of their own previous instruction",
    explanation: "\
An instruction of fixed latency (arithmetic, mostly 4 cycles or more) must end before the next \
instruction that depends on it. The stall shows where few warps are ready and each follows one \
dependent chain; in a well-tuned kernel it is the stall that remains. The estimate counts the waits in chains \
that can be split, as low-instruction-parallelism does.",
    examples: &[Example {
        fault: "\
float y = c[7];                           // seven steps, one after another
for (int k = 6; k >= 0; --k)
    y = fmaf(y, x, c[k]);",
        repair: "\
float x2 = x * x;                         // two chains side by side
float even = fmaf(fmaf(fmaf(c[6], x2, c[4]), x2, c[2]), x2, c[0]);
float odd = fmaf(fmaf(fmaf(c[7], x2, c[5]), x2, c[3]), x2, c[1]);
float y = fmaf(odd, x, even);",
        note: "\
Even and odd powers form two chains that do not wait for each other: five steps deep instead of \
seven, for two more instructions. The last digit may differ.",
    }],
    section: "WarpStateStats",
    thresholds: THRESHOLDS,
    needs: &["smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", LATENCY, ISSUE],
    said_by_ncu: &[SaidByNcu::stall(&["fixed latency"], &[StallReason::Wait])],
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
