//! What `--collect auto` asks for next: from what one run told to what a second one should tell.
//!
//! The first run collects nearly all that rules read, because nearly all of it fits into the passes
//! that the stalls and the source counters take anyway. What is left are rules that were skipped for
//! want of a metric. A second run starts the program again, so it has to be worth it: the rule's fault
//! must have left a trace, and its best possible gain by the model must be able to change what stands
//! first.

use crate::diagnose::{Diagnosis, diagnose};
use crate::finding::LEAST_GAIN;
use crate::frame::Launch;
use crate::model::{Effect, Model};
use crate::rules::{self, Kind, Rule};
use crate::term::Term;

use crate::ncu::level::{self, Group};

/// What a second run should collect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Further {
    /// Metric names, as `--metrics` takes them.
    pub metrics: Vec<&'static str>,
    /// The rules that they decide.
    pub rules: Vec<&'static str>,
    /// How many passes it takes at most, where that was measured.
    pub passes: Option<u32>,
}

/// What remains undecided after a first run that asked for the metrics that `asked` is true for.
/// `None` where nothing does. A metric that was asked for and is not there is one that this device or
/// release doesn't have: asking again would not help.
#[must_use]
pub fn further(launches: &[Launch], asked: impl Fn(&str) -> bool) -> Option<Further> {
    let mut found = Further::default();
    for launch in launches {
        let diagnosis = diagnose(launch);
        for rule in diagnosis.skipped.iter().filter_map(|skipped| rules::find(&skipped.rule)) {
            let missing = missing(rule, launch);
            // A rule that lacks source lines or instructions only gets none from a second run either.
            let is_open = !missing.is_empty() && !missing.iter().any(|name| asked(name));
            if is_open && undecided(rule, &missing, launch, &diagnosis) {
                add(&mut found.rules, rule.name);
                for name in missing {
                    add(&mut found.metrics, name);
                }
            }
        }
    }
    found.passes = passes(&found.metrics);
    (!found.rules.is_empty()).then_some(found)
}

fn add(names: &mut Vec<&'static str>, name: &'static str) {
    if !names.contains(&name) {
        names.push(name);
    }
}

/// Every rule that a first run leaves open, with the metrics that it needs: what a second run may
/// depend on, before anything was run.
#[must_use]
pub fn possible(asked: impl Fn(&str) -> bool) -> Further {
    let mut found = Further::default();
    for rule in rules::RULES {
        for name in rule.needs.iter().filter(|name| !asked(name)) {
            add(&mut found.rules, rule.name);
            add(&mut found.metrics, name);
        }
    }
    found.passes = passes(&found.metrics);
    found
}

fn missing(rule: &Rule, launch: &Launch) -> Vec<&'static str> {
    rule.needs.iter().copied().filter(|name| launch.get(name).is_none()).collect()
}

/// The groups that hold some of these metrics.
fn groups<'a>(metrics: &'a [&'static str]) -> impl Iterator<Item = &'static Group> + 'a {
    level::further()
        .map(|(_, group)| group)
        .filter(|group| group.metrics.iter().any(|name| metrics.contains(&name.as_str())))
}

/// The sum over the groups: separate runs could not take more. `None` with metrics of no group.
fn passes(metrics: &[&'static str]) -> Option<u32> {
    metrics.iter().all(|name| is_known(name)).then(|| groups(metrics).map(|g| g.passes).sum())
}

fn is_known(name: &str) -> bool {
    level::further().any(|(_, group)| group.metrics.iter().any(|metric| metric == name))
}

/// True where a skipped rule could change what stands first.
fn undecided(
    rule: &Rule,
    missing: &[&'static str],
    launch: &Launch,
    diagnosis: &Diagnosis,
) -> bool {
    if groups(missing).any(|group| leaves_no_trace(group, launch)) {
        return false;
    }
    let Some(units) = units(missing) else { return true };
    let model = Model::new(launch);
    let best = best_gain(&model, &units);
    let first = diagnosis
        .findings
        .first()
        .and_then(|finding| Some((rules::find(&finding.rule)?.kind, finding)));
    match (rule.kind, first) {
        // A symptom stands behind every cause and roof.
        (Kind::Symptom, Some((Kind::Cause | Kind::Roof, _))) => false,
        // A roof falls only where a cause inflates the unit that is at its limit.
        (Kind::Cause, Some((Kind::Roof, _))) => {
            model.busiest().is_some_and(|(term, _)| units.contains(&term))
        }
        (Kind::Cause, Some((Kind::Cause, finding))) => {
            best > finding.estimate.map_or(1.0, |estimate| estimate.factor).max(LEAST_GAIN)
        }
        _ => best > LEAST_GAIN,
    }
}

/// True where the first run has a group's traces, and all of them are 0.
fn leaves_no_trace(group: &Group, launch: &Launch) -> bool {
    group.trace.iter().all(|name| launch.get(name) == Some(0.0))
}

/// The units that a fault behind these metrics may keep busy; `None` where nothing is known of a
/// metric, so that nothing bounds what its rule may say.
fn units(missing: &[&'static str]) -> Option<Vec<Term>> {
    let named: Vec<&str> = groups(missing).flat_map(|g| &g.units).map(String::as_str).collect();
    let keeps_busy = |term: &Term| term.counters().iter().any(|counter| named.contains(counter));
    let known = missing.iter().all(|name| is_known(name));
    known.then(|| Term::ALL.into_iter().filter(keeps_busy).collect())
}

/// The gain where the fault is all that these units do and all that warps wait for. No effect that a
/// rule can have on these units gives more.
fn best_gain(model: &Model, units: &[Term]) -> f64 {
    let effect = Effect {
        removed: units.iter().map(|&term| (term, 1.0)).collect(),
        hidden: 1.0,
        ..Effect::default()
    };
    model.without(&effect).map_or(f64::INFINITY, |estimate| estimate.factor)
}

#[cfg(test)]
#[path = "second_run_tests.rs"]
mod tests;
