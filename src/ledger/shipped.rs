//! What the shipped recordings say of the rules: every hint of a recorded step that another recorded
//! step, or a what-if of its limiter run, takes away.

use super::entry::{Hint, LEDGER_SCHEMA, Line, Outcome};
use super::hints::{Origin, by_ladder, hints};
use crate::document::Document;
use crate::ladder::Step;
use crate::profile::RecordedLadder;

/// The hints of all recorded steps and their outcomes, worked out by this version of the rules.
#[must_use]
pub(crate) fn lines(ladders: &[RecordedLadder]) -> Vec<Line> {
    ladders.iter().flat_map(of_ladder).collect()
}

fn of_ladder(recorded: &RecordedLadder) -> Vec<Line> {
    let origin = |date: Option<&String>| Origin {
        date: date.cloned().unwrap_or_default(),
        ..Origin::default()
    };
    let mut given: Vec<(&str, Vec<Hint>)> = Vec::new();
    for document in &recorded.documents {
        if let Some(step) = &document.step {
            given.push((&step.name, hints(document, &origin(step.recorded.as_ref()))));
        }
    }
    let all: Vec<Hint> = given.iter().flat_map(|(_, hints)| hints.clone()).collect();
    // A side step takes one fault away, a main step sometimes more: what the side steps say counts
    // before what the main ones do, and a what-if, which may leave out more than the fault, last.
    let (sides, mains): (Vec<&Document>, Vec<&Document>) =
        recorded.documents.iter().partition(|document| is_side(recorded, document));
    let mut outcomes: Vec<Outcome> = Vec::new();
    for document in sides.into_iter().chain(mains) {
        let date = document.step.as_ref().and_then(|step| step.recorded.as_ref());
        add(&mut outcomes, by_ladder(&all, document, &recorded.ladder, &origin(date)));
    }
    for (step, hints) in &given {
        add(&mut outcomes, what_ifs(recorded, step, hints));
    }
    all.into_iter().map(Line::Hint).chain(outcomes.into_iter().map(Line::Outcome)).collect()
}

fn is_side(recorded: &RecordedLadder, document: &Document) -> bool {
    let step = document.step.as_ref().and_then(|step| recorded.ladder.step(&step.name).ok());
    step.is_some_and(Step::is_side)
}

/// Adds the outcomes of hints that have none yet that counts.
fn add(outcomes: &mut Vec<Outcome>, more: Vec<Outcome>) {
    for outcome in more {
        match outcomes.iter_mut().find(|known| known.of == outcome.of) {
            Some(known) if known.counts || !outcome.counts => {}
            Some(known) => *known = outcome,
            None => outcomes.push(outcome),
        }
    }
}

/// What a limiter run measured of a step's hints: a what-if leaves something out, and the gain is
/// that of the largest of the faults that go with it.
fn what_ifs(recorded: &RecordedLadder, step: &str, hints: &[Hint]) -> Vec<Outcome> {
    let Some(limiter) = recorded.limiter(step) else { return Vec::new() };
    let mut outcomes = Vec::new();
    for variant in &limiter.variants {
        let removed: Vec<&Hint> = hints
            .iter()
            .filter(|hint| variant.removes.contains(&hint.rule))
            .filter(|hint| hint.subject.size == limiter.step.size)
            .collect();
        let leading = removed.iter().max_by(|a, b| a.estimate.factor.total_cmp(&b.estimate.factor));
        outcomes.extend(removed.iter().map(|hint| Outcome {
            schema: LEDGER_SCHEMA.to_owned(),
            of: hint.id.clone(),
            date: limiter.date.clone(),
            by: format!("{}/{step} {}", recorded.ladder.name(), variant.name),
            gain: variant.factor,
            gone: true,
            counts: leading.is_some_and(|leading| leading.id == hint.id),
        }));
    }
    outcomes
}
