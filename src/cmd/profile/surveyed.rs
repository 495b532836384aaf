//! The survey that `profile` begins with, and what follows from it.

mod lockstep;
mod plan;
mod words;

use std::collections::BTreeMap;
use std::path::Path;

use super::durations;
use crate::cli::ProfileArgs;
use crate::cmd::shared::printer::Printer;
use crate::cmd::shared::{diagnosed, no_driver};
use crate::collect::ranks::port;
use crate::document::{Document, Program, Ranks, SCHEMA, SurveyedProgram};
use crate::error::{Error, ExitCode, Result};
use crate::ncu::arguments::is_option;
use crate::ncu::{CollectRequest, Invocations, Limits, Lockstep, Ncu, TimeLimit};
use crate::progress::Progress;
use crate::survey::choose::{Extent, choose, covered_of};
use crate::survey::group::{Group, groups_within};
use crate::survey::phase::{Phase, part};
use crate::survey::run::Surveyed;
use crate::survey::sequences::sequences;
use crate::survey::waits::{Peer, waiting};
use crate::survey::{self, Survey, run};
use crate::text::{duration, printable};
use crate::{interrupt, kernel_name, ncu};
use words::{last_lines, left_out, price, sentence, unmatched};

use lockstep::Support;
pub(super) use plan::Plan;

/// ncu's own options that say which launches to profile.
const FILTERS: [&str; 11] = [
    "--kernel-name",
    "--kernel-id",
    "--launch-skip",
    "--launch-count",
    "--launch-skip-before-match",
    "--filter-mode",
    "--nvtx-include",
    "--nvtx-exclude",
    "--range-filter",
    "--profile-from-start",
    "--replay-mode",
];

/// True where the user left it to adoprof which launches are profiled.
pub(super) fn is_wanted(args: &ProfileArgs) -> bool {
    let words =
        args.profiling.ncu_args.as_deref().and_then(|text| ncu::arguments::split(text).ok());
    let words = words.unwrap_or_default();
    let filters = |word: &String| {
        FILTERS.iter().any(|option| is_option(word, option))
            || ["-k", "-s", "-c"].iter().any(|short| word.starts_with(short))
    };
    !args.survey.no_survey
        && args.kernel.is_none()
        && args.nvtx.is_none()
        && args.launch_skip.is_none()
        && args.launch_count.is_none()
        && !words.iter().any(filters)
}

/// Surveys the program and chooses what to profile, with ncu where CUPTI can't be had.
///
/// # Errors
/// Those of [`survey`] and [`plan_by_durations`].
pub(super) fn plan(
    args: &ProfileArgs,
    ncu: &Ncu,
    request: &CollectRequest,
    name: &str,
    timeout: TimeLimit,
    progress: &Progress,
) -> Result<Plan> {
    let support = args.survey.lockstep.then(|| Lockstep::of(ncu));
    let mut plan = survey(args, name, timeout, support.as_ref(), progress)?;
    if plan.lacks_cupti && !plan.cut_short {
        plan = plan_by_durations(args, (ncu, timeout), request, name, plan, progress)?;
    }
    if plan.invocations.is_some() && !plan.cut_short {
        progress.note(&format!("adoprof: {}", plan.price));
    }
    Ok(plan)
}

/// Shows a survey alone.
///
/// # Errors
/// Where the document can't be written.
pub(super) fn show(plan: Plan, args: &ProfileArgs, printer: &Printer) -> Result<()> {
    let program = Some(plan.surveyed.program);
    let notices = plan.notices;
    let (schema, ranks) = (SCHEMA.to_owned(), plan.ranks);
    let document = Document { schema, program, ranks, notices, ..Document::default() };
    diagnosed::show(&document, args.output.format, printer)
}

/// What the survey found, where no launch could be profiled; the exit code is the failure's.
///
/// # Errors
/// The failure itself where the survey found no kernels.
pub(super) fn unprofiled(
    mut plan: Plan,
    error: Error,
    args: &ProfileArgs,
    printer: &Printer,
) -> Result<ExitCode> {
    if plan.surveyed.program.groups.is_empty() {
        return Err(error);
    }
    plan.notices.insert(0, format!("no launch was profiled, so this is the survey alone: {error}"));
    show(plan, args, printer)?;
    Ok(error.exit_code())
}

