//! What ncu's CSV pages have in common: telling them apart, and finding the table in the noise.
//!
//! A page exported from a report is clean; a live `ncu --csv` has `==PROF==` lines and the program's
//! own output before, after and between. Readers therefore look for the header by its columns.

use std::collections::HashMap;
use std::path::Path;

use csv::StringRecord;

use super::ncu_message;
use super::{Export, LaunchRow};
use crate::error::{Error, Result};

/// The page of ncu that a CSV file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageKind {
    /// `--page raw`: one row a launch, one column a metric.
    Raw,
    /// `--page details`, or `--metrics` live: one row a metric.
    Details,
    /// `--page source`: one row an instruction or line.
    Source,
    /// `--print-summary`: metrics over several launches, which can't be taken apart again.
    Summary,
    /// `--page session`: the machine, not the kernel.
    Session,
}

/// The text of an exported file: UTF-8, or the UTF-16 that PowerShell's `>` writes. Bytes that are
/// neither become replacement characters.
#[must_use]
pub fn decode(bytes: &[u8]) -> String {
    let wide = |unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> =
            bytes[2..].chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    match bytes {
        [0xff, 0xfe, ..] => wide(u16::from_le_bytes),
        [0xfe, 0xff, ..] => wide(u16::from_be_bytes),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// The page that a text holds, by its header and not by its file's name; `None` where no line is a
/// header of ncu's. The beginning of a file will do: about a kilobyte past ncu's own messages.
#[must_use]
pub fn sniff(head: &str) -> Option<PageKind> {
    lines(head).find_map(|(_, _, line)| header_kind(line))
}

/// The lines of a text with their byte offset and number from 1, without the byte-order mark.
fn lines(text: &str) -> impl Iterator<Item = (usize, usize, &str)> {
    let mut offset = 0;
    text.split_inclusive('\n').enumerate().map(move |(index, line)| {
        let start = offset;
        offset += line.len();
        (start, index + 1, line.trim_end().trim_start_matches('\u{feff}'))
    })
}

/// The page whose header this line is.
fn header_kind(line: &str) -> Option<PageKind> {
    // Most lines of a large page are data: look at their beginning only.
    let first = line.split(',').next()?.trim_matches('"');
    match first {
        "File Path" | "Address" | "Line No" => Some(PageKind::Source),
        "Kernel Name" if !line.contains("Invocations") => Some(PageKind::Source),
        "Session Attribute" | "Launch Attribute" | "Device Attribute" => Some(PageKind::Session),
        "ID" if line.contains("Kernel Name") => {
            // Metrics of the raw page have no spaces in their names.
            let long = line.contains("Metric Name") && line.contains("Section Name");
            Some(if long { PageKind::Details } else { PageKind::Raw })
        }
        "Process ID" | "Kernel Name" if line.contains("Invocations") => Some(PageKind::Summary),
        _ => None,
    }
}

/// A row of the raw or details page.
pub(super) struct Row {
    /// The line on which it starts, from 1.
    pub line: usize,
    /// Its cells.
    pub cells: StringRecord,
    /// True where the file ends within the row's last cell: 55 of 5549723648 would look like a value.
    pub cut: bool,
}

impl Row {
    /// The cell in a column; `None` past the row's end or where the page has no such column.
    pub fn get(&self, column: Option<usize>) -> Option<&str> {
        self.cells.get(column?)
    }
}

/// A raw or details page, or one of several behind each other in a file.
pub(super) struct Table {
    /// The header's names.
    pub header: Vec<String>,
    /// Everything below that may be data, noise left out.
    pub rows: Vec<Row>,
}

impl Table {
    /// The first column of that name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|column| column == name)
    }
}

/// The tables of a raw or details page: one, or several where exports were appended to each other.
///
/// # Errors
/// What ncu said instead of a table, an empty file, another page, or something that is not ncu's.
pub(super) fn tables(text: &str, name: &Path, kind: PageKind) -> Result<(Vec<Table>, Vec<String>)> {
    let start = lines(text).find(|(_, _, line)| header_kind(line) == Some(kind));
    let Some((offset, first_line, _)) = start else {
        return Err(not_this_page(text, name, kind));
    };
    let table = &text[offset..];
    let table = table.trim_start_matches('\u{feff}');
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(table.as_bytes());
    let mut tables: Vec<Table> = Vec::new();
    let mut record = StringRecord::new();
    let mut swallowed = 0;
    let mut ends_in_row = false;
    loop {
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) | Err(_) => break,
        }
        let line = first_line - 1 + start_line(table, &record);
        let first = record.get(0).unwrap_or_default();
        ends_in_row = false;
        if first == "ID" && record.iter().any(|cell| cell == "Kernel Name") {
            let header = record.iter().map(|cell| cell.trim().to_owned()).collect();
            tables.push(Table { header, rows: Vec::new() });
        } else if let Some(table) = tables.last_mut() {
            let is_units = table.rows.is_empty() && first.is_empty();
            let is_id = !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_digit());
            if record.len() > 1 && (is_units || is_id) {
                table.rows.push(Row { line, cells: record.clone(), cut: false });
                ends_in_row = true;
            } else {
                // A stray quote in the program's output takes whole rows into one cell.
                swallowed += record.iter().map(|cell| cell.matches("\n\"").count()).sum::<usize>();
            }
        }
    }
    let mut notices = Vec::new();
    if swallowed > 0 {
        notices.push(format!(
            "{}: about {swallowed} rows could not be read because the program's own output runs \
             into them; collect with `ncu -o` and export with `ncu --import`",
            name.display()
        ));
    }
    // ncu quotes every cell; a file that another tool has rewritten may end in a bare digit.
    let is_cut = table.starts_with('"') && !text.ends_with(['"', '\n', '\r']);
    if is_cut
        && ends_in_row
        && let Some(row) = tables.last_mut().and_then(|table| table.rows.last_mut())
    {
        row.cut = true;
    }
    Ok((tables, notices))
}

