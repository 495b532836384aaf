//! Tables whose cells hold sentences: wrapped at words until the table fits, and records where even
//! that does not.

use tabled::builder::Builder;
use tabled::settings::Style;

use crate::text::layout::{columns, wrap};

/// Columns that a cell takes beside its text: a space on each side and a line.
const FRAME: usize = 3;

/// A framed table of these rows within the width, the first row its titles. Words stay whole: where
/// the longest ones do not fit side by side, each row becomes a record, a line for each of its cells.
pub(super) fn grid(rows: &[Vec<String>], width: usize) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let of_column = |at: usize, measure: fn(&str) -> usize| {
        rows.iter().filter_map(|row| row.get(at)).map(|cell| measure(cell)).max().unwrap_or(0)
    };
    let least: Vec<usize> = (0..count).map(|at| of_column(at, longest_word)).collect();
    let mut given: Vec<usize> = (0..count).map(|at| of_column(at, longest_line)).collect();
    let room = width.saturating_sub(FRAME * count + 1);
    if least.iter().sum::<usize>() > room {
        return records(rows, width);
    }
    let mut over = given.iter().sum::<usize>().saturating_sub(room);
    // The widest column gives first.
    while over > 0
        && let Some(widest) =
            (0..count).filter(|&at| given[at] > least[at]).max_by_key(|&at| given[at])
    {
        given[widest] -= 1;
        over -= 1;
    }
    let mut builder = Builder::default();
    for row in rows {
        builder.push_record(row.iter().zip(&given).map(|(cell, &width)| wrapped(cell, width)));
    }
    builder.build().with(Style::sharp()).to_string()
}

/// Each row as lines of `title: cell`, a blank line between rows; empty cells are left out.
fn records(rows: &[Vec<String>], width: usize) -> String {
    let Some((titles, rows)) = rows.split_first() else { return String::new() };
    let record = |row: &Vec<String>| {
        let cells = titles.iter().zip(row).enumerate().filter(|(_, (_, cell))| !cell.is_empty());
        cells
            .map(|(at, (title, cell))| {
                let indent = if at == 0 { "" } else { "  " };
                let text = format!("{title}: {}", cell.replace('\n', ", "));
                wrap(&text, width.saturating_sub(indent.len()))
                    .into_iter()
                    .map(|line| format!("{indent}{line}"))
                    .collect::<Vec<_>>()
                    .join("\n")
            })
            .collect::<Vec<_>>()
            .join("\n")
    };
    rows.iter().map(record).collect::<Vec<_>>().join("\n\n")
}

fn wrapped(cell: &str, width: usize) -> String {
    cell.lines().flat_map(|line| wrap(line, width)).collect::<Vec<_>>().join("\n")
}

fn longest_word(cell: &str) -> usize {
    cell.split_whitespace().map(columns).max().unwrap_or(0)
}

fn longest_line(cell: &str) -> usize {
    cell.lines().map(columns).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Vec<String>> {
        [["step", "what it is"], ["v2", "a block for each set"], ["v3", "one\ntwo"]]
            .map(|row| row.map(str::to_owned).to_vec())
            .to_vec()
    }

    #[test]
    fn cells_wrap_at_words() {
        // Two frames and a line leave 15 columns, 11 of them beside the step.
        assert_eq!(
            grid(&rows(), 22),
            "┌──────┬─────────────┐\n\
             │ step │ what it is  │\n\
             ├──────┼─────────────┤\n\
             │ v2   │ a block for │\n\
             │      │ each set    │\n\
             │ v3   │ one         │\n\
             │      │ two         │\n\
             └──────┴─────────────┘"
        );
    }

    #[test]
    fn too_narrow_a_table_becomes_records() {
        assert_eq!(
            grid(&rows(), 15),
            "step: v2\n  what it is: a\n  block for\n  each set\n\nstep: v3\n  what it is:\n  one, two"
        );
        assert_eq!(grid(&[], 40), "");
    }
}
