//! `adoprof check`: the gate.

mod collected;
mod command;
mod counters;
mod live;
mod program;
mod program_gates;
mod totals;
mod unlike;

use std::time::Duration;

use super::shared::chosen_step::{ChosenStep, is_live};
use super::shared::diagnosed::{self, compare};
use super::shared::printer::Printer;
use super::shared::{ignored_options, on_cluster, open};
use crate::cli::CheckArgs;
use crate::document::{Document, Program};
use crate::error::{Error, ExitCode, Result};
use crate::gate::{CheckDocument, FailOn, Place, Run, Timed, recorded};
use crate::ladder::{Ladder, Overrides, parse_overrides};
use crate::profile::{self, Profile, Reference};
use crate::report::render;

/// How long kernels run in turn where nobody says.
const MAX_TIME: Duration = Duration::from_secs(5);

pub(super) fn run(args: &CheckArgs, printer: &Printer) -> Result<ExitCode> {
    if args.on.submits() {
        return on_cluster::whole("check", &args.on, printer);
    }
    ignored_options::check_ncu_args(args.ncu_args.as_deref())?;
    ignored_options::ranking(&args.output, false, printer);
    if let Some(name) = args.fail_on.iter().find_map(FailOn::unknown_rule) {
        return Err(Error::Usage(format!(
            "there is no rule `{name}` here; `adoprof rules list` has your own"
        )));
    }
    if args.no_time && args.fail_on.is_empty() {
        return Err(Error::Usage(
            "--no-time judges by --fail-on alone, and no --fail-on was given".to_owned(),
        ));
    }
    // The command line refuses both; what adoprof.toml asks for would be passed over in silence.
    if args.no_profile && !args.fail_on.is_empty() {
        return Err(Error::Usage(
            "--no-profile leaves nothing that the gates of --fail-on (`check.fail-on` in adoprof.toml) could \
             judge: leave it out"
                .to_owned(),
        ));
    }
    let mut document = match (&args.new, args.baseline.as_deref()) {
        (Some(new), Some(base)) => named(args, base, new, printer)?,
        _ => program::check(args, printer)?,
    };
    let code = document.conclude();
    if !args.output.format.holds_notices() {
        for notice in &document.notices {
            printer.notice(notice);
        }
    }
    printer.report(args.output.format, |style, out| {
        render(&document, args.output.format, style, out)
    })?;
    Ok(code)
}

/// Steps, profiles, reports.
fn named(args: &CheckArgs, base: &str, new: &str, printer: &Printer) -> Result<CheckDocument> {
    let size = parse_overrides(args.problem.size.as_deref().unwrap_or_default())?;
    let base_ladder = args.baseline_ladder.as_deref().unwrap_or(&args.problem.ladder);
    let references =
        [Reference::parse(base, base_ladder)?, Reference::parse(new, &args.problem.ladder)?];
    if let [
        Reference::Step { ladder: base_ladder, step: base_step },
        Reference::Step { ladder: new_ladder, step: new_step },
    ] = &references
        && is_live(&args.origin)
    {
        let ladders = [Ladder::open(base_ladder)?, Ladder::open(new_ladder)?];
        let steps = [ladders[0].step(base_step)?, ladders[1].step(new_step)?];
        if !steps.iter().any(|step| step.is_program()) {
            let chosen = |at: usize, ladder_argument| ChosenStep {
                ladder: &ladders[at],
                ladder_argument,
                step: steps[at],
                size: &size,
            };
            let pair = [chosen(0, base_ladder), chosen(1, new_ladder)];
            return live::check(args, [base, new], pair, printer);
        }
    }
    if args.origin.live {
        return Err(Error::Usage(
            "--live runs two steps of kernels in turn; for profiles and programs, only recordings are \
             compared"
                .to_owned(),
        ));
    }
    let wanted = args.problem.size.is_some().then_some(&size);
    apart(
        args,
        &one(base, base_ladder, wanted, args)?,
        &one(new, &args.problem.ladder, wanted, args)?,
    )
}

/// The profile behind a name; with `--recorded` a step's recording that ships, else its newest.
fn one(name: &str, ladder: &str, size: Option<&Overrides>, args: &CheckArgs) -> Result<Profile> {
    if let (Reference::Step { ladder, step }, true) =
        (Reference::parse(name, ladder)?, args.origin.recorded)
    {
        let size = size.unwrap_or(const { &Overrides::new() });
        return open::recording(&Ladder::open(&ladder)?, &step, size, open::Why::Asked);
    }
    open::one(name, ladder, size)
}

