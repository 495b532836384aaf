//! The rules as records: what `explain --format json` prints.

use std::collections::BTreeSet;

use super::kind;
use super::numbers::{GIVEN, SHARED};
use crate::around;
use crate::document::{
    ExplainDocument, Number, NumberGroup, RuleExample, RuleRange, RuleRecord, SCHEMA, Version,
};
use crate::evidence::Threshold;
use crate::outside;
use crate::rules::{self, Kind, RULES, Rule, SourcePage};

/// All rules, and the numbers that belong to none.
#[must_use]
pub(crate) fn all() -> ExplainDocument {
    let added = rules::added().iter().map(|(rule, _)| *rule);
    let of_launches = RULES.iter().copied().map(|rule| record(rule, kind(rule.kind)));
    let of_programs = around::RULES.iter().map(|rule| of_program(rule));
    let yours = added.map(|rule| record(rule, "yours"));
    document(of_launches.chain(of_programs).chain(yours).collect(), numbers())
}

/// One rule; `None` where there is none of that name.
#[must_use]
pub(crate) fn one(name: &str) -> Option<ExplainDocument> {
    let of_launches = || {
        let rule = rules::find(name)?;
        let is_ours = RULES.iter().any(|known| known.name == name);
        Some(record(rule, if is_ours { kind(rule.kind) } else { "yours" }))
    };
    let found = around::find(name).map(of_program).or_else(of_launches)?;
    Some(document(vec![found], Vec::new()))
}

/// The numbers that belong to no rule alone.
#[must_use]
pub(crate) fn shared() -> ExplainDocument {
    document(Vec::new(), numbers())
}

fn document(rules: Vec<RuleRecord>, numbers: Vec<NumberGroup>) -> ExplainDocument {
    ExplainDocument { schema: SCHEMA, adoprof: Version::default(), rules, numbers }
}

fn numbers() -> Vec<NumberGroup> {
    SHARED
        .iter()
        .map(|(decides, thresholds)| NumberGroup {
            decides,
            numbers: thresholds.iter().map(number).collect(),
        })
        .collect()
}

fn record(rule: &Rule, kind: &'static str) -> RuleRecord {
    let (given, limits): (Vec<&Threshold>, Vec<&Threshold>) =
        rule.thresholds.iter().partition(|threshold| threshold.what.starts_with(GIVEN));
    let reads = rule.sharpened_by.iter().flat_map(|reads| reads.metrics).copied();
    let reads: BTreeSet<&str> = reads.filter(|name| !rule.needs.contains(name)).collect();
    let promises = rule.kind != Kind::Roof && rule.promises;
    let range = promises.then(|| RuleRange {
        ratio: outside::ratio(1.0),
        ratio_at_2: outside::ratio(2.0),
        ratio_at_10: outside::ratio(10.0),
        changes: outside::judged_of(rule.name),
    });
    let examples = rule.examples.iter().map(|example| RuleExample {
        fault: example.fault,
        repair: example.repair,
        note: example.note,
    });
    RuleRecord {
        rule: rule.name,
        kind,
        summary: rule.summary,
        explanation: rule.explanation,
        examples: examples.collect(),
        hint: None,
        in_triton: (!rule.in_triton.is_empty()).then_some(rule.in_triton),
        thresholds: limits.into_iter().map(number).collect(),
        assumes: given.into_iter().map(number).collect(),
        range,
        needs: rule.needs.to_vec(),
        needs_sass: matches!(rule.source_page, SourcePage::Needed | SourcePage::NeededWithout(_)),
        reads: reads.into_iter().collect(),
        explains: rule.explains.to_vec(),
        trials: rule.trials.iter().map(|trial| trial.words()).collect(),
        section: (!rule.section.is_empty()).then_some(rule.section),
        unrecorded: rule.unrecorded,
    }
}

fn of_program(rule: &around::Rule) -> RuleRecord {
    let launch = Rule {
        name: rule.name,
        summary: rule.summary,
        explanation: rule.checks,
        promises: false,
        ..Rule::DEFAULT
    };
    RuleRecord { hint: Some(rule.hint), ..record(&launch, "program") }
}

fn number(threshold: &Threshold) -> Number {
    Number {
        what: threshold.what.strip_prefix(GIVEN).unwrap_or(threshold.what),
        value: threshold.value,
        unit: threshold.unit,
        source: threshold.source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_record_with_all_its_numbers() {
        let all = all();
        assert_eq!(all.rules.len(), RULES.len() + around::RULES.len());
        for rule in RULES {
            let found = all.rules.iter().find(|record| record.rule == rule.name).unwrap();
            assert_eq!(found.thresholds.len() + found.assumes.len(), rule.thresholds.len());
            assert!(found.assumes.iter().all(|number| !number.what.starts_with(GIVEN)));
            let promises = rule.kind != Kind::Roof && rule.promises;
            assert_eq!(found.range.is_some(), promises, "{}", rule.name);
        }
    }

    #[test]
    fn one_rule_is_found_by_its_name() {
        let kind_of = |name| one(name).map(|document| document.rules[0].kind);
        assert_eq!(kind_of("partial-wave"), Some("cause"));
        assert_eq!(kind_of("small-copies"), Some("program"));
        assert_eq!(kind_of("no-such-rule"), None);
        assert!(shared().rules.is_empty() && !shared().numbers.is_empty());
    }
}
