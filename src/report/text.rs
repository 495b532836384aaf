//! A document as text for a terminal.

mod bars;
pub(super) mod bench;
mod check;
mod diff;
mod figures;
mod finding;
mod grid;
mod header;
mod history;
mod launches;
pub mod ladder;
mod ledger;
mod limiter;
pub(super) mod page;
mod program;
mod programs;
mod ranking;
mod ranks;
mod run;
mod sweep;
mod table;
mod tried;

use crate::kernel_name;
use crate::report::words::finding::{ncu_alone, promise, saving, unchecked};
use std::collections::BTreeSet;
use std::io::{self, Write};

use super::format::Renderer;
use super::{Content, Style};
use crate::document::{Document, LaunchReport, rule_count};
use crate::report::text::bars::bars;
use crate::report::text::finding::findings;
use crate::report::text::header::{facts, header};
use crate::report::text::page::{Ink, Page};
use crate::report::words::diff::headline;
use crate::report::words::number::{place, shape};
use crate::text::count_of;

/// The form.
pub(super) struct Form;

impl Renderer for Form {
    fn name(&self) -> &'static str {
        "text"
    }

    fn purpose(&self) -> &'static str {
        "For people at a terminal"
    }

    fn holds_ranking(&self) -> bool {
        true
    }

    fn one(&self, content: Content<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
        match content {
            Content::Document(of) => document(of, style, out),
            Content::Run(of) => run::run(of, style, out),
            Content::Diff(of) => diff::diff(&of.diff, style, out),
            Content::Check(of) => check::check(of, style, out),
            Content::Sweep(of) => sweep::sweep(of, style, out),
            Content::Limiter(of) => limiter::limiter(of, style, out),
            Content::Bench(of) => bench::bench(of, style, out),
            Content::Ledger(of) => ledger::ledger(of, style, out),
            Content::History(of) => history::history(of, style, out),
        }
    }

    fn several(
        &self,
        documents: &[(String, Document)],
        _: &[String],
        style: Style,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        documents.iter().enumerate().try_for_each(|(index, (name, of))| {
            let gap = if index > 0 { "\n" } else { "" };
            writeln!(out, "{gap}== {}", crate::text::printable(name))?;
            document(of, style, out)
        })
    }
}

/// Writes the whole report: the verdict, why, then what was measured.
fn document(document: &Document, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(style);
    let found = document.launches.iter().flat_map(|launch| &launch.findings);
    for location in found.flat_map(|finding| &finding.locations) {
        page.link(&place(location), &location.file);
    }
    header(&mut page, document);
    if !page.style.quiet {
        body(&mut page, document);
        ranks::ranks(&mut page, document);
        tried::tried(&mut page, document);
        facts(&mut page, document);
        skipped(&mut page, document);
        if let Some(diff) = &document.diff {
            page.blank();
            diff::body(&mut page, diff);
        }
    } else if let Some(diff) = &document.diff {
        page.inked("", &headline(diff), Ink::Bold);
    }
    if let Some(path) = &document.saved {
        page.blank();
        // A path stays in one piece, whatever the width, so that it can be copied.
        page.line(&format!("the profile is in {}", crate::text::printable(path)));
    }
    page.write(out)
}

fn body(page: &mut Page, document: &Document) {
    let kinds = launches::launches(page, document);
    let shown: usize = kinds.iter().map(launches::Kind::count).sum();
    for kind in kinds {
        let launch = &document.launches[kind.first()];
        page.blank();
        if document.launches.len() > 1 {
            let name = kernel_name::short(&launch.kernel, page.style.width);
            let text = format!("{}: {name}, {}", kind.title(), shape(launch));
            page.inked("", &text, Ink::Bold);
        }
        bottleneck(page, launch);
        bars(page, launch);
        findings(page, launch);
        if page.style.explain_ranking {
            ranking::ranking(page, launch);
        }
        if page.style.verbose {
            ncu_rules(page, launch);
        }
        ncu_only(page, launch);
    }
    let left = document.launches.len().saturating_sub(shown);
    if left > 0 {
        page.blank();
        let text = format!("{} not shown (-v shows all)", count_of(left as f64, "more launch"));
        page.inked("", &text, Ink::Dim);
    }
}

/// The whole sentence of which the verdict has the main clause.
fn bottleneck(page: &mut Page, launch: &LaunchReport) {
    if launch.bottleneck.is_empty() {
        page.paragraph("", "The collected metrics don't show what bounds this launch.");
    } else {
        page.paragraph("", &launch.bottleneck);
    }
    page.blank();
}

/// One line for the rules that could not be checked; verbose, each with what it lacks.
fn skipped(page: &mut Page, document: &Document) {
    let rules = unchecked(document);
    if rules.is_empty() {
        return;
    }
    page.blank();
    let names: Vec<&str> = rules.keys().copied().collect();
    let is_thin = 2 * names.len() > rule_count();
    if page.style.verbose {
        page.inked("", "rules not checked, and the metrics they lack", Ink::Bold);
        for (rule, missing) in rules {
            page.paragraph("  ", &format!("{rule}: {}", missing.join(", ")));
        }
    } else {
        let rules = count_of(names.len() as f64, "rule");
        // Where most lack something, their names say nothing.
        let names = if is_thin { String::new() } else { format!(": {}", names.join(", ")) };
        let text = format!("{rules} not checked: metrics are missing (-v shows which){names}");
        page.inked("", &text, Ink::Dim);
    }
    if is_thin {
        let remedy = "The profile is thin: `ncu --set full` collects what most of these rules need, `adoprof \
                      profile` collects what all of them need.";
        page.paragraph("", remedy);
    }
}

/// What ncu's own rules said: evidence, not the answer.
fn ncu_rules(page: &mut Page, launch: &LaunchReport) {
    if launch.ncu_rules.is_empty() {
        return;
    }
    page.blank();
    page.inked("", "ncu's own rules", Ink::Bold);
    for rule in &launch.ncu_rules {
        let gain =
            rule.estimate_percent.map(|of| format!(", estimate: {}", saving(of, rule.global)));
        let gain = gain.unwrap_or_default();
        let text =
            format!("{} {} ({}{gain}): {}", rule.section, rule.rule, rule.kind, rule.message);
        page.paragraph("  ", &text);
    }
}

/// What ncu promises and no finding says: verbose, each with the reason; otherwise in one line, and
/// only promises of the whole kernel's time.
fn ncu_only(page: &mut Page, launch: &LaunchReport) {
    let alone = ncu_alone(launch);
    if alone.is_empty() {
        return;
    }
    if !page.style.verbose {
        let mut named = BTreeSet::new();
        let of_the_time: Vec<String> = alone
            .iter()
            .filter(|only| only.global && named.insert(&only.rule))
            .map(|only| format!("{} {:.0}%", only.rule, only.estimate_percent))
            .collect();
        if !of_the_time.is_empty() {
            page.blank();
            let text = format!(
                "promised only by ncu (-v says why adoprof does not): {}",
                of_the_time.join(", ")
            );
            page.inked("", &text, Ink::Dim);
        }
        return;
    }
    page.blank();
    page.inked("", "what only ncu promises, and why adoprof does not", Ink::Bold);
    for only in alone {
        let said = promise(&only.rule, only.estimate_percent, only.global);
        page.paragraph("  ", &format!("{said}: {}", only.reason));
    }
}
