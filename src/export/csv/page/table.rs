//! The table of a raw or details page, found in whatever else the file holds.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use csv::StringRecord;

use crate::error::{Error, Result};
use crate::export::csv::page::cells::Cells;
use crate::export::csv::page::{PageKind, header_kind, lines, not_this_page, width};
use crate::export::limits::Limits;
use crate::export::{Export, LaunchRow};
use crate::text::count_of;

/// A row of the raw or details page.
pub(in crate::export) struct Row {
    /// The line on which it starts, from 1.
    pub line: usize,
    /// Its cells.
    pub cells: Cells,
    /// True where the file ends within the row's last cell: 55 of 5549723648 would look like a value.
    pub cut: bool,
}

impl Row {
    /// True for a row of a launch: its id is a number. The row of units has none.
    pub(crate) fn is_launch(&self) -> bool {
        self.cells.get(0).is_some_and(is_number)
    }

    /// True where a cell holds a quote. A kernel's name hardly does, and no other cell of ncu's.
    pub(super) fn holds_quotes(&self) -> bool {
        self.cells.iter().any(|cell| cell.contains('"'))
    }

    /// The cell in a column; `None` past the row's end or where the page has no such column.
    pub(crate) fn get(&self, column: Option<usize>) -> Option<&str> {
        self.cells.get(column?)
    }
}

/// A raw or details page, or one of several behind each other in a file.
pub(in crate::export) struct Table {
    /// The header's names.
    pub header: Vec<String>,
    /// Everything below that may be data, noise left out.
    pub rows: Vec<Row>,
    /// True where rows lack the cells that are not needed.
    pub is_thinned: bool,
}

/// The columns of a table that are needed whatever its size, if there are more rows than all columns are kept of.
pub(in crate::export) struct Needed {
    /// For each column whether it is.
    pub columns: Vec<bool>,
    /// So many rows keep all columns.
    pub whole_rows: usize,
}

impl Table {
    /// The first column of that name.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|column| column == name)
    }
}

/// The tables of a raw or details page: one, or several where exports were appended to each other.
///
/// # Errors
/// What ncu said instead of a table, an empty file, another page, or something that is not ncu's.
pub(in crate::export) fn tables(
    text: &str,
    name: &Path,
    kind: PageKind,
) -> Result<(Vec<Table>, Vec<String>)> {
    thinned_tables(text, name, kind, &|_| None)
}

