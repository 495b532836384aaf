//! Reports as Markdown, for a pull request's comment: the headline and a table in the open, the
//! details folded away.

mod check;
mod limit;
mod ranks;
mod sweep;
mod tables;

use std::fmt::Write as _;
use std::io::{self, Write};

use super::format::Renderer;
use super::{Content, Style, text as terminal};
use crate::document::Diff;
use crate::document::{Document, RankedFinding, RunDocument, is_roof};
use crate::report::markdown::tables::{
    around, code, diff_table, escape, evidence_table, group_table, launch_table, run_table,
    tried_table,
};
use crate::report::words::diff::{findings, headline, lead, movers, shown};
use crate::report::words::finding::{agreement, ncu_alone, promise, unchecked, weight};
use crate::report::words::number::{estimate, place, timing};
use crate::report::words::run::{devices, sentence};
use crate::report::words::steps::rows;
use crate::report::words::subject::{self, device, recorded, subject};
use crate::report::words::verdict;
use crate::text::{count_of, percent};

/// Columns of a quoted text: what a comment shows without scrolling.
const FENCED: usize = 100;

/// The form.
pub(super) struct Form;

impl Renderer for Form {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn purpose(&self) -> &'static str {
        "For a pull request's comment"
    }

    fn holds_notices(&self) -> bool {
        true
    }

    fn one(&self, content: Content<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
        let mut text = Vec::new();
        match content {
            Content::Document(of) => document(of, &mut text),
            Content::Run(of) => run(of, &mut text),
            Content::Diff(of) => diff(&of.diff, &mut text),
            Content::Check(of) => check::check(of, &mut text),
            Content::Sweep(of) => sweep::markdown(of, &mut text),
            Content::Limiter(of) => quoted("limiter", &of.notices, content, style, &mut text),
            Content::Bench(of) => quoted("bench", &of.notices, content, style, &mut text),
            Content::Ledger(of) => quoted("ledger", &of.notices, content, style, &mut text),
            Content::History(of) => quoted("history", &of.notices, content, style, &mut text),
        }?;
        limit::write(text, out)
    }

    fn several(
        &self,
        documents: &[(String, Document)],
        _: &[String],
        _: Style,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut text = Vec::new();
        for (index, (_, of)) in documents.iter().enumerate() {
            if index > 0 {
                writeln!(text)?;
            }
            document(of, &mut text)?;
        }
        limit::write(text, out)
    }
}

/// Tables that are made for a terminal, as they are: a fence keeps their columns.
fn quoted(
    title: &str,
    notices: &[String],
    content: Content<'_>,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let plain =
        Style { width: FENCED, colour: false, link: None, pictures: false, ascii: false, ..style };
    writeln!(out, "### adoprof {title}\n\n```text")?;
    terminal::Form.one(content, plain, out)?;
    writeln!(out, "```")?;
    notices.iter().try_for_each(|notice| writeln!(out, "\n- {}", escape(notice)))
}

/// What `step`, `profile` and `analyze` found.
fn document(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let mut text = String::new();
    document_body(&mut text, document);
    out.write_all(text.as_bytes())
}

/// A ladder's run.
fn run(run: &RunDocument, out: &mut dyn Write) -> io::Result<()> {
    let mut text = format!("### adoprof: ladder {}\n\n", code(&run.ladder));
    if let Some(sentence) = run.steps.iter().find_map(recorded) {
        paragraph(&mut text, &escape(&sentence));
    }
    let rows = rows(run);
    run_table(&mut text, &rows);
    for device in devices(run) {
        push(&mut text, &format!("- {}\n", escape(&device)));
    }
    for notice in &run.notices {
        push(&mut text, &format!("- {}\n", escape(notice)));
    }
    for row in &rows {
        if let Some(outcome) = &row.outcome {
            let said = escape(&sentence(row, outcome));
            push(&mut text, &format!("- {}: {said}\n", code(&row.step.name)));
        }
    }
    for document in &run.steps {
        push(&mut text, &format!("\n<details><summary>{}</summary>\n\n", html(&subject(document))));
        document_findings(&mut text, document);
        push(&mut text, "</details>\n");
    }
    out.write_all(text.as_bytes())
}

