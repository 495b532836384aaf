//! The ledger as CSV.

use std::io::{self, Write};

use crate::ledger::LedgerDocument;
use crate::report::csv::Table;
use crate::text::{assignments, printable};

/// One row a hint.
pub(super) fn csv(document: &LedgerDocument, out: &mut dyn Write) -> io::Result<()> {
    let head = [
        "subject", "size", "device", "kernel", "share", "time_ns", "rule", "version", "rank",
        "factor", "low", "high", "date", "shipped", "gain", "counts", "held", "gone", "by",
        "measured",
    ];
    let mut table = Table::new(out, &head)?;
    for record in &document.records {
        let (hint, outcome) = (&record.hint, record.outcome.as_ref());
        table.row(
            &[
                hint.subject.name(),
                assignments(&hint.subject.size, " "),
                hint.device.clone(),
                hint.kernel.clone(),
                hint.time_share.to_string(),
                hint.time_ns.to_string(),
                hint.rule.clone(),
                hint.version.clone(),
                hint.rank.to_string(),
                hint.estimate.factor.to_string(),
                hint.estimate.low.to_string(),
                hint.estimate.high.to_string(),
                hint.date.clone(),
                record.shipped.to_string(),
                outcome.map(|outcome| outcome.gain.to_string()).unwrap_or_default(),
                outcome.map(|outcome| outcome.counts.to_string()).unwrap_or_default(),
                record.held().map(|held| held.to_string()).unwrap_or_default(),
                outcome.map(|outcome| outcome.gone.to_string()).unwrap_or_default(),
                outcome.map(|outcome| outcome.by.clone()).unwrap_or_default(),
                outcome.map(|outcome| outcome.date.clone()).unwrap_or_default(),
            ]
            .map(|cell| printable(&cell)),
        )?;
    }
    table.end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::tests::{hint, outcome};
    use crate::ledger::{Line, records};

    fn document() -> LedgerDocument {
        let measured = hint("v2", "uncoalesced-global-access", 2.0);
        let open = hint("v2", "occupancy-limited-by-shared-memory", 1.4);
        let gain = outcome(&measured, 4.0);
        let lines = vec![Line::Hint(measured), Line::Hint(open), Line::Outcome(gain)];
        LedgerDocument::new(records(lines, false), Vec::new())
    }

    #[test]
    fn the_csv_has_a_row_a_hint() {
        let mut out = Vec::new();
        csv(&document(), &mut out).unwrap();
        let mut reader = ::csv::Reader::from_reader(out.as_slice());
        let rows: Vec<::csv::StringRecord> = reader.records().map(|row| row.unwrap()).collect();
        assert_eq!(rows.len(), 2);
        assert_eq!((&rows[0][0], &rows[0][14], &rows[0][16]), ("ado/v2", "4", "false"));
        assert_eq!((&rows[1][14], &rows[1][16]), ("", ""));
    }
}
