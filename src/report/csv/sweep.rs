//! A sweep as CSV.

use std::io::{self, Write};

use crate::report::csv::Table;
use crate::report::words::sweep::brief;
use crate::sweep::SweepDocument;
use crate::text::printable;

/// One row a point: the axes' values, then what came of them.
pub(super) fn csv(document: &SweepDocument, out: &mut dyn Write) -> io::Result<()> {
    let axes = document.axes.iter().map(|axis| axis.name.as_str());
    let fixed = [
        "verified",
        "max_error",
        "time_ns",
        "low_ns",
        "high_ns",
        "n",
        "rate",
        "rate_unit",
        "best",
        "error",
    ];
    let head: Vec<&str> = axes.chain(fixed).collect();
    let mut table = Table::new(out, &head)?;
    let best: Vec<usize> =
        document.best.iter().filter(|best| best.clear).map(|best| best.best).collect();
    for (place, point) in document.points.iter().enumerate() {
        let time = point.time_ns;
        let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        let settings = document.axes.iter().map(|axis| {
            point.settings.get(&axis.name).map(|value| printable(value)).unwrap_or_default()
        });
        let row: Vec<String> = settings
            .chain([
                point.verified.to_string(),
                number(point.max_error),
                number(time.map(|time| time.median)),
                number(time.map(|time| time.low)),
                number(time.map(|time| time.high)),
                time.map(|time| time.n.to_string()).unwrap_or_default(),
                number(point.rate.as_ref().map(|rate| rate.value)),
                point.rate.as_ref().map(|rate| printable(&rate.unit)).unwrap_or_default(),
                best.contains(&place).to_string(),
                point.error.as_deref().map(|error| printable(&brief(error))).unwrap_or_default(),
            ])
            .collect();
        table.row(&row)?;
    }
    table.end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::sweep as sample;

    #[test]
    fn csv_has_a_row_a_point() {
        let mut out = Vec::new();
        csv(&sample(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 5);
        assert!(lines[0].starts_with("BLOCK,flags,verified,max_error,time_ns,low_ns"), "{text}");
        assert_eq!(lines[3], "128,,true,0,100000,99000,103000,20,5000,GB/s,true,");
        assert_eq!(
            lines[4],
            "128,'-ftz=true,false,,,,,,,,false,i5.cu does not compile: line 7 is wrong"
        );
    }
}
