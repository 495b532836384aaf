//! `adoprof run`: a ladder from its first step to its last.

use super::shared::chosen_step::{ChosenStep, is_live};
use super::shared::ignored_options::{self, GivenOptions};
use super::shared::live_step::{self, LiveStep};
use super::shared::printer::Printer;
use super::shared::{ledger, on_cluster, open, profiling, program_step};
use crate::cli::RunArgs;
use crate::document::{Document, RunDocument, SCHEMA};
use crate::error::{Error, ExitCode, Result};
use crate::interrupt;
use crate::ladder::{Ladder, Overrides, Step, parse_overrides};
use crate::launch::{self, Device};
use crate::report::render;

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
        return dry_run(args, &ladder, &size, &steps, printer);
    }
    // Programs find their devices themselves.
    let has_kernels = steps.iter().any(|step| !step.is_program());
    let has_programs = steps.iter().any(|step| step.is_program()) && !args.origin.recorded;
    let device = if has_kernels && is_live(&args.origin) {
        Some(Device::open(args.profiling.device)?)
    } else {
        None
    };
    let is_run = device.is_some() || has_programs;
    let calibration = ledger::asked_for(args.calibrate, printer)?;
    let mut documents: Vec<Document> = Vec::new();
    let mut failures: Vec<Error> = Vec::new();
    let mut said: Vec<String> = Vec::new();
    for step in steps {
        match one(args, &ladder, step, &size, device.as_ref(), printer) {
            Ok((document, unprofiled)) => {
                documents.push(ledger::corrected(document, calibration.as_ref(), Some(&ladder)));
                failures.extend(unprofiled);
            }
            Err(error) => {
                // What keeps one step from running (no NVRTC, say) keeps them all: said once.
                let text = error.to_string();
                if is_run && !said.contains(&text) {
                    printer.warning(&format!("{}: {text}", step.name()));
                    said.push(text);
                }
                failures.push(error);
                // A step's failure is its own, and the others go on; Ctrl-C and a kernel that never
                // ends stop the walk, and what is there is shown.
                if interrupt::requested() || launch::is_stuck() {
                    break;
                }
            }
        }
    }
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
    };
    printer.report(args.output.format, |style, out| {
        render(&document, args.output.format, style, out)
    })?;
    Ok(failures.first().map_or(ExitCode::Success, Error::exit_code))
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
            let profile = open::recording(ladder, step.name(), size)?;
            return Ok((profile.diagnose(Some(ladder))?, None));
        }
    };
    let document = outcome.profile.diagnose(Some(ladder))?;
    let given =
        ledger::Given { document: &document, ladder: Some(ladder), program: "", baseline: None };
    ledger::keep(&given, printer);
    Ok((document, outcome.unprofiled))
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
