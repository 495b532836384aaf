//! Hand-worked cases: a kernel with two faults, one at a limit, one that looks faulty.

use std::path::Path;

use super::figures::median;
use super::planted::{answer, ratio};
use super::*;
use crate::document::{Document, NcuRule};
use crate::ladder::Ladder;
use crate::report::samples;

const MANIFEST: &str = r#"
name = "fault-both"
title = "two faults"
set = 2
reference = "clean"
tolerance = { relative = 1e-5 }
bytes = "N"
flops = "N"
metric = { unit = "GB/s", work = "N" }
[parameters]
N = 1024
[[buffers]]
name = "out"
dtype = "f32"
shape = ["N"]
role = "output"
"#;

fn step(name: &str, more: &str) -> String {
    format!(
        "[[steps]]\nname = \"{name}\"\ntitle = \"{name}\"\nfile = \"k.cu\"\n{more}\n\
         [[steps.launches]]\nkernel = \"k\"\ngrid = [1]\nblock = [32]\nargs = [\"out\"]\n"
    )
}

/// `both` with two faults, a side step without each, `clean` at a limit and innocent of partial
/// waves.
fn ladder(folder: &Path) -> Ladder {
    let text = [
        MANIFEST.to_owned(),
        step("both", "changes = \"\"\nplants = [\"shared-bank-conflicts\", \"thread-divergence\"]"),
        step(
            "no-conflicts",
            "changes = \"x\"\nside = true\nfrom = \"both\"\nplants = [\"thread-divergence\"]\n\
             answers = [\"shared-bank-conflicts\"]",
        ),
        step(
            "no-divergence",
            "changes = \"x\"\nside = true\nfrom = \"both\"\nanswers = [\"thread-divergence\"]",
        ),
        step(
            "clean",
            "changes = \"x\"\nat_limit = true\ninnocent = [\"partial-wave\"]\n\
             answers = [\"shared-bank-conflicts\", \"thread-divergence\"]",
        ),
    ]
    .concat();
    std::fs::write(folder.join("ladder.toml"), text).unwrap();
    std::fs::write(folder.join("k.cu"), "extern \"C\" __global__ void k(float *out) {}").unwrap();
    Ladder::load(folder).unwrap()
}

fn document(name: &str, ms: f64, findings: &[(&str, f64)], ncu: &[(&str, f64, bool)]) -> Document {
    let findings = findings
        .iter()
        .enumerate()
        .map(|(at, (rule, factor))| samples::finding(at + 1, rule, *factor))
        .collect();
    let mut launch = samples::launch("k", ms, 1.0, findings);
    launch.ncu_rules = ncu
        .iter()
        .map(|(rule, percent, global)| NcuRule {
            section: String::new(),
            rule: (*rule).to_owned(),
            kind: "optimization".into(),
            message: String::new(),
            estimate_percent: Some(*percent),
            global: *global,
        })
        .collect();
    Document {
        step: Some(samples::step(name, 1024, ms, 1.0)),
        launches: vec![launch],
        ..Document::default()
    }
}

/// both 8 ms, without conflicts 2 ms (4x), without divergence 5 ms (1.6x), clean 1 ms.
fn recorded(folder: &Path) -> RecordedLadder {
    RecordedLadder {
        ladder: ladder(folder),
        documents: vec![
            document(
                "both",
                8.0,
                &[("shared-bank-conflicts", 5.0), ("low-memory-parallelism", 1.2)],
                &[
                    ("IssueSlotUtilization", 90.0, false),
                    ("ThreadDivergence", 50.0, true),
                    ("SharedMemoryConflicts", 20.0, true),
                ],
            ),
            document("no-conflicts", 2.0, &[("thread-divergence", 1.9)], &[]),
            document("no-divergence", 5.0, &[], &[]),
            document(
                "clean",
                1.0,
                &[("at-memory-roof", 1.0), ("partial-wave", 1.06)],
                &[("UncoalescedGlobalAccess", 45.0, true), ("LaunchConfiguration", 20.0, true)],
            ),
        ],
        limiters: Vec::new(),
        missing: Vec::new(),
    }
}

fn set(number: u32) -> FaultSet {
    FaultSet { number, came: String::new(), tuning: true, judged: None }
}

/// What is said of the ladder in whole pages, with nothing said without SASS.
fn judged(recorded: &[RecordedLadder], sets: &[FaultSet]) -> BenchDocument {
    judge(Recordings { whole: recorded, without_sass: &[] }, sets)
}

