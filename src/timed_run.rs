//! A plan on a device: checked against its reference, then timed without the profiler.

mod replayed;

use std::time::Duration;

use crate::error::{Error, Result};
use crate::launch::{Device, Prepared, Repetitions, median_and_range};
use crate::plan::{Check, Plan, Role};
use crate::problem::fill::Inputs;
use crate::problem::{self, Expected, HostBuffer, Tolerance};
use crate::progress::Progress;
use crate::timing::{LibraryTime, Rate, StepInfo, Timing};

/// The seed of every fill: runs on different days and machines see the same inputs.
const SEED: u64 = 1;

/// What to do beside verifying and timing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    /// The longest that one run may take.
    pub limit: Duration,
    /// Also time the CPU references.
    pub cpu: bool,
    /// Also measure the device's copy rate, the yardstick of memory-bound steps.
    pub copy_rate: bool,
}

/// Fills a plan's inputs on the host.
///
/// # Errors
/// [`Error::Usage`] or [`Error::Environment`] where they don't fit the host's memory.
pub(crate) fn inputs(plan: &Plan) -> Result<Inputs> {
    if let Some(replay) = &plan.captured {
        return replayed::before(replay);
    }
    problem::fill::inputs(plan, SEED)
}

/// Copies inputs and state to the device. Returns the time of the copies of inputs.
///
/// # Errors
/// As [`Prepared::upload`].
pub(crate) fn upload(prepared: &mut Prepared, inputs: &Inputs) -> Result<Duration> {
    upload_state(prepared, inputs)?;
    upload_role(prepared, inputs, Role::Input)
}

/// Copies state buffers to the device: before each run that must start from the fills.
///
/// # Errors
/// As [`Prepared::upload`].
pub(crate) fn upload_state(prepared: &mut Prepared, inputs: &Inputs) -> Result<()> {
    upload_role(prepared, inputs, Role::State).map(|_| ())
}

fn upload_role(prepared: &mut Prepared, inputs: &Inputs, role: Role) -> Result<Duration> {
    let mut spent = Duration::ZERO;
    for index in 0..prepared.plan().buffers.len() {
        let buffer = &prepared.plan().buffers[index];
        if buffer.role == role
            && let Some(values) = inputs.get(&buffer.name)
        {
            spent += prepared.upload(index, values.as_bytes())?;
        }
    }
    Ok(spent)
}

/// Checks the answer of a plan whose inputs are on the device. Returns the largest error and the time of the
/// copies back.
///
/// # Errors
/// [`Error::Kernel`] where the answer is wrong or a launch fails; whatever the launcher gives.
pub(crate) fn verify(
    device: &Device,
    prepared: &mut Prepared,
    inputs: &Inputs,
    limit: Duration,
    progress: &Progress,
) -> Result<(f64, Duration)> {
    let plan = prepared.plan().clone();
    if let Some(replay) = &plan.captured {
        progress.stage(format!("{}: running and checking what it writes", plan.step));
        upload_state(prepared, inputs)?;
        prepared.run()?;
        return replayed::check(prepared, &plan, replay);
    }
    let expected = expected(device, &plan, inputs, limit, progress)?;
    progress.stage(format!("{}: running and checking the answer", plan.step));
    // Probing for the time may have changed state buffers; the checked run starts from the fills.
    upload_state(prepared, inputs)?;
    prepared.poison()?;
    prepared.run()?;
    check(prepared, &plan, &expected)
}

/// Verifies and times a plan whose inputs are on the device; `uploading` is how long they took.
///
/// # Errors
/// [`Error::Kernel`] where the answer is wrong or a launch fails; whatever the launcher gives.
pub(crate) fn verify_and_time(
    device: &Device,
    prepared: &mut Prepared,
    inputs: &Inputs,
    uploading: Duration,
    options: &Options,
    progress: &Progress,
) -> Result<StepInfo> {
    let plan = prepared.plan().clone();
    let (max_error, down) = verify(device, prepared, inputs, options.limit, progress)?;
    let samples_ns = prepared.time(device, &Repetitions::default(), |done| {
        progress.stage(format!("{}: timing, repetition {done}", plan.step));
    })?;
    let timing = median_and_range(&samples_ns);
    let warm_ns = prepared.time_warm(device, &Repetitions::default())?;
    let cpu = if options.cpu {
        progress.stage(format!("{}: timing the CPU references", plan.step));
        problem::catalogue::cpu_times(&plan, inputs)?
    } else {
        Vec::new()
    };
    let copy_bytes_per_s = if options.copy_rate { device.copy_rate().ok() } else { None };
    Ok(StepInfo {
        ladder: plan.ladder.clone(),
        name: plan.step.clone(),
        title: plan.title.clone(),
        size: plan.size.clone(),
        verified: true,
        max_error,
        total_ns: Some(timing.median + (uploading + down).as_nanos() as f64),
        rate: plan.captured.is_none().then(|| rate(&plan, &timing)),
        time_ns: timing,
        samples_ns,
        warm_ns,
        bytes: plan.bytes,
        flops: plan.flops,
        cpu,
        copy_bytes_per_s,
        library: None,
        program: None,
        recorded: None,
    })
}

