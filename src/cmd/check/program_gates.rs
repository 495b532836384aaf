//! The gates of `--fail-on` on a program: what lies around its kernels is judged by a survey, its kernels by profiles
//! that are taken now.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use super::command::Command;
use super::{collected, counters, explain};
use crate::cli::CheckArgs;
use crate::cmd::shared::live_step::own_path;
use crate::cmd::shared::open;
use crate::cmd::shared::printer::Printer;
use crate::document::Program;
use crate::error::{Error, Result};
use crate::gate::{CheckDocument, FailOn};
use crate::ncu::process::{Stderr, stream};
use crate::ncu::{Limits, NcuCommand};
use crate::profile::Profile;
use crate::{interrupt, ladder, survey};

/// What a program is held against.
#[derive(Clone, Copy)]
pub(super) enum Base<'a> {
    /// Another program, profiled now.
    Command(&'a Command),
    /// A profile that is there.
    Profile(&'a Profile),
}

/// Judges the gates, if there are any.
///
/// # Errors
/// Where the program does not run, or can't be profiled for a gate that needs it.
pub(super) fn judge(
    document: &mut CheckDocument,
    args: &CheckArgs,
    base: Base<'_>,
    new: &Command,
    printer: &Printer,
) -> Result<()> {
    if args.fail_on.is_empty() {
        return Ok(());
    }
    let progress = printer.progress();
    if args.fail_on.iter().all(FailOn::needs_survey_only) {
        progress.stage(format!("surveying {}", new.text()));
        let around = counters::around(&surveyed(new, args.timeout)?);
        let judged = args.fail_on.iter().map(|gate| gate.judge(&[], around.as_deref()));
        document.gates = judged.collect();
        return Ok(());
    }
    let folder = tempfile::tempdir().map_err(|error| {
        Error::Environment(format!("there is no temporary folder for profiles: {error}"))
    })?;
    let profile = |command: &Command, name: &str| {
        progress.stage(format!("profiling {}", command.text()));
        profiled(command, &folder.path().join(name), args)
    };
    let new = profile(new, "new")?;
    let unanswered = match base {
        Base::Profile(base) => {
            explain(document, base, &new, args)?;
            collected::remedy(&args.fail_on, &document.gates)
        }
        Base::Command(base) => {
            explain(document, &profile(base, "base")?, &new, args)?;
            collected::refused(&args.fail_on, &document.gates)
        }
    };
    document.notices.extend(unanswered);
    Ok(())
}

/// What a survey says of a program.
fn surveyed(command: &Command, timeout: Duration) -> Result<Program> {
    let interrupted = interrupt::flag();
    let limits = Limits {
        timeout: Some(timeout.into()),
        interrupted: &interrupted,
        write_up: Duration::ZERO,
    };
    let program = survey::run::Program {
        program: &command.program,
        args: &command.args,
        folder: None,
        env: Vec::new(),
    };
    let surveyed = survey::run::run(&program, limits)?;
    Ok(Program::new(command.text(), &surveyed.survey, &[]))
}

/// A program profiled by a process of its own, into a folder that must outlive the profile.
fn profiled(command: &Command, folder: &Path, args: &CheckArgs) -> Result<Profile> {
    let own = NcuCommand {
        program: own_path()?,
        args: arguments(command, folder, args),
        env: Vec::new(),
        cwd: None,
    };
    let interrupted = interrupt::flag();
    // The process keeps to the limit itself: its survey and its collection may each take as long.
    let limits = Limits {
        timeout: Some(args.timeout.saturating_mul(3).into()),
        interrupted: &interrupted,
        write_up: Duration::ZERO,
    };
    let ended = stream(&own, Stderr::Apart, limits, "profiling a program", |_| {})?;
    if !ended.status.success() {
        let text = String::from_utf8_lossy(&ended.stderr);
        let said = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let said = said.strip_prefix("adoprof: ").unwrap_or(said);
        return Err(Error::Environment(format!(
            "`{}` could not be profiled for --fail-on: {said}",
            command.text()
        )));
    }
    let mut profile = open::one(&folder.to_string_lossy(), ladder::DEFAULT, None)?;
    profile.name = command.text();
    Ok(profile)
}

/// `--quiet profile -o FOLDER … -- PROGRAM`.
fn arguments(command: &Command, folder: &Path, args: &CheckArgs) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec![
        "--quiet".into(),
        "profile".into(),
        "--format".into(),
        "json".into(),
        "-o".into(),
        folder.into(),
        "--device".into(),
        args.device.to_string().into(),
        "--timeout".into(),
        format!("{}s", args.timeout.as_secs_f64()).into(),
    ];
    if let Some(ncu) = &args.ncu {
        words.extend(["--ncu".into(), ncu.into()]);
    }
    if let Some(more) = collected::ncu_args(&args.fail_on, args.ncu_args.as_deref()) {
        words.push(format!("--ncu-args={more}").into());
    }
    words.push("--".into());
    words.push(command.program.clone().into());
    words.extend(command.args.iter().cloned());
    words
}
