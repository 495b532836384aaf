//! What ncu prints for people: a heading for each launch, and a table for each section. It is the details page, or
//! with `--page raw` the raw page, one row per metric.
//!
//! ```text
//! [1515] program@127.0.0.1
//!   kernel(int *) (1024, 1, 1)x(32, 1, 1), Context 1, Stream 7, Device 0, CC 9.0
//!     Section: GPU Speed Of Light Throughput
//!     ------------- ----------- ------------
//!     Metric Name   Metric Unit Metric Value
//!     ------------- ----------- ------------
//!     DRAM Throughput         %        66.27
//! ```
//!
//! What ncu's rules say below a table is left out: the text does not name the rules.

use std::borrow::Cow;
use std::path::Path;

use csv::StringRecord;

use super::{Cells, Row, Table, lines};
use crate::export::limits::Limits;
use crate::text::count_of;

/// The columns of a details page that a printed one fills, in the order of [`Printed::row`].
const HEADER: [&str; 10] = [
    "ID",
    "Process ID",
    "Kernel Name",
    "Block Size",
    "Grid Size",
    "CC",
    "Section Name",
    "Metric Name",
    "Metric Unit",
    "Metric Value",
];

/// What begins a result of ncu's rules.
const RULE_RESULTS: [&str; 4] = ["OPT", "INF", "WRN", "ERR"];

/// True for the line that names a launch.
pub(super) fn is_heading(line: &str) -> bool {
    Heading::of(&uncommented(line)).is_some()
}

/// A line without the signs of a comment or a quotation at its start, in the same columns: people keep what ncu printed
/// in sources and messages.
fn uncommented(line: &str) -> Cow<'_, str> {
    // Labels such as `# SMs` are indented.
    let signs = line.len() - line.trim_start_matches(['/', '*', '#', '>']).len();
    if signs == 0 {
        return Cow::Borrowed(line);
    }
    Cow::Owned(format!("{:signs$}{}", "", &line[signs..]))
}

/// The metrics of a printed page as the rows of a details page, and what a user should know.
pub(in crate::export) fn table(text: &str, name: &Path) -> (Table, Vec<String>) {
    let mut printed = Printed::default();
    let most = Limits::details_rows(text.len());
    let (mut beyond, mut unread) = (0_usize, 0_usize);
    let ends_whole = text.ends_with('\n');
    for (offset, number, line) in lines(text) {
        let is_last = offset + line.len() >= text.len();
        let Some(row) = printed.take(&uncommented(line)) else { continue };
        if printed.rows.len() >= most {
            beyond += 1;
        } else if let Ok(row) = row {
            let cut = is_last && !ends_whole;
            printed.rows.push(Row { line: number, cells: Cells::of(&row), cut });
        } else {
            unread += 1;
        }
    }
    let mut notices = Vec::new();
    if beyond > 0 {
        notices.push(format!(
            "{}: {} left out: adoprof reads at most {most} of a file of this size",
            name.display(),
            count_of(beyond as f64, "row")
        ));
    }
    if unread > 0 {
        notices.push(format!(
            "{}: {} of the printed tables could not be read",
            name.display(),
            count_of(unread as f64, "row")
        ));
    }
    let header = HEADER.map(str::to_owned).to_vec();
    (Table { header, rows: printed.rows, is_thinned: false }, notices)
}

/// The line that names a launch, taken apart.
#[derive(Debug, Default)]
struct Heading {
    kernel: String,
    grid: String,
    block: String,
    capability: String,
}

impl Heading {
    /// `kernel(int *) (1, 1, 1)x(32, 1, 1), Context 1, Stream 7, Device 0, CC 9.0`; until 2022
    /// `kernel(int *), 2021-Mar-03 12:00:00, Context 1, Stream 7`.
    fn of(line: &str) -> Option<Self> {
        // A row of a CSV page has the names of these columns between quotes.
        let (launch, place) = line.trim().rsplit_once(", Context ")?;
        if !place.contains(", Stream ") || !place.starts_with(|first: char| first.is_ascii_digit())
        {
            return None;
        }
        let capability = place.rsplit_once(", CC ").map_or("", |(_, capability)| capability).trim();
        let shape = launch.rsplit_once(") (").and_then(|(kernel, shape)| {
            let (grid, block) = shape.split_once(")x(")?;
            Some((format!("{kernel})"), format!("({grid})"), format!("({}", block.trim_end())))
        });
        // A kernel whose name is printed without its parameters.
        let shape = shape.or_else(|| {
            let (rest, block) = launch.rsplit_once(")x(")?;
            let (kernel, grid) = rest.rsplit_once(" (")?;
            Some((kernel.to_owned(), format!("({grid})"), format!("({}", block.trim_end())))
        });
        let (kernel, grid, block) =
            shape.unwrap_or_else(|| (undated(launch).to_owned(), String::new(), String::new()));
        Some(Self { kernel, grid, block, capability: capability.to_owned() })
    }
}

