//! `adoprof run`: a ladder from its first step to its last.

mod spread;

use super::shared::chosen_step::{ChosenStep, is_live};
use super::shared::ignored_options::{self, GivenOptions};
use super::shared::live_step::{self, LiveStep};
use super::shared::printer::Printer;
use super::shared::{devices, ledger, on_cluster, open, profiling, program_step};
use crate::cli::RunArgs;
use crate::document::{Document, RunDevice, RunDocument, SCHEMA};
use crate::error::{Error, ExitCode, Result};
use crate::interrupt;
use crate::ladder::{Ladder, Overrides, Step, parse_overrides};
use crate::launch::{self, Device};
use crate::ledger::Calibration;
use crate::report::render;
use spread::Spread;

pub(super) fn run(args: &RunArgs, printer: &Printer) -> Result<ExitCode> {
    if args.on.submits() {
        return on_cluster::whole("run", &args.on, printer);
    }
    ignored_options::check_ncu_args(args.profiling.ncu_args.as_deref())?;
    ignored_options::ranking(&args.output, false, printer);
    let ladder = Ladder::open(&args.problem.ladder)?;
    let size = parse_overrides(args.problem.size.as_deref().unwrap_or_default())?;
    let steps: Vec<&Step> =
        ladder.steps().iter().filter(|step| !(args.main_only && step.is_side())).collect();
    let given = GivenOptions {
        origin: &args.origin,
        profiling: &args.profiling,
        time_only: false,
        cpu: args.cpu,
    };
    if let Some(step) = steps.iter().find(|step| step.is_program()) {
        ignored_options::check_program_step(given, step.name())?;
    }
    if args.profiling.dry_run {
        ignored_options::on_dry_run(given, printer);
        if args.devices.is_some() {
            printer.notice(
                "--dry-run prints ncu's command lines, which are the same on each of --devices",
            );
        }
        return dry_run(args, &ladder, &size, &steps, printer);
    }
    // Programs find their devices themselves.
    let has_kernels = steps.iter().any(|step| !step.is_program());
    let has_programs = steps.iter().any(|step| step.is_program()) && !args.origin.recorded;
    let mut several = spread_over(args)?;
    let device = if has_kernels && several.is_empty() && is_live(&args.origin) {
        Some(Device::open(args.profiling.device)?)
    } else {
        None
    };
    let is_run = device.is_some() || has_programs || !several.is_empty();
    let calibration = ledger::asked_for(args.calibrate, printer)?;
    let mut walk = Walk {
        ladder: &ladder,
        calibration: calibration.as_ref(),
        is_run,
        printer,
        documents: Vec::new(),
        failures: Vec::new(),
        said: Vec::new(),
    };
    if several.is_empty() {
        for step in steps {
            let result = one(args, &ladder, step, &size, device.as_ref(), printer);
            // A step's failure is its own, and the others go on; Ctrl-C and a kernel that never
            // ends stop the walk, and what is there is shown.
            if !walk.take(step, result) && (interrupt::requested() || launch::is_stuck()) {
                break;
            }
        }
    } else {
        let spread = Spread::new(args, steps.iter().map(|step| step.name()).collect())?;
        let progress = printer.progress();
        let results = spread.run(&mut several, &progress);
        drop(progress);
        for (place, result) in results {
            if let Ok((document, _)) = &result {
                keep(document, &ladder, printer);
            }
            walk.take(steps[place], result);
        }
    }
    let Walk { documents, failures, said, .. } = walk;
    if documents.is_empty() {
        let first = failures.into_iter().next().unwrap_or_else(|| {
            Error::Usage(format!("the ladder `{}` has no steps", ladder.name()))
        });
        return if said.is_empty() { Err(first) } else { Ok(first.exit_code()) };
    }
    if !is_run {
        let has_cpu =
            |document: &Document| document.step.as_ref().is_some_and(|step| !step.cpu.is_empty());
        let cpu = args.cpu && !documents.iter().any(has_cpu);
        ignored_options::on_recording(GivenOptions { cpu, ..given }, printer);
        for failure in &failures {
            printer.warning(&failure.to_string());
        }
    }
    let document = RunDocument {
        schema: SCHEMA.to_owned(),
        adoprof: crate::document::Version::default(),
        ladder: ladder.name().to_owned(),
        steps: documents,
        notices: notices(&several),
        devices: several,
    };
    for notice in &document.notices {
        printer.notice(notice);
    }
    printer.report(args.output.format, |style, out| {
        render(&document, args.output.format, style, out)
    })?;
    Ok(failures.first().map_or(ExitCode::Success, Error::exit_code))
}

