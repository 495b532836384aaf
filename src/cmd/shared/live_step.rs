//! A step on the device: verified, timed, profiled, saved.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::chosen_step::{ChosenStep, size_argument};
use super::printer::Printer;
use super::profiling;
use crate::cli::ProfilingArgs;
use crate::collect::{self, Profiled};
use crate::error::{Error, Result};
use crate::export::csv::Pages;
use crate::ladder::{Ladder, Overrides};
use crate::launch::{Device, Prepared, nvrtc, place_source};
use crate::ncu::{self, CollectRequest, Ncu, Scope, Selection, TimeLimit};
use crate::plan::Plan;
use crate::profile::Profile;
use crate::progress::Progress;
use crate::store::{self, Environment, META_SCHEMA, Meta, Saved, Target};
use crate::text;
use crate::timed_run;
use crate::timing::StepInfo;

/// A step to run live.
pub(crate) struct LiveStep<'a> {
    /// The step.
    pub chosen: ChosenStep<'a>,
    /// How to profile.
    pub profiling: &'a ProfilingArgs,
    /// Time the CPU references too.
    pub cpu: bool,
    /// Verify and time only.
    pub time_only: bool,
    /// Where to save; the default place without.
    pub output: Option<PathBuf>,
}

/// What a live run came to.
pub(crate) struct Outcome {
    /// The profile; without pages where profiling was not possible.
    pub profile: Profile,
    /// Why profiling was not possible although the kernel ran.
    pub unprofiled: Option<Error>,
}

/// Runs a step.
///
/// # Errors
/// No device, a kernel that fails or is wrong, a run that would take too long, a folder that can't
/// be written. A missing ncu or forbidden counters do not fail here: what works without is done.
pub(crate) fn run(device: &Device, live: &LiveStep, printer: &Printer) -> Result<Outcome> {
    let progress = printer.progress();
    check_capability(live.chosen.ladder, device.compute_capability)?;
    let plan =
        live.chosen.ladder.plan(live.chosen.step.name(), live.chosen.size, device.sm_count)?;
    for notice in &plan.notices {
        progress.note(&format!("adoprof: {notice}"));
    }
    let target = target(live)?;
    let ncu = profiler(live);
    let (info, unmeasured) = measured(device, &plan, live, &progress)?;
    let meta = Meta {
        schema: META_SCHEMA.to_owned(),
        step: Some(info),
        environment: Environment {
            flags: Some(plan.flags.clone()),
            ..environment(device, &live.chosen, &profiling::selection(live.profiling))
        },
        notices: plan.notices.iter().cloned().chain(unmeasured).collect(),
    };
    let is_lack = |error: &Error| matches!(error, Error::Environment(_));
    profiled_and_saved(meta, live, target, ncu, is_lack, |ncu, target, saved| {
        profile(ncu, &plan, live, target, saved, &progress)
    })
}

/// The ncu to profile with; `None` where the step is only timed.
pub(super) fn profiler(live: &LiveStep) -> Option<Result<Ncu>> {
    let timeout = Some(live.profiling.timeout);
    (!live.time_only).then(|| ncu::locate(live.profiling.ncu.as_deref(), timeout))
}

/// Profiles what was timed, and saves both. What was timed is kept where the profile fails for a reason that
/// `is_lack` accepts.
///
/// # Errors
/// Other failures of the profile, and a folder that can't be written.
pub(super) fn profiled_and_saved(
    meta: Meta,
    live: &LiveStep,
    target: Target,
    ncu: Option<Result<Ncu>>,
    is_lack: impl Fn(&Error) -> bool,
    profile: impl FnOnce(&Ncu, &Target, &mut Saved) -> Result<PathBuf>,
) -> Result<Outcome> {
    let mut saved = Saved { meta, pages: Pages::default() };
    let report = ncu.map(|ncu| ncu.and_then(|ncu| profile(&ncu, &target, &mut saved)));
    let (report, unprofiled) = match report.transpose() {
        Ok(report) => (report, None),
        Err(error) if is_lack(&error) => {
            saved.meta.notices.push(format!("the step was timed but not profiled: {error}"));
            (None, Some(error))
        }
        Err(error) => return Err(error),
    };
    let folder = target.finish(&saved, report.as_deref())?;
    let name = format!("{}/{}", live.chosen.ladder.name(), live.chosen.step.name());
    Ok(Outcome { profile: Profile::from_saved(name, saved, Some(folder))?, unprofiled })
}

pub(super) fn target(live: &LiveStep) -> Result<Target> {
    match &live.output {
        Some(folder) => Target::new(folder),
        None => Target::default_for(live.chosen.ladder.name(), live.chosen.step.name()),
    }
}

