//! Two steps in turn on the device, and their profiles where something is to be explained.

use std::time::Duration;

use super::{MAX_TIME, collected, explain};
use crate::cli::{CheckArgs, ProfilingArgs};
use crate::cmd::shared::chosen_step::ChosenStep;
use crate::cmd::shared::in_turn::{Request, compare};
use crate::cmd::shared::live_step::{self, LiveStep, refuse_long};
use crate::cmd::shared::printer::Printer;
use crate::error::{Error, Result};
use crate::gate::{CheckDocument, Difference, Timed, Verdict, clock_reader};
use crate::launch::{Candidate, Device, Prepared, median_and_range};
use crate::ncu::{Level, Via};
use crate::plan::Plan;
use crate::profile::Profile;
use crate::progress::Progress;
use crate::timed_run;

/// Runs of each step at least: one that is checked, the warm-up, and four quartets.
const LEAST_RUNS: u32 = 12;
/// Reading the clock takes microseconds.
const CLOCK_LIMIT: Duration = Duration::from_secs(20);

/// Checks a step against another, both run now.
///
/// # Errors
/// No device, a step that fails or is wrong.
pub(super) fn check(
    args: &CheckArgs,
    names: [&str; 2],
    [base, new]: [ChosenStep; 2],
    printer: &Printer,
) -> Result<CheckDocument> {
    let timed = if args.no_time { Timed::NotAtAll } else { Timed::InTurn };
    let mut document = CheckDocument::new(names[0].to_owned(), names[1].to_owned(), timed);
    let device = Device::open(args.device)?;
    let plans = [plan(&device, &base)?, plan(&device, &new)?];
    document.unlike = unlike(&base, &new, &plans);
    document.forced = args.force && !document.unlike.is_empty();
    if document.is_refused() {
        return Ok(document);
    }
    if timed == Timed::InTurn {
        let progress = printer.progress();
        times(&mut document, args, &device, [&base, &new], plans, &progress)?;
    }
    let is_slower =
        document.comparison.as_ref().is_some_and(|found| found.verdict == Verdict::Slower);
    if !args.no_profile && (is_slower || !args.fail_on.is_empty()) {
        match profiles(args, &device, [base, new], printer) {
            Ok([base, new]) => {
                explain(&mut document, &base, &new, args)?;
                document.notices.extend(collected::refused(&args.fail_on, &document.gates));
            }
            Err(error @ (Error::Environment(_) | Error::Usage(_))) if args.fail_on.is_empty() => {
                document.notices.push(format!("what changed could not be profiled: {error}"));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(document)
}

fn plan(device: &Device, step: &ChosenStep) -> Result<Plan> {
    step.ladder.plan(step.step.name(), step.size, device.sm_count)
}

/// What makes two steps unlike that run on one device: another problem, or for one step other flags.
fn unlike(base: &ChosenStep, new: &ChosenStep, [before, after]: &[Plan; 2]) -> Vec<Difference> {
    let words = crate::text::assignments;
    let mut pairs = vec![
        ("problem", base.ladder.name().to_owned(), new.ladder.name().to_owned()),
        ("size", words(&before.size, " "), words(&after.size, " ")),
    ];
    if base.step.name() == new.step.name() {
        let flags = |plan: &Plan| {
            if plan.flags.is_empty() { "none".to_owned() } else { plan.flags.join(" ") }
        };
        pairs.push(("build flags", flags(before), flags(after)));
    }
    pairs
        .into_iter()
        .filter(|(_, base, new)| base != new)
        .map(|(what, base, new)| Difference { what: what.to_owned(), base, new })
        .collect()
}

/// Checks both answers, then runs both in turn.
fn times(
    document: &mut CheckDocument,
    args: &CheckArgs,
    device: &Device,
    [base, new]: [&ChosenStep; 2],
    [base_plan, new_plan]: [Plan; 2],
    progress: &Progress,
) -> Result<()> {
    for notice in base_plan.notices.iter().chain(&new_plan.notices) {
        if !document.notices.contains(notice) {
            document.notices.push(notice.clone());
        }
    }
    // On the same memory where that is possible: where it lies can make a difference of its own.
    let shares = new_plan.buffers.iter().all(|buffer| base_plan.buffers.contains(buffer));
    let own = verified(device, new, new_plan.clone(), args, progress)?;
    let own = if shares { None } else { Some(own) };
    let prepared = verified(device, base, base_plan, args, progress)?;
    let companion = match &own {
        None => Some(prepared.companion(device, new_plan)?),
        Some(_) => None,
    };
    let candidate = match (&own, &companion) {
        (Some(own), _) => Candidate::Own(own),
        (None, Some(companion)) => Candidate::Companion(companion),
        (None, None) => return Err(Error::Usage("there is no candidate".to_owned())),
    };
    let clock = Prepared::new(device, clock_reader(), CLOCK_LIMIT)?;
    let max_time = args.max_time.unwrap_or(MAX_TIME);
    let request = Request { max_slowdown: args.max_slowdown, max_time };
    let found = compare(device, &prepared, candidate, Some(&clock), request, |runs| {
        progress.stage(format!("running both in turn, {runs} times each so far"));
    })?;
    document.base_ns = Some(median_and_range(&found.base_ns));
    document.new_ns = Some(median_and_range(&found.new_ns));
    if found.comparison.is_none() {
        document.notices.push(format!(
            "{} runs of each are too few to be judged: allow more than {:.0} s with --max-time, or make the \
             problem smaller with --size",
            found.base_ns.len(),
            max_time.as_secs_f64()
        ));
    }
    document.comparison = found.comparison;
    Ok(())
}

/// A step with its inputs on the device and its answer checked.
fn verified(
    device: &Device,
    step: &ChosenStep,
    plan: Plan,
    args: &CheckArgs,
    progress: &Progress,
) -> Result<Prepared> {
    progress.stage(format!("{}: compiling", plan.step));
    let mut prepared = Prepared::new(device, plan, args.timeout)?;
    let inputs = timed_run::inputs(prepared.plan())?;
    progress.stage(format!("{}: copying inputs to the device", step.step.name()));
    timed_run::upload(&mut prepared, &inputs)?;
    refuse_long(device, &mut prepared, step.ladder, LEAST_RUNS, args.timeout)?;
    timed_run::verify(device, &mut prepared, &inputs, args.timeout, progress)?;
    timed_run::upload_state(&mut prepared, &inputs)?;
    Ok(prepared)
}

/// Profiles both steps now.
fn profiles(
    args: &CheckArgs,
    device: &Device,
    steps: [ChosenStep; 2],
    printer: &Printer,
) -> Result<[Profile; 2]> {
    let profiling = ProfilingArgs {
        device: args.device,
        ncu: args.ncu.clone(),
        ncu_args: collected::ncu_args(&args.fail_on, args.ncu_args.as_deref()),
        collect: Level::Auto,
        section: Vec::new(),
        metrics: Vec::new(),
        via: Via::Report,
        timeout: args.timeout,
        dry_run: false,
        output: None,
    };
    let profile = |chosen| {
        let profiling = &profiling;
        let live = LiveStep { chosen, profiling, cpu: false, time_only: false, output: None };
        let outcome = live_step::run(device, &live, printer)?;
        match outcome.unprofiled {
            Some(error) => Err(error),
            None => Ok(outcome.profile),
        }
    };
    let [base, new] = steps;
    Ok([profile(base)?, profile(new)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::{Ladder, Overrides};

    /// What is unlike in two steps of built-in ladders, the flags of the second as given.
    fn found(base: (&str, &str), new: (&str, &str), flags: &[&str]) -> Vec<String> {
        let ladders = [Ladder::builtin(base.0).unwrap(), Ladder::builtin(new.0).unwrap()];
        let size = Overrides::new();
        let chosen = |at: usize, name: &str| ChosenStep {
            ladder: &ladders[at],
            ladder_argument: "",
            step: ladders[at].step(name).unwrap(),
            size: &size,
        };
        let steps = [chosen(0, base.1), chosen(1, new.1)];
        let mut plans =
            [(0, base.1), (1, new.1)].map(|(at, name)| ladders[at].plan(name, &size, 132).unwrap());
        plans[1].flags.extend(flags.iter().map(|flag| (*flag).to_owned()));
        unlike(&steps[0], &steps[1], &plans).into_iter().map(|one| one.what).collect()
    }

    #[test]
    fn other_problems_and_other_flags_of_one_step_are_unlike() {
        assert!(found(("ado", "v2"), ("ado", "v3"), &[]).is_empty());
        assert_eq!(found(("ado", "v2"), ("reduce", "r2"), &[]), ["problem", "size"]);
        assert_eq!(found(("ado", "v2"), ("ado", "v2"), &["-G"]), ["build flags"]);
        // Of two steps the flags are part of what changed.
        assert!(found(("ado", "v2"), ("ado", "v3"), &["--use_fast_math"]).is_empty());
    }
}
