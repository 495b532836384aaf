//! A math pipe is oversubscribed.

use crate::evidence::modeled_launch::place;
use crate::evidence::stalls::{Stall, THRESHOLDS};
use crate::evidence::threshold::{ISSUE, LATENCY};
use crate::evidence::{Draft, ModeledLaunch};
use crate::finding::Location;
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Example, Kind, Rule};
use crate::sass::Family;

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
    if is_of_products(launch, draft.locations.first()) {
        let place = place(&draft.locations, STALL.otherwise);
        draft.hint = OF_PRODUCTS.replace("{place}", &place);
    }
    Some(draft)
}

/// What to do where it is matrix instructions that wait: none is cheaper for the same factors.
const OF_PRODUCTS: &str = "\
Spread the matrix instructions at {place} out among loads and other work, so that the warps do not all want the tensor pipe at \
once; factors of fewer bits take it for a shorter time, where their accuracy is enough.";

/// True where most of the samples at a place are of matrix instructions.
fn is_of_products(launch: &ModeledLaunch, at: Option<&Location>) -> bool {
    let (Some(at), Some(listing)) = (at, launch.profile.listing()) else { return false };
    let (mut all, mut theirs) = (0.0, 0.0);
    for (index, entry) in listing.entries() {
        if launch.profile.is_at(listing.row(index), at) {
            let samples = listing.samples(index, STALL.reason);
            all += samples;
            theirs += if entry.family == Family::Tensor { samples } else { 0.0 };
        }
    }
    theirs > all - theirs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{check, line, samples, sass};

    #[test]
    fn fires_from_a_large_share_while_slots_are_free() {
        crate::rules::testing::assert_stall_rule(&super::RULE, super::STALL.reason);
    }

    #[test]
    fn matrix_instructions_are_not_to_be_cheaper() {
        let hint = |waiting: &str| {
            let code = [(waiting, 10.0), ("EXIT", 1.0)];
            let (reason, issue) = (STALL.reason, 40.0);
            let mut launch = sass(&[(LATENCY, 10.0), (ISSUE, issue)], &code);
            launch.set(&reason.ratio_metric(), Some(5.0));
            let counters = samples(&[(reason, 9.0)]);
            launch.instructions[0].counters.stall_samples = counters.stall_samples;
            launch.lines = vec![line(1, "c += a * b;", counters)];
            launch.lines[0].file.clone_from(&launch.instructions[0].file);
            check(&RULE, &launch).unwrap().hint
        };
        let products = hint("HMMA.16816.F32 R4, R8, R12, R4");
        assert!(products.starts_with("Spread the matrix instructions at line 1 out"), "{products}");
        assert!(hint("MUFU.SIN R4, R8").starts_with("Replace the most frequent kind"));
    }
}