/// The same on a machine without ncu.
///
/// # Errors
/// That there is no ncu, where the survey found no kernels, did not run either, or is not wanted.
pub(super) fn without_ncu(
    args: &ProfileArgs,
    name: &str,
    (wants_survey, error): (bool, Error),
    timeout: TimeLimit,
    printer: &Printer,
) -> Result<ExitCode> {
    if !wants_survey {
        return Err(error);
    }
    let progress = printer.progress();
    let Ok(plan) = survey(args, name, timeout, None, &progress) else { return Err(error) };
    drop(progress);
    unprofiled(plan, error, args, printer)
}

/// Surveys the program and chooses what to profile.
///
/// # Errors
/// Those of [`run::run_until`].
pub(super) fn survey(
    args: &ProfileArgs,
    name: &str,
    timeout: TimeLimit,
    support: Option<&Support>,
    progress: &Progress,
) -> Result<Plan> {
    let (program, rest) = args.program.split_first().ok_or_else(no_program)?;
    progress.stage(format!("surveying {name}"));
    let interrupted = interrupt::flag();
    let limits = Limits {
        timeout: Some(timeout),
        interrupted: &interrupted,
        write_up: std::time::Duration::ZERO,
    };
    let env = port::variables();
    let program = run::Program { program: Path::new(program), args: rest, folder: None, env };
    let Surveyed { survey, output, ended_badly, failure, lacks_cupti, cut_short } =
        run::run_until(&program, limits)?;
    let mut notices = survey.notices.clone();
    notices.extend(cut_short.as_ref().map(|reason| {
        format!("{reason}; what was recorded until then is shown, and no kernel was profiled")
    }));
    let cut_short = cut_short.is_some();
    if ended_badly {
        notices.extend(last_lines(&output));
    }
    if progress.verbose() {
        for line in output.lines() {
            progress.note(&format!("  {}", printable(line)));
        }
    }
    let Some(failure) = failure.map(no_driver::or_failure) else {
        let mut plan = of_survey(args, (name, command(args)), &survey, support, progress)?;
        plan.notices.splice(0..0, notices);
        return Ok(Plan { cut_short, ..plan });
    };
    if args.survey.survey && survey.processes.is_empty() {
        return Err(Error::Environment(format!("nothing was surveyed: {failure}")));
    }
    notices.push(format!("the survey found no kernels: {failure}"));
    let program = Program::new(command(args), &survey, &[]);
    let surveyed = SurveyedProgram { program, ..SurveyedProgram::default() };
    Ok(Plan::of_none(surveyed, notices, lacks_cupti))
}

/// The same where CUPTI can't be had: durations from ncu, which runs one kernel at a time, and the program's
/// time from the run that was to be the survey. What lies around the kernels stays unknown.
///
/// # Errors
/// Those of [`durations::process`].
fn plan_by_durations(
    args: &ProfileArgs,
    (ncu, timeout): (&Ncu, TimeLimit),
    request: &CollectRequest,
    name: &str,
    plan: Plan,
    progress: &Progress,
) -> Result<Plan> {
    let wall_ns = plan.surveyed.program.wall_ns;
    let process = durations::process(ncu, request, timeout, name, progress)?;
    let survey = Survey { wall_ns, processes: vec![process], notices: Vec::new() };
    let mut notices = plan.notices;
    notices.push(format!(
        "kernel durations come from ncu instead, for at most the first {} launches; copies, waits and idle \
         time were not examined",
        crate::text::count(durations::MOST_LAUNCHES as f64)
    ));
    let mut plan = of_survey(args, (name, command(args)), &survey, None, progress)?;
    notices.append(&mut plan.notices);
    if let Some(invocations) = &mut plan.invocations {
        invocations.are_demangled = true;
    }
    let program = &mut plan.surveyed.program;
    program.findings.clear();
    program.lanes.clear();
    program.active_ns = 0.0;
    Ok(Plan { notices, ..plan })
}

