//! A step and its variants on the device.

use std::time::Duration;

use super::{counts, yardstick};
use crate::cli::LimiterArgs;
use crate::cmd::shared::chosen_step::ChosenStep;
use crate::cmd::shared::live_step::refuse_long;
use crate::cmd::shared::printer::Printer;
use crate::document::SCHEMA;
use crate::error::{Error, Result};
use crate::launch::{Companion, Device, Prepared, Repetitions, Residency};
use crate::limiter::{
    DeviceFigures, Entrant, Growth, LimiterDocument, VariantTime, balance, in_flight, throughput,
};
use crate::plan::Plan;
use crate::progress::Progress;
use crate::timed_run;
use crate::timing::{StepInfo, Timing};

/// Runs of the step beside those that are timed in turn: one that checks the answer, and ten.
const RUNS_ALONE: u32 = 11;
/// Rounds of all entrants at least, and the warming run of each.
const RUNS_IN_TURN: u32 = 4;

/// Runs a step and its variants.
///
/// # Errors
/// A step that fails, is wrong or takes too long; a variant that does not compile or launch.
pub(super) fn run(
    device: &Device,
    chosen: &ChosenStep,
    args: &LimiterArgs,
    printer: &Printer,
) -> Result<LimiterDocument> {
    let progress = printer.progress();
    let plan = chosen.ladder.plan(chosen.step.name(), chosen.size, device.sm_count)?;
    let mut notices = plan.notices.clone();
    let mut prepared = Prepared::new(device, plan.clone(), args.timeout)?;
    let info = verified(device, &mut prepared, chosen, args.timeout, &progress)?;
    let figures = figures(device);

    let own = prepared.residencies()?;
    let main = main_launch(&plan);
    let mut entrants = Vec::new();
    let mut residencies = Vec::new();
    for variant in chosen.step.variants() {
        progress.stage(format!("{}: compiling {}", plan.step, variant.name()));
        let (companion, fill) = variant_of(device, &prepared, chosen, variant.name(), &own)?;
        entrants.push(companion);
        residencies.push(fill);
    }
    let half = half(device, &prepared, chosen)?;
    let all: Vec<&Companion> =
        entrants.iter().chain(half.iter().map(|(_, companion)| companion)).collect();
    let times = prepared.time_in_turn(device, &all, &Repetitions::default(), |round| {
        progress.stage(format!("{}: timing all in turn, round {round}", plan.step));
    })?;
    let Some((full_time, times)) = times.split_first() else {
        return Err(Error::Kernel(format!("{}: nothing was timed", plan.step)));
    };
    let full = entrant(*full_time, &own, main);

    progress.stage(format!("{}: timing a copy at its occupancy", plan.step));
    let copies = yardstick::copies(device, &plan, full, args.timeout).unwrap_or_else(|error| {
        notices.push(format!("no copy was timed at the kernel's occupancy: {error}"));
        Vec::new()
    });
    let profile = yardstick::profile(chosen, device, &mut notices);
    let rates = throughput(
        full_time.median,
        plan.bytes as f64,
        profile.as_ref().and_then(|profile| profile.bytes),
        &figures,
        info.copy_bytes_per_s,
    );
    let mut variants: Vec<VariantTime> = chosen
        .step
        .variants()
        .iter()
        .zip(times.iter().zip(&residencies))
        .map(|(variant, (time, fill))| VariantTime {
            name: variant.name().to_owned(),
            kind: variant.kind(),
            title: variant.title().to_owned(),
            removes: variant.removes().to_vec(),
            entrant: entrant(*time, fill, main),
            factor: full_time.median / time.median.max(1.0),
            accesses: None,
        })
        .collect();
    if args.check_counts
        && let Err(error) = counts::count(device, chosen, args, &mut variants, &progress)
    {
        notices.push(format!("global accesses were not counted: {error}"));
    }
    let document = LimiterDocument {
        schema: SCHEMA.to_owned(),
        adoprof: crate::document::Version::default(),
        step: info,
        date: jiff::Zoned::now().strftime("%Y-%m-%d").to_string(),
        verdict: None,
        balance: profile.as_ref().and_then(|profile| {
            let (instructions, bytes) = profile.instructions.zip(profile.bytes)?;
            balance(instructions, bytes, &figures, rates.reachable_bytes_per_s)
        }),
        in_flight: in_flight(&rates, &figures, full.threads_per_sm()),
        device: figures,
        full,
        variants,
        throughput: rates,
        copies,
        growth: half.and_then(|(parameter, companion)| {
            growth(parameter, &plan, companion.plan(), full_time, times.last()?)
        }),
        profile_bound: profile.as_ref().map(|profile| profile.bound),
        profile_unit: profile.and_then(|profile| profile.busiest),
        conclusions: Vec::new(),
        notices,
    };
    Ok(document.concluded())
}

