//! A step's commands, each in the ladder's folder.

use std::ffi::OsString;
use std::path::PathBuf;

use super::failed;
use crate::error::{Error, Result};
use crate::ncu::process::{Ended, Stderr, stream};
use crate::ncu::{Limits, NcuCommand, keep_end};
use crate::plan::{CommandLine, ProgramPlan};

/// A command's program and arguments; a path of the program is one from the ladder's folder.
///
/// # Errors
/// [`Error::Usage`] where there is no such file.
pub(crate) fn resolved(
    plan: &ProgramPlan,
    command: &CommandLine,
) -> Result<(PathBuf, Vec<OsString>)> {
    let args = command.args.iter().map(OsString::from).collect();
    if !command.program.contains('/') {
        return Ok((PathBuf::from(&command.program), args));
    }
    let program = plan.folder.join(command.program.trim_start_matches("./"));
    if !program.exists() {
        let name = &command.program;
        let remedy = if plan.build.is_none() {
            "build it first, or add the command that does as `build`"
        } else {
            "`build` made no such file"
        };
        return Err(Error::Usage(format!(
            "{}/{}: there is no `{name}` in {}: {remedy}",
            plan.ladder,
            plan.step,
            plan.folder.display()
        )));
    }
    Ok((program, args))
}

/// Builds the program.
pub(super) fn build(plan: &ProgramPlan, build: &CommandLine, limits: Limits) -> Result<()> {
    let (ended, output) = follow(plan, build, limits, "the build")?;
    succeeded(plan, "the build", build, &ended, &output)
}

/// Runs the program; the end of what it printed.
pub(super) fn run(plan: &ProgramPlan, limits: Limits) -> Result<String> {
    let (ended, output) = follow(plan, &plan.run, limits, "the program")?;
    succeeded(plan, "the program", &plan.run, &ended, &output)?;
    Ok(output)
}

/// Runs the command that says whether the answer is right.
pub(super) fn check(plan: &ProgramPlan, check: &CommandLine, limits: Limits) -> Result<()> {
    let (ended, output) = follow(plan, check, limits, "the check")?;
    if ended.status.success() {
        return Ok(());
    }
    let problem = format!("wrong answer: `{}` ended with {}", check.text(), how(&ended));
    Err(failed(plan, &problem, &output))
}

fn succeeded(
    plan: &ProgramPlan,
    what: &str,
    command: &CommandLine,
    ended: &Ended,
    output: &str,
) -> Result<()> {
    if ended.status.success() {
        return Ok(());
    }
    let problem = format!("{what} failed: `{}` ended with {}", command.text(), how(ended));
    Err(failed(plan, &problem, output))
}

/// `code 3`, `a signal`.
fn how(ended: &Ended) -> String {
    ended.status.code().map_or_else(|| "a signal".to_owned(), |code| format!("code {code}"))
}

/// Runs a command to its end; the end of what it printed.
fn follow(
    plan: &ProgramPlan,
    command: &CommandLine,
    limits: Limits,
    what: &str,
) -> Result<(Ended, String)> {
    let (program, args) = resolved(plan, command)?;
    let line = NcuCommand { program, args, env: Vec::new(), cwd: Some(plan.folder.clone()) };
    let mut output = Vec::new();
    let ended = stream(&line, Stderr::Merged, limits, what, |piece| {
        keep_end(&mut output, piece);
    });
    let ended = ended.map_err(|error| match error {
        Error::Environment(text) => {
            Error::Environment(format!("{}/{}: {text}", plan.ladder, plan.step))
        }
        error => error,
    })?;
    Ok((ended, String::from_utf8_lossy(&output).into_owned()))
}