/// How far a library's answer may be from the step's, as a share of the largest element: enough to
/// tell another problem or another layout, which a wrong call would compute.
const LIBRARY_TOLERANCE: f64 = 1e-3;

/// Times the library routine that the plan's ladder names, after [`verify_and_time`] has verified the step
/// whose outputs it is to agree with. `None` where the ladder names none.
///
/// # Errors
/// [`Error::Environment`] where the library is not there or refuses, [`Error::Kernel`] where its
/// answer is another; whatever the launcher gives.
pub(crate) fn library(
    device: &Device,
    prepared: &mut Prepared,
    progress: &Progress,
) -> Result<Option<LibraryTime>> {
    let Some(name) = prepared.plan().library.clone() else { return Ok(None) };
    progress.stage(format!("{}: timing {name} beside it", prepared.plan().step));
    let ours = outputs(prepared)?;
    prepared.poison()?;
    let time = prepared.time_library(device, &Repetitions::default())?;
    for (ours, theirs) in ours.iter().zip(&outputs(prepared)?) {
        let largest =
            (0..ours.len()).fold(0.0_f64, |most, at| most.max(ours.get(at).map_or(0.0, f64::abs)));
        let tolerance = Tolerance { absolute: LIBRARY_TOLERANCE * largest, relative: 0.0 };
        if !problem::compare(ours, theirs, tolerance)?.passed() {
            return Err(Error::Kernel(format!(
                "{name} computes a different answer and was not timed"
            )));
        }
    }
    Ok(time)
}

/// The outputs as they are on the device.
fn outputs(prepared: &Prepared) -> Result<Vec<HostBuffer>> {
    let buffers = prepared.plan().buffers.iter().enumerate();
    buffers
        .filter(|(_, buffer)| buffer.role == Role::Output)
        .map(|(at, buffer)| Ok(HostBuffer::from_bytes(buffer.dtype, &prepared.download(at)?.0)))
        .collect()
}

fn rate(plan: &Plan, timing: &Timing) -> Rate {
    Rate { value: plan.metric.work / timing.median.max(1.0), unit: plan.metric.unit.clone() }
}

/// What the step's outputs must be, with each one's place among the plan's buffers.
fn expected(
    device: &Device,
    plan: &Plan,
    inputs: &Inputs,
    limit: Duration,
    progress: &Progress,
) -> Result<Vec<(usize, Expected)>> {
    let place = |name: &str| {
        plan.buffers
            .iter()
            .position(|buffer| buffer.name == name)
            .ok_or_else(|| Error::Usage(format!("{} has no buffer `{name}`", plan.step)))
    };
    match &plan.check {
        Check::Reference => Ok(Vec::new()),
        Check::Builtin(name) => {
            progress.stage(format!("{}: computing the answer on the CPU", plan.step));
            problem::catalogue::run(name, plan, inputs)?
                .into_iter()
                .map(|expected| Ok((place(&expected.buffer)?, expected)))
                .collect()
        }
        Check::Step { plan: reference, relative } => {
            progress.stage(format!("{}: running {} for comparison", plan.step, reference.step));
            let mut other = Prepared::new(device, (**reference).clone(), limit)?;
            // The reference may read a buffer that this step does not have: same seed, same values.
            let is_there = |buffer: &crate::plan::Buffer| {
                !matches!(buffer.role, Role::Input | Role::State)
                    || inputs.get(&buffer.name).is_some()
            };
            if reference.buffers.iter().all(is_there) {
                upload(&mut other, inputs)?;
            } else {
                upload(&mut other, &self::inputs(reference)?)?;
            }
            other.poison()?;
            other.run()?;
            let outputs = reference.buffers.iter().enumerate();
            outputs
                .filter(|(_, buffer)| buffer.role == Role::Output)
                .map(|(at, buffer)| {
                    let expected = Expected {
                        buffer: buffer.name.clone(),
                        values: HostBuffer::from_bytes(buffer.dtype, &other.download(at)?.0),
                        tolerance: Tolerance::relative(*relative),
                        exact: *relative == 0.0,
                    };
                    Ok((place(&buffer.name)?, expected))
                })
                .collect()
        }
    }
}

/// Compares every output with what it must be; the first wrong one ends the step. Returns the
/// largest error and the time of the copies.
fn check(
    prepared: &Prepared,
    plan: &Plan,
    expected: &[(usize, Expected)],
) -> Result<(f64, Duration)> {
    let (mut max_error, mut spent) = (0.0_f64, Duration::ZERO);
    for (index, expected) in expected {
        let buffer = &plan.buffers[*index];
        let (bytes, took) = prepared.download(*index)?;
        spent += took;
        let got = HostBuffer::from_bytes(buffer.dtype, &bytes);
        let comparison = problem::compare(&expected.values, &got, expected.tolerance)?;
        if let Some(complaint) = comparison.complaint(buffer) {
            return Err(Error::Kernel(format!("{}/{}: {complaint}", plan.ladder, plan.step)));
        }
        max_error = max_error.max(comparison.max_error);
    }
    Ok((max_error, spent))
}
