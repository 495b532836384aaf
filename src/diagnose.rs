//! From a launch to its ranked findings.
//!
//! Rules are checked one by one; symptoms go under the causes that explain them; what remains is
//! ranked by what it would give now.

mod bottleneck;
#[cfg(test)]
mod constructed;
mod ranking;

use crate::finding::{Bound, Estimate, Finding, Skipped, Symptom};
use crate::frame::Launch;
use crate::model::{Effect, Model, Term};
use crate::rules::{Case, Draft, Kind, RULES, Rule};

pub use bottleneck::bottleneck_sentence;
pub use ranking::RankingStep;

/// The outcome for one launch.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnosis {
    /// What bounds the launch.
    pub bound: Bound,
    /// Findings, the largest gain first.
    pub findings: Vec<Finding>,
    /// Rules whose metrics were not collected.
    pub skipped: Vec<Skipped>,
    /// What limits the launch now, without its first fault, and so on.
    pub ranking: Vec<RankingStep>,
}

/// Checks every rule on a launch. Without a duration or utilization counters the rules are checked
/// all the same; findings then have no estimate.
#[must_use]
pub fn diagnose(launch: &Launch) -> Diagnosis {
    let model = Model::new(launch);
    let case = Case { launch, model: &model };
    let mut drafts: Vec<(&'static Rule, Draft)> = Vec::new();
    let mut skipped = Vec::new();
    for rule in RULES {
        let missing: Vec<String> = rule
            .needs
            .iter()
            .filter(|name| launch.get(name).is_none())
            .map(|name| (*name).to_owned())
            .collect();
        if missing.is_empty() {
            drafts.extend((rule.check)(&case).map(|draft| (*rule, draft)));
        } else {
            skipped.push(Skipped { rule: rule.name.to_owned(), missing });
        }
    }
    drop_false_roofs(&mut drafts);
    let effects: Vec<(&str, Effect)> =
        drafts.iter().map(|(rule, draft)| (rule.name, draft.effect.clone())).collect();
    let findings = rank(drafts, &model);
    let faults = findings.iter().filter_map(|finding| {
        effects.iter().find(|(rule, _)| *rule == finding.rule).map(|(rule, effect)| (*rule, effect))
    });
    let ranking = ranking::ranking(&model, faults);
    let bound = findings
        .first()
        .and_then(|first| crate::rules::bound_of(&first.rule))
        .unwrap_or_else(|| match model.bound() {
            Bound::None => bottleneck::bound_by_throughputs(launch).unwrap_or(Bound::None),
            bound => bound,
        });
    Diagnosis { bound, findings, skipped, ranking }
}

/// A fault that gives a unit less than this share of its work does not keep it from the roof: the
/// counters of different passes differ by as much.
const INFLATES: f64 = 0.05;

/// Takes away roofs that are none: some fault inflates the work of the unit that is at its limit.
fn drop_false_roofs(drafts: &mut Vec<(&'static Rule, Draft)>) {
    let inflated: Vec<Term> = Term::ALL
        .into_iter()
        .filter(|&term| {
            drafts.iter().any(|(rule, draft)| {
                rule.kind == Kind::Cause && draft.effect.share_of(term) >= INFLATES
            })
        })
        .collect();
    drafts.retain(|(rule, draft)| {
        rule.kind != Kind::Roof
            || draft.effect.removed.iter().all(|(term, _)| !inflated.contains(term))
    });
}

/// Puts symptoms under the findings that explain them and orders the rest: a roof first, then causes
/// by their gain, then symptoms that nothing explains.
///
/// A roof comes first even where some cause is expected to give a few percent: it stands only where
/// no cause inflates the unit that is at its limit, so whatever the others give comes out of the
/// remaining 15% and is never more than 1.18x. They follow with their own estimates, so nothing is
/// hidden.
fn rank(drafts: Vec<(&'static Rule, Draft)>, model: &Model) -> Vec<Finding> {
    let reasons: Vec<&Rule> =
        drafts.iter().map(|(rule, _)| *rule).filter(|rule| rule.kind != Kind::Symptom).collect();
    let explained = |symptom: &str| reasons.iter().any(|rule| rule.explains.contains(&symptom));
    let symptoms: Vec<Symptom> = drafts
        .iter()
        .filter(|(rule, _)| rule.kind == Kind::Symptom && explained(rule.name))
        .map(|(rule, draft)| Symptom { rule: rule.name.to_owned(), message: draft.message.clone() })
        .collect();
    let mut findings: Vec<(Kind, Finding)> = drafts
        .into_iter()
        .filter(|(rule, _)| rule.kind != Kind::Symptom || !explained(rule.name))
        .map(|(rule, draft)| {
            let estimate = match rule.kind {
                Kind::Roof => Some(Estimate::NONE),
                Kind::Cause | Kind::Symptom => model.without(&draft.effect),
            };
            let symptoms: Vec<Symptom> = symptoms
                .iter()
                .filter(|symptom| rule.explains.contains(&symptom.rule.as_str()))
                .cloned()
                .collect();
            let finding = Finding {
                rule: rule.name.to_owned(),
                section: rule.section.to_owned(),
                estimate,
                message: draft.message,
                evidence: draft.evidence,
                locations: draft.locations,
                hint: draft.hint,
                explains: symptoms.iter().map(|symptom| symptom.rule.clone()).collect(),
                symptoms,
            };
            (rule.kind, finding)
        })
        .collect();
    findings.sort_by(|a, b| order(a.0, &a.1).cmp_to(&order(b.0, &b.1)));
    findings.into_iter().map(|(_, finding)| finding).collect()
}

/// Sort key: class of the rule, then the gain.
struct Order {
    class: u8,
    factor: f64,
}

fn order(kind: Kind, finding: &Finding) -> Order {
    let class = match kind {
        Kind::Roof => 0,
        Kind::Cause => 1,
        Kind::Symptom => 2,
    };
    Order { class, factor: finding.estimate.map_or(1.0, |estimate| estimate.factor) }
}

impl Order {
    fn cmp_to(&self, other: &Self) -> std::cmp::Ordering {
        self.class.cmp(&other.class).then(other.factor.total_cmp(&self.factor))
    }
}
