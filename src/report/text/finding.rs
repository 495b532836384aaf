//! Findings as text, and the way from the bottleneck to the change.

use crate::report::words::finding::{agreement, chain, weight};
use std::collections::BTreeMap;

use crate::document::{LaunchReport, RankedFinding, is_roof};
use crate::finding::LEAST_GAIN;
use crate::report::text::page::{Ink, Page};
use crate::report::text::table::{Column, render};
use crate::report::words::number::{estimate, factor, metric, place};
use crate::text::count_of;

/// Places of a finding that are shown unless all are asked for.
const MOST_PLACES: usize = 2;

/// The findings of a launch, ranked: the first, and those that are worth the work or may be.
pub(super) fn findings(page: &mut Page, launch: &LaunchReport) {
    let tells = |finding: &&RankedFinding| {
        let gain = finding.estimated_speedup.map_or(f64::INFINITY, |gain| gain.factor);
        page.style.verbose || finding.rank == 1 || gain >= LEAST_GAIN
    };
    let (shown, rest): (Vec<_>, Vec<_>) = launch.findings.iter().partition(tells);
    let mut told = Told::new();
    for finding in shown {
        one(page, launch, finding, &mut told);
    }
    if !rest.is_empty() {
        let names: Vec<&str> = rest.iter().map(|finding| finding.rule.as_str()).collect();
        let findings = count_of(rest.len() as f64, "finding");
        let least = factor(LEAST_GAIN);
        let text = format!(
            "{findings} worth less than {least} left out (-v shows all): {}",
            names.join(", ")
        );
        page.blank();
        page.inked("", &text, Ink::Dim);
    }
}

/// The symptoms that were printed already, each with the rank of the finding under which it stands.
type Told<'a> = BTreeMap<&'a str, usize>;

fn one<'a>(
    page: &mut Page,
    launch: &LaunchReport,
    finding: &'a RankedFinding,
    told: &mut Told<'a>,
) {
    page.blank();
    let mut headline = format!("{}. {}", finding.rank, finding.rule);
    if let Some(gain) = finding.estimated_speedup.filter(|_| !is_roof(&finding.rule)) {
        headline = format!("{headline}: {}", estimate(&gain));
    }
    page.inked("", &headline, Ink::Bold);
    page.paragraph("   ", &finding.message);
    if finding.rank == 1 && !is_roof(&finding.rule) {
        page.labelled("   ", "path", &chain(launch, finding));
    }
    let places = if page.style.verbose { usize::MAX } else { MOST_PLACES };
    for location in finding.locations.iter().take(places) {
        let of = weight(location).map_or_else(String::new, |of| format!(", {of}"));
        let text = format!("{}{of}", place(location));
        page.labelled("   ", "where", &text);
        if !location.text.trim().is_empty() {
            page.labelled("   ", "", &location.text);
        }
    }
    page.labelled("   ", "change", &finding.hint);
    if let Some(step) = &finding.answered_by {
        page.labelled("   ", "step", &format!("{step} removes this fault"));
    }
    symptoms(page, finding, told);
    // Documents of other programs may name symptoms without saying what was seen of them.
    if finding.symptoms.is_empty() && !finding.explains.is_empty() {
        page.labelled("   ", "seen as", &finding.explains.join(", "));
    }
    let said = finding.ncu.is_some() || page.style.verbose;
    if !launch.ncu_rules.is_empty() && said && !is_roof(&finding.rule) {
        page.labelled("   ", "ncu", &agreement(finding));
    }
    if page.style.verbose && !finding.evidence.is_empty() {
        let rows: Vec<Vec<String>> = finding
            .evidence
            .iter()
            .map(|item| vec![item.metric.to_string(), metric(item.value, &item.unit)])
            .collect();
        let head = [Column::text("evidence"), Column::number("value")];
        let lines = render(&head, &rows, page.style.width - 3);
        page.table("   ", &lines);
    }
}

/// A finding's symptoms: their names; verbose, what was seen of those that stand under no earlier
/// finding.
fn symptoms<'a>(page: &mut Page, finding: &'a RankedFinding, told: &mut Told<'a>) {
    if !page.style.verbose {
        let names: Vec<&str> = finding.symptoms.iter().map(|one| one.rule.as_str()).collect();
        if !names.is_empty() {
            page.labelled("   ", "seen as", &names.join(", "));
        }
        return;
    }
    let mut again: Vec<String> = Vec::new();
    for symptom in &finding.symptoms {
        if let Some(rank) = told.get(symptom.rule.as_str()) {
            again.push(format!("{} (see {rank})", symptom.rule));
            continue;
        }
        let text = format!("{}: {}", symptom.rule, symptom.message);
        page.labelled("   ", "seen as", &text);
        told.insert(&symptom.rule, finding.rank);
    }
    if !again.is_empty() {
        page.labelled("   ", "seen as", &again.join(", "));
    }
}
