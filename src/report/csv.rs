//! Reports as CSV: one row a finding, a step, or a metric. Values are plain, in base units; empty
//! where unknown.

pub(super) mod bench;

use std::io::{self, Write};

use super::steps::{Gain, rows};
use crate::document::{Diff, Document, RunDocument};
use crate::text::printable;

/// The columns of a document's CSV.
pub const FINDING_COLUMNS: [&str; 14] = [
    "launch",
    "kernel",
    "rank",
    "rule",
    "factor",
    "low",
    "high",
    "file",
    "line",
    "share",
    "message",
    "hint",
    "ncu_rule",
    "ncu_percent",
];

/// One row a finding; its place is the line with the largest share.
pub fn document(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(out, &FINDING_COLUMNS)?;
    for row in finding_rows(document) {
        table.row(&row)?;
    }
    table.end()
}

/// The same of several profiles, each named in a first column.
pub fn documents(documents: &[(String, Document)], out: &mut dyn Write) -> io::Result<()> {
    let columns: Vec<&str> = ["profile"].into_iter().chain(FINDING_COLUMNS).collect();
    let mut table = Table::new(out, &columns)?;
    for (name, document) in documents {
        for mut row in finding_rows(document) {
            row.insert(0, printable(name));
            table.row(&row)?;
        }
    }
    table.end()
}

fn finding_rows(document: &Document) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for (index, launch) in document.launches.iter().enumerate() {
        for finding in &launch.findings {
            let gain = finding.estimated_speedup;
            let place = finding.locations.first();
            rows.push(vec![
                index.to_string(),
                printable(&launch.kernel),
                finding.rank.to_string(),
                printable(&finding.rule),
                number(gain.map(|gain| gain.factor)),
                number(gain.map(|gain| gain.low)),
                number(gain.map(|gain| gain.high)),
                place.map(|place| printable(&place.file)).unwrap_or_default(),
                place.map(|place| place.line.to_string()).unwrap_or_default(),
                number(place.map(|place| place.share)),
                printable(&finding.message),
                printable(&finding.hint),
                finding.ncu.as_ref().map(|ncu| printable(&ncu.rule)).unwrap_or_default(),
                number(finding.ncu.as_ref().and_then(|ncu| ncu.estimate_percent)),
            ]);
        }
    }
    rows
}

/// One row a step.
pub fn run(run: &RunDocument, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(
        out,
        &[
            "step",
            "title",
            "size",
            "verified",
            "time_ns",
            "low_ns",
            "high_ns",
            "rate",
            "rate_unit",
            "speedup_previous",
            "speedup_first",
            "by_rate",
            "bound",
            "rule",
            "factor",
            "low",
            "high",
            "hint",
            "next",
            "next_gained",
            "fault",
        ],
    )?;
    for row in rows(run) {
        let step = row.step;
        let outcome = row.outcome.as_ref();
        let by_rate = [row.over_previous, row.over_first].iter().flatten().any(|gain| gain.by_rate);
        let gained = |gain: Option<Gain>| number(gain.map(|gain| gain.factor));
        table.row(&[
            printable(&step.name),
            printable(&step.title),
            printable(&step.size_words()),
            step.verified.to_string(),
            step.time_ns.median.to_string(),
            step.time_ns.low.to_string(),
            step.time_ns.high.to_string(),
            number(step.rate.as_ref().map(|rate| rate.value)),
            step.rate.as_ref().map(|rate| printable(&rate.unit)).unwrap_or_default(),
            gained(row.over_previous),
            gained(row.over_first),
            by_rate.to_string(),
            row.bound.map(|bound| bound.word().to_owned()).unwrap_or_default(),
            row.finding.map(|finding| printable(&finding.rule)).unwrap_or_default(),
            number(row.estimate.map(|gain| gain.factor)),
            number(row.estimate.map(|gain| gain.low)),
            number(row.estimate.map(|gain| gain.high)),
            row.finding.map(|finding| printable(&finding.hint)).unwrap_or_default(),
            outcome.map(|outcome| printable(&outcome.next.name)).unwrap_or_default(),
            gained(outcome.and_then(|outcome| outcome.gained)),
            outcome.and_then(|outcome| outcome.fault).map_or("", |fate| fate.word()).to_owned(),
        ])?;
    }
    table.end()
}

/// One row a metric.
pub fn diff(diff: &Diff, out: &mut dyn Write) -> io::Result<()> {
    let mut table =
        Table::new(out, &["kernel", "metric", "title", "unit", "base", "new", "direction", "key"])?;
    for change in &diff.metrics {
        table.row(&[
            printable(&change.kernel),
            printable(&change.metric),
            printable(&change.title),
            printable(&change.unit),
            change.base.to_string(),
            change.new.to_string(),
            change.direction.clone(),
            change.key.to_string(),
        ])?;
    }
    table.end()
}

fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A CSV table under way.
pub struct Table<'a>(::csv::Writer<&'a mut dyn Write>);

impl<'a> Table<'a> {
    /// Starts it with its head.
    pub fn new(out: &'a mut dyn Write, columns: &[&str]) -> io::Result<Self> {
        let mut table = Self(::csv::Writer::from_writer(out));
        table.0.write_record(columns).map_err(plain)?;
        Ok(table)
    }

    /// Adds a row.
    pub fn row(&mut self, cells: &[String]) -> io::Result<()> {
        self.0.write_record(cells).map_err(plain)
    }

    /// Writes what is left.
    pub fn end(mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The I/O error inside, so that a closed pipe is still seen as one.
fn plain(error: ::csv::Error) -> io::Error {
    match error.into_kind() {
        ::csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
