//! Warps wait for constants.

use crate::evidence::stalls::{Stall, THRESHOLDS};
use crate::evidence::threshold::{ISSUE, LATENCY};
use crate::metric::stall::StallReason;
use crate::rules::said_by_ncu::SaidByNcu;
use crate::rules::{Example, Kind, Rule};

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
    examples: &[Example {
        fault: "\
// __constant__ float tap[16384]: 64 KB, far more than the cache holds
for (int k = 0; k < 16384; ++k)
    sum = fmaf(tap[k], in[i + k], sum);",
        repair: "\
__shared__ float part[256];               // tap lies in global memory
for (int first = 0; first < 16384; first += 256) {
    part[t] = tap[first + t];
    __syncthreads();
    for (int k = 0; k < 256; ++k)
        sum = fmaf(part[k], in[i + first + k], sum);
    __syncthreads();
}",
        note: "\
The block of 256 threads brings the coefficients into shared memory piece by piece, in one \
coalesced load each, in place of a constant cache that every warp overruns.",
    }],
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