/// The line of a record within the table, from 1; blank lines before it do not count as its own.
fn start_line(table: &str, record: &StringRecord) -> usize {
    let Some(position) = record.position() else { return 1 };
    let rest = table.get(position.byte() as usize..).unwrap_or_default();
    let blank = rest.len() - rest.trim_start_matches(['\n', '\r']).len();
    position.line() as usize + rest[..blank].matches('\n').count()
}

/// Why a text is not the page that was asked for.
pub(super) fn not_this_page(text: &str, name: &Path, wanted: PageKind) -> Error {
    if text.trim().is_empty() {
        return Error::input(
            name,
            "the file is empty; ncu writes nothing where no kernel matches, so export the page \
             again without a kernel filter",
        );
    }
    if let Some(error) = ncu_message::first_error(text) {
        return match error {
            Error::Usage(problem) => Error::input(name, problem),
            other => other,
        };
    }
    match sniff(text) {
        Some(PageKind::Summary) => Error::input(
            name,
            "this is a summary over launches (--print-summary), which holds no single launch; \
             export `ncu --import REPORT --page raw --csv` instead",
        ),
        Some(PageKind::Session) => Error::input(
            name,
            "this is the session page, which describes the machine; export `ncu --import REPORT \
             --page raw --csv` instead",
        ),
        Some(found) => Error::input(
            name,
            format!("this is ncu's {} page, not the {} page", title(found), title(wanted)),
        ),
        None => {
            let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            let shown: String = line.trim().chars().take(60).collect();
            Error::input(
                name,
                format!(
                    "no header of an ncu page was found (the file begins with `{}`); export it \
                     with `ncu --import REPORT --page {} --csv`",
                    crate::text::printable(&shown),
                    title(wanted)
                ),
            )
        }
    }
}

