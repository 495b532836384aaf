//! The source page: `ncu --import REPORT --page source --csv`, counters per instruction and line.
//!
//! Two views can be read: `sass` (the default: instructions without lines) and `--print-source
//! cuda,sass` (each source line, with its instructions below). The page is not proper CSV: text
//! cells hold unescaped quotes, commas and line breaks, so rows are taken apart from the right, where
//! the number of columns is known and no cell holds text.

mod cells;
mod columns;
mod launches;
mod repeats;

pub(in crate::export::csv) use columns::CONTROL;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};

use crate::error::{Error, Result};
use crate::export::csv::number::Style;
use crate::export::csv::page;
use crate::export::csv::page::PageKind;
use crate::export::limits::Limits;
use crate::export::{LaunchRow, SourceRow};
use crate::kernel_name;
use crate::text::count_of;
use cells::Cells;
use columns::Columns;
use launches::Matcher;

/// The most columns that a kernel's name takes in a notice.
const LONGEST_NAME: usize = 60;

/// What a source page holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SourcePage {
    /// Lines and instructions, in the page's order. An instruction stands once, even where the page
    /// lists it under the inlined function's line and under the line of the call.
    pub rows: Vec<SourceRow>,
    /// What the user should know, each one sentence.
    pub notices: Vec<String>,
}

/// Reads a source page of these launches. `name` is the file, for messages.
///
/// The page names kernels, not launch ids, so its kernels are matched with `launches` in order. A
/// source line keeps the page's own sums over its instructions; where functions are inlined from
/// another file the page counts an instruction under both files' lines, so sums over lines can be
/// larger than sums over instructions.
///
/// # Errors
/// Where the text holds no source page, only views without counters, or numbers whose style can't
/// be told, and where `launches` is empty.
pub fn read(text: &str, name: &Path, launches: &[LaunchRow]) -> Result<SourcePage> {
    if launches.is_empty() {
        return Err(Error::input(
            name,
            "a source page alone does not say which launches it belongs to; put the raw page \
             beside it (`ncu --import REPORT --page raw --csv`)",
        ));
    }
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = Reader::new(name, launches);
    reader.most = Limits::source_rows(text.len());
    let lines: Vec<&str> = text.lines().collect();
    reader.style(&lines)?;
    let repeats = repeats::repeats(&lines, launches);
    let mut at = 0;
    while at < lines.len() {
        at = repeats.get(&at).copied().unwrap_or_else(|| reader.line(&lines, at));
    }
    reader.finish(text)
}

/// Rows that don't fit their header.
#[derive(Default)]
struct Misfits {
    /// Of the table that is being read: rows that fit, and rows that don't.
    table: (usize, usize),
    /// Where the table's rows begin among the page's.
    start: usize,
    /// Of the page: how many rows were left out, and the line of the first.
    page: (usize, usize),
}

/// How the titles above a part's header begin.
const TITLES: [&str; 3] = ["\"File Path", "\"Kernel Name", "\"Function Name"];

/// How much of a part's head was read: its titles (`File Path`, `Kernel Name`), then its header.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Head {
    /// Nothing yet, or all of it.
    #[default]
    Whole,
    /// Titles: rows that follow at once have lost their header.
    Titles,
    /// A title that can't be read: whose rows follow is unknown.
    Damaged,
    /// Such rows: the next title begins another part.
    Spoiled,
}

struct Reader<'a> {
    name: &'a Path,
    style: Style,
    matcher: Matcher<'a>,
    columns: Option<Rc<Columns>>,
    /// What stands above the rows of the part that is being read.
    head: Head,
    /// From the `File Path` line above the header.
    file: Option<Arc<str>>,
    /// From the `Kernel Name` or `Function Name` line above the header.
    function: Option<String>,
    /// The launch of the rows below the header.
    launch: Option<u32>,
    /// The line of the source row above.
    line: Option<u32>,
    /// A header was seen that has no counters: the `cuda` or `ptx` view.
    text_view: bool,
    misfits: Misfits,
    /// How many rows are read, and how many lie beyond.
    most: usize,
    beyond: usize,
    /// The kernels of the parts that no launch is left for.
    unmatched: Vec<String>,
    page: SourcePage,
}

