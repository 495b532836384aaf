//! The queue for shared memory and special functions is full.

use crate::evidence::stalls::{Stall, THRESHOLDS};
use crate::evidence::threshold::{ISSUE, LATENCY};
use crate::metric::stall::StallReason;
use crate::rules::said_by_ncu::SaidByNcu;
use crate::rules::{Example, Kind, Rule};

const STALL: Stall = Stall {
    reason: StallReason::MioThrottle,
    waiting: "waiting because the queue for shared memory and special functions is full",
    hint: "\
Issue fewer and wider shared-memory instructions at {place} (a float4 moves four values at \
once), or keep values in registers.",
    otherwise: "the hottest spot",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "mio-throttle",
    kind: Kind::Symptom,
    summary: "the queue for shared memory and special functions is full",
    explanation: "\
Shared-memory accesses, shuffles, special functions and dynamic branches go through one queue in \
front of slower units. A full queue means that they come too densely: the cause is the load on \
the shared-memory pipe or on the special-function unit.",
    examples: &[Example {
        fault: "\
for (int row = 0; row < rows; ++row) {
    int sum = hits[row * 32 + lane];
    for (int w = 16; w > 0; w /= 2)       // five shuffles per row
        sum += __shfl_xor_sync(~0u, sum, w);
    total += sum;
}",
        repair: "\
for (int row = 0; row < rows; ++row)
    total += hits[row * 32 + lane];
for (int w = 16; w > 0; w /= 2)           // five shuffles in all
    total += __shfl_xor_sync(~0u, total, w);",
        note: "\
Each lane first adds up its column, and the warp combines its lanes once, at the end; the queue \
for shuffles stays empty meanwhile.",
    }],
    section: "WarpStateStats",
    thresholds: THRESHOLDS,
    needs: &[
        "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio",
        LATENCY,
        ISSUE,
    ],
    said_by_ncu: &[SaidByNcu::stall(&["mio", "instruction queue"], &[StallReason::MioThrottle])
        .unless(&["local and global"])],
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
