//! A check as SARIF.

use serde_json::{Value, json};

use super::fingerprint;
use super::result::location;
use crate::gate::{CheckDocument, Outcome, Timed, Verdict};
use crate::report::words::check::{gate, headline};

/// What failed a check: the time, gates, and findings that came. The time and gates are no rules of ours.
pub(super) fn log(check: &CheckDocument) -> Value {
    let mut log = super::log(&[], results(check).into_iter().unzip());
    let notices = super::notifications(&check.notices);
    log["runs"][0]["invocations"][0]["toolExecutionNotifications"] = notices;
    log
}

/// The results with their fingerprints, which the numbers are no part of.
fn results(check: &CheckDocument) -> Vec<(Value, String)> {
    let mut results = Vec::new();
    let is_open = matches!(check.verdict, Verdict::Slower | Verdict::Undecided);
    if check.timed != Timed::NotAtAll && is_open || check.is_refused() {
        let is_slower = check.verdict == Verdict::Slower && !check.is_refused();
        let rule = if is_slower { "slower-than-baseline" } else { "undecided" };
        let mut result = json!({
            "ruleId": rule,
            "level": if is_slower { "error" } else { "warning" },
            "message": { "text": headline(check) },
        });
        let place = check.places.first().and_then(|one| location(&one.place));
        if let Some(place) = place.filter(|_| is_slower) {
            result["locations"] = json!([place]);
        }
        results.push((result, fingerprint::of(rule, &check.new, None)));
    }
    for one in check.gates.iter().filter(|one| one.outcome != Outcome::Passed) {
        let mut result = json!({
            "ruleId": "gate",
            "level": if one.outcome == Outcome::Failed { "error" } else { "warning" },
            "message": { "text": gate(one) },
        });
        if let Some(place) = one.place.as_ref().and_then(location) {
            result["locations"] = json!([place]);
        }
        results.push((result, fingerprint::of("gate", &one.gate, one.place.as_ref())));
    }
    for one in &check.places {
        let result = json!({
            "ruleId": one.rule,
            "level": "warning",
            "baselineState": "new",
            "message": { "text": one.message },
            "locations": location(&one.place).into_iter().collect::<Vec<_>>(),
        });
        results.push((result, fingerprint::of(&one.rule, &check.new, Some(&one.place))));
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn a_slower_candidate_a_gate_and_what_came_are_results() {
        let log = log(&samples::check());
        let results = log["runs"][0]["results"].as_array().unwrap();
        let rules: Vec<&str> = results.iter().map(|one| one["ruleId"].as_str().unwrap()).collect();
        assert_eq!(rules, ["slower-than-baseline", "gate", "uncoalesced-global-access"]);
        assert_eq!(
            (&results[0]["level"], &results[1]["level"]),
            (&json!("error"), &json!("error"))
        );
        let place = &results[0]["locations"][0]["physicalLocation"];
        assert_eq!(place["region"]["startLine"], 23);
        assert!(results.iter().all(|one| one["partialFingerprints"]["adoprof/v1"].is_string()));
    }
}
