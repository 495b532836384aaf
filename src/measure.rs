//! A plan on a device: checked against its reference, then timed without the profiler.

use std::time::Duration;

use crate::document::{Rate, StepInfo, Timing};
use crate::error::{Error, Result};
use crate::ladder::plan::{Check, Plan, Role};
use crate::launch::{Device, Prepared, Repetitions};
use crate::problem::fill::Inputs;
use crate::problem::{self, Comparison, Expected, HostBuffer};
use crate::progress::Progress;
use crate::text;

/// The seed of every fill: runs on different days and machines see the same inputs.
pub const SEED: u64 = 1;

/// What to do beside verifying and timing.
#[derive(Debug, Clone, Copy)]
pub struct Options {
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
pub fn inputs(plan: &Plan) -> Result<Inputs> {
    problem::fill::inputs(plan, SEED)
}

/// Copies inputs and state to the device. Returns the time of the copies of inputs.
///
/// # Errors
/// As [`Prepared::upload`].
pub fn upload(prepared: &mut Prepared, inputs: &Inputs) -> Result<Duration> {
    let mut spent = Duration::ZERO;
    for index in 0..prepared.plan().buffers.len() {
        let buffer = &prepared.plan().buffers[index];
        let (name, role) = (buffer.name.clone(), buffer.role);
        let Some(values) = inputs.get(&name) else { continue };
        let took = prepared.upload(index, values.as_bytes())?;
        if role == Role::Input {
            spent += took;
        }
    }
    Ok(spent)
}

/// Verifies and times a plan. The device holds the inputs afterwards.
///
/// # Errors
/// [`Error::Kernel`] where the answer is wrong or a launch fails; whatever the launcher gives.
pub fn measure(
    device: &Device,
    prepared: &mut Prepared,
    inputs: &Inputs,
    options: &Options,
    progress: &Progress,
) -> Result<StepInfo> {
    let plan = prepared.plan().clone();
    progress.stage(format!("{}: copying inputs to the device", plan.step));
    let up = upload(prepared, inputs)?;
    let expected = expected(device, &plan, inputs, options.limit, progress)?;
    progress.stage(format!("{}: running and checking the answer", plan.step));
    prepared.poison()?;
    prepared.run()?;
    let (comparison, down) = check(prepared, &plan, &expected)?;
    let timing = prepared.time(device, &Repetitions::default(), |done| {
        progress.stage(format!("{}: timing, repetition {done}", plan.step));
    })?;
    let cpu = if options.cpu {
        progress.stage(format!("{}: timing the CPU references", plan.step));
        problem::reference::cpu_times(&plan, inputs)?
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
        max_error: comparison.max_error,
        total_ns: Some(timing.median + (up + down).as_nanos() as f64),
        rate: Some(rate(&plan, &timing)),
        time_ns: timing,
        bytes: plan.bytes,
        flops: plan.flops,
        cpu,
        copy_bytes_per_s,
        recorded: None,
    })
}

fn rate(plan: &Plan, timing: &Timing) -> Rate {
    Rate { value: plan.metric.work / timing.median.max(1.0), unit: plan.metric.unit.clone() }
}

/// What the step's outputs must be, output by output.
fn expected(
    device: &Device,
    plan: &Plan,
    inputs: &Inputs,
    limit: Duration,
    progress: &Progress,
) -> Result<Vec<(usize, Expected)>> {
    let outputs: Vec<usize> = (0..plan.buffers.len())
        .filter(|&index| plan.buffers[index].role == Role::Output)
        .collect();
    match &plan.check {
        Check::Reference => Ok(Vec::new()),
        Check::Builtin(name) => {
            progress.stage(format!("{}: computing the answer on the CPU", plan.step));
            let expected = problem::reference::run(name, plan, inputs)?;
            Ok(outputs.into_iter().take(1).map(|index| (index, expected.clone())).collect())
        }
        Check::Step { plan: reference, relative } => {
            progress.stage(format!("{}: running {} for comparison", plan.step, reference.step));
            let mut other = Prepared::new(device, (**reference).clone(), limit)?;
            upload(&mut other, inputs)?;
            other.poison()?;
            other.run()?;
            outputs
                .into_iter()
                .map(|index| {
                    let name = &plan.buffers[index].name;
                    let at = reference.buffers.iter().position(|buffer| buffer.name == *name);
                    let at = at.ok_or_else(|| {
                        Error::Usage(format!("{} has no output `{name}`", reference.step))
                    })?;
                    let (bytes, _) = other.download(at)?;
                    let dtype = reference.buffers[at].dtype;
                    let values = HostBuffer::from_bytes(dtype, &bytes);
                    Ok((index, Expected::within(values, *relative)))
                })
                .collect()
        }
    }
}

/// Compares every output with what it must be; the first mismatch ends the step.
fn check(
    prepared: &Prepared,
    plan: &Plan,
    expected: &[(usize, Expected)],
) -> Result<(Comparison, Duration)> {
    let mut worst = Comparison::default();
    let mut spent = Duration::ZERO;
    for (index, expected) in expected {
        let buffer = &plan.buffers[*index];
        let (bytes, took) = prepared.download(*index)?;
        spent += took;
        let got = HostBuffer::from_bytes(buffer.dtype, &bytes);
        let comparison = problem::compare(&expected.values, &got, expected.tolerance);
        if let Some(first) = &comparison.first_mismatch {
            return Err(Error::Kernel(format!(
                "{}/{}: wrong answer: {}[{}] is {}, expected {} ({}); {} of {} elements are wrong",
                plan.ladder,
                plan.step,
                buffer.name,
                problem::compare::coordinates(first.index, &buffer.shape),
                first.got,
                first.expected,
                expected.tolerance,
                text::count(comparison.mismatches as f64),
                text::count(buffer.elements() as f64),
            )));
        }
        if comparison.max_error > worst.max_error {
            worst = comparison;
        }
    }
    Ok((worst, spent))
}