#[test]
fn a_fault_is_answered_by_the_step_that_takes_away_it_alone() {
    let folder = tempfile::tempdir().unwrap();
    let ladder = ladder(folder.path());
    let named = |step: &str, fault: &str| {
        answer(&ladder, ladder.step(step).unwrap(), fault).map(|step| step.name().to_owned())
    };
    assert_eq!(named("both", "shared-bank-conflicts").as_deref(), Some("no-conflicts"));
    assert_eq!(named("both", "thread-divergence").as_deref(), Some("no-divergence"));
    assert_eq!(named("no-conflicts", "thread-divergence").as_deref(), Some("clean"));
    assert_eq!(named("clean", "thread-divergence"), None);
}

#[test]
fn two_faults_are_judged_by_what_each_gained() {
    let folder = tempfile::tempdir().unwrap();
    let judged = judged(&[recorded(folder.path())], &[set(2)]);
    assert!(judged.notices.is_empty(), "{:?}", judged.notices);
    let [conflicts, divergence, alone] = judged.cases.as_slice() else {
        panic!("{:?}", judged.cases)
    };
    assert!((conflicts.gain - 4.0).abs() < 1e-12 && conflicts.largest);
    assert!((divergence.gain - 1.6).abs() < 1e-12 && !divergence.largest);
    assert!((alone.gain - 2.0).abs() < 1e-12 && alone.largest);
    // 5 against 4; the range of the sample is 3.5 to 6.5. Nothing is said of divergence: 3x.
    assert_eq!((conflicts.adoprof.rank, conflicts.adoprof.held), (Some(1), Some(true)));
    assert!((conflicts.adoprof.ratio - 1.25).abs() < 1e-12);
    assert_eq!((divergence.adoprof.rank, divergence.adoprof.ratio), (None, MISSING));
    // ncu: 90% of one unit, then divergence 50% (2x), then conflicts 20% (1.25x).
    assert_eq!((conflicts.ncu.rank, conflicts.ncu_global.rank), (Some(3), Some(2)));
    assert_eq!((divergence.ncu.rank, divergence.ncu_global.rank), (Some(2), Some(1)));
    assert!((divergence.ncu_global.ratio - 1.25).abs() < 1e-12);
    assert!((conflicts.ncu_global.ratio - 3.2).abs() < 1e-12);
    let figures = &judged.sets[0].seen_since;
    assert_eq!((judged.sets.len(), judged.sets[0].kernels), (1, 1));
    assert_eq!(judged.together, None, "one set");
    // `both` and `no-conflicts`: conflicts and divergence stand first.
    assert_eq!(figures.adoprof.first, Tally { of: 2, all: 2 });
    assert_eq!(figures.adoprof.first_three, Tally { of: 2, all: 3 });
    // 1.25, 2/1.9, 3.
    assert_eq!(figures.adoprof.median_ratio, Some(1.25));
    assert_eq!(figures.adoprof.worst_ratio, Some(MISSING));
    assert_eq!(figures.adoprof.held, Tally { of: 2, all: 3 });
    assert_eq!(figures.ncu.first, Tally { of: 0, all: 2 });
    assert_eq!(figures.ncu_global.first, Tally { of: 0, all: 2 });
    assert_eq!(figures.ncu.held, Tally::default(), "ncu gives no range");
}

#[test]
fn a_kernel_at_a_limit_is_left_alone_and_an_innocent_one_not_accused() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorded = recorded(folder.path());
    let figures = |recorded: &RecordedLadder| {
        judged(std::slice::from_ref(recorded), &[set(2)]).sets[0].seen_since.clone()
    };
    let before = figures(&recorded);
    assert_eq!(before.adoprof.false_alarms, Tally { of: 0, all: 1 }, "a roof stands first");
    assert_eq!(before.ncu_global.false_alarms, Tally { of: 1, all: 1 });
    // 1.06 is above the least gain; a LaunchConfiguration without words names no fault.
    assert_eq!(before.adoprof.accused, Tally { of: 1, all: 1 });
    assert_eq!(before.ncu_global.accused, Tally { of: 0, all: 1 });
    let findings = &mut recorded.documents[3].launches[0].findings;
    findings.remove(0);
    findings[0].estimated_speedup = Some(Estimate { factor: 1.04, low: 1.0, high: 1.1 });
    let after = figures(&recorded);
    assert_eq!(after.adoprof.false_alarms.of, 0, "4% change nothing");
    assert_eq!(after.adoprof.accused.of, 0);
    recorded.documents[3].launches[0].findings[0].estimated_speedup =
        Some(Estimate { factor: 1.05, low: 1.0, high: 1.1 });
    assert_eq!(figures(&recorded).adoprof.false_alarms.of, 1);
}

