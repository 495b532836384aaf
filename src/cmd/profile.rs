//! `adoprof profile -- PROGRAM`: any CUDA program, unmodified.

mod attached;
mod durations;
mod ranked;
mod surveyed;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use surveyed::Plan;

use super::shared::diagnosed::{self, compare, kernel_filter};
use super::shared::printer::Printer;
use super::shared::{ignored_options, ledger, not_a_program, on_cluster, open, profiling};
use crate::cli::{ChosenRanks, ProfileArgs};
use crate::collect::{self, Profiled};
use crate::error::{Error, ExitCode, Result};
use crate::ladder;
use crate::ncu::{self, CollectRequest, Ncu, TimeLimit};
use crate::profile::{self, Profile};
use crate::progress::Progress;
use crate::store::{Environment, META_SCHEMA, Meta, REPORT_FILE, Saved, Target};
use crate::survey::run::{self, Program};
use crate::text;

/// Under `.adoprof`, where ladders have their own name.
const PROGRAMS: &str = "programs";

/// Launches that are profiled where neither the user nor a survey says which.
const MOST_LAUNCHES: u64 = 10;

pub(super) fn run(args: &ProfileArgs, printer: &Printer) -> Result<ExitCode> {
    not_a_program::refuse(&args.program)?;
    if args.on.submits() {
        return on_cluster::whole("profile", &args.on, printer);
    }
    let printer = &printer.explaining(args.output.explain_ranking);
    let timeout = TimeLimit::of_all(args.profiling.timeout);
    refuse_impossible(args)?;
    ignored_options::ranking(&args.output, true, printer);
    let name = program_name(args);
    if let Some(result) = without_counters(args, &name, timeout, printer) {
        return result;
    }
    let wants_survey = surveyed::is_wanted(args);
    if args.nvtx.is_some() {
        printer.notice(
            "--nvtx skips the survey: its records do not say in which NVTX range a launch was",
        );
    }
    if args.profiling.dry_run {
        return dry_run(args, &name, wants_survey, printer);
    }
    let ncu = match ncu::locate(args.profiling.ncu.as_deref(), Some(args.profiling.timeout)) {
        Ok(ncu) => ncu,
        // Before what else is missing; ncu itself and the survey look for the program too.
        Err(error) => {
            refuse_missing(&args.program)?;
            return surveyed::without_ncu(args, &name, (wants_survey, error), timeout, printer);
        }
    };
    let baseline =
        args.baseline.as_deref().map(|base| open::one(base, ladder::DEFAULT, None)).transpose()?;
    let target = target(args, &name)?;
    let mut request = request(args, target.staging().join("report"));
    let _sections = profiling::complete(&mut request, &args.profiling)?;
    let progress = printer.progress();
    let plan = if wants_survey {
        Some(surveyed::plan(args, &ncu, &request, &name, timeout, &progress)?)
    } else {
        None
    };
    if plan.as_ref().is_some_and(|plan| plan.all_wait || plan.cut_short)
        && let Some(plan) = plan
    {
        drop(progress);
        surveyed::show(plan, args, printer)?;
        return Ok(ExitCode::Success);
    }
    if let Some(launcher) = ranked::launcher(args, plan.as_ref()) {
        let of_ranks = (&launcher, plan.as_ref());
        let place = (name.as_str(), target);
        let left = timeout.left();
        let document =
            ranked::collect(args, (&ncu, &mut request, left), place, of_ranks, &progress);
        drop(progress);
        return match (document, plan) {
            (Ok(document), _) => ranked::show(&document, args, printer),
            (Err(error), Some(plan)) => surveyed::unprofiled(plan, error, args, printer),
            (Err(error), None) => Err(error),
        };
    }
    let ranks = plan.as_ref().and_then(|plan| plan.ranks.clone());
    let (collected, plan) = collect((&ncu, timeout), &mut request, &name, plan, &progress);
    drop(progress);
    let Profiled { report, passes, pages, mut notices, .. } = match (collected, &plan) {
        (Ok(profiled), _) => profiled,
        (Err(error), Some(plan)) => {
            return surveyed::unprofiled(plan.clone(), error, args, printer);
        }
        (Err(error), None) => return Err(error),
    };
    if let Some(plan) = plan {
        notices.splice(0..0, plan.notices);
        if plan.invocations.is_some() {
            profile::program::write(target.staging(), &plan.surveyed)?;
        }
    }
    let saved =
        Saved { meta: Meta { notices, ..program_meta(&ncu, &request, passes, &name) }, pages };
    // What can't be read is no profile that a later run could compare with: only its report is kept.
    let read = Profile::from_pages(name.clone(), saved.meta.clone(), &saved.pages, &report);
    let mut profile = match read.and_then(with_launches) {
        Ok(profile) => profile,
        Err(error) => return Err(unreadable(&error, &target.keep_report(&report)?)),
    };
    profile.folder = Some(target.finish(&saved, Some(&report))?);
    let mut document = profile.diagnose(None)?;
    document.ranks = ranks;
    if let Some(base) = &baseline {
        document.diff = Some(compare(base, &profile)?);
    }
    let calibration = ledger::asked_for(args.calibrate, printer)?;
    let given = ledger::Given {
        document: &document,
        ladder: None,
        program: &name,
        baseline: baseline.as_ref().zip(document.diff.as_ref()),
    };
    ledger::keep(&given, printer);
    let document = ledger::corrected(document, calibration.as_ref(), None);
    diagnosed::show(&document, args.output.format, printer)?;
    Ok(ExitCode::Success)
}

