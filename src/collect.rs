//! Collecting a profile: a run of ncu and its pages, and a second run where the first leaves open what
//! could matter most.

pub(crate) mod ranks;
pub mod reading;
mod remaining;
pub mod second_run;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::export::csv::Pages;
use crate::export::csv::raw::merge;
use crate::frame::{Frames, Launch};
use crate::ncu::arguments::take_values;
use crate::ncu::{self, CollectRequest, Level, Limits, Ncu, Selection, TimeLimit};
use crate::progress::Progress;
use crate::{interrupt, text};

use remaining::Remaining;
use second_run::Further;

/// How long ncu may take at a limit to end the program and to write what is finished: under a second in
/// most runs, more where the launch that it interrupts is long.
const WRITE_UP: Duration = Duration::from_secs(20);

/// What profiling gave: of one run, or of two runs of the same launches as one.
pub struct Profiled {
    /// The report of the first run; a second one's lies beside it.
    pub report: PathBuf,
    /// Replays of the launch that took most, over all runs.
    pub passes: Option<u32>,
    /// The pages; those of two runs are joined.
    pub pages: Pages,
    /// What the user should know, each one sentence.
    pub notices: Vec<String>,
    /// True where a limit ended the run before the program did.
    pub cut_short: bool,
}

/// Collects a report and reads its pages back, with progress; for `auto` a second one where the first
/// leaves something undecided. Both together take no longer than `timeout`; what a run had finished by then is read.
///
/// # Errors
/// What ncu's run comes to; see [`ncu::collect`] and [`reading::pages`]. A second run that fails is
/// only a notice, unless it was interrupted.
pub fn collect(
    ncu: &Ncu,
    request: &CollectRequest,
    timeout: TimeLimit,
    what: &str,
    progress: &Progress,
) -> Result<Profiled> {
    let start = Instant::now();
    let expected = remaining::price(request.expected_launches, request.selection.expected_passes());
    progress.note(&format!("adoprof: profiling {what} with ncu {}{expected}", ncu.version));
    let mut profiled = run(ncu, request, timeout, what, progress)?;
    let mut passes =
        profiled.passes.map_or_else(String::new, |passes| format!("{}, ", passes_of(passes)));
    if request.selection == Selection::Level(Level::Auto)
        && !profiled.cut_short
        && let Some(further) = further(&profiled.pages)
    {
        progress.note(&format!(
            "adoprof: profiling {what} once more for {}: {}",
            further.rules.join(", "),
            text::count_of(further.metrics.len() as f64, "metric")
        ));
        let one = profiled.passes;
        match second(ncu, request, &further, timeout, what, progress, &mut profiled) {
            Ok(()) => {
                if let (Some(one), Some(sum)) = (one, profiled.passes) {
                    passes = format!("{one} + {} in two runs, ", passes_of(sum - one));
                }
            }
            Err(error @ Error::Interrupted(_)) if !request.keep_partial => return Err(error),
            // A program's first run stands for itself.
            Err(error) => profiled
                .notices
                .push(format!("the second run, for {}, failed: {error}", further.rules.join(", "))),
        }
    }
    progress
        .note(&format!("adoprof: profiled {what}: {passes}{:.1} s", start.elapsed().as_secs_f64()));
    Ok(profiled)
}

fn passes_of(passes: u32) -> String {
    text::count_of(f64::from(passes), "pass")
}

/// What the first run leaves undecided. Pages that can't be read are the caller's to report.
fn further(pages: &Pages) -> Option<Further> {
    let frames = Frames::new(pages.export(Path::new("")).ok()?).ok()?;
    second_run::further(&Launch::all(&frames).ok()?, |name| Level::Auto.collects(name))
}

/// Profiles the same launches again for some metrics, and adds those to the first run's page.
fn second(
    ncu: &Ncu,
    request: &CollectRequest,
    further: &Further,
    timeout: TimeLimit,
    what: &str,
    progress: &Progress,
    profiled: &mut Profiled,
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
    let more = run(ncu, &request, timeout, what, progress)?;
    profiled.pages.raw = merge(&profiled.pages.raw, &more.pages.raw)?;
    profiled.passes = profiled.passes.zip(more.passes).map(|(one, two)| one + two);
    Ok(())
}

/// One run of ncu, and its pages.
fn run(
    ncu: &Ncu,
    request: &CollectRequest,
    timeout: TimeLimit,
    what: &str,
    progress: &Progress,
) -> Result<Profiled> {
    progress.stage(format!("profiling {what}"));
    let interrupted = interrupt::flag();
    let write_up = if request.keep_partial { WRITE_UP } else { Duration::ZERO };
    let limits = Limits { timeout: Some(timeout), interrupted: &interrupted, write_up };
    let mut log = String::new();
    let start = Instant::now();
    let mut remaining = Remaining::new(request.expected_launches);
    let mut watch = |step: &ncu::Progress| {
        let left = remaining.words(step, start.elapsed());
        progress.stage(format!(
            "profiling {}: {}%{left}",
            text::printable(&step.kernel),
            step.percent
        ));
    };
    let command = ncu::profile(ncu, request);
    let collected = ncu::collect_logged(&command, limits, &mut watch, &mut log);
    if progress.verbose() {
        for line in log.lines() {
            progress.note(&format!("  {}", text::printable(line)));
        }
    }
    let collected = collected?;
    let last = ncu::last_lines(&collected.program_output);
    if collected.program_exit.is_some() && !last.is_empty() {
        progress.note(&format!("adoprof: the program's last lines were:\n{last}"));
    }
    progress.stage("reading the report");
    // What ended the collection must not end the reading of what it left.
    let again = AtomicBool::new(false);
    let interrupted = if collected.cut_short { &again } else { &*interrupted };
    let limits = Limits { timeout: Some(timeout.again()), interrupted, write_up: Duration::ZERO };
    // A step without one of its launches is another step.
    if collected.failed_launch.is_some() && !request.keep_partial {
        return Err(Error::Kernel(format!(
            "a kernel of {what} failed under the profiler; run it under compute-sanitizer, which names \
             the faulty access, and -v shows what ncu printed"
        )));
    }
    let (report, failed) = (&collected.report, collected.failed_launch);
    let (pages, more) = reading::pages(ncu, report, request.via, failed, limits)?;
    let mut notices = collected.notices;
    notices.extend(more);
    Ok(Profiled {
        report: collected.report,
        passes: collected.passes,
        pages,
        notices,
        cut_short: collected.cut_short,
    })
}
