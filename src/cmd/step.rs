//! `adoprof step`: one whole step of analysis-driven optimization.

mod of_run;
mod trying;

pub(super) use of_run::run as of_run;

use super::shared::chosen_step::{ChosenStep, is_live, next_arguments, split};
use super::shared::diagnosed::{self, compare};
use super::shared::ignored_options::{self, GivenOptions};
use super::shared::live_step::{self, LiveStep};
use super::shared::printer::Printer;
use super::shared::{ledger, open, profiling, program_step};
use crate::cli::StepArgs;
use crate::document::Document;
use crate::error::{Error, ExitCode, Result};
use crate::ladder::{Ladder, Overrides, Step, parse_overrides};
use crate::launch::Device;
use crate::profile::{Profile, Reference};
use crate::store;

pub(super) fn run(args: &StepArgs, printer: &Printer) -> Result<ExitCode> {
    let printer = &printer.explaining(args.output.explain_ranking);
    ignored_options::check_ncu_args(args.profiling.ncu_args.as_deref())?;
    ignored_options::ranking(&args.output, true, printer);
    let (ladder_argument, step_name) = split(&args.kernel, &args.problem.ladder)?;
    let ladder = Ladder::open(ladder_argument)?;
    let step = ladder.step(step_name)?;
    let size = parse_overrides(args.problem.size.as_deref().unwrap_or_default())?;
    let live = LiveStep {
        chosen: ChosenStep { ladder: &ladder, ladder_argument, step, size: &size },
        profiling: &args.profiling,
        cpu: args.cpu,
        time_only: args.time_only,
        output: args.profiling.output.clone(),
    };
    let given = GivenOptions {
        origin: &args.origin,
        profiling: &args.profiling,
        time_only: args.time_only,
        cpu: args.cpu,
    };
    if step.is_program() {
        ignored_options::check_program_step(given, step.name())?;
    }
    if args.profiling.dry_run {
        ignored_options::on_dry_run(given, printer);
        let ncu = profiling::ncu_or_placeholder(args.profiling.ncu.as_deref(), printer)?;
        if step.is_program() {
            program_step::dry_run(&ncu, &live, printer)?;
        } else {
            live_step::dry_run(&ncu, &live, printer)?;
        }
        return Ok(ExitCode::Success);
    }
    if step.is_program() && !args.origin.recorded {
        return program(args, &live, printer);
    }
    if !is_live(&args.origin) {
        let profile = open::recording(&ladder, step_name, &size, open::Why::of(&args.origin))?;
        let has_cpu = profile.step().is_some_and(|step| !step.cpu.is_empty());
        ignored_options::on_recording(GivenOptions { cpu: args.cpu && !has_cpu, ..given }, printer);
        if args.tries {
            return Err(Error::Environment(
                "--try runs the step with its changes, and needs a CUDA device; `adoprof doctor` says what is \
                 missing, and without --try the recording is shown"
                    .to_owned(),
            ));
        }
        let baseline = args
            .baseline
            .as_deref()
            .map(|base| open::one(base, ladder_argument, Some(&size)))
            .transpose()?;
        show(&profile, &live, baseline.as_ref(), false, args, printer)?;
        return Ok(ExitCode::Success);
    }
    if args.time_only {
        ignored_options::on_time_only(&args.profiling, printer);
    }
    let device = Device::open(args.profiling.device)?;
    let baseline = args
        .baseline
        .as_deref()
        .map(|base| live_baseline(base, &device, &live, printer))
        .transpose()?;
    let outcome = live_step::run(&device, &live, printer)?;
    // The changes run in processes of their own, which want the device's memory for themselves.
    drop(device);
    show(&outcome.profile, &live, baseline.as_ref(), true, args, printer)?;
    Ok(exit_code(outcome.unprofiled.as_ref(), printer))
}

/// The exit code of a step that ran and may not have been profiled.
fn exit_code(unprofiled: Option<&Error>, printer: &Printer) -> ExitCode {
    let Some(error) = unprofiled else { return ExitCode::Success };
    if printer.is_quiet() {
        // The report's notices say it otherwise.
        printer.warning(&format!("the step was timed but not profiled: {error}"));
    }
    error.exit_code()
}

/// A step that is a program: it needs no device of adoprof's own.
fn program(args: &StepArgs, live: &LiveStep, printer: &Printer) -> Result<ExitCode> {
    if args.time_only {
        ignored_options::on_time_only(&args.profiling, printer);
    }
    let baseline = match args.baseline.as_deref() {
        Some(base) => Some(program_baseline(base, live, printer)?),
        None => None,
    };
    let outcome = program_step::run(live, printer)?;
    show(&outcome.profile, live, baseline.as_ref(), true, args, printer)?;
    Ok(exit_code(outcome.unprofiled.as_ref(), printer))
}