/// Two runs that were recorded apart.
fn apart(args: &CheckArgs, base: &Profile, new: &Profile) -> Result<CheckDocument> {
    let timed = if args.no_time { Timed::NotAtAll } else { Timed::Apart };
    let mut document = CheckDocument::new(base.name.clone(), new.name.clone(), timed);
    document.unlike = unlike::differences(base, new)?;
    let programs = [surveyed(base)?, surveyed(new)?];
    if let [Some(before), Some(after)] = &programs {
        document.unlike.extend(unlike::arguments([before, after]));
    }
    document.forced = args.force && !document.unlike.is_empty();
    for profile in [base, new] {
        if let Some(date) = profile.step().and_then(|step| step.recorded.as_ref()) {
            document.notices.push(format!(
                "{} is the recording of {date} that ships with adoprof",
                profile.name
            ));
        }
    }
    document.notices.dedup();
    if document.is_refused() {
        return Ok(document);
    }
    if timed == Timed::Apart {
        times_apart(&mut document, [base, new], &programs, args.max_slowdown);
    }
    explain(&mut document, base, new, args)?;
    document.notices.extend(collected::remedy(&args.fail_on, &document.gates));
    Ok(document)
}

/// Compares what was kept of two runs' times: of steps those of repetitions, of programs those of all launches of
/// their kernels in one surveyed run.
fn times_apart(
    document: &mut CheckDocument,
    [base, new]: [&Profile; 2],
    programs: &[Option<Program>; 2],
    max_slowdown: f64,
) {
    if let (Some(before), Some(after)) = (base.step(), new.step()) {
        (document.base_ns, document.new_ns) = (Some(before.time_ns), Some(after.time_ns));
        document.comparison = recorded(
            Run { timing: before.time_ns, samples_ns: &before.samples_ns },
            Run { timing: after.time_ns, samples_ns: &after.samples_ns },
            max_slowdown,
        );
        return;
    }
    if let [Some(before), Some(after)] = programs {
        totals::compare(document, [before, after], max_slowdown);
        return;
    }
    let timeless = [base, new]
        .into_iter()
        .zip(programs)
        .find(|(profile, program)| profile.step().is_none() && program.is_none());
    document.notices.push(match timeless {
        Some((profile, _)) => format!(
            "{} has no times measured without the profiler, so times are not judged: `adoprof profile -- PROGRAM` \
             records them with its survey, and `adoprof step` those of a kernel; ncu's duration is of a single run \
             at the clocks that it sets (--no-time judges the counters of --fail-on alone)",
            profile.name
        ),
        None => "one is a step's profile and the other a program's, so their times are of different things and not \
                 judged"
            .to_owned(),
    });
}

/// The program of a profile that began with a survey of its kernels.
///
/// # Errors
/// [`Error::Input`] where the survey is damaged.
fn surveyed(profile: &Profile) -> Result<Option<Program>> {
    let read = profile.folder.as_deref().map(profile::program::read).transpose()?.flatten();
    Ok(read.map(|surveyed| surveyed.program).filter(|program| program.launches() > 0))
}

/// What changed beside the time, and what the gates say of it.
fn explain(
    document: &mut CheckDocument,
    base: &Profile,
    new: &Profile,
    args: &CheckArgs,
) -> Result<()> {
    let mut diff = compare(base, new)?;
    if document.comparison.is_none() {
        // The headline says that no times were judged; ncu's durations are of one run each and not of one work.
        (diff.speedup, diff.speedup_of) = (None, None);
    }
    let diagnosed = diagnosed::diagnose(new)?;
    document.places = places(&diagnosed, &diff.come);
    document.gates = counters::judge(&args.fail_on, base, new, &diagnosed)?;
    document.cause = Some(diff);
    Ok(())
}

/// Where findings lie that are new.
fn places(document: &Document, come: &[String]) -> Vec<Place> {
    let findings = document.launches.iter().flat_map(|launch| &launch.findings);
    let mut places: Vec<Place> = Vec::new();
    for finding in findings.filter(|finding| come.contains(&finding.rule)) {
        let Some(place) = finding.locations.iter().find(|place| !place.file.is_empty()) else {
            continue;
        };
        if places.iter().all(|known| known.rule != finding.rule) {
            let (rule, message) = (finding.rule.clone(), finding.message.clone());
            places.push(Place { rule, message, place: place.clone() });
        }
    }
    places
}
