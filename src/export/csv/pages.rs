//! The pages of one profile, joined.

mod part;
mod written;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

use crate::error::{Error, Result};
use crate::export::csv::page;
use crate::export::csv::page::PageKind;
use crate::export::csv::source;
use crate::export::csv::source::SourcePage;
use crate::export::csv::{details, raw};
use crate::export::{Export, LaunchRow, SharedTexts, SourceRow};
use crate::kernel_name;
use crate::metric;

/// What a user should know of a profile without a raw page.
pub(crate) const DETAILS_ALONE: &str = "this is ncu's details page alone: it has no stalls, no sector counts \
    and few of the units' counters, so most rules can't be checked; export the raw page beside it \
    with `ncu --import REPORT --page raw --csv --print-units base > NAME.raw.csv`, and the lines \
    with `--page source --csv`";

/// The most columns that a kernel's name takes in a message.
const LONGEST_NAME: usize = 60;

/// ncu's pages as text; an absent page is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pages {
    /// `--page raw`.
    pub raw: String,
    /// `--page details`.
    pub details: String,
    /// `--page source`, the view with CUDA and SASS.
    pub source: String,
    /// The same page's view with SASS alone, which also has kernels without line information.
    pub sass: String,
}

impl Pages {
    /// File stem and text of each page.
    #[must_use]
    pub fn named(&self) -> [(&'static str, &str); 4] {
        [
            ("raw", &self.raw),
            ("details", &self.details),
            ("source", &self.source),
            ("sass", &self.sass),
        ]
    }

    /// True where no page has anything: a run without counters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.named().iter().all(|(_, text)| text.is_empty())
    }

    /// The pages with another name in the place of a source file's.
    #[must_use]
    pub fn with_source_named(self, from: &Path, to: &str) -> Self {
        let named = |page: String| page.replace(&*from.to_string_lossy(), to);
        Self {
            raw: named(self.raw),
            details: named(self.details),
            source: named(self.source),
            sass: self.sass,
        }
    }

    /// The pages without a launch: one whose kernel failed has numbers that mean nothing.
    ///
    /// # Errors
    /// [`Error::Input`] where the raw page can't be read.
    pub fn without_launch(self, id: u32) -> Result<Self> {
        let without = |text: String, kind: PageKind| -> Result<String> {
            if text.is_empty() {
                return Ok(text);
            }
            let (tables, _) = page::tables(&text, Path::new("the report"), kind)?;
            let id = id.to_string();
            let lines = tables.into_iter().flat_map(|table| {
                let kept: Vec<Vec<String>> = table
                    .rows
                    .iter()
                    .filter(|row| row.cells.get(0) != Some(&*id))
                    .map(|row| row.cells.iter().map(str::to_owned).collect())
                    .collect();
                std::iter::once(table.header).chain(kept)
            });
            page::write(lines)
        };
        Ok(Self {
            raw: without(self.raw, PageKind::Raw)?,
            details: without(self.details, PageKind::Details)?,
            ..self
        })
    }

    /// The pages as one export.
    ///
    /// # Errors
    /// [`Error::Input`] where a page can't be read; `name` stands for the profile in the message.
    pub fn export(&self, name: &Path) -> Result<Export> {
        let files: Vec<(PathBuf, &[u8])> = self
            .named()
            .into_iter()
            .filter(|(_, text)| !text.is_empty())
            .map(|(page, text)| (name.join(format!("{page}.csv")), text.as_bytes()))
            .collect();
        // A run whose counters were forbidden has its timing and no pages.
        if files.is_empty() { Ok(Export::default()) } else { read(&files) }
    }
}

/// Reads the CSV exports of one profile, in any order and under any names: each file's page is told
/// by its header. Of the source page both views may be there. A page that can't be read is left out with a
/// notice where another one tells of the launches.
///
/// # Errors
/// A file that is no page of ncu where nothing else can be read either, two raw or two details pages, a
/// source page alone.
pub fn read(files: &[(PathBuf, impl AsRef<[u8]>)]) -> Result<Export> {
    let (mut raw, mut details) = (None, None);
    let mut sources: Vec<(&Path, Cow<str>)> = Vec::new();
    let mut left_out: Vec<Error> = Vec::new();
    for (path, bytes) in files {
        let text = page::decode(bytes.as_ref());
        let twice = |page: &str| {
            Error::input(
                path,
                format!("this is a second {page} page; give the pages of one profile at a time"),
            )
        };
        match page::sniff(&text) {
            Some(PageKind::Source) => sources.push((path, text)),
            // `--print-details all` beside the plain page: the fuller one holds the other.
            Some(PageKind::Details | PageKind::Printed) => match details::read(&text, path) {
                Err(error) => left_out.push(error),
                Ok(page) => {
                    details = match details {
                        Some(other) if !same_launches(&other, &page) => {
                            return Err(twice("details"));
                        }
                        Some(other) if other.metrics.len() >= page.metrics.len() => Some(other),
                        _ => Some(page),
                    };
                }
            },
            // It tells of the machine what the other pages tell too.
            Some(PageKind::Session) if files.len() > 1 => {}
            Some(PageKind::Raw) if raw.is_some() => return Err(twice("raw")),
            // Whatever is no page is told what it is where the raw page is read.
            _ => match raw::read(&text, path) {
                Ok(page) => raw = Some(page),
                Err(error) => left_out.push(error),
            },
        }
    }
    let has_launches = raw.is_some() || details.is_some();
    if !has_launches && !left_out.is_empty() {
        return Err(left_out.swap_remove(0));
    }
    let launches: &[LaunchRow] =
        raw.as_ref().or(details.as_ref()).map_or(&[], |page| page.launches.as_slice());
    let mut source = None;
    for (path, text) in sources {
        match source::read(&text, path, launches) {
            Err(error) if has_launches => left_out.push(error),
            page => {
                let page = page?;
                source = Some(match source {
                    Some(first) => both_views(first, page),
                    None => page,
                });
            }
        }
    }
    let mut export = from_pages(raw, details, source)?;
    export.notices.extend(left_out.iter().map(|error| format!("one page was left out: {error}")));
    Ok(export)
}

