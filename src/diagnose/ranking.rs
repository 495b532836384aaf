//! Why the findings stand in their order: what limits the launch now, what would without the first
//! fault, and what would after that.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::thresholds::LEAST_CHANGE;
use crate::model::{Effect, Model};

/// One row of the explanation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankingStep {
    /// The fault that goes here, beside those of the rows above; `None` for the launch as it is.
    pub without: Option<String>,
    /// The time then, as a share of the present time.
    pub time: f64,
    /// What limits the launch then: a unit, latency, or SMs without blocks.
    pub limited_by: String,
    /// The share of that time for which it does.
    pub share: f64,
}

/// The launch as it is, then with one fault after the other taken away, in the order of the
/// findings. Faults that would change nothing at their turn have no row.
pub(super) fn ranking<'a>(
    model: &Model,
    faults: impl IntoIterator<Item = (&'a str, &'a Effect)>,
) -> Vec<RankingStep> {
    let mut rows: Vec<RankingStep> = Vec::new();
    let mut gone = Effect::default();
    let add = |without: Option<&str>, effect: &Effect, rows: &mut Vec<RankingStep>| {
        let Some(next) = model.next_limit(effect) else { return false };
        let changes =
            rows.last().is_none_or(|last| next.time < last.time * (1.0 - LEAST_CHANGE.value));
        if changes {
            rows.push(RankingStep {
                without: without.map(str::to_owned),
                time: next.time,
                limited_by: next.limit.title().to_owned(),
                share: next.share,
            });
        }
        changes
    };
    add(None, &gone, &mut rows);
    for (rule, effect) in faults {
        let both = gone.and(effect);
        if add(Some(rule), &both, &mut rows) {
            gone = both;
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;
    use crate::term::Term;

    #[test]
    fn each_row_takes_one_more_fault_away() {
        let mut launch = Launch::default();
        for (name, value) in [
            ("l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed", 80.0),
            ("sm__issue_active.avg.pct_of_peak_sustained_elapsed", 50.0),
        ] {
            launch.set(name, Some(value));
        }
        let (l1, issue) = (Effect::on(Term::L1Data, 0.5), Effect::on(Term::Issue, 0.5));
        let none = Effect::on(Term::Fma, 0.5);
        let rows = ranking(&Model::new(&launch), [("a", &l1), ("nothing", &none), ("b", &issue)]);
        let told: Vec<(Option<&str>, &str)> =
            rows.iter().map(|row| (row.without.as_deref(), row.limited_by.as_str())).collect();
        assert_eq!(
            told,
            [(None, "L1 data pipe"), (Some("a"), "issue slots"), (Some("b"), "L1 data pipe")]
        );
        // 0.5 + 0.2 latency, then 0.4 + 0.2.
        assert!((rows[1].time - 0.7).abs() < 1e-9 && (rows[2].time - 0.6).abs() < 1e-9);
    }
}