/// Verifies and times the step, with a notice where the library beside it could not be timed.
fn measured(
    device: &Device,
    plan: &Plan,
    live: &LiveStep,
    progress: &Progress,
) -> Result<(StepInfo, Option<String>)> {
    progress.stage(format!("{}: compiling", plan.step));
    let mut prepared = Prepared::new(device, plan.clone(), live.profiling.timeout)?;
    progress.stage(format!("{}: filling the inputs", plan.step));
    let inputs = timed_run::inputs(plan)?;
    progress.stage(format!("{}: copying inputs to the device", plan.step));
    let uploading = timed_run::upload(&mut prepared, &inputs)?;
    let passes = if live.time_only {
        0
    } else {
        profiling::selection(live.profiling).expected_passes().unwrap_or(40)
    };
    let (runs, limit) = (passes + RUNS_BESIDE_PASSES, live.profiling.timeout);
    refuse_long(device, &mut prepared, live.chosen.ladder, runs, limit)?;
    let options =
        timed_run::Options { limit: live.profiling.timeout, cpu: live.cpu, copy_rate: true };
    let mut info =
        timed_run::verify_and_time(device, &mut prepared, &inputs, uploading, &options, progress)?;
    // The step stands without its yardstick.
    let unmeasured = match timed_run::library(device, &mut prepared, progress) {
        Ok(library) => {
            info.library = library;
            None
        }
        Err(error @ Error::Interrupted(_)) => return Err(error),
        Err(error) => Some(error.to_string()),
    };
    Ok((info, unmeasured))
}

/// Runs beside the profiler's passes: one that checks the answer, one unprofiled in the launcher,
/// and at least three that are timed.
const RUNS_BESIDE_PASSES: u32 = 5;

/// Refuses a step whose runs together would exceed the time limit, before the first full one: it
/// may hang a display or a machine. Smaller problems in the same buffers tell how long a run takes;
/// the ladder's first parameter is the one along which a step is shrunk. Fewer blocks than SMs make
/// the extrapolation too long, never too short, so a larger probe follows before the step is refused.
///
/// # Errors
/// [`Error::Usage`] for a step that would take too long, and what a run gives.
pub(crate) fn refuse_long(
    device: &Device,
    prepared: &mut Prepared,
    ladder: &Ladder,
    runs: u32,
    limit: Duration,
) -> Result<()> {
    let Some((name, _)) = ladder.parameters().first() else { return Ok(()) };
    let full = prepared.plan().size.get(name).copied().unwrap_or(1);
    let step = prepared.plan().step.clone();
    let (runs, limit) = (f64::from(runs), limit.as_secs_f64());
    let mut probed = full.div_ceil(64);
    loop {
        let mut size: Overrides = prepared.plan().size.clone();
        size.insert(name.clone(), probed);
        let Ok(probe) = ladder.plan(&step, &size, device.sm_count) else {
            return Ok(());
        };
        let seconds = prepared.run_plan(&probe)? * 1e-9;
        // Work may grow faster than the parameter, as the cube of a matrix's extent.
        let work = prepared.plan().flops as f64 / probe.flops.max(1) as f64;
        let predicted = seconds * work.max(full as f64 / probed as f64) * runs;
        if predicted <= limit {
            return Ok(());
        }
        if probed * 4 > full || seconds * 4.0 * runs > limit {
            let fitting = (full as f64 * limit / predicted).max(1.0) as u64;
            let proposed = 1_u64 << fitting.ilog2();
            return Err(Error::Usage(format!(
                "{}/{step} at {name}={full} would take about {} for {runs} runs, more than the limit of \
                 {}; use --size {name}={proposed}, or allow more with --timeout",
                ladder.name(),
                text::duration(predicted * 1e9),
                text::duration(limit * 1e9),
            )));
        }
        probed *= 4;
    }
}

/// Refuses a ladder whose kernels use instructions that the device does not have.
fn check_capability(ladder: &Ladder, (major, minor): (u32, u32)) -> Result<()> {
    match ladder.least_compute_capability() {
        Some((least, point)) if (major, minor) < (least, point) => {
            Err(Error::Environment(format!(
                "the kernels of {} need compute capability {least}.{point}, and this device has \
             {major}.{minor}; --recorded shows their recordings on any machine",
                ladder.name(),
            )))
        }
        _ => Ok(()),
    }
}

