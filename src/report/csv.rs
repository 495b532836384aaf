//! Reports as CSV: one row per finding, step, metric, point, hint or case. Values are plain, in base
//! units; empty where unknown.

mod bench;
mod check;
mod diff;
mod findings;
mod history;
mod ledger;
mod limiter;
mod run;
mod sweep;

use std::borrow::Cow;
use std::io::{self, Write};

use super::format::Renderer;
use super::{Content, Style};
use crate::document::Document;

/// The form.
pub(super) struct Form;

impl Renderer for Form {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn purpose(&self) -> &'static str {
        "One row per finding, step, metric, point or hint"
    }

    fn one(&self, content: Content<'_>, _: Style, out: &mut dyn Write) -> io::Result<()> {
        match content {
            Content::Document(document) => findings::document(document, out),
            Content::Run(run) => run::run(run, out),
            Content::Diff(of) => diff::diff(&of.diff, out),
            Content::Check(check) => check::check(check, out),
            Content::Sweep(sweep) => sweep::csv(sweep, out),
            Content::Limiter(limiter) => limiter::csv(limiter, out),
            Content::Bench(bench) => bench::csv(bench, out),
            Content::Ledger(ledger) => ledger::csv(ledger, out),
            Content::History(history) => history::csv(history, out),
        }
    }

    fn several(
        &self,
        documents: &[(String, Document)],
        _: &[String],
        _: Style,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        findings::documents(documents, out)
    }
}

fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A CSV table under way.
pub(super) struct Table<'a>(::csv::Writer<&'a mut dyn Write>);

impl<'a> Table<'a> {
    /// Starts it with its head.
    pub(super) fn new(out: &'a mut dyn Write, columns: &[&str]) -> io::Result<Self> {
        let mut table = Self(::csv::Writer::from_writer(out));
        table.0.write_record(columns).map_err(plain)?;
        Ok(table)
    }

    /// Adds a row.
    pub(super) fn row(&mut self, cells: &[String]) -> io::Result<()> {
        self.0.write_record(cells.iter().map(|cell| inert(cell).into_owned())).map_err(plain)
    }

    /// Writes what is left.
    pub(super) fn end(mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A cell that no spreadsheet takes for a formula: text that begins like one gets an apostrophe before it,
/// which spreadsheets read as "this is text". Numbers stay as they are.
fn inert(cell: &str) -> Cow<'_, str> {
    let is_formula =
        cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && cell.parse::<f64>().is_err();
    if is_formula { Cow::Owned(format!("'{cell}")) } else { Cow::Borrowed(cell) }
}

/// The I/O error inside, so that a closed pipe is still seen as one.
fn plain(error: ::csv::Error) -> io::Error {
    match error.into_kind() {
        ::csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::inert;

    #[test]
    fn no_cell_is_a_formula() {
        for (cell, expected) in [
            ("=1+2", "'=1+2"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("-x", "'-x"),
            ("-1.5", "-1.5"),
            ("+3", "+3"),
            ("scale(float *)", "scale(float *)"),
        ] {
            assert_eq!(inert(cell), expected);
        }
    }
}
