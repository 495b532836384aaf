//! Steps at a limit, of which nothing should be said, and steps that only look as if they had a fault.

use super::ncu::promises;
use super::planted::{ncu_promise, promise};
use super::{BenchDocument, FIRST_FEW, Promise, QuietStep};
use crate::document::Document;
use crate::ladder::Step;
use crate::profile::RecordedLadder;
use crate::rules::{self, Kind};

/// Adds every such step of a ladder.
pub(super) fn judge(recorded: &RecordedLadder, set: u32, into: &mut BenchDocument) {
    for step in recorded.ladder.steps() {
        let Some(document) = recorded.document(step.name()) else { continue };
        if step.is_at_limit() {
            into.quiet.push(at_limit(recorded, step, set, document));
        }
        for fault in step.innocent() {
            into.quiet.push(innocent(recorded, step, set, document, fault));
        }
    }
}

fn alarm(said: Option<&Promise>) -> bool {
    said.is_some_and(Promise::promises)
}

fn at_limit(recorded: &RecordedLadder, step: &Step, set: u32, document: &Document) -> QuietStep {
    let ours = document.ranked().first().map(promise);
    let is_roof = |said: &Promise| {
        rules::find(&said.rule).is_some_and(|rule| matches!(rule.kind, Kind::Roof))
    };
    let first = |global| promises(document, global).first().map(ncu_promise);
    let (any, global) = (first(false), first(true));
    QuietStep {
        set,
        ladder: recorded.ladder.name().to_owned(),
        step: step.name().to_owned(),
        innocent_of: None,
        adoprof_alarm: alarm(ours.as_ref()) && !ours.as_ref().is_some_and(is_roof),
        adoprof: ours,
        ncu_alarm: alarm(any.as_ref()),
        ncu: any,
        ncu_global_alarm: alarm(global.as_ref()),
        ncu_global: global,
    }
}

fn innocent(
    recorded: &RecordedLadder,
    step: &Step,
    set: u32,
    document: &Document,
    fault: &str,
) -> QuietStep {
    let ranking = document.ranked();
    let ours = ranking.iter().take(FIRST_FEW).find(|ranked| ranked.rule == fault).map(promise);
    let theirs = |global| {
        promises(document, global)
            .iter()
            .take(FIRST_FEW)
            .find(|promise| promise.faults.contains(&fault))
            .map(ncu_promise)
    };
    let (any, global) = (theirs(false), theirs(true));
    QuietStep {
        set,
        ladder: recorded.ladder.name().to_owned(),
        step: step.name().to_owned(),
        innocent_of: Some(fault.to_owned()),
        adoprof_alarm: alarm(ours.as_ref()),
        adoprof: ours,
        ncu_alarm: alarm(any.as_ref()),
        ncu: any,
        ncu_global_alarm: alarm(global.as_ref()),
        ncu_global: global,
    }
}
