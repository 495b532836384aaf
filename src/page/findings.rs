//! A launch's findings in words, with links to the lines that they name.

use maud::{Markup, html};

use super::places::Places;
use crate::document::{LaunchReport, RankedFinding, is_roof};
use crate::finding::Evidence;
use crate::report::words::finding::{agreement, weight};
use crate::report::words::number::{estimate, metric, place};
use crate::text::count_of;

/// Findings in the open; the others are folded away.
const MOST: usize = 3;

/// The findings, and what could not be checked.
pub(super) fn view(id: &str, report: &LaunchReport, places: Option<&Places>) -> Markup {
    let (first, more) = report.findings.split_at(report.findings.len().min(MOST));
    html! {
        section.findings aria-labelledby=(format!("{id}-findings")) {
            h3 id=(format!("{id}-findings")) { "Findings" }
            @if report.findings.is_empty() { p { "No rule found a fault." } }
            div.pair { @for finding in first { (one(id, finding, places)) } }
            @if !more.is_empty() {
                details { summary { (more.len()) " more" } div.pair { @for finding in more { (one(id, finding, places)) } } }
            }
            @if !report.skipped.is_empty() {
                details {
                    summary { (count_of(report.skipped.len() as f64, "rule")) " could not be checked" }
                    ul { @for skipped in &report.skipped { li { (skipped.rule) ": no " (skipped.missing.join(", ")) } } }
                }
            }
        }
    }
}

fn one(id: &str, finding: &RankedFinding, places: Option<&Places>) -> Markup {
    let factor = finding.estimated_speedup.map(|gain| gain.factor);
    let said = agreement(finding);
    html! {
        article.finding id=(format!("{id}-f{}", finding.rank)) data-rule=(finding.rule) data-factor=[factor] {
            h4.title {
                span.mark { (finding.rank) }
                code { (finding.rule) }
                @if let Some(gain) = finding.estimated_speedup.filter(|_| !is_roof(&finding.rule)) {
                    span.gain { (estimate(&gain)) }
                }
            }
            p { (finding.message) }
            p.hint { (finding.hint) }
            @if !finding.locations.is_empty() {
                ul.where {
                    @for location in &finding.locations {
                        li {
                            @match places.and_then(|places| places.name(&location.file, location.line)) {
                                Some(name) => a href=(format!("#{id}-L{name}")) { (place(location)) },
                                None => (place(location)),
                            }
                            @if let Some(of) = weight(location) { " " (of) }
                            @if !location.text.is_empty() { code { (location.text) } }
                        }
                    }
                }
            }
            @if !finding.evidence.is_empty() || !finding.symptoms.is_empty() || !said.is_empty() {
                details {
                    summary { "Evidence" }
                    @if !said.is_empty() { p { "ncu: " (said) } }
                    @for symptom in &finding.symptoms { p { code { (symptom.rule) } " " (symptom.message) } }
                    (evidence_table(&finding.evidence))
                }
            }
            @if let Some(step) = &finding.answered_by {
                p.next { "The ladder's step " code { (step) } " removes this fault." }
            }
        }
    }
}

/// The figures behind a finding, one per row.
pub(super) fn evidence_table(evidence: &[Evidence]) -> Markup {
    html! {
        div.scroll { table { tbody {
            @for one in evidence {
                tr { th scope="row" { (one.metric) } td.n data-value=(one.value) { (metric(one.value, &one.unit)) } }
            }
        } } }
    }
}
