//! Findings as SARIF 2.1.0, for code scanning: each with its level by what there is to gain, its lines, a
//! fingerprint that stays where lines move, and its rule's help.

mod check;
mod fingerprint;
mod result;
mod rule;

use std::io::{self, Write};

use serde_json::{Value, json};

use super::format::Renderer;
use super::{Content, Style};
use crate::document::Diff;
use crate::document::{Document, RunDocument};
use crate::report::json::write;

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

    fn holds_notices(&self) -> bool {
        true
    }

    fn one(&self, content: Content<'_>, _: Style, out: &mut dyn Write) -> io::Result<()> {
        match content {
            Content::Document(of) => write(&document(of), out),
            Content::Run(of) => write(&run(of), out),
            Content::Diff(of) => write(&diff(of), out),
            Content::Check(of) => write(&check::log(of), out),
            Content::Sweep(_)
            | Content::Limiter(_)
            | Content::Bench(_)
            | Content::Ledger(_)
            | Content::History(_) => Err(io::Error::new(io::ErrorKind::Unsupported, REFUSAL)),
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
    log(&[document], result::of_document(document))
}

/// The findings of several profiles, each result with its profile's name.
fn documents(documents: &[(String, Document)]) -> Value {
    let (mut results, mut fingerprints) = (Vec::new(), Vec::new());
    for (name, document) in documents {
        let (mut theirs, prints) = result::of_document(document);
        for result in &mut theirs {
            result["properties"]["profile"] = json!(name);
        }
        results.extend(theirs);
        fingerprints.extend(prints);
    }
    let of: Vec<&Document> = documents.iter().map(|(_, document)| document).collect();
    log(&of, (results, fingerprints))
}

/// The findings of all steps.
fn run(run: &RunDocument) -> Value {
    let (mut results, mut fingerprints) = (Vec::new(), Vec::new());
    for (theirs, prints) in run.steps.iter().map(result::of_document) {
        results.extend(theirs);
        fingerprints.extend(prints);
    }
    log(&run.steps.iter().collect::<Vec<_>>(), (results, fingerprints))
}

/// The findings of both profiles, each with its baseline state; a diff knows no lines.
fn diff(diff: &Diff) -> Value {
    let states = [(&diff.come, "new"), (&diff.kept, "unchanged"), (&diff.gone, "absent")];
    let results = states.iter().flat_map(|(rules, state)| {
        rules.iter().map(move |rule| {
            let level = if *state == "new" { "warning" } else { "note" };
            let summary = crate::rules::find(rule).map(|rule| rule.summary);
            let summary = summary.or_else(|| crate::around::find(rule).map(|rule| rule.checks));
            let summary = summary.unwrap_or_default();
            let text = if summary.is_empty() { rule.clone() } else { format!("{rule}: {summary}") };
            let result = json!({
                "ruleId": rule,
                "level": level,
                "baselineState": state,
                "message": { "text": text },
            });
            (result, fingerprint::of(rule, "", None))
        })
    });
    log(&[], results.unzip())
}

/// A log with one run: the tool and its rules, the results, and what the documents notice.
fn log(documents: &[&Document], (mut results, fingerprints): (Vec<Value>, Vec<String>)) -> Value {
    fingerprint::write(&mut results, &fingerprints);
    let mut ids: Vec<String> = Vec::new();
    for result in &mut results {
        let id = result["ruleId"].as_str().unwrap_or_default().to_owned();
        let index = ids.iter().position(|known| *known == id).unwrap_or_else(|| {
            ids.push(id);
            ids.len() - 1
        });
        result["ruleIndex"] = json!(index);
    }
    let rules: Vec<Value> = ids.iter().map(|id| rule::descriptor(id)).collect();
    let notices = documents.iter().flat_map(|document| &document.notices);
    let notices: Vec<Value> =
        notices.map(|text| json!({ "level": "note", "message": { "text": text } })).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "adoprof",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": "https://crates.io/crates/adoprof",
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "invocations": [{ "executionSuccessful": true, "toolExecutionNotifications": notices }],
            "results": results,
        }],
    })
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
    fn a_diff_gives_baseline_states() {
        let log = diff(&samples::diff());
        let results = log["runs"][0]["results"].as_array().expect("results");
        let states: Vec<_> =
            results.iter().map(|result| (&result["ruleId"], &result["baselineState"])).collect();
        assert_eq!(states[0], (&json!("at-memory-roof"), &json!("new")));
        assert!(states.contains(&(&json!("uncoalesced-global-access"), &json!("absent"))));
    }

    #[test]
    fn notices_and_faults_around_the_kernels_are_in_the_log() {
        let mut program = samples::program();
        program.notices = vec!["something to know".to_owned()];
        let log = document(&program);
        let run = &log["runs"][0];
        let said = &run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"];
        assert_eq!(*said, "something to know");
        let around = program.program.map(|program| program.findings).unwrap_or_default();
        let results = run["results"].as_array().expect("results");
        let of_launches: usize = program.launches.iter().map(|launch| launch.findings.len()).sum();
        assert_eq!(results.len(), of_launches + around.len());
        for result in results {
            assert!(result["partialFingerprints"]["adoprof/v1"].is_string(), "{result}");
        }
    }
}
