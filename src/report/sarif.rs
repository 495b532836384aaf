//! Findings as SARIF 2.1.0, for code scanning: the least that is valid, and the estimate as a
//! property.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::format::Renderer;
use super::{Content, Style};
use crate::document::Diff;
use crate::document::{Document, LaunchReport, RankedFinding, RunDocument};
use crate::finding::{LEAST_GAIN, Location};
use crate::report::json::write;
use crate::report::words::number::estimate;
use crate::text::uri;

/// The form.
pub(super) struct Form;

/// Why tables have no place in it.
const REFUSAL: &str = "SARIF holds findings";

impl Renderer for Form {
    fn name(&self) -> &'static str {
        "sarif"
    }

    fn purpose(&self) -> &'static str {
        "Findings for code scanning (SARIF 2.1.0)"
    }

    fn refuses_tables(&self) -> Option<&'static str> {
        Some(REFUSAL)
    }

    fn one(&self, content: Content<'_>, _: Style, out: &mut dyn Write) -> io::Result<()> {
        match content {
            Content::Document(of) => write(&document(of), out),
            Content::Run(of) => write(&run(of), out),
            Content::Diff(of) => write(&diff(of), out),
            Content::Sweep(_) | Content::Limiter(_) | Content::Bench(_) | Content::Ledger(_) => {
                Err(io::Error::new(io::ErrorKind::Unsupported, REFUSAL))
            }
        }
    }

    fn several(
        &self,
        profiles: &[(String, Document)],
        _: Style,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        write(&documents(profiles), out)
    }
}

/// The findings of a document.
fn document(document: &Document) -> Value {
    log(of_document(document))
}

/// The findings of several profiles, each result with its profile's name.
fn documents(documents: &[(String, Document)]) -> Value {
    let of_profile = |(name, document): &(String, Document)| {
        let mut results = of_document(document);
        for result in &mut results {
            result["properties"]["profile"] = json!(name);
        }
        results
    };
    log(documents.iter().flat_map(of_profile).collect())
}

/// The findings of all steps.
fn run(run: &RunDocument) -> Value {
    log(run.steps.iter().flat_map(of_document).collect())
}

/// The findings of both profiles, each with its baseline state; a diff knows no lines.
fn diff(diff: &Diff) -> Value {
    let states = [(&diff.come, "new"), (&diff.kept, "unchanged"), (&diff.gone, "absent")];
    let results = states.iter().flat_map(|(rules, state)| {
        rules.iter().map(move |rule| {
            let level = if *state == "new" { "warning" } else { "note" };
            let summary = crate::rules::find(rule).map_or("", |rule| rule.summary);
            let text = if summary.is_empty() { rule.clone() } else { format!("{rule}: {summary}") };
            json!({
                "ruleId": rule,
                "level": level,
                "baselineState": state,
                "message": { "text": text },
            })
        })
    });
    log(results.collect())
}

fn of_document(document: &Document) -> Vec<Value> {
    let of_launch = |(index, launch): (usize, &LaunchReport)| -> Vec<Value> {
        launch.findings.iter().map(|finding| result(document, index, launch, finding)).collect()
    };
    document.launches.iter().enumerate().flat_map(of_launch).collect()
}

fn result(
    document: &Document,
    index: usize,
    launch: &LaunchReport,
    finding: &RankedFinding,
) -> Value {
    let gain = finding.estimated_speedup;
    let warns = gain.is_some_and(|gain| gain.factor >= LEAST_GAIN);
    let worth = gain.map(|gain| format!(" Worth {}.", estimate(&gain))).unwrap_or_default();
    let mut result = json!({
        "ruleId": finding.rule,
        "level": if warns { "warning" } else { "note" },
        "rank": rank(finding),
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
    let locations: Vec<Value> = finding.locations.iter().filter_map(location).collect();
    if !locations.is_empty() {
        result["locations"] = json!(locations);
    }
    result
}

/// SARIF's rank runs from 0 to 100, the most important highest: the share of the time to be saved.
fn rank(finding: &RankedFinding) -> f64 {
    finding.estimated_speedup.map_or(0.0, |gain| gain.percent_saved().clamp(0.0, 100.0))
}

fn location(location: &Location) -> Option<Value> {
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

fn log(mut results: Vec<Value>) -> Value {
    let mut ids: Vec<String> = Vec::new();
    for result in &mut results {
        let id = result["ruleId"].as_str().unwrap_or_default().to_owned();
        let index = ids.iter().position(|known| *known == id).unwrap_or_else(|| {
            ids.push(id);
            ids.len() - 1
        });
        result["ruleIndex"] = json!(index);
    }
    let rules: Vec<Value> = ids.iter().map(|id| descriptor(id)).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "adoprof",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "results": results,
        }],
    })
}

fn descriptor(id: &str) -> Value {
    // SARIF's list of rules is the rules' own texts, which no document repeats.
    match crate::rules::find(id) {
        Some(rule) => json!({
            "id": id,
            "shortDescription": { "text": rule.summary },
            "fullDescription": { "text": rule.explanation },
            "help": { "text": rule.explanation, "markdown": crate::explain::help(rule) },
        }),
        None => json!({ "id": id }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn a_finding_has_its_line_and_estimate() {
        let log = document(&samples::recorded_step());
        assert_eq!(log["version"], "2.1.0");
        let run = &log["runs"][0];
        let result = &run["results"][0];
        assert_eq!(result["ruleId"], "uncoalesced-global-access");
        assert_eq!(result["level"], "warning");
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "kernels/ado/v2.cu");
        assert_eq!(place["region"]["startLine"], 23);
        assert_eq!(result["properties"]["estimatedSpeedup"]["factor"], 1.8);
        let index = result["ruleIndex"].as_u64().expect("an index") as usize;
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
    }

    #[test]
    fn a_roof_is_a_note() {
        let run = samples::run();
        let log = super::run(&run);
        let results = log["runs"][0]["results"].as_array().expect("results");
        let roof = results.iter().find(|result| result["ruleId"] == "at-memory-roof");
        assert_eq!(roof.expect("a roof")["level"], "note");
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
    fn a_diff_gives_baseline_states() {
        let log = diff(&samples::diff());
        let results = log["runs"][0]["results"].as_array().expect("results");
        let states: Vec<_> =
            results.iter().map(|result| (&result["ruleId"], &result["baselineState"])).collect();
        assert_eq!(states[0], (&json!("at-memory-roof"), &json!("new")));
        assert!(states.contains(&(&json!("uncoalesced-global-access"), &json!("absent"))));
    }
}
