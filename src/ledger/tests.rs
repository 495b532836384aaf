//! Hints made up for tests, and what becomes of those of documents.

use std::collections::BTreeMap;

use super::entry::{LEDGER_SCHEMA, Subject, version};
use super::*;
use crate::document::{Diff, Document};
use crate::finding::Estimate;
use crate::ladder::Ladder;
use crate::profile::{Listing, recorded_ladders};
use crate::report::samples;
use crate::rules;

/// A hint of a step, its range half a point either side.
pub(crate) fn hint(step: &str, rule: &str, factor: f64) -> Hint {
    let mut hint = Hint {
        schema: LEDGER_SCHEMA.to_owned(),
        id: String::new(),
        date: "2026-11-20T10:00:00Z".to_owned(),
        subject: Subject {
            of: "ado".to_owned(),
            step: Some(step.to_owned()),
            size: BTreeMap::from([("N".to_owned(), 1024)]),
        },
        device: "NVIDIA H200".to_owned(),
        kernel: "k".to_owned(),
        time_share: 1.0,
        time_ns: 1e6,
        rule: rule.to_owned(),
        version: rules::find(rule).map(version).unwrap_or_default(),
        rank: 1,
        estimate: Estimate { factor, low: factor - 0.5, high: factor + 0.5 },
    };
    hint.id = hint.new_id();
    hint
}

/// What a later profile measured of it.
pub(crate) fn outcome(hint: &Hint, gain: f64) -> Outcome {
    Outcome {
        schema: LEDGER_SCHEMA.to_owned(),
        of: hint.id.clone(),
        date: "2026-11-21T10:00:00Z".to_owned(),
        by: "ado/v9".to_owned(),
        gain,
        gone: true,
        counts: true,
    }
}

fn origin() -> Origin {
    Origin { date: "2026-11-21T10:00:00Z".to_owned(), ..Origin::default() }
}

/// A step of ado with these findings.
fn step(name: &str, ms: f64, findings: &[(&str, f64)]) -> Document {
    let findings = findings
        .iter()
        .enumerate()
        .map(|(at, (rule, factor))| samples::finding(at + 1, rule, *factor))
        .collect();
    let launches = vec![samples::launch("k", ms, 1.0, findings)];
    Document { step: Some(samples::step(name, 1024, ms, 1.0)), launches, ..Document::default() }
}

#[test]
fn every_finding_with_an_estimate_is_a_hint_and_a_roof_is_none() {
    let mut document = step("v2", 10.0, &[("at-memory-roof", 1.0), ("partial-wave", 1.2)]);
    let given = hints(&document, &origin());
    let [one] = given.as_slice() else { panic!("{given:?}") };
    assert_eq!(
        (one.rule.as_str(), one.rank, one.time_ns.to_bits()),
        ("partial-wave", 2, 1e7_f64.to_bits())
    );
    assert_eq!(one.subject.name(), "ado/v2");
    document.launches[0].findings[1].estimated_speedup = None;
    assert!(hints(&document, &origin()).is_empty());
}

#[test]
fn a_programs_hints_are_of_their_launches() {
    let program = Origin { program: "app".to_owned(), ..origin() };
    let given = hints(&samples::program(), &program);
    let of: Vec<(&str, f64, f64)> =
        given.iter().map(|h| (h.rule.as_str(), h.time_ns, h.estimate.factor)).collect();
    assert_eq!(
        of,
        [
            ("partial-wave", 1e6, 1.1),
            ("uncoalesced-global-access", 1e7, 2.0),
            ("barrier-stalls", 9e6, 1.3)
        ]
    );
    assert_eq!((given[0].subject.name().as_str(), given[0].time_share), ("app", 0.05));
}

#[test]
fn several_launches_of_a_step_give_one_hint_a_fault() {
    let mut program = samples::program();
    program.launches[2].findings[0].rule = "uncoalesced-global-access".to_owned();
    program.step = Some(samples::step("v2", 1024, 20.0, 1.0));
    let given = hints(&program, &origin());
    let of: Vec<(&str, usize)> = given.iter().map(|h| (h.rule.as_str(), h.rank)).collect();
    assert_eq!(of, [("uncoalesced-global-access", 1), ("partial-wave", 2)]);
    assert!((given[0].time_share - 0.95).abs() < 1e-12);
    assert!(given[0].kernel.contains("reduce"), "the longest: {}", given[0].kernel);
}

