//! Tables that fit: flexible columns shrink, optional ones go, and where even that is too wide each row
//! becomes a record.

use tabled::builder::Builder;
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Padding, Style};

use crate::text::layout::{columns, fit, wrap};

/// Spaces between columns.
const GAP: usize = 2;

/// Rows of a table of launches or of kinds of them, unless all are asked for.
pub(super) const MOST_ROWS: usize = 20;

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    title: String,
    right: bool,
    /// Columns that are kept where the table is too wide; `None` where all are.
    least: Option<usize>,
    optional: bool,
}

impl Column {
    /// A column of text, as wide as its content.
    pub(super) fn text(title: impl Into<String>) -> Self {
        Self { title: title.into(), right: false, least: None, optional: false }
    }

    /// A column of numbers, aligned at the right.
    pub(super) fn number(title: impl Into<String>) -> Self {
        Self { right: true, ..Self::text(title) }
    }

    /// May be truncated to `least` columns where the table is too wide.
    pub(super) fn flexible(self, least: usize) -> Self {
        Self { least: Some(least), ..self }
    }

    /// May be left out where the table is too wide even so, the last one first.
    pub(super) fn optional(self) -> Self {
        Self { optional: true, ..self }
    }
}

/// Spaces before the cells of a record.
const INDENT: usize = 2;

/// A table that fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    /// The line of the titles; `None` where each row is a record.
    pub titles: Option<String>,
    /// The lines of each row: one, or those of its record.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// True where a column is shown: its title, or, where each row is a record, the title before a cell.
    pub(super) fn shows(&self, title: &str) -> bool {
        let mut lines = self.titles.iter().chain(self.rows.iter().flatten());
        lines.any(|line| line.contains(title))
    }
}

/// Lays a table out. Rows shorter than the columns are filled with blanks. Where
/// the columns do not fit side by side, each row is its first cell and below it the others, each behind
/// its title.
pub(super) fn render(head: &[Column], rows: &[Vec<String>], width: usize) -> Table {
    let mut shown: Vec<usize> = (0..head.len()).collect();
    let natural: Vec<usize> = head
        .iter()
        .enumerate()
        .map(|(at, column)| {
            let cells = rows.iter().map(|row| columns(&fit(cell(row, at), usize::MAX)));
            cells.max().unwrap_or(0).max(columns(&column.title))
        })
        .collect();
    let least = |at: usize| head[at].least.map_or(natural[at], |least| natural[at].min(least));
    let total = |shown: &[usize], of: &dyn Fn(usize) -> usize| {
        shown.iter().map(|&at| of(at)).sum::<usize>() + GAP * shown.len().saturating_sub(1)
    };
    while total(&shown, &least) > width
        && let Some(last) = shown.iter().rposition(|&at| head[at].optional)
    {
        shown.remove(last);
    }
    if total(&shown, &least) > width {
        let rows = rows.iter().map(|row| record(head, row, width)).collect();
        return Table { titles: None, rows };
    }
    let mut given = natural.clone();
    let mut over = total(&shown, &|at| given[at]).saturating_sub(width);
    // The widest flexible column gives first.
    while over > 0
        && let Some(&widest) =
            shown.iter().filter(|&&at| given[at] > least(at)).max_by_key(|&&at| given[at])
    {
        given[widest] -= 1;
        over -= 1;
    }
    let mut builder = Builder::default();
    builder.push_record(shown.iter().map(|&at| fit(&head[at].title, given[at])));
    for row in rows {
        builder.push_record(shown.iter().map(|&at| fit(cell(row, at), given[at])));
    }
    let mut table = builder.build();
    table.with(Style::empty()).with(Padding::new(0, GAP, 0, 0));
    for (place, &at) in shown.iter().enumerate() {
        if head[at].right {
            table.modify(Columns::one(place), Alignment::right());
        }
    }
    let text = table.to_string();
    let mut lines = text.lines().map(|line| line.trim_end().to_owned());
    Table { titles: lines.next(), rows: lines.map(|line| vec![line]).collect() }
}

/// A row where the table is too wide; cells without content are left out.
fn record(head: &[Column], row: &[String], width: usize) -> Vec<String> {
    let cells = head.iter().zip(row).skip(1).filter(|(_, cell)| !cell.trim().is_empty());
    let cells: Vec<String> = cells
        .map(|(column, cell)| match column.title.as_str() {
            "" => cell.clone(),
            title => format!("{title} {cell}"),
        })
        .collect();
    let first = wrap(cell(row, 0), width);
    let rest = wrap(&cells.join(", "), width.saturating_sub(INDENT));
    let rest = rest.iter().filter(|line| !line.is_empty());
    first.into_iter().chain(rest.map(|line| format!("{:INDENT$}{line}", ""))).collect()
}

fn cell(row: &[String], at: usize) -> &str {
    row.get(at).map_or("", String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All lines of a table.
    fn lines(head: &[Column], rows: &[Vec<String>], width: usize) -> Vec<String> {
        let table = render(head, rows, width);
        table.titles.into_iter().chain(table.rows.into_iter().flatten()).collect()
    }

    fn rows() -> Vec<Vec<String>> {
        vec![
            vec!["v2".to_owned(), "11.0 ms".to_owned(), "shared-memory-pressure".to_owned()],
            vec!["v3".to_owned(), "7.4 ms".to_owned()],
        ]
    }

    fn head() -> [Column; 3] {
        [Column::text("step"), Column::number("time"), Column::text("finding").flexible(10)]
    }

    #[test]
    fn numbers_stand_at_the_right() {
        assert_eq!(
            lines(&head(), &rows(), 80),
            ["step     time  finding", "v2    11.0 ms  shared-memory-pressure", "v3     7.4 ms"]
        );
    }

    #[test]
    fn flexible_columns_shrink() {
        // 28 − 4 − 7 and two gaps leave 13 columns.
        assert_eq!(lines(&head(), &rows(), 28)[1], "v2    11.0 ms  shared-memor…");
    }

    #[test]
    fn optional_columns_go() {
        let [step, time, finding] = head();
        let lines = lines(&[step, time, finding.optional()], &rows(), 20);
        assert_eq!(lines, ["step     time", "v2    11.0 ms", "v3     7.4 ms"]);
    }

    #[test]
    fn rows_become_records_where_columns_do_not_fit() {
        let head = [Column::text("step"), Column::number("time"), Column::text("finding")];
        assert_eq!(
            lines(&head, &rows(), 24),
            ["v2", "  time 11.0 ms, finding", "  shared-memory-pressure", "v3", "  time 7.4 ms"]
        );
    }

    #[test]
    fn cells_cannot_break_the_table() {
        let lines = lines(&head(), &[vec!["a\nb".to_owned(), "\u{1b}[2J".to_owned()]], 40);
        assert_eq!(lines.len(), 2);
        assert!(!lines[1].contains('\u{1b}'));
    }
}
