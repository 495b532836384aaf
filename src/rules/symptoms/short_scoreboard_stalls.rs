//! Warps wait for shared memory or special functions.

use crate::evidence::stalls::{Stall, THRESHOLDS};
use crate::evidence::threshold::{ISSUE, LATENCY};
use crate::metric::stall::StallReason;
use crate::rules::said_by_ncu::SaidByNcu;
use crate::rules::{Example, Kind, Rule};

const STALL: Stall = Stall {
    reason: StallReason::ShortScoreboard,
    waiting: "waiting for results from shared memory, shuffles or special functions",
    hint: "\
Put independent work between the access and its use at {place}, or keep the value in a \
register.",
    otherwise: "the hottest instruction",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "short-scoreboard-stalls",
    kind: Kind::Symptom,
    summary: "warps wait for shared memory or special functions",
    explanation: "\
The warp needs the result of a shared-memory access, a shuffle or a special function that is \
still under way. Bank conflicts lengthen the wait, and so does dense traffic on the shared-memory \
pipe.",
    examples: &[Example {
        fault: "\
int s = 0;                                // each look-up waits for the last
for (int k = 0; k < length; ++k)
    s = next[s][text[k * n + i]];
accepted[i] = s;",
        repair: "\
int s = 0, r = 0;                         // two texts per thread
for (int k = 0; k < length; ++k) {
    s = next[s][text[k * n + i]];
    r = next[r][text[k * n + i + half]];
}
accepted[i] = s;
accepted[i + half] = r;",
        note: "\
Two independent chains of look-ups share a thread, so that one proceeds while the other waits \
for shared memory. It pays where the table keeps further warps out; the grid shrinks to half.",
    }],
    section: "WarpStateStats",
    thresholds: THRESHOLDS,
    needs: &[
        "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio",
        LATENCY,
        ISSUE,
    ],
    said_by_ncu: &[SaidByNcu::stall(
        &["scoreboard", "not to l1tex"],
        &[StallReason::ShortScoreboard],
    )],
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
