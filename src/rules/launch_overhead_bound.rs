//! The kernel is too short for its launch.

use super::{Case, Draft, Kind, Rule, Threshold};
use crate::finding::Evidence;
use crate::model::{EMPTY_KERNEL_NS, Effect};
use crate::text::{duration, percent};

const DURATION: &str = "gpu__time_duration.sum";

/// The launch's share of the duration, percent.
const LEAST: f64 = 20.0;

/// The rule.
pub const RULE: Rule = Rule {
    name: "launch-overhead-bound",
    kind: Kind::Cause,
    summary: "the kernel is too short for its launch, or a step is many short launches",
    explanation: "\
Starting a kernel and waiting for its last block takes a couple of microseconds that no change inside \
the kernel can save. Where that is much of the duration, counters of different passes also disagree, \
so the other figures of such a launch are rough. Do more in one launch: merge it with its \
neighbours, process several inputs at once, or record the sequence as a CUDA graph.",
    section: "SpeedOfLight",
    thresholds: &[
        Threshold {
            what: "an empty kernel's duration, share of this one's, at least",
            value: LEAST,
            unit: "%",
            source: "derivation: merging two such launches saves a tenth of their time; above, it \
                     is lost among other gains",
        },
        Threshold {
            what: "duration of an empty kernel under the profiler",
            value: EMPTY_KERNEL_NS,
            unit: "ns",
            source: "measured on an H200 under ncu 2025.3: the shortest of five one- and two-block \
                     kernels",
        },
    ],
    needs: &[DURATION],
    explains: &["instruction-cache-misses", "constant-cache-misses", "issue-slots-underused"],
    check,
};

fn check(case: &Case) -> Option<Draft> {
    let ns = case.need(DURATION);
    let share = EMPTY_KERNEL_NS / ns;
    if !(ns > 0.0 && 100.0 * share >= LEAST) {
        return None;
    }
    Some(Draft {
        message: format!(
            "The kernel takes {}; a kernel that does nothing takes {}, which is {} of it.",
            duration(ns),
            duration(EMPTY_KERNEL_NS),
            percent(share.min(1.0)),
        ),
        evidence: vec![Evidence::new(DURATION, ns, "ns")],
        locations: Vec::new(),
        hint: "Do more in one launch: merge this kernel with the one before or after it, handle \
               several inputs at once, or record the sequence as a CUDA graph."
            .to_owned(),
        effect: Effect { launch: true, ..Effect::default() },
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_sides, launch};
    use super::*;

    #[test]
    fn a_fifth_of_the_duration_counts() {
        // Five times 1728 ns is 8640 ns.
        let short = launch(&[(DURATION, 8640.0)]);
        let draft = assert_sides(&RULE, &short, &[&[(DURATION, 8641.0)], &[(DURATION, 0.0)]]);
        assert!(draft.effect.launch && draft.message.contains("20%"), "{}", draft.message);
    }
}
