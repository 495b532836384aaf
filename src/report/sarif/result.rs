//! A finding as a SARIF result.

use serde_json::{Value, json};

use super::fingerprint;
use crate::document::{CallSite, Document, LaunchReport, ProgramFinding, RankedFinding};
use crate::finding::{Estimate, LEAST_GAIN, Location};
use crate::report::words::call_site::call_site;
use crate::report::words::number::estimate;
use crate::text::{percent, printable, uri};

/// A fault that costs as much again as the rest of the kernel is an error to code scanning, which may stop a merge;
/// a smaller one is a warning, and what is worth nothing a note.
const SEVERE: f64 = 2.0;

/// The results of a document, each with its fingerprint.
pub(super) fn of_document(document: &Document) -> (Vec<Value>, Vec<String>) {
    let around = document.program.iter().flat_map(|program| &program.findings);
    let around =
        around.map(|finding| (of_program(finding), fingerprint::of(&finding.rule, "", None)));
    let of_launch = |(index, launch): (usize, &LaunchReport)| -> Vec<(Value, String)> {
        let finding = |finding: &RankedFinding| {
            let place = finding.locations.first();
            let fingerprint = fingerprint::of(&finding.rule, &launch.kernel, place);
            (result(document, index, launch, finding), fingerprint)
        };
        launch.findings.iter().map(finding).collect()
    };
    let launches = document.launches.iter().enumerate().flat_map(of_launch);
    around.chain(launches).unzip()
}

/// What lies around the kernels is in the program's own code, where it is known at all.
fn of_program(finding: &ProgramFinding) -> Value {
    let gain = finding.estimated_speedup;
    let message = format!(
        "{} {} Worth {} of the whole program.",
        finding.message,
        finding.hint,
        estimate(&gain)
    );
    let mut result = json!({
        "ruleId": finding.rule,
        "level": level(Some(&gain)),
        "rank": rank(Some(&gain)),
        "message": { "text": message },
        "properties": { "findingRank": finding.rank, "estimatedSpeedup": gain },
    });
    if let Some(site) = finding.sites.first() {
        result["message"]["text"] = json!(format!("{message} Called {}.", call_site(site)));
        result["locations"] = json!([called_at(site)]);
    }
    result
}

fn called_at(site: &CallSite) -> Value {
    let physical = site.location().as_ref().and_then(location);
    let mut place = physical.unwrap_or_else(|| json!({}));
    let name = site.function.as_ref().unwrap_or(&site.module);
    let kind = if site.function.is_some() { "function" } else { "module" };
    place["logicalLocations"] = json!([{ "fullyQualifiedName": printable(name), "kind": kind }]);
    place
}

fn result(
    document: &Document,
    index: usize,
    launch: &LaunchReport,
    finding: &RankedFinding,
) -> Value {
    let gain = finding.estimated_speedup;
    let worth = gain.map(|gain| format!(" Worth {}.", estimate(&gain))).unwrap_or_default();
    let mut result = json!({
        "ruleId": finding.rule,
        "level": level(gain.as_ref()),
        "rank": rank(gain.as_ref()),
        "message": { "text": format!("{} {}{worth}", finding.message, finding.hint) },
        "properties": {
            "kernel": launch.kernel,
            "launch": index,
            "findingRank": finding.rank,
            "estimatedSpeedup": gain,
        },
    });
    if let Some(step) = &document.step {
        result["properties"]["step"] = json!(format!("{}/{}", step.ladder, step.name));
    }
    let mut locations =
        finding.locations.iter().filter_map(|place| Some((place, location(place)?)));
    // A result is shown at its first location; the others belong to it.
    let mut first = locations.next().map_or_else(|| json!({}), |(_, value)| value);
    first["logicalLocations"] =
        json!([{ "fullyQualifiedName": launch.kernel, "kind": "function" }]);
    result["locations"] = json!([first]);
    let related: Vec<Value> = locations
        .enumerate()
        .map(|(at, (place, mut value))| {
            value["id"] = json!(at);
            let share = format!("{} of {}", percent(place.share), printable(&place.share_of));
            value["message"] = json!({ "text": share });
            value
        })
        .collect();
    if !related.is_empty() {
        result["relatedLocations"] = json!(related);
    }
    result
}

