//! The texture queue is full.

use crate::evidence::stalls::{Stall, THRESHOLDS};
use crate::evidence::threshold::{ISSUE, LATENCY};
use crate::metric::stall::StallReason;
use crate::rules::said_by_ncu::SaidByNcu;
use crate::rules::{Example, Kind, Rule};

const STALL: Stall = Stall {
    reason: StallReason::TexThrottle,
    waiting: "waiting because the texture queue is full",
    hint: "\
Reduce the texture accesses at {place} or spread them out, or read the data as plain global \
memory.",
    otherwise: "the hottest spot",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "tex-throttle",
    kind: Kind::Symptom,
    summary: "the texture queue is full",
    explanation: "\
Texture and surface instructions, and some global loads, share one queue. It fills where they \
follow one another closely. Issue fewer of them, or load through the global path.",
    examples: &[Example {
        fault: "\
float x = tex1Dfetch<float>(moment, 4 * i);      // four fetches
float y = tex1Dfetch<float>(moment, 4 * i + 1);
float z = tex1Dfetch<float>(moment, 4 * i + 2);
float w = tex1Dfetch<float>(moment, 4 * i + 3);
norm[i] = sqrtf(x * x + y * y + z * z + w * w);",
        repair: "\
float4 m = tex1Dfetch<float4>(moment, i);        // one
norm[i] = sqrtf(m.x * m.x + m.y * m.y + m.z * m.z + m.w * m.w);",
        note: "\
The texture is bound with four channels, so that one fetch brings what took four; where neither \
filtering nor border handling is needed, a plain float4 load avoids the texture queue \
altogether.",
    }],
    section: "WarpStateStats",
    thresholds: THRESHOLDS,
    needs: &[
        "smsp__average_warps_issue_stalled_tex_throttle_per_issue_active.ratio",
        LATENCY,
        ISSUE,
    ],
    said_by_ncu: &[SaidByNcu::stall(&["texture", "queue"], &[StallReason::TexThrottle])
        .unless(&["local and global", "mio"])],
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
