//! The planted faults of a ladder: the truth, and what adoprof and ncu say.

use super::ncu::{NcuPromise, can_name, promises};
use super::{BenchDocument, MISSING, MOST, PlantedFault, Promise, Said, lines};
use crate::document::{Document, Ranked};
use crate::finding::Estimate;
use crate::ladder::{Ladder, Step};
use crate::profile::RecordedLadder;

/// The step that takes a fault away: a side step that starts here and takes away no other planted
/// one, else the next main step that answers it. `None` where it takes another planted fault along,
/// so that the gain is not this fault's alone.
pub(super) fn answer<'a>(ladder: &'a Ladder, step: &Step, fault: &str) -> Option<&'a Step> {
    let answers = |other: &Step, fault: &str| other.answers().iter().any(|rule| rule == fault);
    let alone =
        |other: &&Step| step.plants().iter().filter(|planted| answers(other, planted)).count() == 1;
    let side = ladder.steps().iter().find(|other| {
        other.is_side()
            && other.from() == Some(step.name())
            && answers(other, fault)
            && alone(other)
    });
    side.or_else(|| ladder.next_for(fault, step.name()).filter(alone))
}

/// The time of one step over that of another; `None` where either was not recorded, is wrong, or
/// their sizes or devices differ.
fn gain(recorded: &RecordedLadder, step: &str, answer: &str) -> Option<f64> {
    let (before, after) = (recorded.step(step)?, recorded.step(answer)?);
    recorded.of_one_device(step, answer).then_some(())?;
    let times = (before.time_ns.median, after.time_ns.median);
    let comparable = before.size == after.size && before.verified && after.verified;
    (comparable && times.0 > 0.0 && times.1 > 0.0).then(|| times.0 / times.1)
}

/// Adds every planted fault of a ladder.
pub(super) fn judge(
    recorded: &RecordedLadder,
    without_sass: Option<&RecordedLadder>,
    set: u32,
    into: &mut BenchDocument,
) {
    for step in recorded.ladder.steps().iter().filter(|step| !step.plants().is_empty()) {
        let Some(document) = recorded.document(step.name()) else { continue };
        let advice = Advice::of(document);
        let blind = without_sass.and_then(|other| other.document(step.name()));
        let blind = blind.map(Document::ranked).unwrap_or_default();
        let mut of_step: Vec<PlantedFault> = Vec::new();
        for fault in step.plants() {
            let answer = answer(&recorded.ladder, step, fault);
            let measured =
                answer.and_then(|to| Some((to, gain(recorded, step.name(), to.name())?)));
            let Some((answer, gain)) = measured else {
                into.notices.push(format!(
                    "{}/{}: no measured step removes {fault} alone",
                    recorded.ladder.name(),
                    step.name()
                ));
                continue;
            };
            let repaired = recorded.document(answer.name()).map(Advice::of).unwrap_or_default();
            of_step.push(PlantedFault {
                set,
                ladder: recorded.ladder.name().to_owned(),
                step: step.name().to_owned(),
                fault: fault.clone(),
                answered_by: answer.name().to_owned(),
                gain,
                largest: false,
                ncu_has_a_rule: can_name(fault),
                adoprof: ours(&advice.ours, &repaired.ours, fault, gain),
                ncu: theirs(&advice.ncu, &repaired.ncu, fault, gain),
                ncu_global: theirs(&advice.ncu_global, &repaired.ncu_global, fault, gain),
                line: lines::pointed_at(&recorded.ladder, step, answer, document, fault),
                rank_without_sass: blind.iter().position(|r| r.rule == fault).map(|at| at + 1),
            });
        }
        if let Some(largest) = of_step.iter_mut().max_by(|a, b| a.gain.total_cmp(&b.gain)) {
            largest.largest = true;
        }
        into.cases.extend(of_step);
    }
}

/// All that is said of a step.
#[derive(Default)]
struct Advice<'a> {
    ours: Vec<Ranked<'a>>,
    ncu: Vec<NcuPromise>,
    ncu_global: Vec<NcuPromise>,
}

impl<'a> Advice<'a> {
    fn of(document: &'a Document) -> Self {
        Self {
            ours: document.ranked(),
            ncu: promises(document, false),
            ncu_global: promises(document, true),
        }
    }
}

/// How far an estimate is from a gain: the larger over the smaller, both capped.
pub(super) fn ratio(estimate: Option<f64>, gain: f64) -> f64 {
    let Some(estimate) = estimate.filter(|estimate| *estimate > 0.0) else { return MISSING };
    let (estimate, gain) = (estimate.min(MOST), gain.min(MOST));
    (estimate / gain).max(gain / estimate)
}

/// True where a range holds a gain, both capped.
#[must_use]
pub fn held(range: &Estimate, gain: f64) -> bool {
    (range.low.min(MOST)..=range.high.min(MOST)).contains(&gain.min(MOST))
}

fn ours(ranking: &[Ranked<'_>], repaired: &[Ranked<'_>], fault: &str, gain: f64) -> Said {
    let place = |ranking: &[Ranked<'_>]| ranking.iter().position(|ranked| ranked.rule == fault);
    let (rank, still) = (place(ranking), place(repaired));
    let estimate = rank.and_then(|at| ranking[at].estimate);
    Said {
        first: ranking.first().map(promise),
        rank: rank.map(|at| at + 1),
        estimate,
        ratio: ratio(estimate.map(|estimate| estimate.factor), gain),
        held: Some(estimate.is_some_and(|range| held(&range, gain))),
        rank_when_repaired: still.map(|at| at + 1),
        estimate_when_repaired: still.and_then(|at| repaired[at].estimate),
    }
}

/// A finding as a promise.
pub(super) fn promise(ranked: &Ranked<'_>) -> Promise {
    Promise { rule: ranked.rule.to_owned(), estimate: ranked.estimate }
}

fn theirs(promises: &[NcuPromise], repaired: &[NcuPromise], fault: &str, gain: f64) -> Said {
    let place = |promises: &[NcuPromise]| {
        promises.iter().position(|promise| promise.faults.contains(&fault))
    };
    let (rank, still) = (place(promises), place(repaired));
    let estimate = rank.map(|at| promises[at].estimate());
    Said {
        first: promises.first().map(ncu_promise),
        rank: rank.map(|at| at + 1),
        estimate,
        ratio: ratio(estimate.map(|estimate| estimate.factor), gain),
        held: None,
        rank_when_repaired: still.map(|at| at + 1),
        estimate_when_repaired: still.map(|at| repaired[at].estimate()),
    }
}

/// What one of ncu's rules promises.
pub(super) fn ncu_promise(promise: &NcuPromise) -> Promise {
    Promise { rule: promise.rule.clone(), estimate: Some(promise.estimate()) }
}
