//! A limiter run as CSV.

use std::io::{self, Write};

use crate::limiter::{Entrant, LimiterDocument};
use crate::report::csv::Table;
use crate::text::printable;

/// One row for the whole kernel, then one per variant.
pub(super) fn csv(document: &LimiterDocument, out: &mut dyn Write) -> io::Result<()> {
    let head = ["variant", "kind", "title", "time_ns", "low_ns", "high_ns", "n", "factor"];
    let mut table = Table::new(out, &head)?;
    table.row(&row(["whole kernel", "", ""], &document.full, 1.0))?;
    for variant in &document.variants {
        let names = [variant.name.as_str(), variant.kind.word(), &variant.title];
        table.row(&row(names, &variant.entrant, variant.factor))?;
    }
    table.end()
}

fn row(names: [&str; 3], entrant: &Entrant, factor: f64) -> Vec<String> {
    let time = entrant.time_ns;
    let numbers = [time.median, time.low, time.high, time.n as f64, factor];
    names.map(printable).into_iter().chain(numbers.map(|number| number.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limiter::sample;

    #[test]
    fn the_csv_has_a_row_per_kernel() {
        let mut out = Vec::new();
        csv(&sample(), &mut out).unwrap();
        let mut reader = ::csv::Reader::from_reader(out.as_slice());
        let rows: Vec<::csv::StringRecord> = reader.records().map(|row| row.unwrap()).collect();
        assert_eq!(rows.len(), 1 + sample().variants.len());
        assert_eq!((&rows[0][0], &rows[0][7]), ("whole kernel", "1"));
        // The sample's whole kernel takes 35.39 ms, twice as long as without its barrier.
        let barrier = rows.iter().find(|row| &row[0] == "no-barrier").expect("a row");
        assert_eq!((&barrier[1], &barrier[3], &barrier[7]), ("what-if", "17695000", "2"));
    }
}