/// A launch without the date at its end.
fn undated(launch: &str) -> &str {
    match launch.rsplit_once(", ") {
        Some((kernel, date)) if date.contains(':') && date.starts_with("20") => kernel,
        _ => launch,
    }
}

/// How far a printed page was read.
#[derive(Default)]
struct Printed {
    process: String,
    heading: Heading,
    launches: usize,
    section: String,
    /// Where a table's columns begin; `None` outside of tables.
    columns: Option<[usize; 3]>,
    /// True once the table has a row: the next line of dashes ends it.
    has_row: bool,
    /// True behind a rule's result, which may have tables of its own.
    in_rule: bool,
    rows: Vec<Row>,
}

impl Printed {
    /// The next line; a row where it is one, an error where it should be one.
    fn take(&mut self, line: &str) -> Option<Result<StringRecord, ()>> {
        let text = line.trim();
        if let Some(heading) = Heading::of(line) {
            self.heading = heading;
            self.launches += 1;
            "Command line profiler metrics".clone_into(&mut self.section);
            (self.columns, self.in_rule) = (None, false);
        } else if let Some(process) = process(text) {
            process.clone_into(&mut self.process);
        } else if let Some(section) = text.strip_prefix("Section: ") {
            section.clone_into(&mut self.section);
            (self.columns, self.in_rule) = (None, false);
        } else if text.is_empty() {
            self.columns = None;
        } else if RULE_RESULTS.iter().any(|kind| text.strip_prefix(kind).is_some_and(is_said)) {
            (self.columns, self.in_rule) = (None, true);
        } else if let Some(columns) = dashes(line) {
            let ends = self.columns.is_some() && self.has_row;
            self.columns = Some(columns).filter(|_| !ends && !self.in_rule && self.launches > 0);
            self.has_row = false;
        } else if !text.starts_with("Metric Name ") {
            // A shorter line has no value: a text metric without text, or what the program printed.
            let columns = self.columns.filter(|[.., value]| line.len() > *value)?;
            self.has_row = true;
            return Some(self.row(line, columns).ok_or(()));
        }
        None
    }

    fn row(&self, line: &str, [_, unit, value]: [usize; 3]) -> Option<StringRecord> {
        let (label, rest) = (line.get(..unit)?, line.get(unit..)?);
        let cell = line.get(value..)?;
        // A label or unit that is wider than its column moves the rest to the right.
        let is_aligned = [unit, value].iter().all(|&at| line.as_bytes().get(at - 1) == Some(&b' '));
        let cells = if is_aligned {
            [label, &rest[..value - unit], cell].map(|cell| cell.trim().to_owned())
        } else {
            // Metrics' names have no spaces, and labels no two in a row.
            let line = line.trim();
            let between = if line.split(' ').next()?.contains("__") { " " } else { "  " };
            let mut cells = line.split(between).map(str::trim).filter(|cell| !cell.is_empty());
            let label = cells.next()?.to_owned();
            let (first, second) = (cells.next()?, cells.next());
            let (unit, value) = second.map_or(("", first), |second| (first, second));
            [label, unit.to_owned(), value.to_owned()]
        };
        if cells[0].is_empty() || cells[2].is_empty() {
            return None;
        }
        let Heading { kernel, grid, block, capability } = &self.heading;
        let id = (self.launches - 1).to_string();
        let of_launch = [&id, &self.process, kernel, block, grid, capability, &self.section];
        Some(of_launch.into_iter().chain(&cells).collect())
    }
}

/// The process that launches belong to: `[1515] program@127.0.0.1`.
fn process(line: &str) -> Option<&str> {
    let (id, rest) = line.strip_prefix('[')?.split_once("] ")?;
    (rest.contains('@') && id.bytes().all(|byte| byte.is_ascii_digit())).then_some(id)
}

/// True behind `OPT`: it is a word of its own, and something is said.
fn is_said(rest: &str) -> bool {
    rest.starts_with("  ")
}

