//! The kernel is too short for its launch.

use super::{Case, Draft, Kind, Rule, Threshold};
use crate::finding::Evidence;
use crate::model::{EMPTY_KERNEL_NS, Effect};
use crate::text::{count, duration, percent};

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
            what: "given: duration of an empty kernel under the profiler",
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
    let merged = merged(case);
    let many = if merged >= 2.0 {
        format!(
            " The profile has {} launches like it, and one wave of blocks holds the work of {}.",
            case.launch.alike,
            count(merged.floor()),
        )
    } else {
        String::new()
    };
    Some(Draft {
        message: format!(
            "The kernel takes {}; a kernel that does nothing takes {}, which is {} of it.{many}",
            duration(ns),
            duration(EMPTY_KERNEL_NS),
            percent(share.min(1.0)),
        ),
        evidence: vec![Evidence::new(DURATION, ns, "ns")],
        locations: Vec::new(),
        hint: hint(merged),
        effect: Effect { launch: true, merged, ..Effect::default() },
    })
}

fn hint(merged: f64) -> String {
    if merged >= 2.0 {
        return format!(
            "Do the work of {} of these launches in one, if none needs another's result: give the \
             loop around the launch to blockIdx.y. If they depend on each other, loop inside the \
             kernel, or record the sequence as a CUDA graph.",
            count(merged.floor())
        );
    }
    "Do more in one launch: merge this kernel with the one before or after it, handle several inputs \
     at once, or record the sequence as a CUDA graph."
        .to_owned()
}

/// How many of the launches that are alike fit into one wave of blocks; 1 where the profile has only
/// this one, or where its blocks fill the device.
fn merged(case: &Case) -> f64 {
    let alike = case.launch.alike.max(1) as f64;
    let fit = case.waves().filter(|&waves| waves > 0.0).map_or(1.0, |waves| 1.0 / waves);
    alike.min(fit).max(1.0)
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
