//! `adoprof sweep`: a step over a grid of settings, each point in a process of its own.

#[cfg(all(test, unix))]
mod tests;
mod cluster;
mod walk;

use std::path::Path;

use super::shared::chosen_step::split;
use super::shared::devices;
use super::shared::ignored_options;
use super::shared::point_process::PointProcess;
use super::shared::printer::Printer;
use crate::cli::SweepArgs;
use crate::error::{Error, ExitCode, Result};
use crate::ladder::{Ladder, Step, parse_overrides};
use crate::launch::{Device, nvrtc};
use crate::ncu;
use crate::report::{Format, render};
use crate::sweep::{
    Axis, Identity, Journal, PointResult, SweepDevice, SweepDocument, grid, journal,
};
use crate::text::count_of;
use walk::Sweep;

pub(super) fn run(args: &SweepArgs, printer: &Printer) -> Result<ExitCode> {
    let format = args.format.for_table("a sweep")?;
    ignored_options::check_ncu_args(args.ncu_args.as_deref())?;
    let (ladder_argument, step_name) = split(&args.kernel, &args.problem.ladder)?;
    let ladder = Ladder::open(ladder_argument)?;
    let step = ladder.step(step_name)?;
    let size = parse_overrides(args.problem.size.as_deref().unwrap_or_default())?;
    let axes = args
        .over
        .iter()
        .map(|text| Axis::parse(text, &ladder, step))
        .collect::<Result<Vec<_>>>()?;
    let mut points = grid::points(&axes, &size)?
        .into_iter()
        .map(|point| Ok((ladder.size(step, &point.size)?, point)))
        .collect::<Result<Vec<_>>>()?;
    let path = args
        .output
        .clone()
        .unwrap_or_else(|| journal::default_path(ladder.name(), step.name(), &axes, &size));
    if args.on.submits() {
        let place = (points.as_slice(), path.as_path());
        let (identity, results) = cluster::run(args, (&ladder, step), place, printer)?;
        let document = SweepDocument::new(&identity, &axes, results);
        return shown(document, &path, format, args.profile, printer);
    }
    let mut path = path;
    if let Some(folder) = &args.on.slurm_folder {
        let Some(task) = args.on.slurm_task else {
            cluster::gather(folder, &path)?;
            return Ok(ExitCode::Success);
        };
        points = points.into_iter().skip(task).take(1).collect();
        path = cluster::part(folder, task);
    }
    let identity = identity(args, &ladder, step)?;
    if args.profile {
        ncu::locate(args.ncu.as_deref(), Some(args.timeout))?;
    }
    let mut sweep = Sweep {
        args,
        process: PointProcess::new(ladder_argument, step.name(), args.device, args.timeout)?,
        journal: Journal::open(&path, identity.clone())?,
        profiles: path.with_extension("profiles"),
    };
    let damaged = sweep.journal.damaged();
    if damaged > 0 {
        let lines = count_of(damaged as f64, "line");
        printer.notice(&format!("{}: {lines} could not be read and skipped", path.display()));
    }
    let mut devices = devices_of(args)?;
    let (results, stopped) = sweep.walk(&points, &mut devices, printer)?;
    let mut document = SweepDocument::new(&identity, &axes, results);
    document.devices = devices;
    let ran = document.points.len();
    let code = shown(document, &path, format, args.profile, printer)?;
    if stopped {
        return Err(Error::Interrupted(format!(
            "interrupted after {ran} of {} points; the same command continues from there",
            points.len()
        )));
    }
    Ok(code)
}

/// Shows what a sweep came to.
fn shown(
    mut document: SweepDocument,
    path: &Path,
    format: Format,
    profile: bool,
    printer: &Printer,
) -> Result<ExitCode> {
    document.file = Some(path.display().to_string());
    document.notices = notices(&document.points);
    document.notices.extend(difference(&document.devices));
    for notice in &document.notices {
        printer.notice(notice);
    }
    if !document.points.is_empty() {
        printer.result(|style, out| render(&document, format, style, out))?;
    }
    Ok(exit_code(&document.points, profile))
}

/// The devices over which the points are spread; none where they run on one.
///
/// # Errors
/// As [`devices::chosen`]; [`Error::Usage`] for devices of several models.
fn devices_of(args: &SweepArgs) -> Result<Vec<SweepDevice>> {
    let Some(asked) = &args.devices else { return Ok(Vec::new()) };
    let chosen = devices::chosen(asked)?;
    if let Some(problem) = devices::several_models(&chosen) {
        return Err(Error::Usage(format!("{problem}; name devices of one model")));
    }
    let of = |devices::UsedDevice { number, name, uuid }| SweepDevice {
        number,
        name,
        uuid,
        first_point_ns: None,
    };
    Ok(chosen.into_iter().map(of).collect())
}

/// How the devices differ in the point that each of them ran.
fn difference(devices: &[SweepDevice]) -> Option<String> {
    let timed = devices.iter().filter_map(|one| Some((one.number, one.first_point_ns?.median)));
    devices::difference(timed, "point")
}

/// What this sweep's points depend on beside their settings.
fn identity(args: &SweepArgs, ladder: &Ladder, step: &Step) -> Result<Identity> {
    // A program finds its device itself, and its compiler stands in the manifest.
    if step.is_program() {
        let device = Device::is_present().then(|| Device::open(args.device)).transpose()?;
        let device = device.map_or_else(|| "unknown device".to_owned(), |device| device.name);
        return Ok(Identity {
            adoprof: env!("CARGO_PKG_VERSION").to_owned(),
            device,
            cuda: String::new(),
            source: ladder.fingerprint(step),
            ladder: ladder.name().to_owned(),
            step: step.name().to_owned(),
        });
    }
    // Opened to look, and closed: the points want the device's memory for themselves.
    if !Device::is_present() {
        return Err(Error::Environment(
            "a sweep needs a CUDA device, and none is usable here; `adoprof doctor` says what is missing"
                .to_owned(),
        ));
    }
    let device = Device::open(args.device)?;
    let Some((major, minor)) = nvrtc::version() else {
        return Err(nvrtc::missing());
    };
    Ok(Identity {
        adoprof: env!("CARGO_PKG_VERSION").to_owned(),
        device: device.name.clone(),
        cuda: format!("driver {}, NVRTC {major}.{minor}", device.cuda_version),
        source: ladder.fingerprint(step),
        ladder: ladder.name().to_owned(),
        step: step.name().to_owned(),
    })
}

/// What was noticed at the points, each once.
fn notices(points: &[PointResult]) -> Vec<String> {
    let mut notices: Vec<String> = Vec::new();
    for notice in points.iter().flat_map(|point| &point.notices) {
        if !notices.contains(notice) {
            notices.push(notice.clone());
        }
    }
    notices
}

/// Success where any point ran; the kernel's failure where none did, unless the machine was at
/// fault each time, as it is where profiles were asked for and none came.
fn exit_code(points: &[PointResult], profile: bool) -> ExitCode {
    let environment = Some(ExitCode::Environment as u8);
    if points.iter().all(|point| point.error.is_some()) {
        let all_alike = points.iter().all(|point| point.exit_code == environment);
        return if all_alike { ExitCode::Environment } else { ExitCode::Kernel };
    }
    if profile && points.iter().all(|point| point.metrics.is_empty()) {
        return ExitCode::Environment;
    }
    ExitCode::Success
}