#[test]
fn other_sets_stay_out_and_a_missing_recording_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorded = recorded(folder.path());
    assert!(judged(std::slice::from_ref(&recorded), &[set(3)]).cases.is_empty());
    recorded.documents.remove(2);
    recorded.missing.push("no-divergence".to_owned());
    let judged = judged(&[recorded], &[set(2), set(3)]);
    assert_eq!(judged.cases.len(), 2);
    let said = judged.notices.join("\n");
    assert!(said.contains("fault-both/no-divergence was not recorded"), "{said}");
    assert!(said.contains("removes thread-divergence alone"), "{said}");
    assert_eq!(judged.sets[1].seen_since.adoprof.median_ratio, None);
    assert_eq!(judged.together.unwrap().adoprof.first_three.all, 2);
}

#[test]
fn times_of_two_devices_are_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorded = recorded(folder.path());
    recorded.documents[3].launches[0].device = Some("NVIDIA A100".to_owned());
    let judged = judged(std::slice::from_ref(&recorded), &[set(2)]);
    // `no-conflicts` to `clean` was the third.
    assert_eq!(judged.cases.len(), 2);
    let said = judged.notices.join("\n");
    assert!(said.contains("no-conflicts: no measured step"), "{said}");
    assert!(transitions::judge(&[&recorded]).transitions.is_empty());
}

#[test]
fn ratios_are_capped_and_symmetric() {
    assert_eq!(ratio(Some(40.0), 25.0).to_bits(), 1.0_f64.to_bits());
    assert_eq!(ratio(Some(10.0), 25.0).to_bits(), 2.0_f64.to_bits());
    assert_eq!(ratio(Some(2.0), 4.0).to_bits(), ratio(Some(4.0), 2.0).to_bits());
    assert_eq!(ratio(None, 1.0).to_bits(), MISSING.to_bits());
}

#[test]
fn the_median_of_an_even_number_is_between_the_middle_two() {
    assert_eq!(median(&[]), None);
    assert_eq!(median(&[1.0, 2.0, 9.0]), Some(2.0));
    assert_eq!(median(&[1.0, 2.0, 4.0, 9.0]), Some(3.0));
}

#[test]
fn a_rule_that_still_promises_of_a_repaired_kernel_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorded = recorded(folder.path());
    let insists = |recorded: &RecordedLadder| {
        let figures =
            judged(std::slice::from_ref(recorded), &[set(2)]).sets[0].seen_since.adoprof.clone();
        (figures.insists, figures.insists_first)
    };
    // Without conflicts nothing is said of conflicts, in the other two nothing of divergence.
    assert_eq!(insists(&recorded), (Tally { of: 0, all: 3 }, Tally { of: 0, all: 3 }));
    let of_repaired = &mut recorded.documents[1].launches[0].findings;
    of_repaired.push(samples::finding(2, "shared-bank-conflicts", 1.25));
    assert_eq!(insists(&recorded), (Tally { of: 1, all: 3 }, Tally { of: 0, all: 3 }));
    recorded.documents[1].launches[0].findings.swap(0, 1);
    assert_eq!(insists(&recorded), (Tally { of: 1, all: 3 }, Tally { of: 1, all: 3 }));
    recorded.documents[1].launches[0].findings[0].estimated_speedup =
        Some(Estimate { factor: 1.2, low: 1.0, high: 1.3 });
    assert_eq!(insists(&recorded).0.of, 0, "more than 1.2");
}

