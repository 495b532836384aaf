//! Warps wait for fences.

use crate::evidence::stalls::{Stall, THRESHOLDS};
use crate::evidence::threshold::{ISSUE, LATENCY};
use crate::metric::stall::StallReason;
use crate::rules::said_by_ncu::SaidByNcu;
use crate::rules::{Example, Kind, Rule};

const STALL: Stall = Stall {
    reason: StallReason::Membar,
    waiting: "waiting at memory fences",
    hint: "\
Narrow the scope of the fence at {place} (__threadfence_block() instead of __threadfence()), \
or fence once after several writes.",
    otherwise: "the hottest spot",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "memory-fence-stalls",
    kind: Kind::Symptom,
    summary: "warps wait for fences",
    explanation: "\
A memory fence makes a warp wait until its writes are visible within the scope that the fence \
names; device and system scope also empty the SM's L1. Use the narrowest scope that is correct, \
and fence once after a batch of writes.",
    examples: &[Example {
        fault: "\
for (int k = 0; k < words; ++k) {
    slot[k * n + i] = message[k * n + i];
    __threadfence_system();               // per word, and for the host too
}
ready[i] = 1;",
        repair: "\
for (int k = 0; k < words; ++k)
    slot[k * n + i] = message[k * n + i];
__threadfence();                          // once, for this device
ready[i] = 1;",
        note: "\
The reader, another block on this device, looks at the words only after the flag, so one fence \
before the flag is enough, and device scope is cheaper than system scope.",
    }],
    section: "WarpStateStats",
    thresholds: THRESHOLDS,
    needs: &["smsp__average_warps_issue_stalled_membar_per_issue_active.ratio", LATENCY, ISSUE],
    said_by_ncu: &[SaidByNcu::stall(&["memory barrier"], &[StallReason::Membar])],
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