/// True where two pages are of the same launches.
fn same_launches(one: &Export, other: &Export) -> bool {
    let ids = |export: &Export| -> Vec<(u32, String)> {
        export.launches.iter().map(|launch| (launch.id, launch.kernel.clone())).collect()
    };
    ids(one) == ids(other)
}

/// Joins the pages of one profile. Launches are the raw page's, or the details page's where there
/// is no raw page; a metric of both is the raw page's; a metric without a section gets the
/// catalogue's. A details page of another profile is left out.
///
/// # Errors
/// [`Error::Usage`] where there is neither a raw nor a details page.
pub fn from_pages(
    raw: Option<Export>,
    details: Option<Export>,
    source: Option<SourcePage>,
) -> Result<Export> {
    let mut export = match (raw, details) {
        (Some(raw), Some(details)) => merge(raw, details),
        (Some(page), None) => page,
        (None, Some(mut page)) => {
            // Metrics without a section are a printed raw page's, or those that ncu was asked for.
            if page.metrics.iter().any(|row| !row.section.is_empty()) {
                page.notices.push(DETAILS_ALONE.to_owned());
            }
            page
        }
        (None, None) => {
            return Err(Error::Usage(
                "the profile has no raw and no details page, so its launches and metrics are \
                 unknown; export them with `ncu --import REPORT --page raw --csv`"
                    .to_owned(),
            ));
        }
    };
    let mut sections = SharedTexts::default();
    for row in export.metrics.iter_mut().filter(|row| row.section.is_empty()) {
        if let Some((metric, _)) = metric::canonical(&row.metric) {
            row.section = sections.get(metric.section);
        }
    }
    if let Some(source) = source {
        export.source = source.rows;
        export.notices.extend(source.notices);
    }
    export.leave_out_the_impossible();
    Ok(export)
}

/// Adds to a raw page what only the details page has: rule results, sections, further metrics. A details
/// page of other launches is left out with a notice.
fn merge(mut raw: Export, details: Export) -> Export {
    let by_id: HashMap<u32, &str> =
        raw.launches.iter().map(|row| (row.id, row.kernel.as_str())).collect();
    let other = details.launches.iter().find_map(|launch| {
        let kernel = by_id.get(&launch.id)?;
        let is_other = !kernel_name::same(kernel, &launch.kernel)
            && kernel_name::base(kernel) != kernel_name::base(&launch.kernel);
        is_other.then_some((launch, *kernel))
    });
    if let Some((launch, kernel)) = other {
        raw.notices.push(format!(
            "the details page was left out, because it is of another profile than the raw page: launch {} \
             is {} in one and {} in the other; export both from one report",
            launch.id,
            kernel_name::short(&launch.kernel, LONGEST_NAME),
            kernel_name::short(kernel, LONGEST_NAME)
        ));
        return raw;
    }
    let new = details.launches.iter().filter(|launch| !by_id.contains_key(&launch.id)).cloned();
    let new: Vec<LaunchRow> = new.collect();
    raw.launches.extend(new);
    raw.launches.sort_by_key(|launch| launch.id);
    let mut places: HashMap<(u32, Arc<str>), usize> = HashMap::with_capacity(raw.metrics.len());
    let mut full: HashSet<u32> = HashSet::new();
    for (at, row) in raw.metrics.iter().enumerate() {
        places.insert((row.launch, row.metric.clone()), at);
        full.insert(row.launch);
    }
    for row in details.metrics {
        match places.get(&(row.launch, row.metric.clone())) {
            Some(&at) => {
                let known = &mut raw.metrics[at];
                if known.section.is_empty() {
                    known.section = row.section;
                }
                if known.value.is_none() && known.text.is_none() {
                    known.value = row.value;
                    known.text = row.text;
                }
            }
            // The raw page has what stands behind a label, under the metric's name.
            None if row.metric.contains(' ') && full.contains(&row.launch) => {}
            None => raw.metrics.push(row),
        }
    }
    raw.rules.extend(details.rules);
    raw.notices.extend(details.notices);
    raw
}

/// Both views of one source page: the one with lines, and of the other the instructions that have
/// no line.
fn both_views(one: SourcePage, other: SourcePage) -> SourcePage {
    let has_lines = |page: &SourcePage| page.rows.iter().any(|row| row.line.is_some());
    let (mut lined, plain) =
        if has_lines(&one) || !has_lines(&other) { (one, other) } else { (other, one) };
    let key = |row: &SourceRow| (row.launch, row.address);
    let known: HashSet<_> = lined.rows.iter().map(key).collect();
    lined.rows.extend(
        plain.rows.into_iter().filter(|row| row.is_instruction() && !known.contains(&key(row))),
    );
    for notice in plain.notices {
        if !lined.notices.contains(&notice) {
            lined.notices.push(notice);
        }
    }
    lined
}

#[cfg(test)]
mod tests;
