//! What ncu is asked for beyond the level, so that there is something to judge gates on metrics by.

use crate::gate::{FailOn, GateOutcome, Outcome};
use crate::metric::{DRAM_BYTES, DRAM_BYTES_PARTS};
use crate::ncu::Level;

/// The user's arguments for ncu, with the gates' metrics where the level leaves them out.
pub(super) fn ncu_args(gates: &[FailOn], given: Option<&str>) -> Option<String> {
    let mut metrics: Vec<&str> = Vec::new();
    for name in gates.iter().filter_map(FailOn::metric) {
        if !is_collected(name) && !metrics.contains(&name) {
            metrics.push(name);
        }
    }
    let more = (!metrics.is_empty())
        .then(|| format!("--metrics {}", shell_words::quote(&metrics.join(","))));
    match (given, more) {
        (Some(given), Some(more)) => Some(format!("{given} {more}")),
        (given, more) => more.or_else(|| given.map(str::to_owned)),
    }
}

/// True for a metric that the level of a check's profiles collects, or all that it is the sum of.
fn is_collected(name: &str) -> bool {
    let collects = |name: &str| Level::Auto.collects(name);
    collects(name) || name == DRAM_BYTES && DRAM_BYTES_PARTS.into_iter().all(collects)
}

/// The metrics of gates that could not be judged.
fn missing<'a>(gates: &'a [FailOn], outcomes: &[GateOutcome]) -> Vec<&'a str> {
    let judged = gates.iter().zip(outcomes);
    let unknown = judged.filter(|(_, outcome)| outcome.outcome == Outcome::Unknown);
    unknown.filter_map(|(gate, _)| gate.metric()).collect()
}

/// What it means that ncu was asked for a metric and gave none.
pub(super) fn refused(gates: &[FailOn], outcomes: &[GateOutcome]) -> Option<String> {
    let missing = missing(gates, outcomes);
    (!missing.is_empty()).then(|| {
        format!(
            "ncu was asked for {} and gave no value; `ncu --query-metrics` lists the names that this GPU has",
            missing.join(", ")
        )
    })
}

/// How to get the metrics that gates asked for in vain.
pub(super) fn remedy(gates: &[FailOn], outcomes: &[GateOutcome]) -> Option<String> {
    let missing = missing(gates, outcomes);
    (!missing.is_empty()).then(|| {
        let metrics = format!("--metrics {}", shell_words::quote(&missing.join(",")));
        format!(
            "`adoprof step` and `adoprof profile` collect metrics that a profile lacks with --ncu-args {}",
            shell_words::quote(&metrics)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gates(texts: &[&str]) -> Vec<FailOn> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn only_what_the_level_leaves_out_is_asked_for() {
        // The model needs the first three anyway, the second as the sum of two.
        let known = gates(&[
            "metric:gpu__time_duration.sum>1",
            "metric:dram__bytes.sum>+10%",
            "metric:dram__bytes_op_read.sum>1",
            "rule:partial-wave",
        ]);
        assert_eq!(ncu_args(&known, None), None);
        assert_eq!(ncu_args(&known, Some("--nvtx")).as_deref(), Some("--nvtx"));
        let further =
            gates(&["metric:sm__inst_x.sum>1", "metric:sm__inst_x.sum<9", "metric:y z>1"]);
        let expected = "--metrics 'sm__inst_x.sum,y z'";
        assert_eq!(ncu_args(&further, None).as_deref(), Some(expected));
        let both = ncu_args(&further, Some("--nvtx")).unwrap();
        assert_eq!(both, format!("--nvtx {expected}"));
        let words = crate::ncu::arguments::split(&both).unwrap();
        assert_eq!(words, ["--nvtx", "--metrics", "sm__inst_x.sum,y z"]);
    }
}