/// A finding of the baseline that is gone: what it was, and of which kernel.
pub(super) fn absent(result: &Value) -> Value {
    let rule = result["ruleId"].as_str().unwrap_or_default();
    let checks = crate::rules::find(rule)
        .map(|rule| rule.summary)
        .or_else(|| crate::around::find(rule).map(|rule| rule.checks));
    let text = checks.map_or_else(|| rule.to_owned(), |checks| format!("{rule}: {checks}"));
    let mut absent = json!({
        "ruleId": rule,
        "level": "note",
        "baselineState": "absent",
        "message": { "text": text },
    });
    let kernel = &result["properties"]["kernel"];
    if kernel.is_string() {
        absent["properties"] = json!({ "kernel": kernel });
        absent["locations"] =
            json!([{ "logicalLocations": [{ "fullyQualifiedName": kernel, "kind": "function" }] }]);
    }
    absent
}

/// SARIF's level, by what there is to gain.
fn level(gain: Option<&Estimate>) -> &'static str {
    match gain.map_or(1.0, |gain| gain.factor) {
        factor if factor >= SEVERE => "error",
        factor if factor >= LEAST_GAIN => "warning",
        _ => "note",
    }
}

/// SARIF's rank runs from 0 to 100, the most important highest: the share of the time to be saved.
fn rank(gain: Option<&Estimate>) -> f64 {
    gain.map_or(0.0, |gain| gain.percent_saved().clamp(0.0, 100.0))
}

pub(super) fn location(location: &Location) -> Option<Value> {
    if location.file.is_empty() {
        return None;
    }
    let mut place = json!({ "artifactLocation": { "uri": uri(&location.file) } });
    // Lines count from 1; 0 is no line.
    if location.line > 0 {
        place["region"] = json!({ "startLine": location.line });
        if !location.text.is_empty() {
            place["region"]["snippet"] = json!({ "text": location.text });
        }
    }
    Some(json!({ "physicalLocation": place }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    fn gain(factor: f64) -> Estimate {
        Estimate { factor, low: factor, high: factor }
    }

    #[test]
    fn the_level_follows_the_gain() {
        let of = |factor: f64| level(Some(&gain(factor)));
        assert_eq!([of(1.0), of(1.049), of(1.05)], ["note", "note", "warning"]);
        assert_eq!([of(1.99), of(2.0), of(9.0)], ["warning", "error", "error"]);
        assert_eq!(level(None), "note");
        // Half of the time, and nine tenths.
        assert!((rank(Some(&gain(2.0))) - 50.0).abs() < 1e-9);
        assert!((rank(Some(&gain(10.0))) - 90.0).abs() < 1e-9);
    }

    #[test]
    fn places_without_a_line_have_no_region() {
        let place = Location { file: "a b.cu".to_owned(), line: 0, ..samples::location() };
        let value = location(&place).expect("a file");
        let place = &value["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "a%20b.cu");
        assert!(place.get("region").is_none());
    }

    #[test]
    fn further_lines_are_related() {
        let mut document = samples::recorded_step();
        let finding = &mut document.launches[0].findings[0];
        let second = Location { line: 31, share: 0.11, ..samples::location() };
        finding.locations = vec![samples::location(), second];
        let (results, _) = of_document(&document);
        assert_eq!(results[0]["locations"].as_array().map(Vec::len), Some(1));
        let related = &results[0]["relatedLocations"][0];
        assert_eq!(related["physicalLocation"]["region"]["startLine"], 31);
        assert!(related["message"]["text"].as_str().unwrap().starts_with("11% of "));
        let kernel = &results[0]["locations"][0]["logicalLocations"][0]["fullyQualifiedName"];
        assert_eq!(*kernel, document.launches[0].kernel.as_str());
    }
}
