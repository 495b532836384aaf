//! A program against another, or against itself as it was profiled.

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use super::command::Command;
use super::program_gates::{self, Base};
use crate::cli::CheckArgs;
use crate::cmd::shared::open;
use crate::cmd::shared::printer::Printer;
use crate::error::{Error, Result};
use crate::gate::{CheckDocument, Pace, Run, Timed, Trial, recorded};
use crate::interrupt;
use crate::launch::median_and_range;
use crate::ncu::Limits;
use crate::profile::Profile;
use crate::survey;
use crate::timing::Quartet;

/// How long programs run where nobody says.
const MAX_TIME: Duration = Duration::from_secs(60);
/// Runs of a program that is compared with a profile.
const RUNS_APART: usize = 5;

/// Checks the program behind `--`.
///
/// # Errors
/// [`Error::Usage`] where there is no such program, [`Error::Kernel`] where one fails.
pub(super) fn check(args: &CheckArgs, printer: &Printer) -> Result<CheckDocument> {
    let new = Command::of(&args.program)?;
    let mut document = match (&args.baseline_program, &args.baseline) {
        (Some(base), _) => {
            let words = shell_words::split(base).map_err(|error| {
                Error::Usage(format!(
                    "--baseline-program: `{base}` can't be split into words: {error}"
                ))
            })?;
            let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
            let base = Command::of(&words)?;
            let mut document = if args.no_time {
                CheckDocument::new(base.text(), new.text(), Timed::NotAtAll)
            } else {
                in_turn(args, &base, &new, printer)?
            };
            program_gates::judge(&mut document, args, Base::Command(&base), &new, printer)?;
            document
        }
        (None, Some(base)) => {
            let profile = open::one(base, &args.problem.ladder, None)?;
            let mut document = if args.no_time {
                CheckDocument::new(profile.name.clone(), new.text(), Timed::NotAtAll)
            } else {
                against_profile(args, &profile, &new, printer)?
            };
            program_gates::judge(&mut document, args, Base::Profile(&profile), &new, printer)?;
            document
        }
        (None, None) => {
            return Err(Error::Usage("check needs --baseline or --baseline-program".to_owned()));
        }
    };
    document.notices.dedup();
    Ok(document)
}

/// What of a run is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measure {
    /// The time of its kernels together, as a survey recorded them.
    Kernels,
    /// Its time from start to end: where a survey records none.
    Wall,
}

/// Runs a program once; what it took, ns: of its kernels, where it has any that a survey sees, and in all.
fn once(command: &Command, timeout: Duration) -> Result<(Option<f64>, f64)> {
    let interrupted = interrupt::flag();
    let limits = Limits {
        timeout: Some(timeout.into()),
        interrupted: &interrupted,
        write_up: Duration::ZERO,
    };
    let program = survey::run::Program {
        program: Path::new(&command.program),
        args: &command.args,
        folder: None,
        env: Vec::new(),
    };
    let surveyed = survey::run::run(&program, limits)?;
    if surveyed.ended_badly {
        let how = surveyed.survey.notices.last().cloned().unwrap_or_default();
        return Err(Error::Kernel(format!("`{}`: {how}", command.text())));
    }
    let kernels_ns: f64 = surveyed
        .survey
        .processes
        .iter()
        .flat_map(|process| &process.kernels)
        .map(|kernel| kernel.span.end.saturating_sub(kernel.span.start) as f64)
        .sum();
    Ok(((kernels_ns > 0.0).then_some(kernels_ns), surveyed.survey.wall_ns))
}

/// The measure that both programs have, with a notice where it is the poorer one.
fn measure(first: Option<f64>, second: Option<f64>, document: &mut CheckDocument) -> Measure {
    if first.is_some() && second.is_some() {
        return Measure::Kernels;
    }
    document.notices.push(
        "the survey recorded no kernels, so the programs' whole times are compared, from start to end"
            .to_owned(),
    );
    Measure::Wall
}

fn of(
    (kernels_ns, wall_ns): (Option<f64>, f64),
    measure: Measure,
    command: &Command,
) -> Result<f64> {
    match measure {
        Measure::Wall => Ok(wall_ns),
        Measure::Kernels => kernels_ns.ok_or_else(|| {
            Error::Kernel(format!("`{}` ran kernels at first and then none", command.text()))
        }),
    }
}

