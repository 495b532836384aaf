//! What users see: documents, ladder runs and diffs as text, JSON, Markdown, CSV and SARIF.
//!
//! Every report is a pure function of its document and a [`Style`]. It writes to whatever it is
//! given, opens no file and knows no terminal. All text from outside passes through
//! [`crate::text::printable`] on its way: in the layout for people, cell by cell in CSV.

mod csv;
mod markdown;
mod number;
mod sarif;
mod several;
mod steps;
mod text;

#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use serde::Serialize;

use crate::bench::BenchDocument;
use crate::cli::TableFormat;
use crate::document::{Diff, Document, RunDocument};
use crate::ledger::LedgerDocument;
use crate::limiter::LimiterDocument;
use crate::sweep::SweepDocument;

pub use several::render_documents;

pub(crate) use text::grid::grid;
pub(crate) use text::layout::wrap;

/// How a report for people looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line of its own"
)]
pub struct Style {
    /// Columns that a line may take; saved paths alone may be longer, so that they can be copied.
    pub width: usize,
    /// True to colour with terminal escapes.
    pub colour: bool,
    /// True to show evidence, all findings, skipped rules and ncu's own rules.
    pub verbose: bool,
    /// True to show why the findings stand in their order.
    pub explain_ranking: bool,
    /// True to show the headline and the next optimization only.
    pub quiet: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self { width: 80, colour: false, verbose: false, explain_ranking: false, quiet: false }
    }
}

/// The forms in which findings are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Format {
    /// For people, at a terminal.
    #[default]
    Text,
    /// The whole document, for programs.
    Json,
    /// For a pull request's comment.
    Markdown,
    /// One row a finding, a step or a metric.
    Csv,
    /// For code scanning.
    Sarif,
}

/// Writes what `step`, `profile` and `analyze` found.
///
/// The notices stay out of the text form: they go to another stream, see [`render_notices`].
///
/// # Errors
/// Whatever writing to `out` gives.
pub fn render_document(
    document: &Document,
    format: Format,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Text => text::document(document, style, out),
        Format::Json => json(document, out),
        Format::Markdown => markdown::document(document, out),
        Format::Csv => csv::document(document, out),
        Format::Sarif => json(&sarif::document(document), out),
    }
}

/// Writes the table of a whole ladder.
///
/// # Errors
/// Whatever writing to `out` gives.
pub fn render_run(
    run: &RunDocument,
    format: Format,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Text => text::run::run(run, style, out),
        Format::Json => json(run, out),
        Format::Markdown => markdown::run(run, out),
        Format::Csv => csv::run(run, out),
        Format::Sarif => json(&sarif::run(run), out),
    }
}

/// Writes two profiles side by side.
///
/// # Errors
/// Whatever writing to `out` gives.
pub fn render_diff(
    diff: &Diff,
    format: Format,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Text => text::diff::diff(diff, style, out),
        Format::Json => json(diff, out),
        Format::Markdown => markdown::diff(diff, out),
        Format::Csv => csv::diff(diff, out),
        Format::Sarif => json(&sarif::diff(diff), out),
    }
}

/// Writes a limiter run, as JSON or for people.
///
/// # Errors
/// Whatever writing to `out` gives.
pub fn render_limiter(
    document: &LimiterDocument,
    as_json: bool,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    if as_json { json(document, out) } else { text::limiter::limiter(document, style, out) }
}

/// Writes a sweep. It has no findings, so SARIF, which has a place for nothing else, is its JSON.
///
/// # Errors
/// Whatever writing to `out` gives.
pub fn render_sweep(
    sweep: &SweepDocument,
    format: Format,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Text => text::sweep::sweep(sweep, style, out),
        Format::Json | Format::Sarif => json(sweep, out),
        Format::Markdown => markdown::sweep::markdown(sweep, out),
        Format::Csv => markdown::sweep::csv(sweep, out),
    }
}

/// Writes the fault bench.
///
/// # Errors
/// Whatever writing to `out` gives.
pub fn render_bench(
    document: &BenchDocument,
    format: TableFormat,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        TableFormat::Text => text::bench::bench(document, style, out),
        TableFormat::Json => json(document, out),
        TableFormat::Csv => csv::bench::csv(document, out),
    }
}

/// Writes the ledger.
///
/// # Errors
/// Whatever writing to `out` gives.
pub fn render_ledger(
    document: &LedgerDocument,
    format: TableFormat,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        TableFormat::Text => text::ledger::ledger(document, style, out),
        TableFormat::Json => json(document, out),
        TableFormat::Csv => text::ledger::csv(document, out),
    }
}

/// Writes notices as `note: …` lines: for the stream beside the results, whatever their format.
///
/// # Errors
/// Whatever writing to `out` gives.
pub fn render_notices(notices: &[String], style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = text::page::Page::new(style);
    for notice in notices {
        page.labelled("", "note:", notice);
    }
    page.write(out)
}

fn json(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    out.write_all(b"\n")
}
