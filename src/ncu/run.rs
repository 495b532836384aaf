//! Collecting a report.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use super::command::NcuCommand;
use super::outcome::{Outcome, hang_hint, judge};
use super::process::{Limits, Stderr, stream};
use super::progress::{Follower, Progress};
use super::watcher;
use crate::error::{Error, Result};
use crate::export::csv::ncu_message::launched_nothing;
use crate::text::layout::fit;

/// How much of a program's output is shown where the program failed: most errors and stack traces end
/// within so many lines.
const LAST_LINES: usize = 10;
/// Columns of such a line.
const LONGEST_LINE: usize = 200;

/// A collected report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collected {
    /// The report: `.ncu-rep`, or `.ncu-repz` where ncu compresses.
    pub report: PathBuf,
    /// Replays of the launch that took most.
    pub passes: Option<u32>,
    /// What the user should know, each one sentence.
    pub notices: Vec<String>,
    /// What the profiled program printed.
    pub program_output: String,
    /// The program's exit code where ncu says that it was not 0.
    pub program_exit: Option<i32>,
    /// The launch whose kernel failed, after others had been profiled: its numbers are of no use.
    pub failed_launch: Option<u32>,
    /// True where a limit ended the run, and the report has what was finished before.
    pub cut_short: bool,
}

/// Runs a collection. The report is written beside its place and moved there when it is good, so
/// that an interrupted or failed run leaves nothing behind and an older report is not lost.
///
/// # Errors
/// [`Error::Interrupted`] at a limit, after ncu and all its children are gone, unless
/// [`Limits::write_up`] let ncu write a report of what was finished; otherwise what [`judge`] makes of the
/// run.
pub fn collect(
    command: &NcuCommand,
    limits: Limits,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Collected> {
    collect_logged(command, limits, progress, &mut String::new())
}

/// As [`collect`]; `log` gets everything that was printed, ncu's messages included, also where the
/// collection fails.
///
/// # Errors
/// As [`collect`].
pub fn collect_logged(
    command: &NcuCommand,
    limits: Limits,
    progress: &mut dyn FnMut(&Progress),
    log: &mut String,
) -> Result<Collected> {
    let Some(stem) = command.output() else {
        return Err(Error::Usage("the ncu command names no report (-o)".to_owned()));
    };
    let place = command.cwd.as_deref().unwrap_or(Path::new("")).join(stem);
    let folder = match place.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    std::fs::create_dir_all(&folder)
        .map_err(|error| Error::io(&folder, "create the folder", &error))?;
    // Absolute, because ncu runs in the program's folder.
    let folder = std::path::absolute(&folder)
        .map_err(|error| Error::io(&folder, "find the folder", &error))?;
    let scratch = tempfile::Builder::new()
        .prefix(".adoprof-")
        .tempdir_in(&folder)
        .map_err(|error| Error::io(&folder, "write into the folder", &error))?;
    watcher::remove_if_killed(scratch.path());

    let mut follower = Follower::default();
    let mut passes = None;
    let mut watch = |step: &Progress| {
        passes = passes.max(step.passes);
        progress(step);
    };
    let ended = stream(
        &command.with_output(&scratch.path().join("report")),
        Stderr::Merged,
        limits,
        "the ncu run",
        |piece| follower.feed(piece, &mut watch),
    );
    let program_output;
    (*log, program_output) = follower.finish();
    let ended = ended.map_err(|error| explain_hang(error, limits, log))?;
    let cut_short = ended.stopped.is_some();
    let (written, outcome) = match (find_report(scratch.path()), ended.stopped) {
        (Some(written), Some(limit)) if has_written_up(log) => {
            (written, Outcome::cut_short(&explain_hang(limit, limits, log)))
        }
        (_, Some(limit)) => return Err(explain_hang(limit, limits, log)),
        (written, None) => {
            let outcome = judge(log, ended.status.code(), written.is_some(), &place)
                .map_err(|error| with_last_lines(error, log, &program_output))?;
            let Some(written) = written else {
                return Err(Error::Environment("ncu left no report".to_owned()));
            };
            (written, outcome)
        }
    };
    let report = with_extension_of(&folder.join(place.file_name().unwrap_or_default()), &written);
    std::fs::rename(&written, &report)
        .map_err(|error| Error::io(&report, "move the report there", &error))?;
    Ok(Collected {
        report,
        passes,
        notices: outcome.notices,
        program_output,
        program_exit: outcome.program_exit,
        failed_launch: outcome.failed_launch,
        cut_short,
    })
}

/// The error of a failed program or kernel, or of a program without kernels, with the last lines that the program printed.
fn with_last_lines(error: Error, log: &str, program_output: &str) -> Error {
    let lines = last_lines(program_output);
    match error {
        Error::Kernel(text) if !lines.is_empty() => {
            Error::Kernel(format!("{text}; the program's last lines were:\n{lines}"))
        }
        // A program that launched nothing may have said why; where a filter matches nothing it ran as it should.
        Error::Usage(text) if !lines.is_empty() && launched_nothing(log) => {
            Error::Usage(format!("{text}; the program's last lines were:\n{lines}"))
        }
        error => error,
    }
}

/// The last lines of a program's output, indented and safe to print; empty where it printed nothing.
#[must_use]
pub fn last_lines(program_output: &str) -> String {
    let lines: Vec<&str> = program_output.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
    // Behind a bar no line of the program's is a command to the CI that reads it (`::error::`).
    let shown = |line: &&str| format!("  | {}", fit(line.trim_end(), LONGEST_LINE));
    last.iter().map(shown).collect::<Vec<_>>().join("\n")
}

/// True where ncu says that it ends the program or that it wrote its report: what it is killed over is no
/// report.
pub(crate) fn has_written_up(log: &str) -> bool {
    ["==PROF== Trying to shutdown", "==PROF== Report: "].iter().any(|said| log.contains(said))
}

/// Says of a run that was stopped at its time limit why it may have hung.
fn explain_hang(error: Error, limits: Limits, log: &str) -> Error {
    match (error, hang_hint(log)) {
        (Error::Interrupted(text), Some(hint)) if !limits.interrupted.load(Ordering::Relaxed) => {
            Error::Interrupted(format!("{text}; {hint}"))
        }
        (error, _) => error,
    }
}

/// The report in a folder, if there is one with something in it.
fn find_report(folder: &Path) -> Option<PathBuf> {
    std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).find(|path| {
        let kind = path.extension().and_then(|extension| extension.to_str());
        matches!(kind, Some("ncu-rep" | "ncu-repz"))
            && path.metadata().is_ok_and(|meta| meta.len() > 0)
    })
}

/// The stem with the written file's extension appended: a stem may hold dots of its own.
fn with_extension_of(stem: &Path, written: &Path) -> PathBuf {
    let mut name = stem.as_os_str().to_owned();
    if let Some(extension) = written.extension() {
        name.push(".");
        name.push(extension);
    }
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_in_the_stem_stay() {
        assert_eq!(
            with_extension_of(Path::new("a/v2.N512"), Path::new("t/report.ncu-repz")),
            PathBuf::from("a/v2.N512.ncu-repz")
        );
    }

    #[test]
    fn an_empty_file_is_no_report() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("report.ncu-rep"), "").unwrap();
        assert_eq!(find_report(dir.path()), None);
        std::fs::write(dir.path().join("report.ncu-rep"), "x").unwrap();
        assert!(find_report(dir.path()).is_some());
    }
}
