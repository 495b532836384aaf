//! Two raw pages of the same launches as one: what a second run of ncu adds to the first.

use std::path::Path;

use crate::error::{Error, Result};
use crate::export::csv::page::{self, PageKind, Row, Table};
use crate::export::csv::raw::LAUNCH_COLUMNS;
use crate::text::count_of;

/// The columns that tell that two rows are of the same launch. Ids are not among them: a run counts
/// from 0 whatever another one counted.
const SAME: [&str; 3] = ["Kernel Name", "Grid Size", "Block Size"];

/// The first page with the second's further columns behind. Launches are matched by their order;
/// where both pages have a metric, the first's value stays, so that durations and counts that belong
/// together come from one run.
///
/// # Errors
/// [`Error::Input`] where a text is no raw page, or where the pages are not of the same launches.
pub fn merge(first: &str, second: &str) -> Result<String> {
    let (one, two) = (table(first, "the first run's")?, table(second, "the second run's")?);
    let ((one_units, one_rows), (two_units, two_rows)) = (split(&one), split(&two));
    let same = one_rows.len() == two_rows.len()
        && one_rows.iter().zip(two_rows).all(|(a, b)| {
            SAME.iter().all(|name| {
                let (a, b) = (a.get(one.column(name)), b.get(two.column(name)));
                a.is_none() || b.is_none() || a == b
            })
        });
    if !same {
        return Err(Error::input(
            Path::new("the second run's raw page"),
            format!(
                "it has {} instead of the first run's {}: the program does not launch the same \
                 kernels each time",
                count_of(two_rows.len() as f64, "launch"),
                one_rows.len()
            ),
        ));
    }
    let new: Vec<usize> = (0..two.header.len())
        .filter(|&at| {
            let name = two.header[at].as_str();
            !name.is_empty()
                && !LAUNCH_COLUMNS.contains(&name)
                && !one.header.iter().any(|known| known == name)
        })
        .collect();
    let joined = |left: &Row, right: &Row| -> Vec<String> {
        let cell = |row: &Row, at: usize| row.cells.get(at).unwrap_or_default().to_owned();
        let left = (0..one.header.len()).map(|at| cell(left, at));
        left.chain(new.iter().map(|&at| cell(right, at))).collect()
    };
    let header = one.header.iter().chain(new.iter().map(|&at| &two.header[at])).cloned().collect();
    let units = one_units.into_iter().zip(two_units);
    let rows = units.chain(one_rows.iter().zip(two_rows)).map(|(left, right)| joined(left, right));
    page::write(std::iter::once(header).chain(rows))
}

/// The only table of a page: ncu's export of a report has one.
fn table(text: &str, whose: &str) -> Result<Table> {
    let name = format!("{whose} raw page");
    let name = Path::new(&name);
    let (mut tables, _) = page::tables(text, name, PageKind::Raw)?;
    match (tables.pop(), tables.is_empty()) {
        (Some(table), true) => Ok(table),
        _ => Err(Error::input(name, "it has several tables, but ncu writes one per report")),
    }
}

/// The row of units, where the page has one, and the launches.
fn split(table: &Table) -> (Option<&Row>, &[Row]) {
    let units = table.rows.first().filter(|row| row.cells.get(0) == Some(""));
    (units, &table.rows[usize::from(units.is_some())..])
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::export::csv::raw;

    const FIRST: &str = "\
\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"gpu__time_duration.sum\",\"a.sum\"
\"\",\"\",\"\",\"\",\"ns\",\"\"
\"0\",\"f(int, \"\"x\"\")\",\"(32, 1, 1)\",\"(4, 1, 1)\",\"1000\",\"7\"
\"1\",\"g\",\"(64, 1, 1)\",\"(4, 1, 1)\",\"2000\",\"8\"
";
    const SECOND: &str = "\
==PROF== noise
\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"b.sum\",\"gpu__time_duration.sum\"
\"\",\"\",\"\",\"\",\"sector\",\"ns\"
\"5\",\"f(int, \"\"x\"\")\",\"(32, 1, 1)\",\"(4, 1, 1)\",\"70\",\"1111\"
\"6\",\"g\",\"(64, 1, 1)\",\"(4, 1, 1)\",\"80\",\"2222\"
";

    fn metrics(text: &str) -> Vec<(u32, Arc<str>, Option<f64>)> {
        let export = raw::read(text, Path::new("x")).unwrap();
        export.metrics.into_iter().map(|row| (row.launch, row.metric, row.value)).collect()
    }

    #[test]
    fn the_first_runs_values_stay_and_the_seconds_come_behind() {
        let merged = merge(FIRST, SECOND).unwrap();
        let value = |launch, name: &str| {
            let found: Vec<f64> = metrics(&merged)
                .into_iter()
                .filter(|row| (row.0, &*row.1) == (launch, name))
                .filter_map(|row| row.2)
                .collect();
            assert_eq!(found.len(), 1, "{name} of {launch}");
            found[0]
        };
        assert_eq!((value(0, "gpu__time_duration.sum"), value(1, "a.sum")), (1000.0, 8.0));
        assert_eq!((value(0, "b.sum"), value(1, "b.sum")), (70.0, 80.0));
        let export = raw::read(&merged, Path::new("x")).unwrap();
        assert_eq!(export.launches[0].kernel, "f(int, \"x\")");
        let added = export.metrics.iter().find(|row| *row.metric == *"b.sum").unwrap();
        assert_eq!(&*added.unit, "sector");
    }

    #[test]
    fn other_launches_are_refused() {
        for other in [
            SECOND.replace("\"g\"", "\"h\""),
            SECOND.replace("(64, 1, 1)", "(128, 1, 1)"),
            SECOND.lines().take(4).collect::<Vec<_>>().join("\n"),
        ] {
            let message = merge(FIRST, &other).unwrap_err().to_string();
            assert!(message.contains("instead of the first run's 2"), "{message}");
        }
        assert!(merge(FIRST, "").is_err() && merge("", SECOND).is_err());
    }
}
