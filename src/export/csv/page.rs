//! What ncu's CSV pages have in common: telling them apart, and finding the table in the noise.
//!
//! A page exported from a report is clean; a live `ncu --csv` has `==PROF==` lines and the program's
//! own output before, after and between. Readers therefore look for the header by its columns.

mod cells;
mod printed;
mod table;
mod width;

use std::borrow::Cow;
use std::path::Path;

use crate::error::Error;
use crate::export::csv::ncu_message;

use cells::Cells;
pub(super) use printed::table as printed;
pub(super) use table::{
    Launches, Needed, Row, Table, compute_capability, dimensions, tables, thinned_tables, write,
};

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
    /// The details or raw page as text for people, without `--csv`.
    Printed,
}

/// The text of an exported file: UTF-8, or the UTF-16 that PowerShell's `>` writes. Bytes that are
/// neither become replacement characters.
#[must_use]
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let wide = |unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> =
            bytes[2..].chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
        Cow::Owned(String::from_utf16_lossy(&units))
    };
    match bytes {
        [0xff, 0xfe, ..] => wide(u16::from_le_bytes),
        [0xfe, 0xff, ..] => wide(u16::from_be_bytes),
        _ => String::from_utf8_lossy(bytes),
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
        _ => printed::is_heading(line).then_some(PageKind::Printed),
    }
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
        let here = |problem: String| format!("{}: {problem}", name.display());
        return match error {
            Error::Usage(problem) => Error::input(name, problem),
            Error::Environment(problem) => Error::Environment(here(problem)),
            Error::Kernel(problem) => Error::Kernel(here(problem)),
            other => other,
        };
    }
    if text.starts_with("NVR\0") {
        return Error::input(
            name,
            "this is ncu's binary report, not a CSV export; rename it to end in .ncu-rep",
        );
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
        None if text.lines().any(|line| line.starts_with("==PROF==")) => {
            let report = ncu_message::report(text);
            let report = report.map_or_else(String::new, |report| format!(", {report}"));
            let exit = ncu_message::program_exit(text).map_or_else(String::new, |code| {
                format!(" (the program ended with code {code} after its kernels were profiled)")
            });
            Error::input(
                name,
                format!(
                    "this is what ncu printed while it profiled, not a profile{exit}; give the \
                     report that it wrote{report}, or export `ncu --import REPORT --page raw --csv`"
                ),
            )
        }
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

/// Why a page without a launch has none.
pub(super) fn no_launch(text: &str, name: &Path) -> Error {
    // ncu quotes every cell of every row.
    let is_whole = text.trim_end().ends_with('"') || !text.contains('"');
    let problem = if is_whole {
        "the page has a header but no launch; profile a kernel, or export without a kernel filter"
    } else {
        "the page is cut short before its first launch; export or copy it again"
    };
    Error::input(name, problem)
}

fn title(kind: PageKind) -> &'static str {
    match kind {
        PageKind::Raw => "raw",
        PageKind::Details => "details",
        PageKind::Source => "source",
        PageKind::Summary => "summary",
        PageKind::Session => "session",
        PageKind::Printed => "printed",
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
    fn foreign_files_are_refused_in_one_sentence() {
        let message = |text| {
            tables(text, Path::new("x.csv"), PageKind::Raw).err().map(|e| e.to_string()).unwrap()
        };
        assert!(message("").contains("empty"));
        assert!(message("date,price\n1,2\n").contains("date,price"));
        assert!(message("\"Process ID\",\"Kernel Name\",\"Invocations\"\n").contains("summary"));
        assert!(message("\"File Path\",\"a.cu\"\n").contains("source page"));
        assert!(message("==WARNING== No kernels were profiled.\n").contains("launched no kernel"));
    }
}