/// Where and how a step runs.
pub(crate) fn environment(
    device: &Device,
    chosen: &ChosenStep,
    selection: &Selection,
) -> Environment {
    let (major, minor) = device.compute_capability;
    Environment {
        device: device.name.clone(),
        compute_capability: format!("{major}.{minor}"),
        cuda: device.cuda_version.clone(),
        nvrtc: nvrtc::version()
            .map(|(major, minor)| format!("{major}.{minor}"))
            .unwrap_or_default(),
        collected: selection.name().to_owned(),
        clock_control: "none".to_owned(),
        cache_control: "all".to_owned(),
        command: format!(
            "adoprof step --ladder {} --kernel {}{}",
            chosen.ladder.name(),
            chosen.step.name(),
            size_argument(chosen.size).map(|size| format!(" --size {size}")).unwrap_or_default()
        ),
        date: jiff::Zoned::now().strftime("%Y-%m-%d").to_string(),
        adoprof: env!("CARGO_PKG_VERSION").to_owned(),
        ..Environment::default()
    }
}

/// What ncu is to do for a step; also what `--dry-run` shows.
///
/// # Errors
/// Where this program's own path is unknown.
pub(crate) fn request_for(
    chosen: &ChosenStep,
    profiling: &ProfilingArgs,
    report: PathBuf,
) -> Result<CollectRequest> {
    let own = own_path()?;
    let mut request = CollectRequest::new(profiling::selection(profiling), report, own);
    request.program_args = chosen.launcher_arguments(profiling.device, profiling.timeout);
    request.scope = Scope::ProfilerRange;
    Ok(request)
}

/// This program's own path.
///
/// # Errors
/// [`Error::Environment`] where the system does not tell it.
pub(crate) fn own_path() -> Result<PathBuf> {
    std::env::current_exe()
        .map_err(|e| Error::Environment(format!("adoprof does not know its own path: {e}")))
}

fn profile(
    ncu: &Ncu,
    plan: &Plan,
    live: &LiveStep,
    target: &Target,
    saved: &mut Saved,
    progress: &Progress,
) -> Result<PathBuf> {
    let report = target.staging().join("report");
    let mut request = request_for(&live.chosen, live.profiling, report)?;
    let _sections = profiling::complete(&mut request, live.profiling)?;
    let Profiled { report, passes, pages, notices, .. } =
        collect_step(ncu, plan, &request, live.profiling.timeout, progress)?;
    saved.pages = pages;
    saved.meta.environment.ncu = ncu.version.to_string();
    saved.meta.environment.passes = passes;
    saved.meta.notices.extend(notices);
    Ok(report)
}

/// Collects a step's profile. The compiler saw the source where it lies here; in the pages it has the
/// name that everyone else knows it by, its ladder's.
///
/// # Errors
/// As [`collect::collect`].
pub(crate) fn collect_step(
    ncu: &Ncu,
    plan: &Plan,
    request: &CollectRequest,
    timeout: Duration,
    progress: &Progress,
) -> Result<Profiled> {
    let what = format!("{}/{}", plan.ladder, plan.step);
    let profiled = collect::collect(ncu, request, TimeLimit::of_all(timeout), &what, progress)?;
    let here = place_source(&plan.source)?;
    let pages = profiled.pages.with_source_named(&here, &plan.source.name);
    Ok(Profiled { pages, ..profiled })
}

/// Prints the command lines of a step's profiling.
///
/// # Errors
/// Where stdout can't be written.
pub(crate) fn dry_run(ncu: &Ncu, live: &LiveStep, printer: &Printer) -> Result<()> {
    let ChosenStep { ladder, step, size, .. } = live.chosen;
    // What no device could run is refused here as it would be there; any number of SMs will do.
    ladder.plan(step.name(), size, 1)?;
    let folder = live.output.clone().unwrap_or_else(|| {
        Path::new(".adoprof").join(ladder.name()).join(step.name()).join("<time>")
    });
    let report = folder.join(store::REPORT_FILE);
    let mut request = request_for(&live.chosen, live.profiling, report.with_extension(""))?;
    let _sections = profiling::complete(&mut request, live.profiling)?;
    profiling::dry_run(ncu, &request, &report, printer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_too_old_for_a_ladder_is_refused_by_name() {
        let ladder = Ladder::builtin("fault-face-gallery").unwrap();
        let refused = check_capability(&ladder, (7, 5)).unwrap_err().to_string();
        assert!(refused.contains("8.0") && refused.contains("7.5"), "{refused}");
        assert!(check_capability(&ladder, (8, 0)).is_ok());
        assert!(check_capability(&Ladder::builtin("ado").unwrap(), (7, 0)).is_ok());
    }
}