fn title(kind: PageKind) -> &'static str {
    match kind {
        PageKind::Raw => "raw",
        PageKind::Details => "details",
        PageKind::Source => "source",
        PageKind::Summary => "summary",
        PageKind::Session => "session",
    }
}

/// `(256, 1, 1)` as numbers; `None` for anything else.
pub(super) fn dimensions(cell: &str) -> Option<[u32; 3]> {
    let inner = cell.trim().strip_prefix('(')?.strip_suffix(')')?;
    let mut parts = inner.split(',').map(|part| part.trim().parse().ok());
    let xyz = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(xyz)
}

/// `9.0` as major and minor.
pub(super) fn compute_capability(cell: &str) -> Option<(u32, u32)> {
    let (major, minor) = cell.trim().split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The launches met so far, under provisional numbers: their place in this list.
#[derive(Default)]
pub(super) struct Launches {
    rows: Vec<LaunchRow>,
    by_key: HashMap<(usize, String, String), u32>,
}

impl Launches {
    /// The number of the launch with this table, process and id; a new one starts from `row`.
    pub fn find(
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
    pub fn push(&mut self, row: LaunchRow) -> u32 {
        self.rows.push(row);
        (self.rows.len() - 1) as u32
    }

    /// The launch with a number that [`Self::find`] or [`Self::push`] gave.
    pub fn get_mut(&mut self, at: u32) -> Option<&mut LaunchRow> {
        self.rows.get_mut(at as usize)
    }

    /// True before the first launch.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Puts the launches into the export and their final ids into its rows: ncu's own where they are
    /// unique, else 0, 1, 2 (several processes in one profile each count from 0).
    pub fn finish(mut self, export: &mut Export) {
        let mut seen = std::collections::HashSet::new();
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
    fn pages_are_known_by_their_header() {
        for (text, kind) in [
            ("\"ID\",\"Process ID\",\"Kernel Name\",\"gpu__time_duration.sum\"", PageKind::Raw),
            ("ID,Process ID,Kernel Name,gpu__time_duration.sum", PageKind::Raw),
            (
                "==PROF== Connected\nhello\n\"ID\",\"Kernel Name\",\"Section Name\",\"Metric Name\"",
                PageKind::Details,
            ),
            ("\u{feff}\"Kernel Name\",\"f(int)\",\r\n", PageKind::Source),
            ("\"File Path\",\"a.cu\"", PageKind::Source),
            ("\"Process ID\",\"Kernel Name\",\"Invocations\"", PageKind::Summary),
            ("Launch Settings\n\"Launch Attribute\",\"Value\"", PageKind::Session),
        ] {
            assert_eq!(sniff(text), Some(kind), "{text}");
        }
        assert_eq!(sniff("date,price\n1,2\n"), None);
        assert_eq!(sniff(""), None);
    }

    #[test]
    fn utf16_of_powershell_is_decoded() {
        assert_eq!(decode(&[0xff, 0xfe, b'I', 0, b'D', 0]), "ID");
        assert_eq!(decode(b"\xef\xbb\xbfID"), "\u{feff}ID");
        assert_eq!(decode(&[0xff]), "\u{fffd}");
    }

    #[test]
    fn dimensions_need_three_numbers() {
        assert_eq!(dimensions("(256, 1, 2)"), Some([256, 1, 2]));
        assert_eq!(dimensions("(256, 1)"), None);
        assert_eq!(dimensions("256"), None);
    }

    #[test]
    fn foreign_files_are_refused_in_one_sentence() {
        let message = |text| {
            tables(text, Path::new("x.csv"), PageKind::Raw).err().map(|e| e.to_string()).unwrap()
        };
        assert!(message("").contains("empty"));
        assert!(message("date,price\n1,2\n").contains("date,price"));
        assert!(message("\"Process ID\",\"Kernel Name\",\"Invocations\"\n").contains("summary"));
        assert!(message("\"File Path\",\"a.cu\"\n").contains("source page"));
        assert!(message("==WARNING== No kernels were profiled.\n").contains("no kernel"));
    }
}
