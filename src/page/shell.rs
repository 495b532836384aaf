//! The page around its parts: head, verdict, way through, foot.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{Figure, Page, around, charts, diff, figure, gallery, launch, metrics, policy};
use crate::document::{Document, Program, RunDocument};
use crate::report::words::number::factor;
use crate::report::words::run::sentence;
use crate::report::words::steps::rows;
use crate::report::words::subject::{device, recorded, subject};
use crate::report::words::verdict::answer;
use crate::text::duration;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The whole document.
pub(super) fn document(page: &Page<'_>, overview: &[Figure]) -> Markup {
    let style = format!("{}{STYLE}", figure::STYLE);
    let title = title(page);
    let launches = launch::all(page);
    let columns: Vec<_> =
        launches.iter().filter_map(|one| Some((one.column(), one.metrics()?))).collect();
    let table = metrics::view(&columns);
    let ledger = page.ledger.and_then(charts::calibration::figure);
    let first = page.subjects.first().map(|subject| &subject.document);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy::policy(&style, SCRIPT));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(concat!("adoprof ", env!("CARGO_PKG_VERSION")));
                title { (title) }
                style { (PreEscaped(&style)) }
            }
            body {
                a.skip href="#main" { "Skip to the findings" }
                header {
                    p.brand { "adoprof" }
                    button #theme type="button" aria-label="Switch between dark and light" { "Dark or light" }
                }
                main #main {
                    @match page.run {
                        Some(run) => (of_ladder(page, run)),
                        None => @for subject in page.subjects { (verdict(&subject.document)) },
                    }
                    (way(page, &launches, overview, table.is_some(), ledger.is_some()))
                    @if !overview.is_empty() { section #overview aria-label="Overview" { (gallery(overview)) } }
                    @for (at, program) in programs(page).enumerate() { (around::view(at, program)) }
                    @if let Some(found) = first.and_then(|document| document.diff.as_ref()) { (diff::view(found)) }
                    @for one in &launches { (one.view(page, launches.len())) }
                    @if let Some(table) = table { (table) }
                    @if let Some(chart) = ledger { section #ledger aria-label="Ledger" { (gallery(&[chart])) } }
                    (notices(page))
                }
                footer { p { "Made by adoprof " (env!("CARGO_PKG_VERSION")) ". This file holds everything it shows and loads nothing." } }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

/// The surveyed programs among the page's subjects.
fn programs<'a>(page: &'a Page<'_>) -> impl Iterator<Item = &'a Program> {
    page.subjects.iter().filter_map(|subject| subject.document.program.as_ref())
}

/// What the page is about, in a few words.
pub(super) fn title(page: &Page<'_>) -> String {
    match (page.run, page.subjects) {
        (Some(run), _) => format!("ladder {}", run.ladder),
        (None, [one]) => subject(&one.document),
        (None, several) => format!("{} profiles", several.len()),
    }
}

/// The answer: what bounds the time, what to change, what that is worth, what comes next.
fn verdict(document: &Document) -> Markup {
    let answer = answer(document);
    let rule = document.verdict.as_ref().map(|verdict| verdict.rule.as_str());
    html! {
        section.verdict data-rule=[rule] {
            h1 { (answer.headline.full()) }
            dl { @for (label, sentence) in &answer.rows { div { dt { (label) } dd { (sentence.full()) } } } }
            (origin(document))
        }
    }
}

fn of_ladder(page: &Page<'_>, run: &RunDocument) -> Markup {
    let rows = rows(run);
    let last = rows.iter().rfind(|row| !row.branch);
    let gain = last.and_then(|row| row.over_first);
    html! {
        section.verdict {
            h1 {
                "Ladder " (run.ladder)
                @if let (Some(first), Some(last), Some(gain)) = (rows.first(), last, gain) {
                    @if gain.by_rate {
                        ": " (last.step.name) " does " (factor(gain.factor)) " the work of " (first.step.name) " per second"
                    } @else {
                        ": from " (duration(first.step.time_ns.median)) " to " (duration(last.step.time_ns.median)) ", "
                        (factor(gain.factor)) " as fast"
                    }
                }
            }
            @if let Some(one) = page.subjects.first() { (origin(&one.document)) }
            ol.steps {
                @for row in rows.iter().filter(|row| !row.branch) {
                    li {
                        strong { (row.step.name) }
                        @if !row.step.title.is_empty() { " " (row.step.title) "." }
                        @if let Some(outcome) = &row.outcome { " " (sentence(row, outcome)) }
                    }
                }
            }
        }
    }
}

/// On what device, and whether it was recorded.
fn origin(document: &Document) -> Markup {
    html! {
        p.origin {
            @match (recorded(document), device(document)) {
                (Some(sentence), _) => (sentence),
                (None, Some(device)) => (device),
                (None, None) => {},
            }
        }
    }
}

fn way(
    page: &Page<'_>,
    launches: &[launch::Shown<'_>],
    overview: &[Figure],
    has_metrics: bool,
    has_ledger: bool,
) -> Markup {
    let has_diff = page.subjects.first().is_some_and(|one| one.document.diff.is_some());
    html! {
        nav aria-label="Parts of the page" {
            ul {
                @if !overview.is_empty() { li { a href="#overview" { "Overview" } } }
                @if programs(page).any(|program| !program.findings.is_empty()) { li { a href="#around" { "Around the kernels" } } }
                @if has_diff { li { a href="#diff" { "Diff" } } }
                @if let [one] = launches {
                    li { a href=(format!("#{}-findings", one.id)) { "Findings" } }
                    @if one.has_code() { li { a href=(format!("#{}-code", one.id)) { "Code" } } }
                } @else {
                    @for one in launches { li { a href=(format!("#{}", one.id)) { (one.column()) } } }
                }
                @if has_metrics { li { a href="#metrics" { "Metrics" } } }
                @if has_ledger { li { a href="#ledger" { "Ledger" } } }
            }
        }
    }
}

fn notices(page: &Page<'_>) -> Markup {
    let all: Vec<&String> =
        page.subjects.iter().flat_map(|subject| &subject.document.notices).collect();
    html! {
        @if !all.is_empty() {
            section #notices aria-labelledby="notices-h" {
                h2 #notices-h { "About this result" }
                ul { @for notice in all { li { (notice) } } }
            }
        }
    }
}
