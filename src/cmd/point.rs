//! One point of a sweep, in a process of its own: a kernel that faults takes the CUDA context with
//! it, and the sweep goes on without this process.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::shared::chosen_step::ChosenStep;
use super::shared::live_step::{LiveStep, Outcome, collect_step, environment, request_for};
use super::shared::printer::Printer;
use super::shared::{profiling, program_step};
use crate::cli::{PointArgs, ProfilingArgs};
use crate::collect::Profiled;
use crate::error::{Error, ExitCode, Result};
use crate::frame::{Frames, Launch};
use crate::ladder::{Ladder, Overrides, parse_overrides};
use crate::launch::{Device, Prepared};
use crate::metric::CATALOGUE;
use crate::ncu;
use crate::plan::Plan;
use crate::progress::Progress;
use crate::store::{META_SCHEMA, Meta, Saved, Target};
use crate::sweep::PointReport;
use crate::sweep::correlation::is_sum;
use crate::timed_run;
use crate::timing::StepInfo;

pub(super) fn run(args: &PointArgs, printer: &Printer) -> Result<ExitCode> {
    let ladder = Ladder::open(&args.problem.ladder)?;
    let size = parse_overrides(args.problem.size.as_deref().unwrap_or_default())?;
    if ladder.step(&args.kernel)?.is_program() {
        return program(args, &ladder, &size, printer);
    }
    let device = Device::open(args.device)?;
    let plan = ladder.plan_tuned(&args.kernel, &size, &args.tuning, device.sm_count)?;
    let progress = printer.progress();
    let info = measured(&device, &plan, args, &progress)?;
    let mut report = PointReport {
        verified: info.verified,
        max_error: Some(info.max_error),
        time_ns: info.time_ns,
        rate: info.rate.clone(),
        metrics: BTreeMap::new(),
        saved: None,
        notices: plan.notices.clone(),
    };
    if let Some(folder) = &args.profile {
        let chosen = ChosenStep {
            ladder: &ladder,
            ladder_argument: &args.problem.ladder,
            step: ladder.step(&args.kernel)?,
            size: &size,
        };
        // The point stands without its profile.
        match profiled(&device, &plan, info, &chosen, args, folder, &progress) {
            Ok(metrics) => {
                report.metrics = metrics;
                report.saved = Some(folder.display().to_string());
            }
            Err(error @ Error::Interrupted(_)) => return Err(error),
            Err(error) => {
                report.notices.push(format!("a point was timed but not profiled: {error}"));
            }
        }
    }
    drop(progress);
    let text = serde_json::to_string(&report)
        .map_err(|e| Error::Environment(format!("a result cannot be written: {e}")))?;
    printer.text(&text)?;
    Ok(ExitCode::Success)
}

/// A point of a step that is a program.
fn program(
    args: &PointArgs,
    ladder: &Ladder,
    size: &Overrides,
    printer: &Printer,
) -> Result<ExitCode> {
    let chosen = ChosenStep {
        ladder,
        ladder_argument: &args.problem.ladder,
        step: ladder.step(&args.kernel)?,
        size,
    };
    let profiling = profiling_args(args);
    // What is only timed is kept in the sweep's own file.
    let scratch = tempfile::tempdir()
        .map_err(|error| Error::io(std::env::temp_dir(), "make a folder in", &error))?;
    let folder = args.profile.clone().unwrap_or_else(|| scratch.path().join("profile"));
    let live = LiveStep {
        chosen,
        profiling: &profiling,
        cpu: false,
        time_only: args.profile.is_none(),
        output: Some(folder.clone()),
    };
    let Outcome { profile, unprofiled } = program_step::run_tuned(&live, &args.tuning, printer)?;
    let meta =
        profile.meta.as_ref().ok_or_else(|| Error::Usage("a profile lost its step".into()))?;
    let info = meta.step.as_ref().ok_or_else(|| Error::Usage("a profile lost its step".into()))?;
    let mut report = PointReport {
        verified: info.verified,
        max_error: None,
        time_ns: info.time_ns,
        rate: info.rate.clone(),
        metrics: BTreeMap::new(),
        saved: None,
        notices: meta.notices.clone(),
    };
    if args.profile.is_some() && unprofiled.is_none() {
        report.metrics = totals(&Launch::all(&profile.frames)?);
        report.saved = Some(folder.display().to_string());
    }
    let text = serde_json::to_string(&report)
        .map_err(|e| Error::Environment(format!("a result cannot be written: {e}")))?;
    printer.text(&text)?;
    Ok(ExitCode::Success)
}