/// The baseline of a program's run: for a step that is a program, its newest local profile at this size, else
/// it is profiled now.
fn program_baseline(base: &str, live: &LiveStep, printer: &Printer) -> Result<Profile> {
    let Reference::Step { ladder: argument, step: name } =
        Reference::parse(base, live.chosen.ladder_argument)?
    else {
        return open::one(base, live.chosen.ladder_argument, None);
    };
    let ladder = Ladder::open(&argument)?;
    let step = ladder.step(&name)?;
    let is_same = ladder.name() == live.chosen.ladder.name();
    let none = Overrides::new();
    let size = if is_same { live.chosen.size } else { &none };
    if !step.is_program() {
        return open::saved_step(&argument, &name, Some(size));
    }
    let wanted = ladder.size(step, size)?;
    if let Some(folder) = store::newest_local(ladder.name(), &name, |meta| meta.size() == wanted) {
        let saved = store::read(&folder)?;
        return Profile::from_saved(format!("{}/{name}", ladder.name()), saved, Some(folder));
    }
    printer.notice(&format!("{base} has no profile at this size yet: profiling it now"));
    let chosen = ChosenStep { ladder: &ladder, ladder_argument: &argument, step, size };
    let profiling = live.profiling;
    let live = LiveStep { chosen, profiling, cpu: false, time_only: false, output: None };
    let outcome = program_step::run(&live, printer)?;
    match outcome.unprofiled {
        Some(error) => Err(Error::Environment(format!("the baseline {base}: {error}"))),
        None => Ok(outcome.profile),
    }
}

fn show(
    profile: &Profile,
    live: &LiveStep,
    baseline: Option<&Profile>,
    is_live: bool,
    args: &StepArgs,
    printer: &Printer,
) -> Result<()> {
    let ladder = live.chosen.ladder;
    let mut document: Document = profile.diagnose(Some(ladder))?;
    let (ladder_argument, _) = split(&args.kernel, &args.problem.ladder)?;
    document.next_arguments = next_arguments(ladder_argument, args.problem.size.as_deref());
    if let Some(base) = baseline {
        document.diff = Some(compare(base, profile)?);
    }
    if is_live && args.tries {
        document.tried = trying::tried(&document, profile, live, printer)?;
    }
    let calibration = ledger::asked_for(args.calibrate, printer)?;
    if is_live {
        let given = ledger::Given {
            document: &document,
            ladder: Some(ladder),
            program: "",
            baseline: baseline.zip(document.diff.as_ref()),
        };
        ledger::keep(&given, printer);
    }
    let document = ledger::corrected(document, calibration.as_ref(), Some(ladder));
    diagnosed::show(&document, args.output.format, printer)
}

/// The baseline of a live run: for a step, its newest local profile on this GPU at this size, else
/// it is profiled now. A recording from another GPU is taken only when it is named by path.
fn live_baseline(
    base: &str,
    device: &Device,
    live: &LiveStep,
    printer: &Printer,
) -> Result<Profile> {
    let Reference::Step { ladder: argument, step: name } =
        Reference::parse(base, live.chosen.ladder_argument)?
    else {
        return open::one(base, live.chosen.ladder_argument, None);
    };
    let ladder = Ladder::open(&argument)?;
    let step: &Step = ladder.step(&name)?;
    let size: &Overrides = if ladder.name() == live.chosen.ladder.name() {
        live.chosen.size
    } else {
        &Overrides::new()
    };
    let wanted = ladder.size(step, size)?;
    let local = store::newest_local(ladder.name(), &name, |meta| {
        meta.environment.device == device.name && meta.size() == wanted
    });
    if let Some(folder) = local {
        let saved = store::read(&folder)?;
        return Profile::from_saved(format!("{}/{name}", ladder.name()), saved, Some(folder));
    }
    printer
        .notice(&format!("{base} has no profile on this GPU at this size yet: profiling it now"));
    let outcome = live_step::run(
        device,
        &LiveStep {
            chosen: ChosenStep { ladder: &ladder, ladder_argument: &argument, step, size },
            profiling: live.profiling,
            cpu: false,
            time_only: false,
            output: None,
        },
        printer,
    )?;
    match outcome.unprofiled {
        Some(error) => Err(Error::Environment(format!("the baseline {base}: {error}"))),
        None => Ok(outcome.profile),
    }
}
