//! How right each rule was, and its estimates corrected by that.
//!
//! Of a measured hint, the residual is ln(gain / estimate). A rule's bias is the geometric mean of
//! measured over estimated, its spread the factor of one standard deviation about it. Corrected,
//! an estimate e becomes e·bias, and its range the one that holds the next gain four times in five if
//! residuals are normally distributed: e·bias·spread^±(t·√(1 + 1/n)), with Student's t of n − 1
//! degrees of freedom. Nothing is corrected to a loss.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::entry::{Hint, Line, Outcome, version_of};
use crate::finding::Estimate;
use crate::rules;

/// So many measured hints of a rule are the least that correct it: with fewer, the range of the next
/// gain by Student's t is wider than any estimate's own.
pub(crate) const LEAST_HINTS: usize = 5;

/// A hint with what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// The hint.
    #[serde(flatten)]
    pub hint: Hint,
    /// What came of it; where several profiles measured it, the last one whose gain counts.
    pub outcome: Option<Outcome>,
    /// True for a hint of a shipped recording.
    pub shipped: bool,
}

/// What the ledger says of one rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RuleRecord {
    /// The rule.
    pub rule: String,
    /// Hints given.
    pub hints: usize,
    /// Hints whose gain was measured and counts.
    pub measured: usize,
    /// Of these, those of another version of the rule, which correct nothing.
    pub of_other_versions: usize,
    /// Of the measured ones, those whose finding went away.
    pub gone: usize,
    /// The share of them whose range held the gain, 0 to 1; `None` without any.
    pub hit_rate: Option<f64>,
    /// The geometric mean of measured over estimated; `None` without any.
    pub bias: Option<f64>,
    /// The factor of one standard deviation about the bias; `None` with fewer than two.
    pub spread: Option<f64>,
}

/// Joins lines: each hint with its outcomes, a fault of the same thing once, by its last measured
/// hint.
#[must_use]
pub(crate) fn records(lines: Vec<Line>, shipped: bool) -> Vec<Record> {
    let mut outcomes: BTreeMap<String, Outcome> = BTreeMap::new();
    let mut hints: Vec<Hint> = Vec::new();
    for line in lines {
        match line {
            Line::Hint(hint) => hints.push(hint),
            Line::Outcome(outcome) => {
                let better = outcomes.get(&outcome.of).is_none_or(|known| {
                    (outcome.counts, &outcome.date) >= (known.counts, &known.date)
                });
                if better {
                    outcomes.insert(outcome.of.clone(), outcome);
                }
            }
        }
    }
    let mut records: Vec<Record> = Vec::new();
    let mut places: BTreeMap<_, usize> = BTreeMap::new();
    for hint in hints {
        let outcome = outcomes.get(&hint.id).cloned();
        let record = Record { hint, outcome, shipped };
        match places.get(&record.hint.case()) {
            // A later profile of the same thing replaces it, unless only the former was measured.
            Some(&at) if records[at].outcome.is_some() && record.outcome.is_none() => {}
            Some(&at) => records[at] = record,
            None => {
                places.insert(record.hint.case(), records.len());
                records.push(record);
            }
        }
    }
    records
}

impl Record {
    /// The measured gain, where it is this fault's.
    #[must_use]
    pub fn gain(&self) -> Option<f64> {
        let sound = |gain: &f64| gain.is_finite() && *gain > 0.0;
        self.outcome
            .as_ref()
            .filter(|outcome| outcome.counts)
            .map(|outcome| outcome.gain)
            .filter(sound)
    }

    /// Whether the promised range held the gain.
    #[must_use]
    pub fn held(&self) -> Option<bool> {
        let range = self.hint.estimate;
        self.gain().map(|gain| (range.low..=range.high).contains(&gain))
    }

    /// ln(gain / estimate).
    fn residual(&self) -> Option<f64> {
        Some((self.gain()? / self.hint.estimate.factor).ln())
            .filter(|residual| residual.is_finite())
    }

    fn is_current(&self) -> bool {
        version_of(&self.hint.rule).is_some_and(|version| version == self.hint.version)
    }
}