fn measured(
    device: &Device,
    plan: &Plan,
    args: &PointArgs,
    progress: &Progress,
) -> Result<StepInfo> {
    let limit = Duration::from_secs(args.limit_s);
    let mut prepared = Prepared::new(device, plan.clone(), limit)?;
    let inputs = timed_run::inputs(plan)?;
    let uploading = timed_run::upload(&mut prepared, &inputs)?;
    let options = timed_run::Options { limit, cpu: false, copy_rate: false };
    timed_run::verify_and_time(device, &mut prepared, &inputs, uploading, &options, progress)
}

fn profiling_args(args: &PointArgs) -> ProfilingArgs {
    ProfilingArgs {
        device: args.device,
        ncu: args.ncu.clone(),
        ncu_args: args.ncu_args.clone(),
        collect: args.collect,
        section: Vec::new(),
        metrics: Vec::new(),
        via: ncu::Via::default(),
        timeout: Duration::from_secs(args.limit_s),
        dry_run: false,
        output: None,
    }
}

/// Profiles the point, saves the profile, and returns its metrics.
fn profiled(
    device: &Device,
    plan: &Plan,
    info: StepInfo,
    chosen: &ChosenStep,
    args: &PointArgs,
    folder: &Path,
    progress: &Progress,
) -> Result<BTreeMap<String, f64>> {
    let ncu = ncu::locate(args.ncu.as_deref(), Some(profiling_args(args).timeout))?;
    let target = Target::new(folder)?;
    let profiling = profiling_args(args);
    let mut request = request_for(chosen, &profiling, target.staging().join("report"))?;
    let tuning = serde_json::to_string(&args.tuning)
        .map_err(|e| Error::Environment(format!("the settings cannot be passed on: {e}")))?;
    request.program_args.extend(["--tuning".into(), tuning.clone().into()]);
    let _sections = profiling::complete(&mut request, &profiling)?;
    let Profiled { report, passes, pages, notices, .. } =
        collect_step(&ncu, plan, &request, profiling.timeout, progress)?;
    let metrics = totals(&Launch::all(&Frames::new(pages.export(folder)?)?)?);
    let mut environment = environment(device, chosen, &request.selection);
    environment.command = format!("{}, a point of a sweep with {tuning}", environment.command);
    environment.ncu = ncu.version.to_string();
    environment.passes = passes;
    let meta = Meta { schema: META_SCHEMA.to_owned(), step: Some(info), environment, notices };
    target.finish(&Saved { meta, pages }, Some(&report))?;
    Ok(metrics)
}

/// The catalogue's metrics over all launches of a step: sums added up, the rest averaged over the
/// time.
fn totals(launches: &[Launch]) -> BTreeMap<String, f64> {
    let mut totals = BTreeMap::new();
    for metric in CATALOGUE {
        let values: Vec<(f64, f64)> = launches
            .iter()
            .filter_map(|launch| {
                Some((launch.get(metric.name)?, launch.duration_ns().unwrap_or(1.0)))
            })
            .filter(|(value, _)| value.is_finite())
            .collect();
        // A metric that some launches lack would be compared with another set elsewhere.
        if values.is_empty() || values.len() < launches.len() {
            continue;
        }
        let total = if is_sum(metric.name) {
            values.iter().map(|(value, _)| value).sum()
        } else {
            let time: f64 = values.iter().map(|(_, ns)| ns).sum();
            values.iter().map(|(value, ns)| value * ns).sum::<f64>() / time
        };
        totals.insert(metric.name.to_owned(), total);
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(ns: f64, sectors: f64, registers: f64) -> Launch {
        let mut launch = Launch::default();
        launch.set("gpu__time_duration.sum", Some(ns));
        launch.set("lts__t_sectors.sum", Some(sectors));
        launch.set("launch__registers_per_thread", Some(registers));
        launch
    }

    #[test]
    fn launches_add_up_or_average_over_their_time() {
        let totals = totals(&[launch(300.0, 10.0, 32.0), launch(100.0, 5.0, 64.0)]);
        assert!((totals["lts__t_sectors.sum"] - 15.0).abs() < 1e-12);
        // (32 · 300 + 64 · 100) / 400
        assert!((totals["launch__registers_per_thread"] - 40.0).abs() < 1e-12);
        assert!((totals["gpu__time_duration.sum"] - 400.0).abs() < 1e-12);
    }

    #[test]
    fn a_metric_that_a_launch_lacks_is_left_out() {
        let mut second = launch(100.0, 5.0, 64.0);
        second.set("lts__t_sectors.sum", None);
        let totals = totals(&[launch(300.0, 10.0, 32.0), second]);
        assert!(!totals.contains_key("lts__t_sectors.sum"));
        assert!(super::totals(&[]).is_empty());
    }
}
