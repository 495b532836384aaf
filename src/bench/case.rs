//! One kernel of the bench: the truth, and what adoprof and ncu say.

use super::ncu::{NcuPromise, promises};
use super::{BenchDocument, Case, FIRST_FEW, MISSING, MOST, Promise, Quiet, Said};
use crate::document::{Document, Ranked};
use crate::finding::Estimate;
use crate::ladder::{Half, Ladder, Step};
use crate::profile::RecordedLadder;
use crate::rules::{self, Kind};

/// The step that takes a fault away: a side step that starts here and takes away no other planted
/// one, else the next main step that answers it. `None` where it takes another planted fault along,
/// so that the gain is not this fault's alone.
pub fn answer<'a>(ladder: &'a Ladder, step: &Step, fault: &str) -> Option<&'a Step> {
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
/// their sizes differ.
pub fn gain(recorded: &RecordedLadder, step: &str, answer: &str) -> Option<f64> {
    let (before, after) = (recorded.step(step)?, recorded.step(answer)?);
    let times = (before.time_ns.median, after.time_ns.median);
    let comparable = before.size == after.size && before.verified && after.verified;
    (comparable && times.0 > 0.0 && times.1 > 0.0).then(|| times.0 / times.1)
}

/// Every planted fault of a ladder.
pub fn cases(recorded: &RecordedLadder, half: Half, into: &mut BenchDocument) {
    for step in recorded.ladder.steps() {
        let Some(document) = recorded.document(step.name()) else { continue };
        let ranking = document.ranked();
        let (any, global) = (promises(document, false), promises(document, true));
        let mut of_step: Vec<Case> = Vec::new();
        for fault in step.plants() {
            let answer = answer(&recorded.ladder, step, fault);
            let measured =
                answer.and_then(|to| Some((to, gain(recorded, step.name(), to.name())?)));
            let Some((answer, gain)) = measured else {
                into.notices.push(format!(
                    "{}/{}: no step was measured that takes away {fault} alone",
                    recorded.ladder.name(),
                    step.name()
                ));
                continue;
            };
            of_step.push(Case {
                half: half.word().to_owned(),
                ladder: recorded.ladder.name().to_owned(),
                step: step.name().to_owned(),
                fault: fault.clone(),
                answered_by: answer.name().to_owned(),
                gain,
                largest: false,
                adoprof: ours(&ranking, fault, gain),
                ncu: theirs(&any, fault, gain),
                ncu_global: theirs(&global, fault, gain),
            });
        }
        if let Some(largest) = of_step.iter_mut().max_by(|a, b| a.gain.total_cmp(&b.gain)) {
            largest.largest = true;
        }
        into.cases.extend(of_step);
    }
}

/// How far an estimate is from a gain: the larger over the smaller, both capped.
pub fn ratio(estimate: Option<f64>, gain: f64) -> f64 {
    let Some(estimate) = estimate.filter(|estimate| *estimate > 0.0) else { return MISSING };
    let (estimate, gain) = (estimate.min(MOST), gain.min(MOST));
    (estimate / gain).max(gain / estimate)
}

fn held(range: &Estimate, gain: f64) -> bool {
    (range.low.min(MOST)..=range.high.min(MOST)).contains(&gain.min(MOST))
}

fn ours(ranking: &[Ranked<'_>], fault: &str, gain: f64) -> Said {
    let rank = ranking.iter().position(|ranked| ranked.rule == fault);
    let estimate = rank.and_then(|at| ranking[at].estimate);
    Said {
        first: ranking.first().map(promise),
        rank: rank.map(|at| at + 1),
        estimate,
        ratio: ratio(estimate.map(|estimate| estimate.factor), gain),
        held: Some(estimate.is_some_and(|range| held(&range, gain))),
    }
}

fn promise(ranked: &Ranked<'_>) -> Promise {
    Promise { rule: ranked.rule.to_owned(), estimate: ranked.estimate }
}

fn theirs(promises: &[NcuPromise], fault: &str, gain: f64) -> Said {
    let rank = promises.iter().position(|promise| promise.faults.contains(&fault));
    let estimate = rank.map(|at| promises[at].estimate());
    Said {
        first: promises.first().map(ncu_promise),
        rank: rank.map(|at| at + 1),
        estimate,
        ratio: ratio(estimate.map(|estimate| estimate.factor), gain),
        held: None,
    }
}

fn ncu_promise(promise: &NcuPromise) -> Promise {
    Promise { rule: promise.rule.clone(), estimate: Some(promise.estimate()) }
}

/// Steps at a limit, and faults that are not there.
pub fn quiet(recorded: &RecordedLadder, half: Half, into: &mut BenchDocument) {
    for step in recorded.ladder.steps() {
        let Some(document) = recorded.document(step.name()) else { continue };
        if step.is_at_limit() {
            into.quiet.push(at_limit(recorded, step, half, document));
        }
        for fault in step.innocent() {
            into.quiet.push(innocent(recorded, step, half, document, fault));
        }
    }
}

fn at_limit(recorded: &RecordedLadder, step: &Step, half: Half, document: &Document) -> Quiet {
    let ours = document.ranked().first().map(promise);
    let roof = |said: &Promise| {
        rules::find(&said.rule).is_some_and(|rule| matches!(rule.kind, Kind::Roof))
    };
    let alarm = |said: &Option<Promise>| said.as_ref().is_some_and(Promise::promises);
    let first = |global| promises(document, global).first().map(ncu_promise);
    let (any, global) = (first(false), first(true));
    Quiet {
        half: half.word().to_owned(),
        ladder: recorded.ladder.name().to_owned(),
        step: step.name().to_owned(),
        innocent_of: None,
        adoprof_alarm: alarm(&ours) && !ours.as_ref().is_some_and(roof),
        adoprof: ours,
        ncu_alarm: alarm(&any),
        ncu: any,
        ncu_global_alarm: alarm(&global),
        ncu_global: global,
    }
}

fn innocent(
    recorded: &RecordedLadder,
    step: &Step,
    half: Half,
    document: &Document,
    fault: &str,
) -> Quiet {
    let ranking = document.ranked();
    let ours = ranking.iter().take(FIRST_FEW).find(|ranked| ranked.rule == fault).map(promise);
    let theirs = |global| {
        promises(document, global)
            .iter()
            .take(FIRST_FEW)
            .find(|promise| promise.faults.contains(&fault))
            .map(ncu_promise)
    };
    let alarm = |said: &Option<Promise>| said.as_ref().is_some_and(Promise::promises);
    let (any, global) = (theirs(false), theirs(true));
    Quiet {
        half: half.word().to_owned(),
        ladder: recorded.ladder.name().to_owned(),
        step: step.name().to_owned(),
        innocent_of: Some(fault.to_owned()),
        adoprof_alarm: alarm(&ours),
        adoprof: ours,
        ncu_alarm: alarm(&any),
        ncu: any,
        ncu_global_alarm: alarm(&global),
        ncu_global: global,
    }
}
