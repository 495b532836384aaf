//! A step that is a program: built, run, its answer checked, its time measured without the profiler.

mod command;
mod output;
mod surveyed;

use std::time::Duration;

use crate::error::{Error, Result};
use crate::interrupt;
use crate::launch::median_and_range;
use crate::ncu::{Limits, last_lines};
use crate::plan::{AnswerCheck, ProgramPlan, TimeSource};
use crate::progress::Progress;
use crate::timing::{CheckedBy, ProgramRun, Rate, StepInfo, TimedBy};

pub(crate) use command::resolved;
pub(crate) use surveyed::Launches;

/// What running a program came to.
pub(crate) struct Measured {
    /// How well and how fast it ran.
    pub info: StepInfo,
    /// Its launches that count; `None` where no survey saw them.
    pub launches: Option<Launches>,
    /// What the user should know, each one sentence.
    pub notices: Vec<String>,
}

/// Builds, runs, checks, and times a program. Where its time comes from its output, a survey says beside that
/// which launches there are, if `wants_launches`.
///
/// # Errors
/// [`Error::Kernel`] where it does not build, ends badly or gives a wrong answer, [`Error::Usage`] where an
/// expression of the manifest finds nothing, [`Error::Environment`] where a time needs a survey and there is
/// none, [`Error::Interrupted`] at the limit, which holds for each command.
pub(crate) fn measure(
    plan: &ProgramPlan,
    limit: Duration,
    wants_launches: bool,
    progress: &Progress,
) -> Result<Measured> {
    let interrupted = interrupt::flag();
    let limits =
        Limits { timeout: Some(limit.into()), interrupted: &interrupted, write_up: Duration::ZERO };
    if let Some(build) = &plan.build {
        progress.stage(format!("{}: building", plan.step));
        command::build(plan, build, limits)?;
    }
    let mut times_ns = Vec::new();
    let mut launches = None;
    let mut notices = Vec::new();
    for run in 0..plan.runs {
        progress.stage(format!("{}: run {} of {}", plan.step, run + 1, plan.runs));
        let output = match &plan.time {
            TimeSource::Survey => {
                let found = surveyed::run(plan, limits)?;
                let of_run = found.launches.map_err(|why| surveyed::no_time(plan, &why))?;
                times_ns.push(of_run.total_ns);
                if launches.is_none() {
                    notices.extend(found.notices);
                    launches = Some(of_run);
                }
                found.output
            }
            TimeSource::Output { expression, unit } => {
                let output = command::run(plan, limits)?;
                times_ns.extend(output::times_ns(plan, expression, *unit, &output)?);
                output
            }
        };
        check(plan, run == 0, &output, limits, progress)?;
    }
    if launches.is_none() && wants_launches {
        progress.stage(format!("{}: surveying", plan.step));
        let found = surveyed::run(plan, limits)?;
        notices.extend(found.notices);
        match found.launches {
            Ok(found) => launches = Some(found),
            Err(surveyed::Missing::NoMatch(problem)) => return Err(Error::Usage(problem)),
            Err(surveyed::Missing::NoSurvey(why)) => notices.push(format!(
                "the survey found no kernels, so the first launches are profiled: {why}"
            )),
        }
    }
    Ok(Measured { info: info(plan, &times_ns), launches, notices })
}

/// Checks the answer; a command does it after the first run only.
fn check(
    plan: &ProgramPlan,
    is_first: bool,
    output: &str,
    limits: Limits,
    progress: &Progress,
) -> Result<()> {
    match &plan.check {
        Some(AnswerCheck::Output(expression)) => output::is_right(plan, expression, output),
        Some(AnswerCheck::Command(check)) if is_first => {
            progress.stage(format!("{}: checking the answer", plan.step));
            command::check(plan, check, limits)
        }
        _ => Ok(()),
    }
}

fn info(plan: &ProgramPlan, samples_ns: &[f64]) -> StepInfo {
    let time_ns = median_and_range(samples_ns);
    let rate = plan.metric.as_ref().map(|metric| Rate {
        value: metric.work / time_ns.median.max(1.0),
        unit: metric.unit.clone(),
    });
    StepInfo {
        ladder: plan.ladder.clone(),
        name: plan.step.clone(),
        title: plan.title.clone(),
        size: plan.size.clone(),
        verified: plan.check.is_some(),
        max_error: 0.0,
        time_ns,
        samples_ns: samples_ns.to_vec(),
        warm_ns: None,
        total_ns: None,
        bytes: plan.bytes,
        flops: plan.flops,
        rate,
        cpu: Vec::new(),
        copy_bytes_per_s: None,
        library: None,
        program: Some(ProgramRun {
            command: plan.run.text(),
            checked_by: plan.check.as_ref().map(|check| match check {
                AnswerCheck::Output(_) => CheckedBy::Output,
                AnswerCheck::Command(_) => CheckedBy::Command,
            }),
            timed_by: match plan.time {
                TimeSource::Survey => TimedBy::Survey,
                TimeSource::Output { .. } => TimedBy::Output,
            },
        }),
        recorded: None,
    }
}

/// A failure of the step's program, with the last lines that it printed.
fn failed(plan: &ProgramPlan, problem: &str, output: &str) -> Error {
    Error::Kernel(with_last_lines(&format!("{}/{}: {problem}", plan.ladder, plan.step), output))
}

/// A text with the last lines of an output behind it.
fn with_last_lines(text: &str, output: &str) -> String {
    match last_lines(output).as_str() {
        "" => format!("{text}; it printed nothing"),
        lines => format!("{text}; its last lines were:\n{lines}"),
    }
}