impl<'a> Reader<'a> {
    fn new(name: &'a Path, launches: &'a [LaunchRow]) -> Self {
        Self {
            name,
            style: Style::Point,
            matcher: Matcher::new(launches),
            columns: None,
            head: Head::default(),
            file: None,
            function: None,
            launch: None,
            line: None,
            text_view: false,
            misfits: Misfits::default(),
            most: usize::MAX,
            beyond: 0,
            unmatched: Vec::new(),
            page: SourcePage::default(),
        }
    }

    /// Finds the style of the page's numbers from the cells at the right of each line.
    fn style(&mut self, lines: &[&str]) -> Result<()> {
        let data = lines.iter().filter(|line| cells::has_separator(line) && cells::is_data(line));
        self.style = Style::of(data.flat_map(|line| cells::numbers(line)))
            .map_err(|ambiguous| Error::input(self.name, ambiguous.to_string()))?;
        Ok(())
    }

    /// Reads what begins on this line; gives the line to go on with.
    fn line(&mut self, lines: &[&str], at: usize) -> usize {
        let line = lines[at].trim_end();
        if let Some(value) = cells::titled(line, "File Path") {
            self.file = Some(value.into());
            self.title();
        } else if let Some(value) =
            cells::titled(line, "Kernel Name").or_else(|| cells::titled(line, "Function Name"))
        {
            self.function = Some(value.to_owned());
            self.title();
        } else if TITLES.iter().any(|title| line.starts_with(title)) {
            self.close_table();
            (self.columns, self.head) = (None, Head::Damaged);
            self.misfit(at);
        } else if cells::is_header(line) && matches!(self.head, Head::Whole | Head::Titles) {
            self.head = Head::Whole;
            self.header(line);
        } else if let Some(columns) = self.columns.clone().filter(|_| cells::is_data(line)) {
            let (whole, next) =
                cells::row(lines, at, &columns, self.style, |cells| self.row(cells));
            if whole {
                self.misfits.table.0 += 1;
            } else {
                self.misfits.table.1 += 1;
                self.misfit(at);
            }
            return next;
        } else if self.head != Head::Whole && cells::is_data(line) {
            self.misfit(at);
            if self.head == Head::Damaged {
                self.head = Head::Spoiled;
            }
        }
        at + 1
    }

    /// A title was read: the first one begins a part.
    fn title(&mut self) {
        self.columns = None;
        if matches!(self.head, Head::Whole | Head::Spoiled) {
            self.head = Head::Titles;
        }
    }

    /// Counts a line that can't be read.
    fn misfit(&mut self, at: usize) {
        let (left_out, first) = &mut self.misfits.page;
        *first = if *left_out == 0 { at + 1 } else { *first };
        *left_out += 1;
    }

    /// Ends a table: where most of its rows don't fit, its header is damaged and what fits by chance is
    /// wrong.
    fn close_table(&mut self) {
        let (fit, misfit) = std::mem::take(&mut self.misfits.table);
        if misfit > fit {
            self.misfits.page.0 += fit;
            self.page.rows.truncate(self.misfits.start);
        }
        self.misfits.start = self.page.rows.len();
    }

    fn header(&mut self, line: &str) {
        self.close_table();
        self.line = None;
        let columns = Columns::new(&cells::split(line));
        if columns.is_none() {
            self.text_view = true;
        }
        self.columns = columns.map(Rc::new);
        let function = self.function.clone().unwrap_or_default();
        // The sass view has no files: what stands above it is of an earlier table.
        if self.columns.as_ref().is_some_and(|columns| !columns.has_lines()) {
            self.file = None;
        }
        self.launch = self.matcher.find(self.file.as_deref(), &function);
        if self.launch.is_none() {
            self.unmatched.push(function);
        }
    }

    fn row(&mut self, cells: &Cells) {
        let address = cells.address();
        if address.is_none() && cells.line.is_empty() {
            // `...`: instructions of other lines lie between.
            return;
        }
        if address.is_none() {
            self.line = cells.line.parse().ok();
        }
        let (Some(launch), Some(counters)) = (self.launch, cells.counters) else { return };
        if self.page.rows.len() >= self.most {
            self.beyond += 1;
            return;
        }
        let has_line = self.line.is_some();
        self.page.rows.push(SourceRow {
            launch,
            file: self.file.clone().filter(|_| has_line),
            line: self.line,
            address,
            text: cells.text.trim().replace('\n', " "),
            counters,
            control: self.columns.as_ref().and_then(|columns| columns.control(&cells.right)),
        });
    }