/// What to profile after a survey that found kernels, of a program with this name and this command line.
///
/// # Errors
/// [`Error::Usage`] where none starts in the part of the run that `--phase` names.
pub(super) fn of_survey(
    args: &ProfileArgs,
    (name, command): (&str, String),
    survey: &Survey,
    support: Option<&Support>,
    progress: &Progress,
) -> Result<Plan> {
    let whole = Phase::default().span(survey).map_or(0.0, |span| span.ns());
    let phase = args.survey.phase.and_then(|phase| phase.span(survey));
    let groups = groups_within(survey, phase);
    if groups.is_empty() && phase.is_some() {
        return Err(Error::Usage(format!(
            "no kernel starts in the part of the run that --phase names: from its first to its last, the GPU's \
             work takes {}",
            duration(whole)
        )));
    }
    let mut notices = Vec::new();
    let mut program = match phase {
        Some(phase) => {
            notices.push(format!(
                "times and shares cover the {} that --phase chose, of {} from the GPU's first work to its last",
                duration(phase.ns()),
                duration(whole)
            ));
            Program::new(command, &part(survey, phase), &groups)
        }
        None => Program::new(command, survey, &groups),
    };
    program.add_reach(survey, &groups);
    program.add_rows(survey, &groups);
    program.add_neighbours(survey, &groups);
    program.add_pauses(survey, &groups);
    progress.note(&format!("adoprof: surveyed {name}: {}", sentence(&program)));
    let mut waiting = waiting(survey, &groups);
    if args.survey.include_communication {
        waiting.clear();
    }
    let extent = Extent { coverage: args.survey.coverage, top: args.survey.top };
    let choice = |waiting: &BTreeMap<String, Peer>| {
        let may_be = |group: &Group| !waiting.contains_key(&group.shape.kernel);
        choose(survey, &groups, &covered_of(&groups, extent, may_be))
    };
    let (lockstep, said) = lockstep::decide(args, support, survey, &mut waiting, choice);
    notices.extend(said);
    notices.extend(left_out(&groups, &waiting));
    let choice = choice(&waiting);
    let price = price(args, survey, &groups, &choice);
    let chosen = choice.launches.iter().map(|chosen| chosen.group).collect();
    let all_wait = choice.groups.is_empty() && !waiting.is_empty();
    let mut only: Vec<String> =
        choice.kernels.iter().map(|kernel| kernel_name::base(kernel)).collect();
    only.dedup();
    only.retain(|_| !waiting.is_empty());
    let (kernels, numbers) = (choice.kernels, choice.numbers);
    let invocations = (!all_wait).then_some(Invocations { kernels, are_demangled: false, numbers });
    let surveyed = SurveyedProgram { program, chosen, sequences: sequences(survey, &groups) };
    let ranks = survey::ranks::Ranks::of(survey);
    notices.extend(ranks.iter().flat_map(|ranks| &ranks.unmatched).map(|kernel| unmatched(kernel)));
    let ranks = ranks.as_ref().map(Ranks::new);
    let (lacks_cupti, cut_short) = (false, false);
    Ok(Plan {
        surveyed,
        invocations,
        price,
        notices,
        lacks_cupti,
        only,
        all_wait,
        cut_short,
        ranks,
        lockstep,
    })
}

fn no_program() -> Error {
    Error::Usage("name a program after `--`".to_owned())
}

/// The program's command line for people.
pub(super) fn command(args: &ProfileArgs) -> String {
    let words = args.program.iter().map(|word| word.to_string_lossy().into_owned());
    printable(&shell_words::join(words.collect::<Vec<_>>()))
}

/// What a survey would run, and what follows, as a comment.
pub(super) fn dry_run(args: &ProfileArgs) -> String {
    let follows = if args.survey.survey {
        "nothing is profiled"
    } else {
        "the command below profiles one launch of each kind that matters, as the survey chooses"
    };
    format!(
        "CUDA_INJECTION64_PATH=<adoprof's library> ADOPROF_SURVEY_DIR=<a folder> {}\n# {follows}",
        command(args)
    )
}

/// What stands for launches that only a survey can choose.
pub(super) fn placeholder() -> Invocations {
    let kernels = vec!["<kernels>".to_owned()];
    Invocations { kernels, are_demangled: false, numbers: vec![0] }
}

/// Says that the launches that were chosen did not come again.
pub(super) fn other_way(problem: &str) -> String {
    format!(
        "the launches that the survey chose were not found in a second run of the program, so its first \
         launches were profiled: {problem}"
    )
}
