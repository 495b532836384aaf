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
use crate::document::{Compared, Document, RunDocument};
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
        notices: &[String],
        _: Style,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        write(&documents(profiles, notices), out)
    }
}

/// The findings of a document.
fn document(document: &Document) -> Value {
    log(&[document], result::of_document(document))
}

/// The findings of several profiles, each result with its profile's name.
fn documents(documents: &[(String, Document)], notices: &[String]) -> Value {
    let (mut results, mut fingerprints) = (Vec::new(), Vec::new());
    for (name, document) in documents {
        let (mut theirs, prints) = result::of_document(document);
        for result in &mut theirs {
            result["properties"]["profile"] = json!(name);
        }
        results.extend(theirs);
        fingerprints.extend(prints);
    }
    let of_each = documents.iter().flat_map(|(_, document)| &document.notices);
    let told = notifications(of_each.chain(notices));
    let mut log = log(&[], (results, fingerprints));
    log["runs"][0]["invocations"][0]["toolExecutionNotifications"] = told;
    log
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

/// The new profile's findings, new ones first, and those of the baseline that are gone, each with its baseline state.
/// What the code was where a fault is gone says nothing of the code now: these have no line.
fn diff(Compared { diff, base, new }: &Compared) -> Value {
    let (results, fingerprints) = result::of_document(new);
    let is_among =
        |result: &Value, rules: &[String]| rules.iter().any(|rule| result["ruleId"] == **rule);
    let mut here: Vec<(Value, String)> = Vec::new();
    for (mut result, fingerprint) in results.into_iter().zip(fingerprints) {
        let is_new = is_among(&result, &diff.come);
        // What lies around kernels is in neither list where only one side was surveyed.
        if is_new || is_among(&result, &diff.kept) {
            result["baselineState"] = json!(if is_new { "new" } else { "unchanged" });
            here.push((result, fingerprint));
        }
    }
    here.sort_by_key(|(result, _)| result["baselineState"] != "new");
    let (results, fingerprints) = result::of_document(base);
    let before = results.into_iter().zip(fingerprints);
    let gone = before.filter(|(result, _)| is_among(result, &diff.gone));
    let gone = gone.map(|(result, fingerprint)| (result::absent(&result), fingerprint));
    let mut log = log(&[], here.into_iter().chain(gone).unzip());
    log["runs"][0]["invocations"][0]["toolExecutionNotifications"] = notifications(&diff.warnings);
    log
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
    let notices = notifications(documents.iter().flat_map(|document| &document.notices));
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

/// What there is to know about a result.
fn notifications<'a>(texts: impl IntoIterator<Item = &'a String>) -> Value {
    let note = |text: &String| json!({ "level": "note", "message": { "text": text } });
    Value::Array(texts.into_iter().map(note).collect())
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
    fn a_diff_gives_findings_with_their_lines_and_what_became_of_them() {
        let log = diff(&samples::compared());
        let results = log["runs"][0]["results"].as_array().expect("results");
        let told: Vec<_> = results
            .iter()
            .map(|one| {
                let state = one["baselineState"].as_str().expect("a state");
                (one["ruleId"].as_str().expect("a rule"), state, one["level"].as_str().unwrap())
            })
            .collect();
        // Worth 1.00×, 1.30×, and nothing any more.
        assert_eq!(
            told,
            [
                ("at-memory-roof", "new", "note"),
                ("shared-memory-pressure", "unchanged", "warning"),
                ("uncoalesced-global-access", "absent", "note"),
            ]
        );
        // 1 − 1/1.3 of the time.
        assert!((results[1]["rank"].as_f64().unwrap() - 100.0 * 0.3 / 1.3).abs() < 1e-9);
        let place = |at: usize| &results[at]["locations"][0]["physicalLocation"];
        assert_eq!(place(1)["region"]["startLine"], 23);
        assert!(place(2).is_null(), "the line is gone too");
        let notes = &log["runs"][0]["invocations"][0]["toolExecutionNotifications"];
        assert_eq!(notes[0]["message"]["text"], "ncu differs: 2024.1.1 against 2025.3.1");
    }

    #[test]
    fn a_finding_of_a_diff_has_the_fingerprint_that_its_profile_gives_it() {
        let compared = samples::compared();
        let log = diff(&compared);
        let results = log["runs"][0]["results"].as_array().expect("results");
        for (side, states) in
            [(&compared.new, &["new", "unchanged"][..]), (&compared.base, &["absent"])]
        {
            let own = document(side);
            let own = own["runs"][0]["results"].as_array().expect("results").clone();
            let of_side = results
                .iter()
                .filter(|one| states.iter().any(|state| one["baselineState"] == **state));
            for one in of_side {
                let same = own.iter().find(|other| other["ruleId"] == one["ruleId"]);
                let same = same.expect("a finding of that side");
                assert_eq!(one["partialFingerprints"], same["partialFingerprints"]);
            }
        }
    }

    #[test]
    fn notices_and_faults_around_the_kernels_are_in_the_log() {
        let mut program = samples::program();
        program.program = Some(samples::around());
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
