//! A comparison with its gates.

use super::{diff, location};
use crate::gate::{
    CheckDocument, Comparison, GateOutcome, Interval, Margin, Outcome, Place, Timed, Verdict,
};
use crate::timing::Timing;

/// A check that failed: the candidate is slower, and one of two gates failed.
pub(crate) fn check() -> CheckDocument {
    let mut check = CheckDocument::new("v2".to_owned(), "v3".to_owned(), Timed::InTurn);
    check.comparison = Some(Comparison {
        verdict: Verdict::Slower,
        time: Interval { ratio: 1.021, low: 1.019, high: 1.023, confidence: 0.995 },
        cycles: None,
        margin: Margin { max_slowdown: 0.005, noise: 0.001, timer: 0.0, between_runs: 0.0 },
        scatter: 0.01,
        clock_hz: Some(1.98e9),
        clock_moved: Some(0.002),
        runs: 160,
        looks: 1,
        seed: 1,
    });
    check.base_ns = Some(Timing { median: 1e7, low: 0.99e7, high: 1.01e7, n: 160 });
    check.new_ns = Some(Timing { median: 1.021e7, low: 1.01e7, high: 1.03e7, n: 160 });
    let gate = |gate: &str, outcome, seen: &[&str]| GateOutcome {
        gate: gate.to_owned(),
        outcome,
        seen: seen.iter().map(|text| (*text).to_owned()).collect(),
        place: None,
    };
    check.gates = vec![
        gate(
            "metric:dram__bytes.sum>+10%",
            Outcome::Failed,
            &["dram__bytes.sum is 120, 100 before: above 110"],
        ),
        gate("rule:partial-wave", Outcome::Passed, &[]),
    ];
    check.cause = Some(diff());
    check.places = vec![Place {
        rule: "uncoalesced-global-access".to_owned(),
        message: "More sectors move than the addresses need.".to_owned(),
        place: location(),
    }];
    check.conclude();
    check
}
