//! A step of a ladder's run, in a process of its own that has one of several devices to itself.

use crate::cli::StepArgs;
use crate::cmd::shared::chosen_step::ChosenStep;
use crate::cmd::shared::live_step::{self, LiveStep};
use crate::cmd::shared::printer::Printer;
use crate::cmd::shared::program_step;
use crate::error::{Error, ExitCode, Result};
use crate::ladder::{Ladder, parse_overrides};
use crate::launch::Device;

/// Runs the step and prints its document. The run that started this keeps the ledger, in the ladder's order.
///
/// # Errors
/// As [`live_step::run`] and [`program_step::run`].
pub(in crate::cmd) fn run(args: &StepArgs, printer: &Printer) -> Result<ExitCode> {
    let ladder = Ladder::open(&args.problem.ladder)?;
    let step = ladder.step(&args.kernel)?;
    let size = parse_overrides(args.problem.size.as_deref().unwrap_or_default())?;
    let chosen =
        ChosenStep { ladder: &ladder, ladder_argument: &args.problem.ladder, step, size: &size };
    let live = LiveStep {
        chosen,
        profiling: &args.profiling,
        cpu: args.cpu,
        time_only: args.time_only,
        output: args.profiling.output.clone(),
    };
    let outcome = if step.is_program() {
        program_step::run(&live, printer)?
    } else {
        live_step::run(&Device::open(args.profiling.device)?, &live, printer)?
    };
    let document = outcome.profile.diagnose(Some(&ladder))?;
    let text = serde_json::to_string(&document)
        .map_err(|e| Error::Environment(format!("a result cannot be written: {e}")))?;
    printer.text(&text)?;
    Ok(outcome.unprofiled.as_ref().map_or(ExitCode::Success, Error::exit_code))
}