/// Where three columns of dashes begin.
fn dashes(line: &str) -> Option<[usize; 3]> {
    let is_rule = line.bytes().all(|byte| byte == b'-' || byte == b' ');
    let starts = line.match_indices('-').map(|(at, _)| at);
    let mut starts = starts.filter(|&at| at == 0 || line.as_bytes()[at - 1] == b' ');
    let columns = [starts.next()?, starts.next()?, starts.next()?];
    (is_rule && starts.next().is_none()).then_some(columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<Vec<String>> {
        let (table, notices) = table(text, Path::new("x.txt"));
        assert!(notices.is_empty(), "{notices:?}");
        table.rows.iter().map(|row| row.cells.iter().map(str::to_owned).collect()).collect()
    }

    const PAGE: &str = "\
==PROF== Connected to process 7 (/x/y)
[7] y@127.0.0.1
  void add<(int)4>(float *, int) (64, 2, 1)x(128, 1, 1), Context 1, Stream 7, Device 0, CC 8.6
    Section: GPU Speed Of Light Throughput
    ---------------- ----------- ------------
    Metric Name      Metric Unit Metric Value
    ---------------- ----------- ------------
    DRAM Frequency           Ghz         2.62
    Duration                  us       777.95
    Enabled TPC IDs                       all
    ---------------- ----------- ------------

    OPT   Est. Speedup: 50%
          Something is said of it:
          ---------------- ----------- ------------
          Metric Name      Value       Guidance
          ---------------- ----------- ------------
          a__b.sum         1           less

    Section: Occupancy
    ---------------- ----------- ------------
    Waves Per SM                         3.88
  mul, 2021-Mar-03 12:00:00, Context 1, Stream 7
    Section: Command line profiler metrics
    ---------------- ----------- ------------
    dram__bytes_read.sum.per_second Gbyte/second  1.5
    sm__a.sum               inst            9
";

    #[test]
    fn launches_sections_and_metrics_are_found() {
        let rows = rows(PAGE);
        let told: Vec<[&str; 5]> =
            rows.iter().map(|row| [&*row[0], &row[6], &row[7], &row[8], &row[9]]).collect();
        let speed = "GPU Speed Of Light Throughput";
        let asked = "Command line profiler metrics";
        assert_eq!(
            told,
            [
                ["0", speed, "DRAM Frequency", "Ghz", "2.62"],
                ["0", speed, "Duration", "us", "777.95"],
                ["0", speed, "Enabled TPC IDs", "", "all"],
                ["0", "Occupancy", "Waves Per SM", "", "3.88"],
                ["1", asked, "dram__bytes_read.sum.per_second", "Gbyte/second", "1.5"],
                ["1", asked, "sm__a.sum", "inst", "9"],
            ]
        );
        assert_eq!(
            rows[0][1..6],
            ["7", "void add<(int)4>(float *, int)", "(128, 1, 1)", "(64, 2, 1)", "8.6"]
        );
        assert_eq!(rows[4][1..6], ["7", "mul", "", "", ""]);
    }

    #[test]
    fn pages_in_comments_and_beside_prose_are_the_same() {
        let quoted = PAGE.lines().map(|line| format!("//{line}\n"));
        assert_eq!(rows(&quoted.collect::<String>()), rows(PAGE));
        // Without a blank line behind its table.
        let prose =
            "And this is what a reader makes of the numbers that stand in the table above here.\n";
        let noted = PAGE.replace(
            "    ---------------- ----------- ------------\n\n",
            &format!("    ---------------- ----------- ------------\n{prose}"),
        );
        assert!(noted.contains(prose));
        assert_eq!(rows(&noted), rows(PAGE));
    }

    #[test]
    fn what_is_no_heading() {
        for line in [
            "\"0\",\"1\",\"f\",\"Context\",\"Stream\"",
            "f(int), Context one, Stream 7",
            "the program prints: Context 1, Stream 7",
            "",
        ] {
            assert!(!is_heading(line), "{line}");
        }
        let heading = Heading::of("  f (8, 1, 1)x(32, 1, 1), Context 1, Stream 13").unwrap();
        assert_eq!(
            (&*heading.kernel, &*heading.grid, &*heading.block),
            ("f", "(8, 1, 1)", "(32, 1, 1)")
        );
    }

    #[test]
    fn a_page_that_ends_within_a_number_has_its_last_row_marked() {
        let cut = &PAGE[..PAGE.len() - 1];
        let (table, _) = table(cut, Path::new("x.txt"));
        assert_eq!(
            table.rows.iter().map(|row| row.cut).collect::<Vec<_>>(),
            [false, false, false, false, false, true]
        );
        let odd = "f, Context 1, Stream 7\n---- ---- ----\nä\u{2028}\n----\n- - - -\n";
        assert!(super::table(odd, Path::new("x.txt")).0.rows.is_empty());
    }
}
