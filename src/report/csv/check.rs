//! A check as CSV.

use std::io::{self, Write};

use crate::gate::CheckDocument;
use crate::report::csv::{Table, number};
use crate::text::printable;

/// One row for the times and one per gate.
pub(super) fn check(check: &CheckDocument, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        "base", "new", "what", "outcome", "ratio", "low", "high", "margin", "base_ns", "new_ns",
        "runs", "seen",
    ];
    let mut table = Table::new(out, &columns)?;
    let found = check.comparison.as_ref();
    let of = |value: fn(&crate::gate::Comparison) -> f64| number(found.map(value));
    let (base, new) = (printable(&check.base), printable(&check.new));
    let unlike: Vec<String> = check
        .unlike
        .iter()
        .map(|one| format!("{}: {} against {}", one.what, one.base, one.new))
        .collect();
    table.row(&[
        base.clone(),
        new.clone(),
        "time".to_owned(),
        check.verdict.word().to_owned(),
        of(|found| found.time.ratio),
        of(|found| found.time.low),
        of(|found| found.time.high),
        of(|found| found.margin.used()),
        number(check.base_ns.map(|time| time.median)),
        number(check.new_ns.map(|time| time.median)),
        of(|found| found.runs as f64),
        printable(&unlike.join("; ")),
    ])?;
    for gate in &check.gates {
        let outcome = format!("{:?}", gate.outcome).to_lowercase();
        let mut cells = vec![base.clone(), new.clone(), printable(&gate.gate), outcome];
        cells.extend(std::iter::repeat_n(String::new(), 7));
        cells.push(printable(&gate.seen.join("; ")));
        table.row(&cells)?;
    }
    table.end()
}
