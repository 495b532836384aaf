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

/// One row per finding; its place is the line with the largest share. What lies around a program's kernels comes last,
/// without a launch.
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
                place.filter(|at| at.line > 0).map(|at| at.line.to_string()).unwrap_or_default(),
                number(place.map(|place| place.share)),
                printable(&finding.message),
                printable(&finding.hint),
                finding.ncu.as_ref().map(|ncu| printable(&ncu.rule)).unwrap_or_default(),
                number(finding.ncu.as_ref().and_then(|ncu| ncu.estimate_percent)),
            ]);
        }
    }
    // What lies around a program's kernels belongs to no launch.
    for finding in document.program.iter().flat_map(|program| &program.findings) {
        let gain = finding.estimated_speedup;
        // Without a line its share would be nothing's.
        let site = finding.sites.first().filter(|site| site.line.is_some());
        let mut row = vec![String::new(); FINDING_COLUMNS.len()];
        let cells = [
            (2, finding.rank.to_string()),
            (3, printable(&finding.rule)),
            (4, number(Some(gain.factor))),
            (5, number(Some(gain.low))),
            (6, number(Some(gain.high))),
            (7, site.map(|site| printable(&site.file)).unwrap_or_default()),
            (8, site.and_then(|site| site.line).map(|line| line.to_string()).unwrap_or_default()),
            (9, number(site.map(|site| site.share))),
            (10, printable(&finding.message)),
            (11, printable(&finding.hint)),
        ];
        for (column, cell) in cells {
            row[column] = cell;
        }
        rows.push(row);
    }
    rows
}

#[cfg(test)]
mod tests {
    use crate::document::{CallSite, Program, ProgramFinding};
    use crate::finding::Estimate;
    use crate::report::samples;

    #[test]
    fn what_lies_around_kernels_has_rows_without_a_launch() {
        let mut document = samples::program();
        let finding = ProgramFinding {
            rank: 1,
            rule: "small-copies".to_owned(),
            estimated_speedup: Estimate { factor: 1.5, low: 1.25, high: 2.0 },
            message: "many copies".to_owned(),
            evidence: Vec::new(),
            hint: "copy less often".to_owned(),
            sites: vec![CallSite {
                file: "main.cpp".to_owned(),
                line: Some(57),
                share: 0.75,
                ..CallSite::default()
            }],
        };
        document.program = Some(Program { findings: vec![finding], ..Program::default() });
        let mut out = Vec::new();
        super::document(&document, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text.lines().count(),
            1 + 3 + 1,
            "a head, three launches' findings and one: {text}"
        );
        let last = text.lines().last().unwrap();
        assert_eq!(
            last,
            ",,1,small-copies,1.5,1.25,2,main.cpp,57,0.75,many copies,copy less often,,"
        );
    }
}
