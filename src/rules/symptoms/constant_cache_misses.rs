//! Warps wait for constants.

use crate::evidence::stalls::{Stall, THRESHOLDS};
use crate::evidence::threshold::{ISSUE, LATENCY};
use crate::metric::stall::StallReason;
use crate::rules::said_by_ncu::SaidByNcu;
use crate::rules::{Kind, Rule};

const STALL: Stall = Stall {
    reason: StallReason::ImcMiss,
    waiting: "waiting for constants that missed the constant cache",
    hint: "\
Use fewer different constants at {place}, or keep the values in registers or shared memory.",
    otherwise: "the hottest spot",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "constant-cache-misses",
    kind: Kind::Symptom,
    summary: "warps wait for constants",
    explanation: "\
An instruction has a constant operand that is not in the SM's constant cache. The first use \
always misses; later misses mean that the kernel uses more constant data than the cache holds, or \
indexes it in a way that varies.",
    section: "WarpStateStats",
    thresholds: THRESHOLDS,
    needs: &["smsp__average_warps_issue_stalled_imc_miss_per_issue_active.ratio", LATENCY, ISSUE],
    said_by_ncu: &[SaidByNcu::stall(&["immediate constant"], &[StallReason::ImcMiss])],
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