/// What is asked for where ncu has no part in it; `None` where it has.
fn without_counters(
    args: &ProfileArgs,
    name: &str,
    timeout: TimeLimit,
    printer: &Printer,
) -> Option<Result<ExitCode>> {
    if let Some(pid) = args.pid {
        return Some(attached::diagnose(pid, args, printer));
    }
    if args.attachable {
        return Some(attached::start(args, printer));
    }
    args.survey.survey.then(|| survey_only(args, name, timeout, printer))
}

/// Refuses a program that is not there.
fn refuse_missing(words: &[OsString]) -> Result<()> {
    let Some((program, args)) = words.split_first() else { return Ok(()) };
    let (program, env) = (Path::new(program), Vec::new());
    run::refuse_missing(&Program { program, args, folder: None, env })
}

/// Where the profile is saved.
fn target(args: &ProfileArgs, name: &str) -> Result<Target> {
    match &args.profiling.output {
        Some(folder) => Target::new(folder),
        None => Target::default_for(PROGRAMS, name),
    }
}

/// Refuses options that no run could honour.
fn refuse_impossible(args: &ProfileArgs) -> Result<()> {
    if let Some(pattern) = &args.kernel {
        kernel_filter(pattern)?;
    }
    if args.survey.lockstep && args.survey.ranks != ChosenRanks::All {
        return Err(Error::Usage(
            "--lockstep profiles all ranks, because each waits for all others: leave --ranks out"
                .to_owned(),
        ));
    }
    ignored_options::check_ncu_args(args.profiling.ncu_args.as_deref())?;
    let words =
        args.profiling.ncu_args.as_deref().and_then(|text| ncu::arguments::split(text).ok());
    let is_own =
        |word: &String| word.starts_with("--communicator") || word.starts_with("--lockstep");
    if args.survey.lockstep && words.unwrap_or_default().iter().any(is_own) {
        return Err(Error::Usage(
            "--lockstep sets ncu's --communicator and --lockstep options itself: leave them out of --ncu-args"
                .to_owned(),
        ));
    }
    Ok(())
}

/// What a program's profile says of itself.
fn program_meta(ncu: &Ncu, request: &CollectRequest, passes: Option<u32>, name: &str) -> Meta {
    Meta {
        schema: META_SCHEMA.to_owned(),
        step: None,
        environment: Environment {
            ncu: ncu.version.to_string(),
            clock_control: "none".to_owned(),
            cache_control: "all".to_owned(),
            collected: request.selection.name().to_owned(),
            passes,
            command: format!("adoprof profile -- {name}"),
            date: jiff::Zoned::now().strftime("%Y-%m-%d").to_string(),
            adoprof: env!("CARGO_PKG_VERSION").to_owned(),
            ..Environment::default()
        },
        notices: Vec::new(),
    }
}

