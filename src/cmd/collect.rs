//! Profiling with ncu, for steps and for programs alike.

use std::path::Path;
use std::time::Instant;

use super::output::Printer;
use crate::cli::{Collect, Collection};
use crate::error::Result;
use crate::ncu::{
    self, CollectRequest, Collected, Level, Limits, Ncu, NcuCommand, Page, Pages, Selection,
    expected_passes,
};
use crate::progress::Progress;
use crate::{interrupt, text};

/// What the options select.
pub fn selection(options: &Collection) -> Selection {
    if !options.section.is_empty() || !options.metrics.is_empty() {
        return Selection::Explicit {
            sections: options.section.clone(),
            metrics: options.metrics.clone(),
        };
    }
    Selection::Level(level(options.collect))
}

/// The level of a choice on the command line.
pub fn level(collect: Collect) -> Level {
    match collect {
        Collect::Quick => Level::Quick,
        Collect::Standard => Level::Standard,
        Collect::Full => Level::Full,
    }
}

/// The word for a selection in a saved profile.
pub fn selection_name(selection: &Selection) -> &'static str {
    match selection {
        Selection::Level(level) => level.name(),
        Selection::Explicit { .. } => "custom",
    }
}

/// How often ncu will replay a launch, where that is known beforehand.
pub fn passes_expected(selection: &Selection) -> Option<u32> {
    match selection {
        Selection::Level(level) => Some(expected_passes(*level).passes),
        Selection::Explicit { .. } => None,
    }
}

/// Completes a request with the user's options. The returned folder holds our sections and must
/// live until the collection is over.
///
/// # Errors
/// Bad quoting in `--ncu-args`; a temporary folder that can't be written.
pub fn complete(
    request: &mut CollectRequest,
    options: &Collection,
) -> Result<Option<tempfile::TempDir>> {
    if let Some(args) = &options.ncu_args {
        request.ncu_args = ncu::arguments::split(args)?;
    }
    let ours =
        matches!(request.selection, Selection::Level(_)).then(ncu::section::deploy).transpose()?;
    request.section_folder = ours.as_ref().map(|folder| folder.path().to_owned());
    Ok(ours)
}

/// Prints the command lines that a run would start: the collection, then the three exports.
///
/// # Errors
/// Where stdout can't be written.
pub fn dry_run(ncu: &Ncu, command: &NcuCommand, report: &Path, printer: &Printer) -> Result<()> {
    printer.text(&command.to_string())?;
    for page in [Page::Raw, Page::Details, Page::Source] {
        printer.text(&ncu::import(ncu, report, page).to_string())?;
    }
    Ok(())
}

/// Collects a report and reads its pages back, with progress.
///
/// # Errors
/// What ncu's run comes to; see [`ncu::collect`] and [`ncu::import_pages`].
pub fn collect(
    ncu: &Ncu,
    command: &NcuCommand,
    options: &Collection,
    what: &str,
    progress: &Progress,
) -> Result<(Collected, Pages)> {
    let start = Instant::now();
    let expected = passes_expected(&selection(options))
        .map_or_else(String::new, |passes| format!(", about {passes} passes a launch"));
    progress.note(&format!("adoprof: profiling {what} with ncu {}{expected}", ncu.version));
    progress.stage(format!("profiling {what}"));
    let interrupted = interrupt::flag();
    let limits = Limits { timeout: Some(options.timeout), interrupted: &interrupted };
    let mut log = String::new();
    let mut watch = |step: &ncu::Progress| {
        progress.stage(format!("profiling {}: {}%", text::printable(&step.kernel), step.percent));
    };
    let collected = ncu::collect_logged(command, limits, &mut watch, &mut log);
    if progress.verbose() {
        for line in log.lines() {
            progress.note(&format!("  {}", text::printable(line)));
        }
    }
    let collected = collected?;
    progress.stage("exporting the report");
    let pages = ncu::import_pages(ncu, &collected.report, limits)?;
    let passes = collected.passes.map_or_else(String::new, |passes| format!("{passes} passes, "));
    progress
        .note(&format!("adoprof: profiled {what}: {passes}{:.1} s", start.elapsed().as_secs_f64()));
    Ok((collected, pages))
}