/// What the records say of each rule that they name, in the registry's order; rules that are no more
/// come last.
#[must_use]
pub(crate) fn by_rule(records: &[Record]) -> Vec<RuleRecord> {
    let place = |name: &str| {
        rules::RULES.iter().position(|rule| rule.name == name).unwrap_or(rules::RULES.len())
    };
    // No frame: these are records with optional parts, a few hundred at most, and what is asked of a group
    // is of its records and not of columns.
    let mut by_name: BTreeMap<(usize, &str), Vec<&Record>> = BTreeMap::new();
    for record in records {
        let rule = record.hint.rule.as_str();
        by_name.entry((place(rule), rule)).or_default().push(record);
    }
    by_name.into_iter().map(|((_, rule), records)| of_rule(rule, &records)).collect()
}

fn of_rule(rule: &str, records: &[&Record]) -> RuleRecord {
    let measured: Vec<&Record> =
        records.iter().copied().filter(|record| record.residual().is_some()).collect();
    let residuals: Vec<f64> = measured.iter().filter_map(|record| record.residual()).collect();
    let held = measured.iter().filter(|record| record.held() == Some(true)).count();
    let gone = |record: &&&Record| record.outcome.as_ref().is_some_and(|outcome| outcome.gone);
    RuleRecord {
        rule: rule.to_owned(),
        hints: records.len(),
        measured: measured.len(),
        of_other_versions: measured.iter().filter(|record| !record.is_current()).count(),
        gone: measured.iter().filter(gone).count(),
        hit_rate: (!measured.is_empty()).then(|| held as f64 / measured.len() as f64),
        bias: mean(&residuals).map(f64::exp),
        spread: deviation(&residuals).map(f64::exp),
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The standard deviation of a sample.
fn deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|_| values.len() > 1)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// The corrections of all rules that have enough measured hints.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Calibration {
    rules: BTreeMap<String, Correction>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Correction {
    measured: usize,
    log_bias: f64,
    log_deviation: f64,
}

impl Calibration {
    /// The calibration that records give: of the present versions of the rules alone.
    #[must_use]
    pub(crate) fn new(records: &[Record]) -> Self {
        let mut residuals: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for record in records.iter().filter(|record| record.is_current()) {
            if let Some(residual) = record.residual() {
                residuals.entry(&record.hint.rule).or_default().push(residual);
            }
        }
        let rules = residuals
            .into_iter()
            .filter(|(_, residuals)| residuals.len() >= LEAST_HINTS)
            .filter_map(|(rule, residuals)| {
                let correction = Correction {
                    measured: residuals.len(),
                    log_bias: mean(&residuals)?,
                    log_deviation: deviation(&residuals)?,
                };
                Some((rule.to_owned(), correction))
            })
            .collect();
        Self { rules }
    }

    /// The number of measured hints behind a rule's correction; `None` where it has none.
    #[must_use]
    pub(crate) fn measured(&self, rule: &str) -> Option<usize> {
        self.rules.get(rule).map(|correction| correction.measured)
    }

    /// An estimate corrected; `None` where the rule has too few measured hints.
    #[must_use]
    pub(crate) fn correct(&self, rule: &str, estimate: &Estimate) -> Option<Estimate> {
        let correction = self.rules.get(rule)?;
        let n = correction.measured as f64;
        let centre = estimate.factor.ln() + correction.log_bias;
        let reach = student_t(n - 1.0) * correction.log_deviation * (1.0 + 1.0 / n).sqrt();
        let at_least_one = |log: f64| log.exp().max(1.0);
        Some(Estimate {
            factor: at_least_one(centre),
            low: at_least_one(centre - reach),
            high: at_least_one(centre + reach),
        })
    }
}

/// Student's t that 90% of the distribution stay below, by its expansion about the normal quantile
/// (Abramowitz & Stegun 26.7.5): within 0.3% from 4 degrees of freedom on.
fn student_t(degrees: f64) -> f64 {
    // The normal quantile of 0.9.
    const Z: f64 = 1.281_551_565_5;
    let first = (Z.powi(3) + Z) / 4.0;
    let second = (5.0 * Z.powi(5) + 16.0 * Z.powi(3) + 3.0 * Z) / 96.0;
    Z + first / degrees + second / degrees.powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::tests::{hint, outcome};

    fn measured(gains: &[f64]) -> Vec<Record> {
        let mut lines = Vec::new();
        for (at, gain) in gains.iter().enumerate() {
            let hint = hint(&format!("s{at}"), "shared-bank-conflicts", 2.0);
            lines.push(Line::Outcome(outcome(&hint, *gain)));
            lines.push(Line::Hint(hint));
        }
        records(lines, false)
    }

    #[test]
    fn quantiles_of_student_are_the_tables() {
        // 90% one-sided: 4 degrees 1.533, 9 degrees 1.383, 30 degrees 1.310.
        for (degrees, t) in [(4.0, 1.533), (9.0, 1.383), (30.0, 1.310)] {
            assert!((student_t(degrees) / t - 1.0).abs() < 0.004, "{degrees}");
        }
    }

    #[test]
    fn bias_is_the_geometric_mean_of_measured_over_estimated() {
        // Estimates of 2, range 1.5 to 2.5: 1 and 4 miss; the mean of ln(1/2) and ln 2 is 0.
        let rule = &by_rule(&measured(&[1.0, 4.0]))[0];
        assert_eq!((rule.hints, rule.measured, rule.gone), (2, 2, 2));
        assert_eq!(rule.hit_rate, Some(0.0));
        assert!((rule.bias.unwrap() - 1.0).abs() < 1e-12);
        // The deviation of −ln 2 and ln 2 is √2·ln 2.
        assert!((rule.spread.unwrap() - 2.0_f64.powf(2.0_f64.sqrt())).abs() < 1e-12);
        let one = &by_rule(&measured(&[2.4]))[0];
        assert_eq!((one.hit_rate, one.spread), (Some(1.0), None));
        assert!((one.bias.unwrap() - 1.2).abs() < 1e-12);
    }

    #[test]
    fn four_hints_correct_nothing_and_five_do() {
        let estimate = Estimate { factor: 3.0, low: 2.0, high: 5.0 };
        let four = Calibration::new(&measured(&[1.0, 1.0, 1.0, 1.0]));
        assert_eq!(four.correct("shared-bank-conflicts", &estimate), None);
        let five = Calibration::new(&measured(&[1.0; 5]));
        assert_eq!(five.measured("shared-bank-conflicts"), Some(5));
        let corrected = five.correct("shared-bank-conflicts", &estimate).unwrap();
        // Always half of the promise, without any spread.
        assert!((corrected.factor - 1.5).abs() < 1e-12 && (corrected.high - 1.5).abs() < 1e-12);
        assert_eq!(five.correct("thread-divergence", &estimate), None);
        let small = Estimate { factor: 1.2, low: 1.1, high: 1.3 };
        let corrected = five.correct("shared-bank-conflicts", &small).unwrap();
        assert_eq!(corrected, Estimate { factor: 1.0, low: 1.0, high: 1.0 }, "never a loss");
    }

    #[test]
    fn other_versions_are_shown_and_correct_nothing() {
        let mut old = measured(&[1.0; 5]);
        old[0].hint.version = "000000000000".to_owned();
        assert_eq!(by_rule(&old)[0].of_other_versions, 1);
        assert_eq!(Calibration::new(&old), Calibration::default());
    }

    #[test]
    fn a_fault_of_the_same_thing_counts_once() {
        let first = hint("s", "shared-bank-conflicts", 2.0);
        let mut again = first.clone();
        again.id = "again".to_owned();
        again.estimate.factor = 2.2;
        let known = Line::Outcome(outcome(&first, 2.0));
        let lines = vec![Line::Hint(first.clone()), known.clone(), Line::Hint(again.clone())];
        let joined = records(lines, false);
        assert_eq!((joined.len(), joined[0].gain()), (1, Some(2.0)), "only the first was measured");
        let both = vec![
            Line::Hint(first),
            known,
            Line::Hint(again.clone()),
            Line::Outcome(outcome(&again, 3.0)),
        ];
        assert_eq!(records(both, false)[0].gain(), Some(3.0));
    }

    #[test]
    fn a_gain_that_is_another_faults_counts_not() {
        let hint = hint("s", "shared-bank-conflicts", 2.0);
        let mut shared = outcome(&hint, 9.0);
        shared.counts = false;
        let joined = records(vec![Line::Hint(hint), Line::Outcome(shared)], false);
        assert_eq!(joined[0].gain(), None);
        assert_eq!(by_rule(&joined)[0].measured, 0);
    }
}
