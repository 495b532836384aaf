//! What ncu's own rules promise of a document, put as our findings are.

use crate::agreement::{Meaning, meaning};
use crate::document::Document;
use crate::finding::Estimate;
use crate::rules;

/// One of ncu's promises, over all launches.
#[derive(Debug, Clone, PartialEq)]
pub struct NcuPromise {
    /// ncu's name of the rule.
    pub rule: String,
    /// The faults that it names, by our names; none where it names none.
    pub faults: Vec<&'static str>,
    /// The share of the whole time that it promises to save, 0 to 1.
    pub saved: f64,
}

impl NcuPromise {
    /// The promise as a gain: p percent of the time saved leave 1 − p/100 of it. ncu gives no range.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        let factor = 1.0 / (1.0 - self.saved).max(1e-9);
        Estimate { factor, low: factor, high: factor }
    }
}

/// True where one of ncu's rules can name the fault.
#[must_use]
pub(super) fn can_name(fault: &str) -> bool {
    rules::find(fault).is_some_and(|rule| !rule.said_by_ncu.is_empty())
}

/// ncu's promises, the largest first; those that mean the same count once, with the largest. Of
/// several launches each promise counts by the launch's share of the time, and the same promise of
/// several launches adds up.
#[must_use]
pub(super) fn promises(document: &Document, global_only: bool) -> Vec<NcuPromise> {
    let mut all: Vec<NcuPromise> = Vec::new();
    for launch in &document.launches {
        let mut of_launch: Vec<NcuPromise> = Vec::new();
        for rule in &launch.ncu_rules {
            if !matches!(&*rule.kind, "optimization" | "warning") || global_only && !rule.global {
                continue;
            }
            let Some(percent) = rule.estimate_percent else { continue };
            let saved = document.share(launch) * (percent / 100.0).clamp(0.0, 1.0);
            let meaning = meaning(&rule.rule, &rule.message);
            let faults = meaning.iter().flat_map(Meaning::faults).copied().collect();
            let promise = NcuPromise { rule: rule.rule.clone(), faults, saved };
            match of_launch.iter_mut().find(|other| same(other, &promise)) {
                Some(other) => other.saved = other.saved.max(saved),
                None => of_launch.push(promise),
            }
        }
        for promise in of_launch {
            match all.iter_mut().find(|other| same(other, &promise)) {
                Some(other) => other.saved += promise.saved,
                None => all.push(promise),
            }
        }
    }
    all.sort_by(|a, b| b.saved.total_cmp(&a.saved));
    all
}

fn same(a: &NcuPromise, b: &NcuPromise) -> bool {
    a.rule == b.rule && a.faults == b.faults
}
