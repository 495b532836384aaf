//! Every metric that the model or a rule reads is declared, and one that is missing is told where it
//! could change the first finding: held against the recordings.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use rayon::prelude::*;

use super::{RULES, Rule};
use crate::collect::second_run;
use crate::diagnose::{diagnose, lacking_remark};
use crate::evidence::ModeledLaunch;
use crate::finding::Name;
use crate::frame::{Frames, Launch, spy};
use crate::metric::CATALOGUE;
use crate::model::{self, Model};
use crate::ncu::Level;
use crate::store;

struct Recorded {
    name: String,
    launch: Launch,
    first: Option<String>,
}

/// Every recorded launch.
static RECORDED: LazyLock<Vec<Recorded>> = LazyLock::new(|| {
    let of = |folder: &str, launch: Launch| Recorded {
        name: format!("{folder} {}", launch.row.id),
        first: first(&launch),
        launch,
    };
    store::recordings()
        .unwrap()
        .into_par_iter()
        .flat_map_iter(|(folder, meta)| {
            let step = meta.step.unwrap();
            let saved = store::recording(&step.ladder, &step.name, &step.size).unwrap().unwrap();
            let frames = Frames::new(saved.pages.export(Path::new(&folder)).unwrap()).unwrap();
            let launches = Launch::all(&frames).unwrap();
            launches.into_iter().map(move |launch| of(&folder, launch))
        })
        .collect()
});

/// Launches of all kinds: of every rule the one with the least machine code that it stands first in, since each is diagnosed
/// as often as there are metrics.
fn sample() -> Vec<&'static Recorded> {
    let mut by_length: Vec<&Recorded> = RECORDED.iter().collect();
    by_length.sort_by_key(|one| {
        let instructions = one.launch.instructions.len();
        (instructions == 0, instructions)
    });
    let mut seen = BTreeSet::new();
    by_length.retain(|one| seen.insert(one.first.clone()));
    by_length
}

fn first(launch: &Launch) -> Option<String> {
    diagnose(launch).findings.into_iter().next().map(|finding| finding.rule)
}

fn of_model() -> BTreeSet<&'static str> {
    model::reads().iter().flat_map(|reads| reads.metrics).copied().collect()
}

fn of_rule(rule: &Rule) -> BTreeSet<&'static str> {
    let sharper = rule.sharpened_by.iter().flat_map(|reads| reads.metrics);
    rule.needs.iter().chain(sharper).copied().collect()
}

/// All that anything declares.
fn declared() -> BTreeSet<&'static str> {
    RULES.iter().flat_map(|rule| of_rule(rule)).chain(of_model()).collect()
}

/// What one launch's diagnosis reads.
struct Reads {
    model: BTreeSet<String>,
    /// Of each rule that nothing is missing for: whether it finds something, and what it reads.
    rules: Vec<(&'static Rule, bool, BTreeSet<String>)>,
}

impl Reads {
    fn of(launch: &Launch) -> Self {
        let (model, of_model) = spy::reads(|| Model::new(launch));
        let case = ModeledLaunch { profile: launch, model: &model };
        let able = RULES.iter().filter(|rule| rule.missing(launch).is_empty());
        let rules = able.map(|rule| {
            let (finding, read) = spy::reads(|| (rule.check)(&case));
            (*rule, finding.is_some(), read)
        });
        Self { model: of_model, rules: rules.collect() }
    }

