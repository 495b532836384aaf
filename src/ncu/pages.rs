//! Reading a report's pages back through `ncu --import`.

use std::path::Path;

use super::command::{Page, import};
use super::outcome::import_failure;
use super::process::{Limits, Stderr, stream};
use super::program::Ncu;
use crate::error::{Error, Result};
use crate::export::csv::Pages;

/// What ncu says of each kernel that its view with source lines leaves out.
const NO_LINES: &str = "No lineinfo available";

/// Exports the pages of a report at the same time, as CSV in base units: the pages, and what the user
/// should know, each one sentence. ncu may have put messages before the header line; the source page is
/// empty where ncu can't give it. Where kernels have no line information, their instructions come from the
/// page's other view.
///
/// # Errors
/// [`Error::Input`] for a missing, foreign or damaged report, [`Error::Environment`] where ncu can't
/// run, [`Error::Interrupted`] at a limit. A source page that fails alone is only a notice.
pub fn import_pages(ncu: &Ncu, report: &Path, limits: Limits) -> Result<(Pages, Vec<String>)> {
    let (raw, details, source) = std::thread::scope(|scope| {
        let page = |page| scope.spawn(move || import_page(ncu, report, page, limits));
        let threads = [Page::Raw, Page::Details, Page::Source].map(page);
        let [raw, details, source] = threads.map(|thread| {
            thread.join().unwrap_or_else(|_| Err(Error::Environment("an import ended".to_owned())))
        });
        (raw, details, source)
    });
    let mut pages = Pages { raw: raw?, details: details?, ..Pages::default() };
    let mut notices = Vec::new();
    let mut without = |what: &str, page: Result<String>| match page {
        Ok(text) => Ok(text),
        Err(error @ Error::Interrupted(_)) => Err(error),
        Err(error) => {
            notices.push(format!("continuing without {what}: {error}"));
            Ok(String::new())
        }
    };
    let source = without("the report's source page", source)?;
    if source.lines().take_while(|line| !line.starts_with('"')).any(|line| line.contains(NO_LINES))
    {
        let sass = import_page(ncu, report, Page::Sass, limits);
        pages.sass = without("the instructions of kernels without line information", sass)?;
    }
    // Of messages alone no page can be made.
    if source.lines().any(|line| line.starts_with('"')) {
        pages.source = source;
    }
    Ok((pages, notices))
}

/// Exports one page.
///
/// # Errors
/// As [`import_pages`].
fn import_page(ncu: &Ncu, report: &Path, page: Page, limits: Limits) -> Result<String> {
    let mut output = Vec::new();
    let what = format!("the export of {}", report.display());
    let ended = stream(&import(ncu, report, page), Stderr::Apart, limits, &what, |piece| {
        output.extend_from_slice(piece);
    })?;
    let output = String::from_utf8_lossy(&output).into_owned();
    let stderr = String::from_utf8_lossy(&ended.stderr);
    // Messages stand before the table; a kernel or a source line may hold the same words.
    let head: String = output
        .lines()
        .take_while(|line| !line.starts_with('"'))
        .chain(stderr.lines())
        .flat_map(|line| [line, "\n"])
        .collect();
    if let Some(error) = ended.stopped {
        return Err(error);
    }
    if let Some(error) = import_failure(&head, report) {
        return Err(error);
    }
    if !ended.status.success() {
        let problem = match (ended.status.code(), head.lines().last()) {
            (Some(_), Some(said)) => {
                format!("ncu can't export it: {}", crate::text::printable(said))
            }
            // By a signal, or without a word: older releases crash on reports that they don't know.
            _ => format!(
                "ncu crashed while reading it ({}); the report may be damaged, or a newer ncu may \
                 have written it: name that ncu with --ncu",
                ended.status
            ),
        };
        return Err(Error::input(report, problem));
    }
    Ok(output)
}
