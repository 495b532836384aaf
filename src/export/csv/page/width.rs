//! Rows that have other cells than their header says.
//!
//! A comma or a quote that got lost on the way moves every value behind it under another metric's name, and
//! a wrong verdict would follow without a word. Such rows are left out aloud.

use std::path::Path;

use crate::error::{Error, Result};
use crate::export::csv::page::{PageKind, Row, Table};
use crate::text::count_of;

/// Where the columns of ncu's own rules begin: a metric's row on the details page ends there, with a comma.
const FIRST_RULE_COLUMN: &str = "Rule Name";

/// Leaves out the rows whose number of cells no whole row of the page has, and says so in one sentence.
/// `ends_early` is true for the table that a file without a last line break ends in: its last row may be
/// short, and what it has is right.
///
/// # Errors
/// [`Error::Input`] where no launch is left, or where the units are damaged.
pub(super) fn leave_out_misfits(
    table: &mut Table,
    kind: PageKind,
    ends_early: bool,
    name: &Path,
) -> Result<Option<String>> {
    let widths = widths(table, kind);
    let is_units = |at: usize, row: &Row| kind == PageKind::Raw && at == 0 && !row.is_launch();
    let launches = |table: &Table| {
        table.rows.iter().enumerate().filter(|(at, row)| !is_units(*at, row)).count()
    };
    let before = launches(table);
    let last = table.rows.len().saturating_sub(1);
    let fits = |at: usize, row: &Row| {
        let is_cut_off = ends_early && at == last && row.cells.len() < table.header.len();
        // Where a comma is lost, two quotes meet within what is now one cell.
        widths.contains(&row.cells.len()) || is_cut_off && !row.holds_quotes()
    };
    let fitting: Vec<bool> = table.rows.iter().enumerate().map(|(at, row)| fits(at, row)).collect();
    let Some(at) = fitting.iter().position(|fits| !fits) else { return Ok(None) };
    let (line, cells) = (table.rows[at].line, table.rows[at].cells.len());
    let units_misfit = is_units(at, &table.rows[at]);
    let mut fitting = fitting.into_iter();
    table.rows.retain(|_| fitting.next().unwrap_or(true));
    let left = launches(table);
    let expected = count_of(table.header.len() as f64, "column");
    if units_misfit || left == 0 {
        return Err(Error::input(
            name,
            format!(
                "the page is damaged: its header has {expected}, but line {line} has {cells} cells, so no \
                 value can be given its metric; export it again, or copy it again"
            ),
        ));
    }
    Ok(Some(format!(
        "{}: {} of {} were left out because they have other cells than the header's {expected} (line {line} \
         has {cells}): the file is damaged there; export it again, or copy it again",
        name.display(),
        before - left,
        count_of(before as f64, "row")
    )))
}

/// How many cells a whole row may have.
fn widths(table: &Table, kind: PageKind) -> [usize; 2] {
    let all = table.header.len();
    let metric = table.column(FIRST_RULE_COLUMN).filter(|_| kind == PageKind::Details);
    [all, metric.map_or(all, |column| column + 1)]
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::export::csv::{details, raw};

    const RAW: &str = "\
\"ID\",\"Kernel Name\",\"a.sum\",\"b.sum\",\"c.sum\"
\"\",\"\",\"\",\"ns\",\"\"
\"0\",\"f\",\"1\",\"2\",\"3\"
\"1\",\"g\",\"4\",\"5\",\"6\"
";

    /// The page without its comma number `at`.
    fn without_comma(page: &str, at: usize) -> String {
        let place = page.match_indices(',').nth(at).unwrap().0;
        format!("{}{}", &page[..place], &page[place + 1..])
    }

    #[test]
    fn no_comma_can_be_lost_without_a_word() {
        let whole = raw::read(RAW, Path::new("x")).unwrap();
        assert_eq!(whole.notices, Vec::<String>::new());
        for page in [RAW, RAW.trim_end()] {
            for at in 0..RAW.matches(',').count() {
                let Ok(export) = raw::read(&without_comma(page, at), Path::new("x")) else {
                    continue;
                };
                assert_eq!(export.notices.len(), 1, "comma {at}");
                // What is left was in the whole page.
                assert_eq!(export.launches.len(), 1, "comma {at}");
                let id = export.launches[0].id;
                let expected: Vec<_> =
                    whole.metrics.iter().filter(|row| row.launch == id).collect();
                assert_eq!(export.metrics.iter().collect::<Vec<_>>(), expected, "comma {at}");
            }
        }
    }

    #[test]
    fn a_damaged_header_is_refused() {
        let error = raw::read(&without_comma(RAW, 2), Path::new("x.csv")).unwrap_err().to_string();
        assert!(
            error.contains("x.csv") && error.contains("4 columns") && error.contains("5 cells"),
            "{error}"
        );
    }

    #[test]
    fn rows_of_metrics_end_before_the_rules() {
        let page = "\
\"ID\",\"Kernel Name\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule Name\",\"Rule Type\",\"Rule Description\"
\"0\",\"f\",\"Launch Statistics\",\"Grid Size\",\"\",\"4\",
\"0\",\"f\",\"Launch Statistics\",\"Block Size\",\"\",\"32\",
\"0\",\"f\",\"Launch Statistics\",\"\",\"\",\"\",\"R\",\"OPT\",\"says\"
";
        let whole = details::read(page, Path::new("x")).unwrap();
        assert_eq!((whole.metrics.len(), whole.rules.len(), whole.notices.len()), (2, 1, 0));
        let damaged = details::read(&without_comma(page, 9), Path::new("x")).unwrap();
        assert_eq!((damaged.metrics.len(), damaged.rules.len(), damaged.notices.len()), (1, 1, 1));
    }
}