/// ncu's command lines, and what the survey before them would run.
fn dry_run(
    args: &ProfileArgs,
    name: &str,
    wants_survey: bool,
    printer: &Printer,
) -> Result<ExitCode> {
    let ncu = profiling::ncu_or_placeholder(args.profiling.ncu.as_deref(), printer)?;
    let folder = args.profiling.output.clone();
    let folder =
        folder.unwrap_or_else(|| Path::new(".adoprof").join(PROGRAMS).join(name).join("<time>"));
    let report = folder.join(REPORT_FILE);
    let mut request = request(args, report.with_extension(""));
    let _sections = profiling::complete(&mut request, &args.profiling)?;
    if wants_survey {
        printer.text(&surveyed::dry_run(args))?;
        request.launch_count = None;
        request.invocations = Some(surveyed::placeholder());
    }
    profiling::dry_run(&ncu, &request, &report, printer)?;
    Ok(ExitCode::Success)
}

/// Collects the launches that a survey chose; where the program did not launch them again, its first ones.
fn collect(
    (ncu, timeout): (&Ncu, TimeLimit),
    request: &mut CollectRequest,
    name: &str,
    plan: Option<Plan>,
    progress: &Progress,
) -> (Result<Profiled>, Option<Plan>) {
    request.invocations = plan.as_ref().and_then(|plan| plan.invocations.clone());
    if request.invocations.is_some() {
        request.launch_count = None;
        request.expected_launches = plan.as_ref().map(|plan| plan.surveyed.chosen.len());
    }
    let collected = collect::collect(ncu, request, timeout, name, progress);
    if let (Err(Error::Usage(problem)), Some(mut plan)) = (&collected, plan.clone())
        && request.invocations.take().is_some()
    {
        plan.notices.push(surveyed::other_way(problem));
        request.launch_count = Some(MOST_LAUNCHES);
        request.kernel = plan.kernels();
        request.expected_launches = None;
        let again = collect::collect(ncu, request, timeout, name, progress);
        return (again, Some(plan));
    }
    (collected, plan)
}

/// The survey alone: no ncu, nothing saved.
fn survey_only(
    args: &ProfileArgs,
    name: &str,
    timeout: TimeLimit,
    printer: &Printer,
) -> Result<ExitCode> {
    if args.profiling.dry_run {
        printer.text(&surveyed::dry_run(args))?;
        return Ok(ExitCode::Success);
    }
    let progress = printer.progress();
    let plan = surveyed::survey(args, name, timeout, None, &progress)?;
    drop(progress);
    surveyed::show(plan, args, printer)?;
    Ok(ExitCode::Success)
}

/// The profile, if it has a launch.
fn with_launches(profile: Profile) -> Result<Profile> {
    if profile.frames.launches.height() > 0 {
        return Ok(profile);
    }
    Err(Error::Usage("it holds no launch".to_owned()))
}

/// What to say of a report whose exports can't be read.
fn unreadable(error: &Error, report: &Path) -> Error {
    Error::input(
        report,
        format!(
            "ncu collected this report, but its export can't be diagnosed ({error}); the report was kept, \
             and `adoprof analyze {}` reads it without ncu",
            report.display()
        ),
    )
}

/// The program's name without its folder, fit for a folder's name.
fn program_name(args: &ProfileArgs) -> String {
    let name = args.program.first().map(Path::new).and_then(Path::file_name).unwrap_or_default();
    let name = text::printable(&name.to_string_lossy());
    if name.is_empty() || name.starts_with('.') { "program".to_owned() } else { name }
}

fn request(args: &ProfileArgs, report: PathBuf) -> CollectRequest {
    let (program, rest) = args
        .program
        .split_first()
        .map_or((PathBuf::new(), &[][..]), |(first, rest)| (PathBuf::from(first), rest));
    let mut request = CollectRequest::new(profiling::selection(&args.profiling), report, program);
    request.program_args = rest.to_vec();
    request.kernel.clone_from(&args.kernel);
    request.nvtx.clone_from(&args.nvtx);
    request.launch_skip = args.launch_skip.filter(|skip| *skip > 0);
    request.launch_count = Some(args.launch_count.unwrap_or(MOST_LAUNCHES));
    request.keep_partial = true;
    request
}