/// Two profiles side by side.
fn diff(diff: &Diff, out: &mut dyn Write) -> io::Result<()> {
    let mut text = format!("### adoprof: {}\n\n", escape(&headline(diff)));
    diff_body(&mut text, diff);
    out.write_all(text.as_bytes())
}

fn document_body(text: &mut String, document: &Document) {
    let answer = verdict::answer(document);
    push(text, &format!("### adoprof: {}\n\n", escape(answer.headline.full())));
    if let Some(sentence) = recorded(document) {
        paragraph(text, &escape(&sentence));
    } else if let Some(device) = device(document) {
        paragraph(text, &escape(device));
    }
    for (label, sentence) in &answer.rows {
        push(text, &format!("- **{label}**: {}\n", escape(sentence.full())));
    }
    if !answer.rows.is_empty() {
        push(text, "\n");
    }
    if let Some(step) = &document.step {
        let facts = [step.size_words(), timing(&step.time_ns), subject::answer(document, step)];
        paragraph(text, &escape(&facts.join("; ")));
    }
    match &document.program {
        Some(program) => {
            group_table(text, document, program);
            around(text, program);
        }
        None => launch_table(text, document),
    }
    if let Some(of) = &document.ranks {
        ranks::ranks(text, of);
    }
    document_findings(text, document);
    tried_table(text, document);
    if let Some(diff) = &document.diff {
        push(text, &format!("\n#### {}\n\n", escape(&headline(diff))));
        diff_body(text, diff);
    }
    if !document.notices.is_empty() {
        push(text, "\n<details><summary>notices</summary>\n\n");
        for notice in &document.notices {
            push(text, &format!("- {}\n", escape(notice)));
        }
        push(text, "\n</details>\n");
    }
}

fn document_findings(text: &mut String, document: &Document) {
    for launch in &document.launches {
        if document.launches.len() > 1 && !launch.findings.is_empty() {
            push(text, &format!("{}, {}\n\n", code(&launch.kernel), percent(launch.time_share)));
        }
        if !launch.bottleneck.is_empty() {
            paragraph(text, &escape(&launch.bottleneck));
        }
        for finding in &launch.findings {
            one(text, finding);
            if !launch.ncu_rules.is_empty() && !is_roof(&finding.rule) {
                push(text, &format!("   - ncu: {}\n", escape(&agreement(finding))));
            }
        }
        if !launch.findings.is_empty() {
            push(text, "\n");
        }
    }
    ncu_only(text, document);
    details(text, document);
}

fn one(text: &mut String, finding: &RankedFinding) {
    let gain = finding.estimated_speedup.map(|gain| format!(", {}", estimate(&gain)));
    let gain = gain.unwrap_or_default();
    let message = escape(&finding.message);
    push(text, &format!("{}. **{}**{gain}: {message}\n", finding.rank, escape(&finding.rule)));
    for location in &finding.locations {
        let source = if location.text.is_empty() { String::new() } else { code(&location.text) };
        let of = weight(location).map_or_else(String::new, |of| format!("({}) ", escape(&of)));
        push(text, &format!("   - {} {of}{source}\n", code(&place(location))));
    }
    push(text, &format!("   - change: {}\n", escape(&finding.hint)));
    if !finding.explains.is_empty() {
        push(text, &format!("   - shows as: {}\n", escape(&finding.explains.join(", "))));
    }
}

/// Evidence and what was not checked, folded away.
fn details(text: &mut String, document: &Document) {
    let evidence = document
        .launches
        .iter()
        .any(|launch| launch.findings.iter().any(|finding| !finding.evidence.is_empty()));
    let skipped = document.launches.iter().any(|launch| !launch.skipped.is_empty());
    if !evidence && !skipped {
        return;
    }
    push(text, "<details><summary>evidence</summary>\n\n");
    evidence_table(text, document);
    for (rule, missing) in unchecked(document) {
        let missing: Vec<String> = missing.iter().map(|name| code(name)).collect();
        let rule = escape(rule);
        push(text, &format!("- {rule} not checked: {} missing\n", missing.join(", ")));
    }
    push(text, "\n</details>\n");
}

