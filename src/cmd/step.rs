//! `adoprof step`: one whole step of analysis-driven optimization.

use std::path::Path;

use super::output::Printer;
use super::{analyze, collect, diff, ledger, live, open, unused};
use crate::cli::{Origin, StepArgs};
use crate::document::Document;
use crate::error::{Error, ExitCode, Result};
use crate::ladder::{Ladder, Overrides, Step, parse_overrides};
use crate::launch::Device;
use crate::ncu::Ncu;
use crate::profile::{Profile, Reference};
use crate::store;

pub fn run(args: &StepArgs, printer: &Printer) -> Result<ExitCode> {
    let printer = &printer.explaining(args.output.explain_ranking);
    unused::check_ncu_args(args.collection.ncu_args.as_deref())?;
    unused::ranking(&args.output, true, printer);
    let (ladder_argument, step_name) = split(&args.kernel, &args.problem.ladder);
    let ladder = Ladder::open(ladder_argument)?;
    let step = ladder.step(step_name)?;
    let size = parse_overrides(args.problem.size.as_deref().unwrap_or_default())?;
    let request = live::Request {
        ladder: &ladder,
        ladder_argument,
        step,
        size: &size,
        collection: &args.collection,
        cpu: args.cpu,
        time_only: args.time_only,
        output: args.collection.output.clone(),
    };
    let asked = unused::Asked {
        origin: &args.origin,
        collection: &args.collection,
        time_only: args.time_only,
        cpu: args.cpu,
    };
    if args.collection.dry_run {
        unused::on_dry_run(asked, printer);
        let ncu = collect::ncu_or_placeholder(args.collection.ncu.as_deref(), printer)?;
        dry_run(&ncu, &request, printer)?;
        return Ok(ExitCode::Success);
    }
    if !is_live(&args.origin) {
        let profile = open::recording(&ladder, step_name, &size)?;
        let has_cpu = profile.step().is_some_and(|step| !step.cpu.is_empty());
        unused::on_recording(unused::Asked { cpu: args.cpu && !has_cpu, ..asked }, printer);
        let baseline = args
            .baseline
            .as_deref()
            .map(|base| open::one(base, ladder_argument, Some(&size)))
            .transpose()?;
        show(&profile, &ladder, baseline.as_ref(), false, args, printer)?;
        return Ok(ExitCode::Success);
    }
    if args.time_only {
        unused::on_time_only(&args.collection, printer);
    }
    let device = Device::open(args.collection.device)?;
    let baseline = args
        .baseline
        .as_deref()
        .map(|base| live_baseline(base, &device, &request, printer))
        .transpose()?;
    let outcome = live::step(&device, &request, printer)?;
    show(&outcome.profile, &ladder, baseline.as_ref(), true, args, printer)?;
    let Some(error) = outcome.unprofiled else { return Ok(ExitCode::Success) };
    if printer.is_quiet() {
        // The report's notices say it otherwise.
        printer.warning(&format!("the step was timed but not profiled: {error}"));
    }
    Ok(error.exit_code())
}

/// `v2` or `ado/v2`: the ladder that a step's name carries goes before `--ladder`.
pub fn split<'a>(kernel: &'a str, ladder: &'a str) -> (&'a str, &'a str) {
    match kernel.rsplit_once('/') {
        Some((ladder, step)) if !ladder.is_empty() => (ladder, step),
        _ => (ladder, kernel),
    }
}

/// Live where the user insists, or where there is a device and nobody insists on the recording.
pub fn is_live(origin: &Origin) -> bool {
    origin.live || !origin.recorded && Device::is_present()
}

fn show(
    profile: &Profile,
    ladder: &Ladder,
    baseline: Option<&Profile>,
    is_live: bool,
    args: &StepArgs,
    printer: &Printer,
) -> Result<()> {
    let mut document: Document = profile.diagnose(Some(ladder));
    if let Some(base) = baseline {
        document.diff = Some(diff::compare(base, profile)?);
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
    analyze::show(&document, args.output.format, printer)
}

/// Prints the command lines of a step's profiling.
///
/// # Errors
/// Where stdout can't be written.
pub fn dry_run(ncu: &Ncu, request: &live::Request, printer: &Printer) -> Result<()> {
    let folder = request.output.clone().unwrap_or_else(|| {
        Path::new(".adoprof").join(request.ladder.name()).join(request.step.name()).join("<time>")
    });
    let report = folder.join(store::REPORT_FILE);
    let mut collection = live::request_for(request, report.with_extension(""))?;
    let _sections = collect::complete(&mut collection, request.collection)?;
    collect::dry_run(ncu, &collection, &report, printer)
}

/// The baseline of a live run: for a step, its newest local profile on this GPU at this size, else
/// it is profiled now. A recording from another GPU is taken only when it is named by path.
fn live_baseline(
    base: &str,
    device: &Device,
    request: &live::Request,
    printer: &Printer,
) -> Result<Profile> {
    let Reference::Step { ladder: argument, step: name } =
        Reference::parse(base, request.ladder_argument)?
    else {
        return open::one(base, request.ladder_argument, None);
    };
    let ladder = Ladder::open(&argument)?;
    let step: &Step = ladder.step(&name)?;
    let size: &Overrides =
        if ladder.name() == request.ladder.name() { request.size } else { &Overrides::new() };
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
    let outcome = live::step(
        device,
        &live::Request {
            ladder: &ladder,
            ladder_argument: &argument,
            step,
            size,
            collection: request.collection,
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
