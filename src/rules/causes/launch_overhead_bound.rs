//! The kernel is too short for its launch.

use crate::device::Quantity;
use crate::evidence::modeled_launch::{BLOCKS_AT_ONCE, WAVES};
use crate::evidence::{Draft, ModeledLaunch, Threshold, launches_as_one, pauses};
use crate::finding::{Bound, Evidence};
use crate::model::Effect;
use crate::rules::{Example, Kind, Rule};
use crate::text::{count, duration, percent};

const DURATION: &str = "gpu__time_duration.sum";

/// The launch's share of the duration, percent.
const LEAST_LAUNCH_PERCENT: f64 = 20.0;

/// The part of the device that each of several launches fills that one launch could run side by side.
const MOST_WAVES: f64 = 0.5;

/// The rule.
pub const RULE: Rule = Rule {
    name: "launch-overhead-bound",
    kind: Kind::Cause,
    summary: "the launch takes much of the kernel's time, or a step consists of many short launches",
    explanation: "\
Starting a kernel and waiting for its last block takes a couple of microseconds that no change \
inside the kernel can save. Where that is much of the duration, counters collected in different \
passes also disagree, so treat the other figures of such a launch as rough. Do more per launch: \
merge the kernel with its neighbours, process several inputs at once, or record the sequence as a \
CUDA graph. Where a survey saw what memory launches were given, launches of one kernel that follow one another with memory of their \
own are taken for work that one launch could do, however long each takes, as long as it fills no more than half of the device. So \
are those of up to eight kernels that are launched in turn, where each turn has its own input and output, and the launches of chains \
that each move memory of their own on, step by step: a launch can do one step of all chains.",
    examples: &[Example {
        fault: "\
for (int layer = 0; layer < 200; ++layer) // 200 launches of 4 blocks
    decay<<<4, 256>>>(density + layer * 1024, 1024);",
        repair: "\
decay<<<200 * 4, 256>>>(density, 200 * 1024);",
        note: "\
One launch covers all layers: its few microseconds are paid once instead of 200 times, and 800 \
blocks fill the device.",
    }],
    section: "SpeedOfLight",
    thresholds: &[
        Threshold {
            what: "duration of an empty kernel, share of this one's, at least",
            value: LEAST_LAUNCH_PERCENT,
            unit: "%",
            source: "derivation: merging two such launches saves a tenth of their time; a smaller \
                     saving is lost among other gains",
        },
        Threshold {
            what: "constant: share of the device that each of many launches in a row fills, at most, for their duration not to matter",
            value: MOST_WAVES,
            unit: "share",
            source: "derivation: two of them or more would then run side by side, where they now run one after another",
        },
    ],
    needs: &[DURATION],
    sharpened_by: &[BLOCKS_AT_ONCE, WAVES],
    bound: Some(Bound::Launch),
    explains: &["instruction-cache-misses", "constant-cache-misses", "issue-slots-underused"],
    in_triton: "\
a launch from Python costs several microseconds of the host: record the sequence with \
torch.cuda.graph, or fuse its kernels.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let ns = launch.need(DURATION);
    let empty_ns = launch.profile.device_facts().get(Quantity::EmptyKernel)?;
    let share = empty_ns / ns;
    let in_a_row = launches_as_one::in_a_row(launch);
    let turn = launch.profile.turn;
    let side_by_side = in_a_row >= 2 && waves(launch) <= MOST_WAVES;
    if !(ns > 0.0 && (100.0 * share >= LEAST_LAUNCH_PERCENT || side_by_side)) {
        return None;
    }
    let alike = (launch.profile.alike as u64).max(in_a_row).max(1) as f64;
    let is_alone = launch.profile.is_alone;
    let rounds = rounds(launch, alike);
    let many = if alike >= 2.0 {
        let whose =
            format!("whose blocks together fill the device {}", times(alike * waves(launch)));
        if in_a_row >= 2 && turn >= 2 {
            format!(
                " The program makes {} such launches in turn with {}, each turn with memory of its own, {whose}.",
                count(alike),
                if turn == 2 { "one other".to_owned() } else { format!("{} others", turn - 1) },
            )
        } else if in_a_row >= 2 {
            format!(
                " The program makes {} such launches in a row, each with memory of its own, {whose}.",
                count(alike)
            )
        } else {
            format!(" The profile has {} such launches, {whose}.", count(alike))
        }
    } else {
        String::new()
    };
    Some(Draft {
        message: format!(
            "The kernel takes {}; an empty kernel takes {}, which is {} of that.{many}{}",
            duration(ns),
            duration(empty_ns),
            percent(share.min(1.0)),
            pauses::said(launch),
        ),
        evidence: vec![Evidence::new(DURATION, ns, "ns")],
        locations: Vec::new(),
        hint: if is_alone {
            ALONE.to_owned()
        } else if in_a_row >= 2 {
            with_memory_of_their_own(alike, turn >= 2)
        } else {
            hint(alike)
        },
        // Where no other launch can take the work along, how much less there is to pay is the caller's to know.
        effect: if is_alone {
            Effect::default()
        } else {
            // Of launches that become one, the first keeps its pause; one that others take along has none of its own.
            let pauses = if alike >= 2.0 { 1.0 - 1.0 / alike } else { 1.0 };
            Effect { launch: true, pauses, merged: alike, rounds, ..Effect::default() }
        },
    })
}

