//! A step on the device: verified, timed, profiled, saved.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::collect;
use super::output::Printer;
use crate::cli::Collection;
use crate::error::{Error, Result};
use crate::ladder::{Ladder, Overrides, Step};
use crate::launch::{Device, Prepared, nvrtc, place_source};
use crate::ncu::{self, CollectRequest, Ncu, Scope};
use crate::plan::Plan;
use crate::profile::Profile;
use crate::progress::Progress;
use crate::store::{Environment, META_SCHEMA, Meta, Pages, Saved, Target};
use crate::text;
use crate::timed_run;
use crate::timing::StepInfo;

/// A step to run live.
pub struct Request<'a> {
    /// The ladder.
    pub ladder: &'a Ladder,
    /// The ladder as `--ladder` names it.
    pub ladder_argument: &'a str,
    /// The step.
    pub step: &'a Step,
    /// `--size`.
    pub size: &'a Overrides,
    /// How to profile.
    pub collection: &'a Collection,
    /// Time the CPU references too.
    pub cpu: bool,
    /// Verify and time only.
    pub time_only: bool,
    /// Where to save; the default place without.
    pub output: Option<PathBuf>,
}

/// What a live run came to.
pub struct Outcome {
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
pub fn step(device: &Device, request: &Request, printer: &Printer) -> Result<Outcome> {
    let progress = printer.progress();
    check_capability(request.ladder, device.compute_capability)?;
    let plan = request.ladder.plan(request.step.name(), request.size, device.sm_count)?;
    for notice in &plan.notices {
        progress.note(&format!("adoprof: {notice}"));
    }
    let target = target(request)?;
    let ncu =
        if request.time_only { None } else { Some(ncu::locate(request.collection.ncu.as_deref())) };
    let (info, unmeasured) = measured(device, &plan, request, &progress)?;
    let mut saved = Saved {
        meta: Meta {
            schema: META_SCHEMA.to_owned(),
            step: Some(info),
            environment: environment(device, request),
            notices: plan.notices.iter().cloned().chain(unmeasured).collect(),
        },
        pages: Pages::default(),
    };
    let mut report = None;
    let profiled = match ncu {
        None => Ok(()),
        Some(Err(error)) => Err(error),
        Some(Ok(ncu)) => profile(&ncu, &plan, request, &target, &mut saved, &progress)
            .map(|path| report = Some(path)),
    };
    let unprofiled = match profiled {
        Ok(()) => None,
        Err(error @ Error::Environment(_)) => {
            saved.meta.notices.push(format!("the step was timed but not profiled: {error}"));
            Some(error)
        }
        Err(error) => return Err(error),
    };
    let folder = target.finish(&saved, report.as_deref())?;
    let name = format!("{}/{}", plan.ladder, plan.step);
    Ok(Outcome { profile: Profile::from_saved(name, saved, Some(folder))?, unprofiled })
}

fn target(request: &Request) -> Result<Target> {
    match &request.output {
        Some(folder) => Target::new(folder),
        None => Target::default_for(request.ladder.name(), request.step.name()),
    }
}

/// Verifies and times the step, with a notice where the library beside it could not be timed.
fn measured(
    device: &Device,
    plan: &Plan,
    request: &Request,
    progress: &Progress,
) -> Result<(StepInfo, Option<String>)> {
    progress.stage(format!("{}: compiling", plan.step));
    let mut prepared = Prepared::new(device, plan.clone(), request.collection.timeout)?;
    progress.stage(format!("{}: filling the inputs", plan.step));
    let inputs = timed_run::inputs(plan)?;
    progress.stage(format!("{}: copying inputs to the device", plan.step));
    let uploading = timed_run::upload(&mut prepared, &inputs)?;
    let passes = if request.time_only {
        0
    } else {
        collect::passes_expected(&collect::selection(request.collection)).unwrap_or(40)
    };
    let (runs, limit) = (passes + RUNS_BESIDE_PASSES, request.collection.timeout);
    refuse_long(device, &mut prepared, request.ladder, runs, limit)?;
    let options =
        timed_run::Options { limit: request.collection.timeout, cpu: request.cpu, copy_rate: true };
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
pub fn refuse_long(
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
             {major}.{minor}; their recordings are there everywhere: --recorded",
                ladder.name(),
            )))
        }
        _ => Ok(()),
    }
}

/// Where and how a step runs.
pub fn environment(device: &Device, request: &Request) -> Environment {
    let (major, minor) = device.compute_capability;
    let selection = collect::selection(request.collection);
    Environment {
        device: device.name.clone(),
        compute_capability: format!("{major}.{minor}"),
        cuda: device.cuda_version.clone(),
        nvrtc: nvrtc::version()
            .map(|(major, minor)| format!("{major}.{minor}"))
            .unwrap_or_default(),
        collected: collect::selection_name(&selection).to_owned(),
        clock_control: "none".to_owned(),
        cache_control: "all".to_owned(),
        command: format!(
            "adoprof step --ladder {} --kernel {}{}",
            request.ladder.name(),
            request.step.name(),
            size_argument(request.size).map(|size| format!(" --size {size}")).unwrap_or_default()
        ),
        date: jiff::Zoned::now().strftime("%Y-%m-%d").to_string(),
        adoprof: env!("CARGO_PKG_VERSION").to_owned(),
        ..Environment::default()
    }
}

/// `--size` as it would be typed; `None` for no override.
pub fn size_argument(size: &BTreeMap<String, u64>) -> Option<String> {
    let parts: Vec<String> = size.iter().map(|(name, value)| format!("{name}={value}")).collect();
    (!parts.is_empty()).then(|| parts.join(","))
}

/// The collection command for a step; also what `--dry-run` shows.
///
/// # Errors
/// Where this program's own path is unknown, or a temporary folder can't be written.
pub fn request_for(request: &Request, report: PathBuf) -> Result<CollectRequest> {
    let own = std::env::current_exe()
        .map_err(|e| Error::Environment(format!("adoprof does not know its own path: {e}")))?;
    let mut collect = CollectRequest::new(collect::selection(request.collection), report, own);
    let mut args: Vec<OsString> = vec![
        "__launch".into(),
        "--ladder".into(),
        request.ladder_argument.into(),
        "--kernel".into(),
        request.step.name().into(),
        "--device".into(),
        request.collection.device.to_string().into(),
        "--limit-s".into(),
        request.collection.timeout.as_secs().max(1).to_string().into(),
    ];
    if let Some(size) = size_argument(request.size) {
        args.extend(["--size".into(), size.into()]);
    }
    collect.program_args = args;
    collect.scope = Scope::ProfilerRange;
    Ok(collect)
}

fn profile(
    ncu: &Ncu,
    plan: &Plan,
    request: &Request,
    target: &Target,
    saved: &mut Saved,
    progress: &Progress,
) -> Result<PathBuf> {
    let mut collection = request_for(request, target.staging().join("report"))?;
    let _sections = collect::complete(&mut collection, request.collection)?;
    let what = format!("{}/{}", plan.ladder, plan.step);
    let collect::Gathered { report, passes, pages, notices } =
        collect::collect(ncu, &collection, request.collection, &what, progress)?;
    // The compiler saw the file where it lies here; everyone else knows it by its ladder's name.
    let here = place_source(&plan.source)?;
    let named = |page: String| page.replace(&*here.to_string_lossy(), &plan.source.name);
    saved.pages =
        Pages { raw: named(pages.raw), details: named(pages.details), source: named(pages.source) };
    saved.meta.environment.ncu = ncu.version.to_string();
    saved.meta.environment.passes = passes;
    saved.meta.notices.extend(notices);
    Ok(report)
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
