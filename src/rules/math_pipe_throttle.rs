//! A math pipe is oversubscribed.

use super::limits::{ISSUE, LATENCY};
use super::stalls::{Stall, THRESHOLDS};
use super::{Kind, Rule};
use crate::export::stall::StallReason;

const STALL: Stall = Stall {
    reason: StallReason::MathPipeThrottle,
    waiting: "because the math pipe it needs is busy",
    hint: "\
Replace the busiest kind of instruction at {place} by a cheaper one, or mix in work for \
other pipes.",
    otherwise: "the arithmetic of the hottest loop",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "math-pipe-throttle",
    kind: Kind::Symptom,
    summary: "a math pipe is oversubscribed",
    explanation: "\
Several warps want the same arithmetic pipe at once. It means that the pipe is close to its \
limit, or that its instructions come in bursts. Use cheaper instructions, or other pipes.",
    section: "WarpStateStats",
    thresholds: THRESHOLDS,
    needs: &[
        "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio",
        LATENCY,
        ISSUE,
    ],
    explains: &[],
    check: |case| super::stalls::check(case, &STALL),
};

#[cfg(test)]
mod tests {
    #[test]
    fn fires_from_a_large_share_while_slots_are_free() {
        super::super::stalls::assert_stall_rule(&super::RULE, super::STALL.reason);
    }
}