/// What ncu promises and adoprof does not, folded away.
fn ncu_only(text: &mut String, document: &Document) {
    if document.launches.iter().all(|launch| ncu_alone(launch).is_empty()) {
        return;
    }
    push(text, "<details><summary>what only ncu promises</summary>\n\n");
    for launch in &document.launches {
        let alone = ncu_alone(launch);
        if document.launches.len() > 1 && !alone.is_empty() {
            push(text, &format!("\n{}\n\n", code(&launch.kernel)));
        }
        for only in alone {
            let said = promise(&only.rule, only.estimate_percent, only.global);
            push(text, &format!("- {}: {}\n", escape(&said), escape(&only.reason)));
        }
    }
    push(text, "\n</details>\n");
}

fn diff_body(text: &mut String, diff: &Diff) {
    for warning in &diff.warnings {
        push(text, &format!("> note: {}\n\n", escape(warning)));
    }
    let lead = lead(diff);
    if !lead.is_empty() {
        diff_table(text, diff, &lead.iter().collect::<Vec<_>>());
    }
    for (word, rules) in findings(diff) {
        push(text, &format!("- findings {word}: {}\n", escape(&rules)));
    }
    push(text, "\n");
    let movers = movers(diff);
    if !movers.is_empty() {
        push(text, "Largest movers:\n\n");
        diff_table(text, diff, &movers);
    }
    // A full profile has a thousand metrics and a comment has a limit: those without a title stay
    // out.
    let (shown, hidden): (Vec<_>, Vec<_>) = diff.metrics.iter().partition(|change| shown(change));
    if !shown.is_empty() {
        push(text, "<details><summary>all catalogued metrics</summary>\n\n");
        diff_table(text, diff, &shown);
        push(text, "</details>\n");
    }
    if !hidden.is_empty() {
        let metrics = count_of(hidden.len() as f64, "other metric");
        push(text, &format!("\n{metrics} moved; the JSON and CSV forms have them.\n"));
    }
}

fn paragraph(text: &mut String, paragraph: &str) {
    push(text, &format!("{paragraph}\n\n"));
}

/// Text inside an HTML tag, where Markdown's escapes don't count.
fn html(text: &str) -> String {
    let text = crate::text::printable(text);
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Appends; writing to a `String` can't fail.
pub(super) fn push(text: &mut String, more: &str) {
    let _ = text.write_str(more);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    fn rendered(report: impl Fn(&mut dyn Write) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        report(&mut out).expect("a Vec takes everything");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn the_headline_names_step_and_bound() {
        let text = rendered(|out| document(&samples::recorded_step(), out));
        assert!(
            text.starts_with("### adoprof: ado/v2 takes 10.00 ms, bound by memory: "),
            "{text}"
        );
        assert!(text.contains("recorded 2026-11-20 on NVIDIA H200, not run here"));
        assert!(text.contains(
            "- **worth**: 1.80× (1.50 to 2.10) for removing uncoalesced-global-access\n"
        ));
        assert!(text.contains("`kernels/ado/v2.cu:23`"));
    }

    #[test]
    fn folds_are_closed() {
        for text in [
            rendered(|out| document(&samples::program(), out)),
            rendered(|out| run(&samples::run(), out)),
            rendered(|out| diff(&samples::diff(), out)),
        ] {
            let opened = text.matches("<details>").count();
            assert!(opened > 0);
            assert_eq!(opened, text.matches("</details>").count());
        }
    }

    #[test]
    fn hostile_names_stay_in_their_cell() {
        let mut document = samples::program();
        document.launches[0].kernel = "k<A|B>`*\n| x |\u{1b}[2J".to_owned();
        let text = rendered(|out| super::document(&document, out));
        assert!(!text.contains('\u{1b}'));
        let row = text
            .lines()
            .find(|line| line.starts_with("| ") && line.contains("[2J"))
            .expect("the kernel's row");
        // Six columns: seven bars that are not escaped.
        assert_eq!(row.replace("\\|", "").matches('|').count(), 7, "{row}");
    }
}
