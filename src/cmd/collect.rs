//! Profiling with ncu, for steps and for programs alike.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::output::Printer;
use crate::cli::{Collect, Collection};
use crate::collect::second_run::{self, Further};
use crate::error::{Error, Result};
use crate::export::csv::raw::merge;
use crate::frame::Launch;
use crate::ncu::arguments::take_values;
use crate::ncu::{
    self, CollectRequest, Level, Limits, Ncu, Page, Selection, Version, expected_passes,
    most_passes,
};
use crate::progress::Progress;
use crate::{interrupt, store, text};

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
        Collect::Auto => Level::Auto,
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

/// How often ncu will replay a launch, where that is known beforehand: of `auto`, its first run.
pub fn passes_expected(selection: &Selection) -> Option<u32> {
    match selection {
        Selection::Level(level) => Some(expected_passes(*level).passes),
        Selection::Explicit { sections, metrics } if metrics.is_empty() => {
            most_passes(sections).map(|most| most.passes)
        }
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

/// ncu, or a name that stands for it in command lines that are only printed: on a machine without ncu
/// they can be read all the same. One that the user named must be there.
///
/// # Errors
/// As [`ncu::locate`] where the user named one.
pub fn ncu_or_placeholder(named: Option<&Path>, printer: &Printer) -> Result<Ncu> {
    ncu::locate(named).or_else(|error| {
        if named.is_some() {
            return Err(error);
        }
        let text = error.to_string();
        let problem = text.strip_suffix(ncu::locate::REMEDY).unwrap_or(&text);
        printer.notice(&format!(
            "`ncu` stands for a program that is not here: {}; where it is, adoprof's own section is \
             collected too",
            problem.trim_end_matches([';', ' '])
        ));
        let (program, version) = (PathBuf::from("ncu"), Version::NEWEST_MEASURED);
        Ok(Ncu { program, version, stock_sections: None })
    })
}

/// Prints the command lines that a run would start: the collection, then the three exports; for
/// `auto` also, as a comment, what a second run would depend on.
///
/// # Errors
/// Where stdout can't be written.
pub fn dry_run(
    ncu: &Ncu,
    request: &CollectRequest,
    report: &Path,
    printer: &Printer,
) -> Result<()> {
    printer.text(&ncu::profile(ncu, request).to_string())?;
    if let (Some(folder), Some(_)) = (&request.section_folder, &ncu.stock_sections) {
        printer.text(&format!(
            "# {} holds adoprof's own section, and only while a run lasts: leave out --section {} \
             and its --section-folder to run the line as it is",
            folder.display(),
            ncu::section::IDENTIFIER
        ))?;
    }
    for page in [Page::Raw, Page::Details, Page::Source] {
        printer.text(&ncu::import(ncu, report, page).to_string())?;
    }
    if request.selection == Selection::Level(Level::Auto) {
        let possible = second_run::possible(|name| Level::Auto.collects(name));
        printer.text(&format!(
            "# A second run of the same launches follows where the first leaves a trace of {} that \
             could be worth more than its first finding: --metrics {}",
            possible.rules.join(", "),
            possible.metrics.join(",")
        ))?;
    }
    Ok(())
}

/// What profiling gave: of one run, or of two runs of the same launches as one.
pub struct Gathered {
    /// The report of the first run; a second one's lies beside it.
    pub report: PathBuf,
    /// Replays of the launch that took most, over all runs.
    pub passes: Option<u32>,
    /// The pages; those of two runs are joined.
    pub pages: store::Pages,
    /// What the user should know, each one sentence.
    pub notices: Vec<String>,
}

/// Collects a report and reads its pages back, with progress; for `auto` a second one where the first
/// leaves something undecided.
///
/// # Errors
/// What ncu's run comes to; see [`ncu::collect`] and [`ncu::import_pages`]. A second run that fails is
/// only a notice, unless it was interrupted.
pub fn collect(
    ncu: &Ncu,
    request: &CollectRequest,
    options: &Collection,
    what: &str,
    progress: &Progress,
) -> Result<Gathered> {
    let start = Instant::now();
    let expected = passes_expected(&request.selection)
        .map_or_else(String::new, |passes| format!(", about {} a launch", passes_of(passes)));
    progress.note(&format!("adoprof: profiling {what} with ncu {}{expected}", ncu.version));
    let mut gathered = run(ncu, request, options, what, progress)?;
    let mut passes =
        gathered.passes.map_or_else(String::new, |passes| format!("{}, ", passes_of(passes)));
    if request.selection == Selection::Level(Level::Auto)
        && let Some(further) = further(&gathered.pages)
    {
        progress.note(&format!(
            "adoprof: profiling {what} once more for {}: {}",
            further.rules.join(", "),
            text::count_of(further.metrics.len() as f64, "metric")
        ));
        let one = gathered.passes;
        match second(ncu, request, &further, options, what, progress, &mut gathered) {
            Ok(()) => {
                if let (Some(one), Some(sum)) = (one, gathered.passes) {
                    passes = format!("{one} + {} in two runs, ", passes_of(sum - one));
                }
            }
            Err(error @ Error::Interrupted(_)) => return Err(error),
            Err(error) => gathered.notices.push(format!(
                "a second run for {} gave nothing: {error}",
                further.rules.join(", ")
            )),
        }
    }
    progress
        .note(&format!("adoprof: profiled {what}: {passes}{:.1} s", start.elapsed().as_secs_f64()));
    Ok(gathered)
}

fn passes_of(passes: u32) -> String {
    text::count_of(f64::from(passes), "pass")
}

/// What the first run leaves undecided. Pages that can't be read are the caller's to report.
fn further(pages: &store::Pages) -> Option<Further> {
    let export = pages.export(Path::new("")).ok()?;
    second_run::further(&Launch::all(&export), |name| Level::Auto.collects(name))
}

/// Profiles the same launches again for some metrics, and adds those to the first run's page.
fn second(
    ncu: &Ncu,
    request: &CollectRequest,
    further: &Further,
    options: &Collection,
    what: &str,
    progress: &Progress,
    gathered: &mut Gathered,
) -> Result<()> {
    let mut name = request.report.with_extension("").into_os_string();
    name.push("-2");
    // What else the user wanted collected the first run has collected.
    let ncu_args = ["--metrics", "--section", "--set"]
        .iter()
        .fold(request.ncu_args.clone(), |words, option| take_values(&words, option).1);
    let request = CollectRequest {
        selection: Selection::Explicit {
            sections: Vec::new(),
            metrics: further.metrics.iter().map(|&metric| metric.to_owned()).collect(),
        },
        report: PathBuf::from(name),
        section_folder: None,
        ncu_args,
        ..request.clone()
    };
    let more = run(ncu, &request, options, what, progress)?;
    gathered.pages.raw = merge(&gathered.pages.raw, &more.pages.raw)?;
    gathered.passes = gathered.passes.zip(more.passes).map(|(one, two)| one + two);
    Ok(())
}

/// One run of ncu, and its pages.
fn run(
    ncu: &Ncu,
    request: &CollectRequest,
    options: &Collection,
    what: &str,
    progress: &Progress,
) -> Result<Gathered> {
    progress.stage(format!("profiling {what}"));
    let interrupted = interrupt::flag();
    let limits = Limits { timeout: Some(options.timeout), interrupted: &interrupted };
    let mut log = String::new();
    let mut watch = |step: &ncu::Progress| {
        progress.stage(format!("profiling {}: {}%", text::printable(&step.kernel), step.percent));
    };
    let command = ncu::profile(ncu, request);
    let collected = ncu::collect_logged(&command, limits, &mut watch, &mut log);
    if progress.verbose() {
        for line in log.lines() {
            progress.note(&format!("  {}", text::printable(line)));
        }
    }
    let collected = collected?;
    progress.stage("exporting the report");
    let pages = ncu::import_pages(ncu, &collected.report, limits)?;
    let mut notices = collected.notices;
    notices.extend(pages.notices);
    Ok(Gathered {
        report: collected.report,
        passes: collected.passes,
        pages: store::Pages { raw: pages.raw, details: pages.details, source: pages.source },
        notices,
    })
}