#[test]
fn a_kernel_that_a_program_launches_twice_gives_its_hints_once() {
    let mut document = samples::program();
    document.launches[2].kernel = document.launches[1].kernel.clone();
    let given = hints(&document, &origin());
    let of: Vec<(&str, f64)> = given.iter().map(|h| (h.rule.as_str(), h.time_ns)).collect();
    assert_eq!(of, [("partial-wave", 1e6), ("uncoalesced-global-access", 1e7)]);
}

#[test]
fn the_next_step_measures_the_hint_that_it_answers() {
    let ado = Ladder::builtin("ado").unwrap();
    let before = step(
        "v2",
        10.0,
        &[
            ("shared-memory-pressure", 2.0),
            ("uncoalesced-global-access", 1.5),
            ("partial-wave", 1.1),
        ],
    );
    let given = hints(&before, &origin());
    let later = step("v3", 6.25, &[("shared-memory-pressure", 3.0)]);
    let measured = by_ladder(&given, &later, &ado, &origin());
    // v3 answers the coalescing alone; the sweep waits for v4, whose gain over v2 is not its own.
    let [one] = measured.as_slice() else { panic!("{measured:?}") };
    assert_eq!(one.of, given[1].id);
    assert_eq!((one.gain.to_bits(), one.gone, one.counts), (1.6_f64.to_bits(), true, true));
    let v4 = step("v4", 2.0, &[]);
    assert!(by_ladder(&given, &v4, &ado, &origin()).is_empty(), "v4 follows v3");
    let side = step("v2-shuffle", 5.0, &[("uncoalesced-global-access", 1.5)]);
    let measured = by_ladder(&given, &side, &ado, &origin());
    assert_eq!(measured.len(), 1);
    assert_eq!((&measured[0].of, measured[0].gain.to_bits()), (&given[0].id, 2.0_f64.to_bits()));
}

#[test]
fn other_sizes_other_gpus_and_wrong_answers_measure_nothing() {
    let ado = Ladder::builtin("ado").unwrap();
    let given = hints(&step("v2", 10.0, &[("uncoalesced-global-access", 1.5)]), &origin());
    let measured = |change: &dyn Fn(&mut Document)| {
        let mut later = step("v3", 5.0, &[]);
        change(&mut later);
        by_ladder(&given, &later, &ado, &origin()).len()
    };
    assert_eq!(measured(&|_| {}), 1);
    assert_eq!(measured(&|later| later.launches[0].device = Some("other".to_owned())), 0);
    assert_eq!(
        measured(&|later| {
            later.step.as_mut().unwrap().size.insert("N".to_owned(), 512);
        }),
        0
    );
    assert_eq!(measured(&|later| later.step.as_mut().unwrap().verified = false), 0);
}

#[test]
fn of_several_faults_that_one_step_answers_the_largest_counts() {
    let ado = Ladder::builtin("ado").unwrap();
    let given = hints(
        &step("v3", 8.0, &[("shared-memory-pressure", 3.0), ("barrier-stalls", 1.3)]),
        &origin(),
    );
    let later = step("v4", 4.0, &[("barrier-stalls", 1.1)]);
    let measured = by_ladder(&given, &later, &ado, &origin());
    let of: Vec<(bool, bool)> = measured.iter().map(|one| (one.counts, one.gone)).collect();
    assert_eq!(of, [(true, true), (false, false)]);
}