/// What the steps came to, in the ladder's order.
struct Walk<'a> {
    ladder: &'a Ladder,
    calibration: Option<&'a Calibration>,
    /// False where recordings are shown.
    is_run: bool,
    printer: &'a Printer,
    documents: Vec<Document>,
    failures: Vec<Error>,
    /// Failures that the user has read.
    said: Vec<String>,
}

impl Walk<'_> {
    /// Takes what a step came to; false where it failed.
    fn take(&mut self, step: &Step, result: Result<(Document, Option<Error>)>) -> bool {
        match result {
            Ok((document, unprofiled)) => {
                let corrected = ledger::corrected(document, self.calibration, Some(self.ladder));
                self.documents.push(corrected);
                self.failures.extend(unprofiled);
                true
            }
            Err(error) => {
                // What keeps one step from running (no NVRTC, say) keeps them all: said once.
                let text = error.to_string();
                if self.is_run && !self.said.contains(&text) {
                    self.printer.warning(&format!("{}: {text}", step.name()));
                    self.said.push(text);
                }
                self.failures.push(error);
                false
            }
        }
    }
}

/// The devices over which the steps are spread; none where they run on one.
///
/// # Errors
/// As [`devices::chosen`].
fn spread_over(args: &RunArgs) -> Result<Vec<RunDevice>> {
    let Some(asked) = &args.devices else { return Ok(Vec::new()) };
    let of = |devices::UsedDevice { number, name, uuid }| RunDevice {
        number,
        name,
        uuid,
        first_step_ns: None,
    };
    Ok(devices::chosen(asked)?.into_iter().map(of).collect())
}

/// What makes steps that ran on different devices hard to compare.
fn notices(several: &[RunDevice]) -> Vec<String> {
    let of = |device: &RunDevice| devices::UsedDevice {
        number: device.number,
        name: device.name.clone(),
        uuid: device.uuid.clone(),
    };
    let used: Vec<devices::UsedDevice> = several.iter().map(of).collect();
    let models = devices::several_models(&used).map(|problem| {
        format!(
            "{problem}, so a speed-up between steps that ran on different models says nothing about the steps; name \
             devices of one model with --devices"
        )
    });
    let timed = several.iter().filter_map(|one| Some((one.number, one.first_step_ns?.median)));
    models.into_iter().chain(devices::difference(timed, "step")).collect()
}

fn one(
    args: &RunArgs,
    ladder: &Ladder,
    step: &Step,
    size: &Overrides,
    device: Option<&Device>,
    printer: &Printer,
) -> Result<(Document, Option<Error>)> {
    let live = live_step_of(args, ladder, step, size);
    let outcome = match device {
        _ if step.is_program() && !args.origin.recorded => program_step::run(&live, printer)?,
        Some(device) => live_step::run(device, &live, printer)?,
        None => {
            let why = open::Why::of(&args.origin);
            let profile = open::recording(ladder, step.name(), size, why)?;
            return Ok((profile.diagnose(Some(ladder))?, None));
        }
    };
    let document = outcome.profile.diagnose(Some(ladder))?;
    keep(&document, ladder, printer);
    Ok((document, outcome.unprofiled))
}

/// Keeps what a step's hints promised in the ledger.
fn keep(document: &Document, ladder: &Ladder, printer: &Printer) {
    let given = ledger::Given { document, ladder: Some(ladder), program: "", baseline: None };
    ledger::keep(&given, printer);
}

fn live_step_of<'a>(
    args: &'a RunArgs,
    ladder: &'a Ladder,
    step: &'a Step,
    size: &'a Overrides,
) -> LiveStep<'a> {
    LiveStep {
        chosen: ChosenStep { ladder, ladder_argument: &args.problem.ladder, step, size },
        profiling: &args.profiling,
        cpu: args.cpu,
        time_only: false,
        output: args.profiling.output.as_ref().map(|folder| folder.join(step.name())),
    }
}

fn dry_run(
    args: &RunArgs,
    ladder: &Ladder,
    size: &Overrides,
    steps: &[&Step],
    printer: &Printer,
) -> Result<ExitCode> {
    let ncu = profiling::ncu_or_placeholder(args.profiling.ncu.as_deref(), printer)?;
    for step in steps {
        let live = live_step_of(args, ladder, step, size);
        if step.is_program() {
            program_step::dry_run(&ncu, &live, printer)?;
        } else {
            live_step::dry_run(&ncu, &live, printer)?;
        }
    }
    Ok(ExitCode::Success)
}