/// Likewise; of a table with many rows those behind the first hold what is needed of its header's columns alone.
///
/// # Errors
/// As [`tables`].
pub(in crate::export) fn thinned_tables(
    text: &str,
    name: &Path,
    kind: PageKind,
    needed_of: &dyn Fn(&[String]) -> Option<Needed>,
) -> Result<(Vec<Table>, Vec<String>)> {
    let start = lines(text).find(|(_, _, line)| header_kind(line) == Some(kind));
    let Some((offset, first_line, _)) = start else {
        return Err(not_this_page(text, name, kind));
    };
    let table = &text[offset..];
    let table = table.trim_start_matches('\u{feff}');
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(table.as_bytes());
    let mut tables: Vec<Table> = Vec::new();
    let mut needed: Option<Needed> = None;
    let mut record = StringRecord::new();
    let mut ends_in_row = false;
    let most = match kind {
        PageKind::Details => Limits::details_rows(text.len()),
        _ => Limits::raw_rows(text.len()),
    };
    let (mut count, mut beyond) = (0, 0_usize);
    while let Ok(true) = reader.read_record(&mut record) {
        let line = first_line - 1 + start_line(table, &record);
        let first = record.get(0).unwrap_or_default();
        ends_in_row = false;
        if first == "ID" && record.iter().any(|cell| cell == "Kernel Name") {
            let header: Vec<String> = record.iter().map(|cell| cell.trim().to_owned()).collect();
            needed = needed_of(&header);
            tables.push(Table { header, rows: Vec::new(), is_thinned: false });
        } else if let Some(table) = tables.last_mut() {
            let is_units = table.rows.is_empty() && first.is_empty();
            // Whatever the program printed has fewer cells; a row without its first comma has nearly all.
            let is_damaged =
                record.len() != table.header.len() && 2 * record.len() > table.header.len();
            if record.len() > 1 && (is_units || is_number(first) || is_damaged) {
                count += 1;
                if count > most {
                    beyond += 1;
                    continue;
                }
                let thin = needed.as_ref().filter(|one| table.rows.len() >= one.whole_rows);
                table.is_thinned |= thin.is_some();
                let cells = match thin {
                    Some(needed) => Cells::of_needed(&record, &needed.columns),
                    None => Cells::of(&record),
                };
                table.rows.push(Row { line, cells, cut: false });
                ends_in_row = true;
            }
        }
    }
    let rows: usize =
        tables.iter().map(|table| table.rows.iter().filter(|row| row.is_launch()).count()).sum();
    let is_whole = text.ends_with(['\n', '\r']);
    let mut notices = Vec::new();
    let count = tables.len();
    for (at, table) in tables.iter_mut().enumerate() {
        let ends_in_text = !is_whole && at + 1 == count;
        notices.extend(width::leave_out_misfits(table, kind, ends_in_text, name)?);
    }
    if beyond > 0 {
        notices.push(format!(
            "{}: {beyond} of {} were left out: adoprof reads at most {most} of a file of this size",
            name.display(),
            count_of(count as f64, "row")
        ));
    }
    let printed = table.lines().filter(|line| begins_with_id(line)).count();
    if printed > rows && beyond == 0 {
        notices.push(format!(
            "{}: {} of {} could not be read because the program's own output is mixed into them; \
             collect with `ncu -o` and export with `ncu --import`",
            name.display(),
            printed - rows,
            count_of(printed as f64, "row")
        ));
    }
    // ncu quotes every cell; a file that another tool has rewritten may end in a bare digit.
    let last_line = table.rsplit('\n').next().unwrap_or_default();
    let opens_a_cell = last_line.matches('"').count() % 2 == 1;
    let is_cut = table.starts_with('"') && !is_whole && (!text.ends_with('"') || opens_a_cell);
    if is_cut
        && ends_in_row
        && let Some(row) = tables.last_mut().and_then(|table| table.rows.last_mut())
    {
        row.cut = true;
    }
    Ok((tables, notices))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// True for a line that begins like a row of ncu's, `"12","`.
fn begins_with_id(line: &str) -> bool {
    line.strip_prefix('"')
        .and_then(|line| line.split_once("\",\""))
        .is_some_and(|(id, _)| is_number(id))
}

/// The line of a record within the table, from 1; blank lines before it do not count as its own.
fn start_line(table: &str, record: &StringRecord) -> usize {
    let Some(position) = record.position() else { return 1 };
    let rest = table.get(position.byte() as usize..).unwrap_or_default();
    let blank = rest.len() - rest.trim_start_matches(['\n', '\r']).len();
    position.line() as usize + rest[..blank].matches('\n').count()
}

/// The lines of a page as ncu writes them, every cell quoted.
///
/// # Errors
/// Where the lines can't be written, which memory does not refuse.
pub(in crate::export) fn write(lines: impl Iterator<Item = Vec<String>>) -> Result<String> {
    let failed = |error: &dyn std::fmt::Display| {
        Error::Environment(format!("a page of ncu's can't be written again: {error}"))
    };
    let mut writer = csv::WriterBuilder::new()
        .quote_style(csv::QuoteStyle::Always)
        .flexible(true)
        .from_writer(Vec::new());
    for line in lines {
        writer.write_record(line).map_err(|error| failed(&error))?;
    }
    let bytes = writer.into_inner().map_err(|error| failed(&error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// `(256, 1, 1)` as numbers; `None` for anything else.
pub(in crate::export) fn dimensions(cell: &str) -> Option<[u32; 3]> {
    let inner = cell.trim().strip_prefix('(')?.strip_suffix(')')?;
    let mut parts = inner.split(',').map(|part| part.trim().parse().ok());
    let xyz = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(xyz)
}

/// `9.0` as major and minor.
pub(in crate::export) fn compute_capability(cell: &str) -> Option<(u32, u32)> {
    let (major, minor) = cell.trim().split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The launches met so far, under provisional numbers: their place in this list.
#[derive(Default)]
pub(in crate::export) struct Launches {
    rows: Vec<LaunchRow>,
    by_key: HashMap<(usize, String, String), u32>,
}

impl Launches {
    /// The number of the launch with this table, process and id; a new one starts from `row`.
    pub(crate) fn find(
        &mut self,
        key: (usize, &str, &str),
        row: impl FnOnce() -> LaunchRow,
    ) -> (u32, bool) {
        let key = (key.0, key.1.to_owned(), key.2.to_owned());
        if let Some(&at) = self.by_key.get(&key) {
            return (at, false);
        }
        let at = self.push(row());
        self.by_key.insert(key, at);
        (at, true)
    }

    /// Adds a launch and gives its number.
    pub(crate) fn push(&mut self, row: LaunchRow) -> u32 {
        self.rows.push(row);
        (self.rows.len() - 1) as u32
    }

    /// The launch with a number that [`Self::find`] or [`Self::push`] gave.
    pub(crate) fn get_mut(&mut self, at: u32) -> Option<&mut LaunchRow> {
        self.rows.get_mut(at as usize)
    }

    /// How many launches there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// True before the first launch.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Puts the launches into the export and their final ids into its rows: ncu's own where they are
    /// unique, else 0, 1, 2 (several processes in one profile each count from 0).
    pub(crate) fn finish(mut self, export: &mut Export) {
        let mut seen = HashSet::new();
        if !self.rows.iter().all(|row| seen.insert(row.id)) {
            for (at, row) in self.rows.iter_mut().enumerate() {
                row.id = at as u32;
            }
        }
        let ids: Vec<u32> = self.rows.iter().map(|row| row.id).collect();
        for metric in &mut export.metrics {
            metric.launch = ids[metric.launch as usize];
        }
        for rule in &mut export.rules {
            rule.launch = ids[rule.launch as usize];
        }
        export.launches = self.rows;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_need_three_numbers() {
        assert_eq!(dimensions("(256, 1, 2)"), Some([256, 1, 2]));
        assert_eq!(dimensions("(256, 1)"), None);
        assert_eq!(dimensions("256"), None);
    }

    #[test]
    fn rows_that_output_has_swallowed_are_counted() {
        let text =
            "\"ID\",\"Kernel Name\",\"a__b.sum\"\n\"0\",\"f\",\"1\"\n\"hello\n\"1\",\"f\",\"2\"\n";
        let (tables, notices) = tables(text, Path::new("x.csv"), PageKind::Raw).unwrap();
        assert_eq!(tables[0].rows.len(), 1);
        assert!(notices[0].contains("1 of 2 rows"), "{notices:?}");
    }
}