    /// What is read without being declared, each with its reader.
    fn undeclared(&self) -> Vec<String> {
        let beyond = |reader: &str, declared: &BTreeSet<&str>, read: &BTreeSet<String>| {
            let beyond = read.iter().filter(|name| !declared.contains(name.as_str()));
            beyond.map(|name| format!("{reader} reads {name}")).collect::<Vec<_>>()
        };
        let mut found = beyond("the model", &of_model(), &self.model);
        for (rule, _, read) in &self.rules {
            found.extend(beyond(rule.name, &of_rule(rule), read));
        }
        found
    }
}

/// What the diagnosis of each recorded launch reads.
static READ: LazyLock<Vec<(&Recorded, Reads)>> =
    LazyLock::new(|| RECORDED.par_iter().map(|one| (one, Reads::of(&one.launch))).collect());

/// Each launch of a list without each of the declared metrics that it has, and what was left out.
fn without_one(
    launches: &[&'static Recorded],
    look: impl Fn(&Recorded, &'static str, &Launch) -> Option<String> + Sync,
) -> Vec<String> {
    let names = declared();
    let of = |one: &&'static Recorded| {
        let mut launch = one.launch.clone();
        let mut found = Vec::new();
        for &name in &names {
            let Some(value) = one.launch.get(name) else { continue };
            launch.set(name, None);
            found.extend(look(one, name, &launch));
            launch.set(name, Some(value));
        }
        found
    };
    launches.par_iter().flat_map_iter(of).collect()
}

/// What is left out changes the first finding, and nothing tells that it is missing.
fn silent_change(one: &Recorded, name: &str, launch: &Launch) -> Option<String> {
    let diagnosis = diagnose(launch);
    let now = diagnosis.findings.first().map(|finding| finding.rule.clone());
    let is_skipped = |missing: &Name| missing == name;
    let told = diagnosis.skipped.iter().any(|one| one.missing.iter().any(is_skipped))
        || lacking_remark([launch]).is_some_and(|remark| remark.contains(name));
    let changed = now != one.first && !told;
    changed.then(|| format!("{} without {name}: {:?} becomes {now:?}", one.name, one.first))
}

#[test]
fn what_is_read_of_the_recordings_is_declared() {
    let mut found: Vec<String> = READ.iter().flat_map(|(_, reads)| reads.undeclared()).collect();
    found.sort();
    found.dedup();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn what_is_read_where_one_is_missing_is_declared() {
    let look =
        |_: &Recorded, _: &str, launch: &Launch| Reads::of(launch).undeclared().into_iter().next();
    let mut found = without_one(&sample(), look);
    found.sort();
    found.dedup();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn no_rule_declares_what_it_never_reads() {
    let (mut read, mut declared) = (BTreeSet::new(), BTreeSet::new());
    for (one, reads) in READ.iter() {
        let recorded = reads.rules.iter().filter(|(rule, ..)| rule.unrecorded.is_none());
        for (rule, finds, of_rule) in recorded {
            read.extend(of_rule.iter().map(|metric| (rule.name, metric.as_str())));
            let sharper = rule.sharpened_by.iter().filter(|_| *finds);
            let deciding = sharper.flat_map(|reads| reads.deciding(&one.launch));
            declared.extend(deciding.map(|metric| (rule.name, *metric)));
        }
    }
    let unread: Vec<_> = declared.difference(&read).collect();
    assert!(unread.is_empty(), "{unread:#?}");
}

#[test]
fn a_missing_metric_that_changes_the_first_finding_is_told() {
    let found = without_one(&sample(), silent_change);
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
#[ignore = "takes minutes: every recording without each metric in turn"]
fn a_missing_metric_that_changes_the_first_finding_of_any_recording_is_told() {
    let all: Vec<&Recorded> = RECORDED.iter().collect();
    let found = without_one(&all, silent_change);
    assert!(found.is_empty(), "{found:#?}");
}

/// What adoprof collects by itself has all that sharpens its findings, once a second run has the metrics
/// that rules still need after the first one.
#[test]
fn what_is_collected_lacks_nothing() {
    let asked = |name: &str| Level::Auto.collects(name);
    let further = second_run::possible(asked).metrics;
    let left_out: Vec<&str> = CATALOGUE
        .iter()
        .map(|metric| metric.name)
        .filter(|name| !asked(name) && !further.contains(name))
        .collect();
    let lacking = |one: &Recorded| {
        let mut both_runs = one.launch.clone();
        // Every run collects the instructions; some recordings were made smaller.
        let has_instructions = both_runs.listing().is_some();
        for name in left_out.iter().filter(|_| has_instructions) {
            both_runs.set(name, None);
        }
        Some(format!("{}: {}", one.name, lacking_remark([&one.launch, &both_runs])?))
    };
    let found: Vec<String> = RECORDED.par_iter().filter_map(lacking).collect();
    assert!(found.is_empty(), "{found:#?}");
}