fn in_turn(
    args: &CheckArgs,
    base: &Command,
    new: &Command,
    printer: &Printer,
) -> Result<CheckDocument> {
    let mut document = CheckDocument::new(base.text(), new.text(), Timed::InTurn);
    let max_time = args.max_time.unwrap_or(MAX_TIME);
    let progress = printer.progress();
    progress.stage("running both programs once".to_owned());
    let start = Instant::now();
    let firsts = [once(base, args.timeout)?, once(new, args.timeout)?];
    let measure = measure(firsts[0].0, firsts[1].0, &mut document);
    let quartet_ns = 2.0 * start.elapsed().as_nanos() as f64;
    let budget_ns = max_time.saturating_sub(start.elapsed()).as_nanos() as f64;
    let mut trial = Trial::new(Pace { quartet_ns, budget_ns }, args.max_slowdown, false);
    document.comparison = loop {
        let base_is_outside = trial.base_is_outside();
        let run = |is_base: bool| {
            let command = if is_base { base } else { new };
            of(once(command, args.timeout)?, measure, command)
        };
        let (first, second) = (run(base_is_outside)?, run(!base_is_outside)?);
        let (third, fourth) = (run(!base_is_outside)?, run(base_is_outside)?);
        let (outside, inside) = ([first, fourth], [second, third]);
        let (base_ns, new_ns) = if base_is_outside { (outside, inside) } else { (inside, outside) };
        trial.push(Quartet { base_ns, new_ns, clock_hz: None });
        progress.stage(format!("running both in turn, {} times each so far", 2 * trial.len()));
        let is_late = start.elapsed() >= max_time;
        if is_late || trial.is_time_to_look() {
            let found = trial.look();
            if is_late || found.as_ref().is_some_and(|found| found.verdict.is_decided()) {
                break found;
            }
        }
    };
    let (base_ns, new_ns) = trial.times_ns();
    document.base_ns = Some(median_and_range(&base_ns));
    document.new_ns = Some(median_and_range(&new_ns));
    if document.comparison.is_none() {
        document.notices.push(format!(
            "{} runs of each are too few to be judged: allow more than {:.0} s with --max-time",
            base_ns.len(),
            max_time.as_secs_f64()
        ));
    }
    Ok(document)
}

/// The program now against its profile, which has one time of its kernels, or all times of a step.
fn against_profile(
    args: &CheckArgs,
    profile: &Profile,
    new: &Command,
    printer: &Printer,
) -> Result<CheckDocument> {
    let mut document = CheckDocument::new(profile.name.clone(), new.text(), Timed::Apart);
    let progress = printer.progress();
    let mut times = Vec::new();
    for run in 1..=RUNS_APART {
        progress.stage(format!("run {run} of {RUNS_APART}"));
        let (kernels_ns, _) = once(new, args.timeout)?;
        times.push(kernels_ns.ok_or_else(|| {
            Error::Environment(
                "the survey recorded no kernel of the program, so there is nothing to compare with the profile; \
                 `adoprof doctor` says what is missing"
                    .to_owned(),
            )
        })?);
    }
    let after = median_and_range(&times);
    let before = base_times(profile, after.median, &times)?;
    document.base_ns = Some(before.0);
    document.new_ns = Some(after);
    document.comparison = recorded(
        Run { timing: before.0, samples_ns: &before.1 },
        Run { timing: after, samples_ns: &times },
        args.max_slowdown,
    );
    Ok(document)
}

/// The baseline's times: a step's own; of a program's profile the one time of its kernels, which scatters as the
/// candidate's times do.
fn base_times(
    profile: &Profile,
    median: f64,
    times: &[f64],
) -> Result<(crate::timing::Timing, Vec<f64>)> {
    if let Some(step) = profile.step() {
        return Ok((step.time_ns, step.samples_ns.clone()));
    }
    let busy_ns: f64 = super::surveyed(profile)?
        .map(|program| program.groups.iter().map(|group| group.total_ns).sum())
        .unwrap_or_default();
    if busy_ns <= 0.0 {
        return Err(Error::Usage(format!(
            "{} has no time of the whole program: profile it with its survey (adoprof profile -- PROGRAM), or \
             name the baseline's program with --baseline-program",
            profile.name
        )));
    }
    let scaled: Vec<f64> = times.iter().map(|time| time / median * busy_ns).collect();
    // One time is as uncertain as a single run, and not as the median of several.
    let timing = median_and_range(&scaled);
    let wide = (times.len() as f64).sqrt();
    let timing = crate::timing::Timing {
        low: busy_ns - (busy_ns - timing.low) * wide,
        high: busy_ns + (timing.high - busy_ns) * wide,
        ..timing
    };
    Ok((timing, Vec::new()))
}
