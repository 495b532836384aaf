//! Warps wait at their end for stores to leave.

use crate::evidence::stalls::{Stall, THRESHOLDS};
use crate::evidence::threshold::{ISSUE, LATENCY};
use crate::metric::stall::StallReason;
use crate::rules::said_by_ncu::SaidByNcu;
use crate::rules::{Example, Kind, Rule};

const STALL: Stall = Stall {
    reason: StallReason::Drain,
    waiting: "after its last instruction, waiting for its stores to leave",
    hint: "\
Make the final stores at {place} dense and wide, or let each thread do more work before it ends.",
    otherwise: "the end of the kernel",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "store-drain-stalls",
    kind: Kind::Symptom,
    summary: "warps wait at their end for stores to leave",
    explanation: "\
A warp that has ended keeps its slot until its stores have been accepted. Many scattered stores \
at the end of a short kernel cause it.",
    examples: &[Example {
        fault: "\
for (int k = 0; k < 4; ++k)               // four stores, 16 sectors each
    out[4 * i + k] = root[k];",
        repair: "\
reinterpret_cast<float4 *>(out)[i] =      // one store, 16 sectors in all
    make_float4(root[0], root[1], root[2], root[3]);",
        note: "\
One wide store carries what four scattered ones did, with a quarter of the sectors to accept \
before the warp may leave; out must be aligned to 16 bytes.",
    }],
    section: "WarpStateStats",
    thresholds: THRESHOLDS,
    needs: &["smsp__average_warps_issue_stalled_drain_per_issue_active.ratio", LATENCY, ISSUE],
    said_by_ncu: &[SaidByNcu::stall(&["after exit"], &[StallReason::Drain])],
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
