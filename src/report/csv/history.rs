//! Values over commits as CSV.

use std::io::{self, Write};

use crate::history::HistoryDocument;
use crate::report::csv::{Table, number};
use crate::text::printable;

/// One row a point of a series; `jump_p_value` has a value where the series jumps there.
pub(super) fn csv(document: &HistoryDocument, out: &mut dyn Write) -> io::Result<()> {
    let head = [
        "device",
        "program",
        "size",
        "kernel",
        "quantity",
        "unit",
        "commit",
        "committed",
        "date",
        "value",
        "low",
        "high",
        "profiles",
        "jump_from",
        "jump_to",
        "jump_p_value",
        "worse",
    ];
    let mut table = Table::new(out, &head)?;
    for series in &document.series {
        for (at, point) in series.points.iter().enumerate() {
            let jump = series.jumps.iter().find(|jump| jump.at == at);
            table.row(
                &[
                    series.device.clone(),
                    series.program.clone(),
                    series.size.clone(),
                    series.kernel.clone().unwrap_or_default(),
                    document.quantity.clone(),
                    document.unit.clone(),
                    point.commit.clone().unwrap_or_default(),
                    point.committed.map(|seconds| seconds.to_string()).unwrap_or_default(),
                    point.date.clone(),
                    point.value.to_string(),
                    point.low.to_string(),
                    point.high.to_string(),
                    point.profiles.to_string(),
                    number(jump.map(|jump| jump.from)),
                    number(jump.map(|jump| jump.to)),
                    number(jump.map(|jump| jump.p_value)),
                    jump.and_then(|jump| jump.worse).map(|it| it.to_string()).unwrap_or_default(),
                ]
                .map(|cell| printable(&cell)),
            )?;
        }
    }
    table.end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::history;

    #[test]
    fn the_csv_has_a_row_a_point_and_the_jump_at_its_commit() {
        let mut out = Vec::new();
        csv(&history(), &mut out).unwrap();
        let mut reader = ::csv::Reader::from_reader(out.as_slice());
        let rows: Vec<::csv::StringRecord> = reader.records().map(|row| row.unwrap()).collect();
        assert_eq!(rows.len(), 8);
        let jumps: Vec<(&str, &str)> =
            rows.iter().filter(|row| !row[15].is_empty()).map(|row| (&row[6], &row[16])).collect();
        assert_eq!(jumps, [("c5", "true")]);
        assert_eq!((&rows[0][0], &rows[0][9], &rows[7][9]), ("NVIDIA H200", "100000", "120000"));
    }
}
