//! Every rule has a recorded launch in which it is found and one in which it is not, and is skipped
//! on a recorded launch where any metric that it needs is missing. A rule whose author has no device
//! for it says so in `unrecorded` and is left out; docs/bench.md counts them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use crate::shipped::{LAUNCHES, Shipped};
use adoprof::diagnose::{Diagnosis, diagnose};
use adoprof::rules::{RULES, Rule};
use rayon::prelude::*;

/// The rules that recordings are to show.
fn recorded() -> impl ParallelIterator<Item = &'static &'static Rule> {
    // First, on the test's own thread: a pool whose threads all wait for it could never make it.
    LazyLock::force(&FOUND);
    RULES.par_iter().filter(|rule| rule.unrecorded.is_none())
}

/// The rules found in each of the launches.
static FOUND: LazyLock<Vec<BTreeSet<String>>> =
    LazyLock::new(|| LAUNCHES.par_iter().map(|one| found(&diagnose(&one.launch))).collect());

/// What is found as a finding, or as a symptom under one.
fn found(diagnosis: &Diagnosis) -> BTreeSet<String> {
    let findings = diagnosis.findings.iter();
    findings
        .flat_map(|one| std::iter::once(&one.rule).chain(one.symptoms.iter().map(|s| &s.rule)))
        .cloned()
        .collect()
}

/// The launches that have all that a rule needs, each with whether the rule is found there.
fn checked(rule: &Rule) -> impl Iterator<Item = (&'static Shipped, bool)> {
    let has_all = |one: &Shipped| rule.needs.iter().all(|name| one.launch.get(name).is_some());
    LAUNCHES
        .iter()
        .zip(FOUND.iter())
        .filter(move |(one, _)| has_all(one))
        .map(|(one, found)| (one, found.contains(rule.name)))
}

#[test]
fn every_rule_is_found_in_some_recording() {
    let silent = |rule: &&'static &'static Rule| !checked(rule).any(|(_, found)| found);
    let never: Vec<&str> = recorded().filter(silent).map(|rule| rule.name).collect();
    assert_eq!(never, [""; 0], "found in no recording");
}

/// The fault bench's pairs: a symptom comes and goes with its cause, a roof with the fault before it.
#[test]
fn every_rule_tells_the_steps_of_some_pair_apart() {
    let untold = |rule: &&'static &'static Rule| {
        let mut found_in: BTreeMap<&str, (bool, bool)> = BTreeMap::new();
        for (one, found) in checked(rule) {
            let Some((ladder, _)) = one.name.split_once('/') else { continue };
            let (with, without) = found_in.entry(ladder).or_default();
            *(if found { with } else { without }) = true;
        }
        let is_pair = |name: &str| name.starts_with("fault-");
        !found_in.iter().any(|(ladder, steps)| is_pair(ladder) && *steps == (true, true))
    };
    let never: Vec<&str> = recorded().filter(untold).map(|rule| rule.name).collect();
    assert_eq!(
        never, [""; 0],
        "no pair of the fault bench has it in one step and not in the other"
    );
}

#[test]
fn every_rule_is_silent_on_some_recording_that_has_its_metrics() {
    let everywhere = |rule: &&'static &'static Rule| checked(rule).all(|(_, found)| found);
    let always: Vec<&str> = recorded().filter(everywhere).map(|rule| rule.name).collect();
    assert_eq!(always, [""; 0], "found wherever it was checked, or never checked");
}

#[test]
fn every_rule_is_skipped_where_one_of_its_metrics_is_missing() {
    recorded().for_each(|rule| {
        // A launch where the rule is found tells most, a short listing is quick to read again.
        let (whole, _) = checked(rule)
            .min_by_key(|(one, found)| (!found, one.launch.instructions.len()))
            .unwrap_or_else(|| panic!("no recording has all that {} needs", rule.name));
        let skipped = |diagnosis: &Diagnosis| {
            let entry = diagnosis.skipped.iter().find(|skipped| skipped.rule == rule.name);
            entry.map(|skipped| skipped.missing.clone())
        };
        assert_eq!(skipped(&diagnose(&whole.launch)), None, "{}: {}", whole.name, rule.name);
        for name in rule.needs {
            let mut masked = whole.launch.clone();
            masked.set(name, None);
            let diagnosis = diagnose(&masked);
            let missing = skipped(&diagnosis);
            assert_eq!(missing, Some(vec![(*name).into()]), "{}: {}", whole.name, rule.name);
            assert!(!found(&diagnosis).contains(rule.name), "{}: {}", whole.name, rule.name);
        }
    });
}

#[test]
fn a_rule_that_calls_itself_unrecorded_says_why_and_is_in_no_recording() {
    for rule in RULES {
        let Some(why) = rule.unrecorded else { continue };
        assert!(why.split_whitespace().count() >= 3, "{}: `{why}` is no reason", rule.name);
        let shown = checked(rule).find(|(_, found)| *found).map(|(one, _)| one.name.as_str());
        assert_eq!(shown, None, "{} is recorded: remove its `unrecorded`", rule.name);
    }
}
