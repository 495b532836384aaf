//! A math pipe is oversubscribed.

use crate::evidence::stalls::{Stall, THRESHOLDS};
use crate::evidence::threshold::{ISSUE, LATENCY};
use crate::evidence::{Draft, ModeledLaunch};
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Example, Kind, Rule};

const STALL: Stall = Stall {
    reason: StallReason::MathPipeThrottle,
    waiting: "waiting because the math pipe that it needs is busy",
    hint: "\
Replace the most frequent kind of instruction at {place} with a cheaper one, or mix in work for \
other pipes.",
    otherwise: "the hottest spot",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "math-pipe-throttle",
    kind: Kind::Symptom,
    summary: "a math pipe is oversubscribed",
    explanation: "\
Several warps want the same math pipe at once: the pipe is close to its limit, or its \
instructions come in bursts. Use cheaper instructions, or other pipes.",
    examples: &[Example {
        fault: "\
for (int k = 1; k <= harmonics; ++k)      // a special function per harmonic
    wave = fmaf(amplitude[k], __sinf(k * phase), wave);",
        repair: "\
float twice = 2.0f * __cosf(phase), last = 0.0f, s = __sinf(phase);
for (int k = 1; k <= harmonics; ++k) {
    wave = fmaf(amplitude[k], s, wave);
    float next = fmaf(twice, s, -last);   // sin((k + 1) * phase)
    last = s;
    s = next;
}",
        note: "\
The recurrence sin((k + 1)p) = 2 cos(p) sin(kp) - sin((k - 1)p) moves the work from the \
special-function unit to the much wider FMA pipe; rounding errors grow with k.",
    }],
    section: "WarpStateStats",
    thresholds: THRESHOLDS,
    needs: &[
        "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio",
        LATENCY,
        ISSUE,
    ],
    said_by_ncu: &[
        SaidByNcu::stall(&["execution pipe"], &[StallReason::MathPipeThrottle]),
        SaidByNcu::any("SlowPipeLimiter", Acts::Waits(&[StallReason::MathPipeThrottle])),
    ],
    check,
    ..Rule::DEFAULT
};

/// A pipe that is busy a share U of the time is found busy with that probability: so much of the wait
/// is for work that has to be done, and stays.
fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut draft = crate::evidence::stalls::check(launch, &STALL)?;
    let busiest = launch.model.busiest().filter(|(term, _)| term.waits().contains(&STALL.reason));
    let goes = 1.0 - busiest.map_or(0.0, |(_, busy)| busy);
    draft.effect = Effect { stalls: vec![(STALL.reason, goes)], ..Effect::default() };
    Some(draft)
}

#[cfg(test)]
mod tests {
    #[test]
    fn fires_from_a_large_share_while_slots_are_free() {
        crate::rules::testing::assert_stall_rule(&super::RULE, super::STALL.reason);
    }
}