    fn finish(mut self, text: &str) -> Result<SourcePage> {
        self.close_table();
        // Of a launch that failed the page has all functions of its module.
        if let Some(first) = self.unmatched.first() {
            let others = match self.unmatched.len() - 1 {
                0 => String::new(),
                more => format!(" and {}", count_of(more as f64, "other part")),
            };
            self.page.notices.push(format!(
                "{}: the source page's kernel {}{others} is not among the profile's launches, so its counters \
                 were ignored",
                self.name.display(),
                kernel_name::short(first, LONGEST_NAME),
            ));
        }
        if let (left_out @ 1.., first) = self.misfits.page {
            self.page.notices.push(format!(
                "{}: {} of the source page can't be read (line {first} is the first) and {} left out: the \
                 file is damaged there; export it again",
                self.name.display(),
                count_of(left_out as f64, "row"),
                if left_out == 1 { "was" } else { "were" }
            ));
        }
        if self.beyond > 0 {
            self.page.notices.push(format!(
                "{}: {} of the source page were left out: adoprof reads at most {} of a file of this size",
                self.name.display(),
                count_of(self.beyond as f64, "row"),
                self.most
            ));
        }
        if !self.page.rows.is_empty() {
            keep_instructions_once(&mut self.page.rows);
            return Ok(self.page);
        }
        if self.text_view {
            return Err(Error::input(
                self.name,
                "this view of the source page has no counters; export it with `ncu --import \
                 REPORT --page source --print-source cuda,sass --csv`",
            ));
        }
        if let Some(notice) = self.page.notices.first() {
            return Err(Error::Usage(format!(
                "{notice}; export the raw and the source page from one report"
            )));
        }
        if page::sniff(text) == Some(PageKind::Source) {
            return Err(Error::input(
                self.name,
                "the source page has no rows; collect with `--section SourceCounters`",
            ));
        }
        Err(page::not_this_page(text, self.name, PageKind::Source))
    }
}

/// Leaves each instruction of a launch once. An inlined instruction is listed under its own file's
/// line and under the line of the call; of these stays the one outside CUDA's own headers, then the
/// one in the file with more of the launch's instructions: that is where the user can change it.
fn keep_instructions_once(rows: &mut Vec<SourceRow>) {
    let mut of_file: HashMap<(u32, Option<&str>), usize> = HashMap::new();
    for row in rows.iter().filter(|row| row.is_instruction()) {
        *of_file.entry((row.launch, row.file.as_deref())).or_default() += 1;
    }
    let weight = |row: &SourceRow| {
        let own = row.file.as_deref().is_some_and(|file| !is_toolkit(file));
        (own, of_file.get(&(row.launch, row.file.as_deref())).copied().unwrap_or_default())
    };
    let mut best: HashMap<(u32, u64), usize> = HashMap::new();
    for (index, row) in rows.iter().enumerate() {
        let Some(address) = row.address else { continue };
        best.entry((row.launch, address))
            .and_modify(|kept| {
                if weight(row) > weight(&rows[*kept]) {
                    *kept = index;
                }
            })
            .or_insert(index);
    }
    let keep: Vec<bool> = rows
        .iter()
        .enumerate()
        .map(|(index, row)| {
            row.address.is_none_or(|address| best.get(&(row.launch, address)) == Some(&index))
        })
        .collect();
    let mut keep = keep.into_iter();
    rows.retain(|_| keep.next().unwrap_or(true));
}

/// True for headers that come with CUDA, and for the one that NVRTC has inside.
pub(crate) fn is_toolkit(file: &str) -> bool {
    let file = file.replace('\\', "/").to_lowercase();
    file.ends_with("__nv_nvrtc_builtin_header.h")
        || file.contains("/include/")
            && ["/cuda", "/nvidia", "gpu computing toolkit"].iter().any(|part| file.contains(part))
}

#[cfg(test)]
mod tests;
