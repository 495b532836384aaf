//! Findings as CSV.

use std::io::{self, Write};

use crate::document::Document;
use crate::report::csv::{Table, number};
use crate::text::printable;

/// The columns of a document's CSV.
const FINDING_COLUMNS: [&str; 14] = [
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
pub(super) fn document(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(out, &FINDING_COLUMNS)?;
    for row in finding_rows(document) {
        table.row(&row)?;
    }
    table.end()
}

/// The same of several profiles, each named in a first column.
pub(super) fn documents(documents: &[(String, Document)], out: &mut dyn Write) -> io::Result<()> {
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
