//! What a run of ncu came to. ncu's exit code does not tell: it is the program's where that fails,
//! and 0 where nothing was profiled. The report and ncu's messages do.

use std::path::Path;

use super::locate::REMEDY;
use crate::error::{Error, Result};
use crate::export::csv::ncu_message;
use crate::export::csv::ncu_message::{NcuMessage, NcuMessageKind as Kind, classify};
use crate::text::printable;

/// A run whose report can be used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The profiled program's exit code where ncu says that it was not 0.
    pub program_exit: Option<i32>,
    /// What the user should know, each one sentence.
    pub notices: Vec<String>,
    /// The launch that could not be profiled, where others before it were.
    pub failed_launch: Option<u32>,
}

impl Outcome {
    /// A run that ended at a limit, with a report of what was finished.
    #[must_use]
    pub fn cut_short(limit: &Error) -> Self {
        let notice = format!("{limit}; the report has what was profiled before that");
        Self { notices: vec![notice], ..Self::default() }
    }
}

/// Judges a collection by its log and by whether it left a report.
///
/// # Errors
/// What the most telling message says (see [`ncu_message`]): counters forbidden or no driver, a
/// kernel or a program that failed, nothing to profile, a report that can't be written. With a
/// report, only what makes it worthless is an error.
pub fn judge(log: &str, exit: Option<i32>, report_exists: bool, report: &Path) -> Result<Outcome> {
    let messages = classify(log);
    if report_exists {
        let mut outcome =
            Outcome { program_exit: ncu_message::program_exit(log), ..Outcome::default() };
        for message in &messages {
            match message.error(log).filter(|_| message.spoils_report()) {
                None => outcome.notices.extend(notice(message)),
                Some(error) => match failed_launch(message, log) {
                    None => return Err(error),
                    failed => {
                        outcome.failed_launch = failed;
                        outcome.notices.push(format!(
                            "{error}; the launches before it were profiled and follow without it"
                        ));
                    }
                },
            }
        }
        // A signal, from whoever sent it: ncu may not have written everything.
        if exit.is_none() {
            outcome.notices.push(
                "ncu was ended by a signal, so the report may lack the launches that came last"
                    .to_owned(),
            );
        }
        return Ok(outcome);
    }
    for message in &messages {
        match message.kind {
            Kind::OtherError => break,
            Kind::ReportExists | Kind::ReportNotWritable => {
                return Err(Error::input(report, message.sentence()));
            }
            _ => {}
        }
        if let Some(error) = message.error(log) {
            return Err(error);
        }
    }
    Err(other(log, exit, &messages))
}

/// The launch that a message is about, where it spoils that one alone: others were profiled before it.
fn failed_launch(message: &NcuMessage, log: &str) -> Option<u32> {
    let is_of_one_launch = matches!(message.kind, Kind::KernelFault | Kind::ProfilingFailed);
    let last = ncu_message::launches(log).last()?;
    (is_of_one_launch && ncu_message::launches(log).count() > 1).then_some(last)
}

/// What to add where a run was stopped at its time limit: ncu's hint that a kernel may wait for
/// another one. It says so of every slow kernel, so it is worth a word only where a run did not end.
#[must_use]
pub fn hang_hint(log: &str) -> Option<&'static str> {
    classify(log).iter().any(|message| message.kind == Kind::SlowLaunch).then_some(
        "a kernel that waits for another one hangs when it is replayed alone: if yours does, use \
         --ncu-args '--replay-mode range' around both, or --ncu-args '--replay-mode application'",
    )
}

/// Judges an import by its output; `None` where it went well.
#[must_use]
pub fn import_failure(output: &str, report: &Path) -> Option<Error> {
    let messages = classify(output);
    let first = messages.iter().find(|message| message.is_error)?;
    let problem = match first.kind {
        Kind::ReportMissing => "there is no such report".to_owned(),
        Kind::ReportForeign => "this is not an ncu report; `ncu -o` writes one".to_owned(),
        Kind::ReportDamaged => {
            "ncu can't read it: the report is cut short, or a newer ncu wrote it; collect it \
             again, or name a newer ncu with --ncu"
                .to_owned()
        }
        _ => format!("ncu can't read the report: {}", said(&messages)),
    };
    Some(Error::input(report, problem))
}

/// What a user should know of a run that left a good report.
fn notice(message: &NcuMessage) -> Option<String> {
    match message.kind {
        Kind::ProgramFailed => {
            Some(format!("{}; the profile contains what ran before that", message.meaning))
        }
        Kind::SlowReplay => Some(message.sentence()),
        _ if message.is_error => Some(format!("ncu said: {}", message.said)),
        _ => None,
    }
}

/// All that ncu calls an error, in its words.
fn said(messages: &[NcuMessage]) -> String {
    let errors: Vec<&str> =
        messages.iter().filter(|message| message.is_error).map(|m| m.said.as_str()).collect();
    errors.join(" ")
}

/// A failure without a known message.
fn other(log: &str, exit: Option<i32>, messages: &[NcuMessage]) -> Error {
    let mut said = said(messages);
    if said.is_empty() {
        let last = log.lines().rev().find(|line| !line.trim().is_empty());
        said = last.map_or_else(|| "nothing".to_owned(), printable);
    }
    let code = exit.map_or_else(|| "a signal".to_owned(), |code| format!("code {code}"));
    let hint = if log.contains("error while loading shared libraries") || exit == Some(127) {
        format!("; its installation is broken: {REMEDY}")
    } else {
        "; -v shows all that it printed".to_owned()
    };
    Error::Environment(format!("ncu ended with {code} and left no report; it said: {said}{hint}"))
}

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;