#[test]
fn a_baseline_measures_the_finding_that_went() {
    let base = step("v2", 10.0, &[("partial-wave", 1.2), ("uncoalesced-global-access", 1.5)]);
    let given = hints(&base, &origin());
    let diff = Diff {
        new: "mine".to_owned(),
        speedup: Some(1.4),
        gone: vec!["uncoalesced-global-access".to_owned()],
        kept: vec!["partial-wave".to_owned()],
        ..Diff::default()
    };
    let later = step("v2", 7.0, &[("partial-wave", 1.2)]);
    let measured = by_baseline(&given, &later, &diff, &origin());
    let of: Vec<(f64, bool, bool)> =
        measured.iter().map(|one| (one.gain, one.gone, one.counts)).collect();
    assert_eq!(of, [(1.4, false, false), (1.4, true, true)]);
    let unlike = Diff { speedup: None, ..diff };
    assert!(by_baseline(&given, &later, &unlike, &origin()).is_empty());
}

#[test]
fn the_recordings_fill_it() {
    let ladders =
        recorded_ladders(|ladder| matches!(ladder.name(), "ado" | "padding"), Listing::Sass)
            .unwrap();
    let records = records(shipped_lines(&ladders), true);
    // p1 is there for its bank conflicts, and p2 takes them away.
    let conflicts = records
        .iter()
        .find(|record| {
            record.hint.subject.name() == "padding/p1"
                && record.hint.rule == "shared-bank-conflicts"
        })
        .expect("a hint");
    let times = |step: &str| ladders[1].step(step).map(|step| step.time_ns.median).unwrap();
    assert_eq!(conflicts.gain(), Some(times("p1") / times("p2")));
    // The side steps of v2 measured its two faults, each alone.
    for (rule, side) in
        [("shared-memory-pressure", "v2-shuffle"), ("uncoalesced-global-access", "v2-coalesced")]
    {
        let record = records
            .iter()
            .find(|record| record.hint.subject.name() == "ado/v2" && record.hint.rule == rule)
            .expect("a hint");
        assert_eq!(
            record.outcome.as_ref().map(|outcome| outcome.by.as_str()),
            Some(&*format!("ado/{side}"))
        );
    }
}

#[test]
fn what_lies_around_kernels_is_measured_by_the_programs_own_time() {
    use crate::document::{Program, ProgramFinding};
    let surveyed = |wall_ns: f64, rules: &[(&str, f64)]| {
        let finding = |(at, (rule, factor)): (usize, &(&str, f64))| ProgramFinding {
            rank: at + 1,
            rule: (*rule).to_owned(),
            estimated_speedup: Estimate { factor: *factor, low: 1.0, high: 2.0 },
            message: String::new(),
            evidence: Vec::new(),
            hint: String::new(),
            sites: Vec::new(),
        };
        let findings = rules.iter().enumerate().map(finding).collect();
        let launch = samples::launch("k", 1.0, 1.0, vec![samples::finding(1, "partial-wave", 1.2)]);
        Document {
            launches: vec![launch],
            program: Some(Program { wall_ns, active_ns: wall_ns, findings, ..Program::default() }),
            ..Document::default()
        }
    };
    let before = surveyed(3e9, &[("small-copies", 1.5), ("many-short-launches", 1.1)]);
    let given = hints(&before, &origin());
    let rules: Vec<(&str, &str, f64)> =
        given.iter().map(|hint| (&*hint.rule, &*hint.kernel, hint.time_ns)).collect();
    assert_eq!(
        rules,
        [("partial-wave", "k", 1e6), ("small-copies", "", 3e9), ("many-short-launches", "", 3e9)]
    );
    // The program takes two thirds of its time, its kernel as long as before.
    let later = surveyed(2e9, &[("many-short-launches", 1.1)]);
    let diff = Diff {
        speedup: Some(1.0),
        gone: vec!["small-copies".to_owned()],
        kept: vec!["partial-wave".to_owned(), "many-short-launches".to_owned()],
        ..Diff::default()
    };
    let measured = by_baseline(&given, &later, &diff, &origin());
    let of: Vec<(f64, bool, bool)> =
        measured.iter().map(|one| (one.gain, one.gone, one.counts)).collect();
    assert_eq!(of, [(1.0, false, false), (1.5, true, true), (1.5, false, false)]);
    // A profile without a survey says nothing of the program's time.
    let unsurveyed = Document { program: None, ..later };
    assert_eq!(by_baseline(&given, &unsurveyed, &diff, &origin()).len(), 1);
}
