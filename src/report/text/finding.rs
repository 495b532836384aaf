//! Findings as text, and the way from the bottleneck to the change.

use crate::report::words::finding::{agreement, chain, next_step, verdict};
use std::collections::BTreeMap;

use crate::document::is_roof;
use crate::document::{Document, LaunchReport, RankedFinding};
use crate::report::text::page::{Ink, Page};
use crate::report::text::table::{Column, render};
use crate::report::words::number::{estimate, metric, place};
use crate::rules::RULES;
use crate::text::percent;

/// Findings of a launch that are shown in full unless all are asked for.
const MOST: usize = 4;

/// The findings of a launch, ranked.
pub fn findings(page: &mut Page, launch: &LaunchReport) {
    let shown = if page.style.verbose { launch.findings.len() } else { MOST };
    let mut told = Told::new();
    for finding in launch.findings.iter().take(shown) {
        one(page, finding, !launch.ncu_rules.is_empty(), &mut told);
    }
    let rest: Vec<&str> =
        launch.findings.iter().skip(shown).map(|finding| finding.rule.as_str()).collect();
    if !rest.is_empty() {
        page.blank();
        page.inked("", &format!("{} more (-v): {}", rest.len(), rest.join(", ")), Ink::Dim);
    }
}

/// The symptoms that have been told of, each with the rank of the finding under which it stands.
type Told<'a> = BTreeMap<&'a str, usize>;

fn one<'a>(page: &mut Page, finding: &'a RankedFinding, has_ncu_rules: bool, told: &mut Told<'a>) {
    page.blank();
    let mut headline = format!("{}. {}", finding.rank, finding.rule);
    if let Some(gain) = finding.estimated_speedup.filter(|_| !is_roof(&finding.rule)) {
        headline = format!("{headline}: {}", estimate(&gain));
    }
    page.inked("", &headline, Ink::Bold);
    page.paragraph("   ", &finding.message);
    for location in &finding.locations {
        let of = if location.share_of.is_empty() { "all" } else { &location.share_of };
        let text = format!("{}, {} of {of}", place(location), percent(location.share));
        page.labelled("   ", "where", &text);
        if !location.text.trim().is_empty() {
            page.labelled("   ", "", &location.text);
        }
    }
    page.labelled("   ", "change", &finding.hint);
    symptoms(page, finding, told);
    // Documents of other programs may name symptoms without saying what was seen of them.
    if finding.symptoms.is_empty() && !finding.explains.is_empty() {
        page.labelled("   ", "shows as", &finding.explains.join(", "));
    }
    if has_ncu_rules && !is_roof(&finding.rule) {
        page.labelled("   ", "ncu", &agreement(finding));
    }
    if page.style.verbose && !finding.evidence.is_empty() {
        let rows: Vec<Vec<String>> = finding
            .evidence
            .iter()
            .map(|item| vec![item.metric.clone(), metric(item.value, &item.unit)])
            .collect();
        let head = [Column::text("evidence").flexible(20), Column::number("value")];
        let lines = render(&head, &rows, page.style.width - 3);
        page.table("   ", &lines);
    }
}

/// What was seen of a finding's symptoms; of those that stand under an earlier one, only the names.
fn symptoms<'a>(page: &mut Page, finding: &'a RankedFinding, told: &mut Told<'a>) {
    let mut again: Vec<String> = Vec::new();
    for symptom in &finding.symptoms {
        if let Some(rank) = told.get(symptom.rule.as_str()) {
            again.push(format!("{} (see {rank})", symptom.rule));
            continue;
        }
        let text = format!("{}: {}", symptom.rule, symptom.message);
        page.labelled("   ", "shows as", &text);
        told.insert(&symptom.rule, finding.rank);
    }
    if !again.is_empty() {
        page.labelled("   ", "shows as", &again.join(", "));
    }
}

/// The next optimization: its chain down to the change, what it is worth, and the ladder's step.
pub fn next(page: &mut Page, document: &Document) {
    page.blank();
    let Some((launch, finding)) = verdict(document) else {
        if document.launches.is_empty() {
            page.paragraph("", "Not profiled: there is nothing to diagnose.");
        } else if document.launches.iter().all(|launch| launch.findings.is_empty()) {
            page.paragraph("", &nothing_found(&document.launches));
        }
        return;
    };
    let roof = is_roof(&finding.rule);
    let title = if roof {
        "no next optimization: the hardware limit is reached"
    } else {
        "next optimization"
    };
    page.inked("", title, Ink::Bold);
    page.labelled("  ", "because", &chain(launch, finding));
    page.labelled("  ", "change", &finding.hint);
    let worth = match finding.estimated_speedup {
        Some(gain) if document.launches.len() > 1 => format!(
            "{} of this launch, which takes {} of the time",
            estimate(&gain),
            percent(launch.time_share)
        ),
        Some(gain) => estimate(&gain),
        None => "unknown: the profile lacks the counters that would tell".to_owned(),
    };
    if !roof {
        page.labelled("  ", "worth", &worth);
    }
    if let Some(sentence) = next_step(document) {
        page.labelled("  ", "step", &sentence);
    }
}

/// What it means that there is no finding: the fewer rules could be checked, the less.
fn nothing_found(launches: &[LaunchReport]) -> String {
    let skipped = launches.iter().map(|launch| launch.skipped.len()).max().unwrap_or(0);
    match RULES.len().saturating_sub(skipped) {
        _ if skipped == 0 => "No rule found a fault.".to_owned(),
        0 => "No rule could be checked, so whether there is a fault is unknown.".to_owned(),
        1 => "The one rule that could be checked found no fault.".to_owned(),
        checked => format!("None of the {checked} rules that could be checked found a fault."),
    }
}