#[test]
fn ncus_missing_estimates_are_told_apart_from_wrong_ones() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorded = recorded(folder.path());
    // Conflicts at 4x are promised 1.25x, divergence at 1.6x is promised 2x, and of the divergence in
    // no-conflicts nothing is said: off by 3.2, 1.25 and, without an estimate, 3.
    let judged = judged(std::slice::from_ref(&recorded), &[set(2)]);
    let theirs = &judged.sets[0].seen_since.ncu_global;
    assert_eq!(theirs.estimated, Tally { of: 2, all: 3 });
    assert!((theirs.median_ratio_estimated.unwrap() - f64::midpoint(1.25, 3.2)).abs() < 1e-12);
    assert_eq!(theirs.median_ratio, Some(MISSING));
    assert_eq!(theirs.first_of_ncus_kinds, Tally { of: 0, all: 2 }, "ncu has rules for both");
    // Without SASS the fault of the other recording stands second.
    let whole = recorded.clone();
    recorded.documents[0].launches[0].findings.swap(0, 1);
    let blind = judge(Recordings { whole: &[whole], without_sass: &[recorded] }, &[set(2)]);
    assert_eq!(blind.cases[0].rank_without_sass, Some(2));
    assert_eq!(blind.sets[0].seen_since.first_without_sass, Tally { of: 1, all: 2 });
}

#[test]
fn a_transition_is_right_where_the_fault_that_it_is_made_for_stands_among_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorded = recorded(folder.path());
    let one = transitions::judge(&[&recorded]);
    let [step] = one.transitions.as_slice() else { panic!("{one:?}") };
    // The main walk is both → clean: 8 times as fast; both side steps take away what clean does.
    assert!((step.gain - 8.0).abs() < 1e-12);
    assert_eq!((step.fault.as_str(), step.rank), ("shared-bank-conflicts", Some(1)));
    assert_eq!((one.first.right, step.beaten_by.as_ref()), (Tally { of: 1, all: 1 }, None));
    // Of two findings in a random order one is first with an even chance: 1/2, √(1/2 · 1/2).
    assert_eq!(one.first.by_chance.to_bits(), 0.5_f64.to_bits());
    assert_eq!(one.first.deviation.to_bits(), 0.5_f64.to_bits());
    assert_eq!(one.first_three.by_chance.to_bits(), 1.0_f64.to_bits());
    recorded.documents[0].launches[0].findings.swap(0, 1);
    let one = transitions::judge(&[&recorded]);
    assert_eq!(one.first.right, Tally { of: 0, all: 1 });
    assert_eq!(one.first_three.right, Tally { of: 1, all: 1 });
    // Another rule that the step answers does not count, and has no chance.
    recorded.documents[0].launches[0].findings.remove(1);
    recorded.documents[0].launches[0].findings.push(samples::finding(1, "thread-divergence", 2.0));
    let one = transitions::judge(&[&recorded]);
    assert_eq!((one.transitions[0].rank, one.transitions[0].chance(3)), (None, 0.0));
}

#[test]
fn a_transition_that_gains_too_little_is_listed_apart() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorded = recorded(folder.path());
    // 8 ms to 7.8 ms gain 2.6%, 8 ms to 7.6 ms 5.3%.
    recorded.documents[3].step.as_mut().unwrap().time_ns.median = 7.8e6;
    let one = transitions::judge(&[&recorded]);
    assert!(one.transitions.is_empty());
    assert_eq!((one.lost[0].from.as_str(), one.lost[0].to.as_str()), ("both", "clean"));
    recorded.documents[3].step.as_mut().unwrap().time_ns.median = 7.6e6;
    let one = transitions::judge(&[&recorded]);
    assert!(one.lost.is_empty() && one.transitions.len() == 1);
}

#[test]
fn the_first_few_findings_are_three() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorded = recorded(folder.path());
    let others = ["low-memory-parallelism", "grid-too-small", "missing-data-reuse"];
    let behind = |count: usize, rule: &str, factor: f64| -> Vec<_> {
        let names = others[..count].iter().chain(std::iter::once(&rule));
        names.enumerate().map(|(at, name)| samples::finding(at + 1, name, factor)).collect()
    };
    for (before, counts) in [(2, 1), (3, 0)] {
        recorded.documents[0].launches[0].findings = behind(before, "shared-bank-conflicts", 5.0);
        recorded.documents[3].launches[0].findings = behind(before, "partial-wave", 1.2);
        let figures = judged(std::slice::from_ref(&recorded), &[set(2)]).sets[0].seen_since.clone();
        // Of the three planted faults that of no-conflicts stands first, and one is not named.
        assert_eq!(figures.adoprof.first_three, Tally { of: 1 + counts, all: 3 });
        assert_eq!(figures.adoprof.accused, Tally { of: counts, all: 1 });
        let climb = transitions::judge(&[&recorded]);
        assert_eq!(climb.first_three.right, Tally { of: counts, all: 1 });
    }
}