/// The hint for a step that is this one launch.
const ALONE: &str = "Give one launch more to do, such as several inputs at once: this step has no other launch to \
                     merge it with. Where a program launches it again and again, merge those launches, or record \
                     the sequence as a CUDA graph.";

/// The hint where no launch should need another's result: of one kernel, or of several in turn.
fn with_memory_of_their_own(alike: f64, in_turn: bool) -> String {
    let alike = count(alike);
    if in_turn {
        return format!(
            "Do the work of all {alike} turns in one launch per kernel: turn the loop around the launches into blockIdx.y or \
             blockIdx.z. Turns share only what they read, or write before they read it: give each turn its own part of such \
             scratch, or merge the kernels so that it stays in registers. Check that no turn needs another's result."
        );
    }
    format!(
        "Do the work of all {alike} launches in one: turn the loop around the launch into blockIdx.y or blockIdx.z. No two \
         of them are given the same pointer to anything that they may write, so that none should need another's result; \
         check that what they write does not overlap."
    )
}

fn hint(alike: f64) -> String {
    if alike >= 2.0 {
        return format!(
            "Do the work of all {} launches in one if none needs another's result: turn the loop \
             around the launch into blockIdx.y. If they depend on each other, loop inside the \
             kernel, or record the sequence as a CUDA graph.",
            count(alike)
        );
    }
    "Do more per launch: merge this kernel with the one before or after it, handle several inputs \
     at once, or record the sequence as a CUDA graph."
        .to_owned()
}

/// The part of the device that a launch's blocks fill at once; the whole where that is not known.
fn waves(launch: &ModeledLaunch) -> f64 {
    launch.waves().filter(|&waves| waves > 0.0).unwrap_or(1.0)
}

/// How many rounds as long as one launch its blocks take together with those of all others alike.
fn rounds(launch: &ModeledLaunch, alike: f64) -> f64 {
    (alike * waves(launch).min(1.0)).max(1.0)
}

fn times(waves: f64) -> String {
    if waves < 1.0 { format!("to {}", percent(waves)) } else { format!("{waves:.1} times") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{assert_sides, check, launch};

    #[test]
    fn a_fifth_of_the_duration_counts() {
        // Five times 1728 ns is 8640 ns.
        let mut short = launch(&[(DURATION, 8640.0)]);
        short.row.device = Some("NVIDIA H200".to_owned());
        let draft = assert_sides(&RULE, &short, &[&[(DURATION, 8641.0)], &[(DURATION, 0.0)]]);
        assert!(draft.effect.launch && draft.message.contains("20%"), "{}", draft.message);
        // Of an unknown device, 1696 ns are assumed: five times that is 8480 ns.
        short.row.device = Some("NVIDIA L4".to_owned());
        short.row.compute_capability = Some((8, 9));
        assert_eq!(check(&RULE, &short), None);
        short.set(DURATION, Some(8480.0));
        assert!(check(&RULE, &short).is_some());
    }

    #[test]
    fn launches_in_a_row_with_memory_of_their_own_count_beyond_the_profile() {
        let mut short = launch(&[(DURATION, 3456.0)]);
        short.row.device = Some("NVIDIA H200".to_owned());
        (short.alike, short.in_a_row) = (2, 32);
        let draft = check(&RULE, &short).unwrap();
        assert!((draft.effect.merged - 32.0).abs() < 1e-12);
        assert!(draft.message.contains("makes 32 such launches in a row"), "{}", draft.message);
        assert!(draft.hint.contains("No two of them are given the same pointer"));
        short.turn = 3;
        let draft = check(&RULE, &short).unwrap();
        assert!(
            draft.message.contains("32 such launches in turn with 2 others"),
            "{}",
            draft.message
        );
        assert!(draft.hint.contains("all 32 turns in one launch per kernel"), "{}", draft.hint);
        short.in_a_row = 1;
        let draft = check(&RULE, &short).unwrap();
        assert!((draft.effect.merged - 2.0).abs() < 1e-12);
        assert!(draft.hint.contains("if none needs another's result"), "{}", draft.hint);
    }

    #[test]
    fn launches_that_share_what_they_store_are_in_no_row() {
        let of = |shared: u32| {
            let mut short = crate::sass::code::listing::tests::launch(&[
                ("LDC.64 R6, c[0x0][0x210]", 8.0),
                ("LDG.E R0, desc[UR4][R6.64]", 8.0),
                ("LDC.64 R4, c[0x0][0x218]", 8.0),
                ("STG.E desc[UR4][R4.64], R0", 8.0),
                ("EXIT", 8.0),
            ]);
            short.set(DURATION, Some(3456.0));
            short.row.device = Some("NVIDIA H200".to_owned());
            short.row.compute_capability = Some((9, 0));
            (short.alike, short.in_a_row, short.if_only_read) = (2, 32, vec![shared]);
            check(&RULE, &short).unwrap().effect.merged
        };
        assert!((of(0) - 32.0).abs() < 1e-12, "all of them read there");
        assert!((of(8) - 2.0).abs() < 1e-12, "all of them store there");
    }

    #[test]
    fn a_step_of_one_launch_has_none_to_merge_it_with() {
        let mut short = launch(&[(DURATION, 1800.0)]);
        short.row.device = Some("NVIDIA H200".to_owned());
        assert!(check(&RULE, &short).unwrap().effect.launch);
        short.is_alone = true;
        let draft = check(&RULE, &short).unwrap();
        assert_eq!(draft.effect, Effect::default(), "which promises nothing");
        assert!(draft.hint.contains("no other launch to merge it with"), "{}", draft.hint);
    }
}