/// Checks the step's answer and times it by itself.
fn verified(
    device: &Device,
    prepared: &mut Prepared,
    chosen: &ChosenStep,
    limit: Duration,
    progress: &Progress,
) -> Result<StepInfo> {
    progress.stage(format!("{}: filling the inputs", chosen.step.name()));
    let inputs = timed_run::inputs(prepared.plan())?;
    let uploading = timed_run::upload(prepared, &inputs)?;
    let in_turn = RUNS_IN_TURN * (chosen.step.variants().len() as u32 + 2);
    refuse_long(device, prepared, chosen.ladder, RUNS_ALONE + in_turn, limit)?;
    let options = timed_run::Options { limit, cpu: false, copy_rate: true };
    let info =
        timed_run::verify_and_time(device, prepared, &inputs, uploading, &options, progress)?;
    timed_run::upload_state(prepared, &inputs)?;
    Ok(info)
}

/// A variant, loaded, as full an SM as the step's launches make, and run once.
fn variant_of(
    device: &Device,
    prepared: &Prepared,
    chosen: &ChosenStep,
    name: &str,
    own: &[Residency],
) -> Result<(Companion, Vec<Residency>)> {
    let of = |error| match error {
        Error::Kernel(problem) => Error::Kernel(format!("variant `{name}`: {problem}")),
        other => other,
    };
    let plan =
        chosen.ladder.variant_plan(chosen.step.name(), name, chosen.size, device.sm_count)?;
    let mut companion = prepared.companion(device, plan).map_err(of)?;
    let fill = companion.match_occupancy(device, own).map_err(of)?;
    prepared.run_companion(&companion).map_err(of)?;
    Ok((companion, fill))
}

/// The step at half of the ladder's first parameter, on the same memory; `None` where there is no
/// such problem.
fn half(
    device: &Device,
    prepared: &Prepared,
    chosen: &ChosenStep,
) -> Result<Option<(String, Companion)>> {
    let Some((name, _)) = chosen.ladder.parameters().first() else { return Ok(None) };
    let mut size = prepared.plan().size.clone();
    let Some(value) = size.get_mut(name).filter(|value| **value >= 2) else { return Ok(None) };
    *value /= 2;
    // A size that the step can't run at, or that lays memory out larger, tells nothing.
    let Ok(plan) = chosen.ladder.plan(chosen.step.name(), &size, device.sm_count) else {
        return Ok(None);
    };
    let Ok(companion) = prepared.companion(device, plan) else { return Ok(None) };
    prepared.run_companion(&companion)?;
    Ok(Some((name.clone(), companion)))
}

fn growth(
    parameter: String,
    full: &Plan,
    half: &Plan,
    full_time: &Timing,
    half_time: &Timing,
) -> Option<Growth> {
    let value = |plan: &Plan| plan.size.get(&parameter).copied();
    let (from, to) = (value(half)?, value(full)?);
    (half.metric.work > 0.0 && half_time.median > 0.0).then(|| Growth {
        from,
        to,
        work_ratio: full.metric.work / half.metric.work,
        time_ratio: full_time.median / half_time.median,
        parameter,
    })
}

/// The launch with the most threads: the step's occupancy is its.
fn main_launch(plan: &Plan) -> usize {
    let threads = |at: &usize| {
        let launch = &plan.launches[*at];
        launch.grid.iter().chain(&launch.block).map(|extent| u128::from(*extent)).product::<u128>()
    };
    // The first of equals.
    (0..plan.launches.len()).rev().max_by_key(threads).unwrap_or(0)
}

fn entrant(time_ns: Timing, fill: &[Residency], main: usize) -> Entrant {
    let launch = fill.get(main).or(fill.last());
    Entrant {
        time_ns,
        blocks: launch.map_or(0, |launch| launch.blocks),
        threads_per_block: launch.map_or(0, |launch| launch.threads_per_block),
        blocks_per_sm: launch.map_or(0, |launch| launch.blocks_per_sm),
        added_shared_bytes: launch.map_or(0, |launch| launch.added_shared_bytes),
    }
}

fn figures(device: &Device) -> DeviceFigures {
    DeviceFigures {
        name: device.name.clone(),
        compute_capability: device.compute_capability,
        sm_count: device.sm_count,
        clock_hz: device.clock_hz(),
        peak_bytes_per_s: device.peak_bytes_per_s(),
    }
}
