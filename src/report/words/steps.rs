//! A ladder's run as rows: each step's time, gain and hint, and what the next step made of it.

use crate::document::{Document, RankedFinding, RunDocument, is_roof};
use crate::finding::{Bound, Estimate};
use crate::timing::StepInfo;

use crate::report::words::finding::{over_all_launches, verdict, whole_step_estimate};

/// A fault counts as reduced when what it costs fell to less than this share: the estimates of
/// both steps are off by some tenths, so smaller changes say nothing.
const REDUCED: f64 = 0.5;

/// One step of the run.
#[derive(Debug, Clone)]
pub(crate) struct Row<'a> {
    /// The step.
    pub step: &'a StepInfo,
    /// The UUID of the device on which it ran, where the steps were spread over several.
    pub device: Option<&'a str>,
    /// Main steps follow one another; a branch (`v2-shuffle` beside `v2`) varies its main step.
    pub branch: bool,
    /// Gain over the main step before.
    pub over_previous: Option<Gain>,
    /// Gain over the first step.
    pub over_first: Option<Gain>,
    /// What bounds the step's verdict launch, or its longest one.
    pub bound: Option<Bound>,
    /// The verdict's finding.
    pub finding: Option<&'a RankedFinding>,
    /// What removing it would gain of the whole step's time.
    pub estimate: Option<Estimate>,
    /// What the next main step made of it.
    pub outcome: Option<Outcome<'a>>,
}

/// A measured gain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Gain {
    /// Time before over time now.
    pub factor: f64,
    /// True where the problem sizes differ, so that rates were compared instead of times.
    pub by_rate: bool,
}

/// What the next main step did.
#[derive(Debug, Clone)]
pub(crate) struct Outcome<'a> {
    /// The next main step.
    pub next: &'a StepInfo,
    /// Its gain over this step.
    pub gained: Option<Gain>,
    /// The finding of this step that the next one is there to take away, with its estimate over the
    /// whole step's time: what the gain is measured against.
    pub answered: Option<(&'a RankedFinding, Estimate)>,
    /// What became of the verdict's fault.
    pub fault: Option<Fate>,
    /// Findings of this step that the next one has no more.
    pub gone: Vec<&'a str>,
    /// Findings that the next step has and this one has not.
    pub come: Vec<&'a str>,
}

/// What became of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// No launch of the next step has it.
    Gone,
    /// It costs less than half as much.
    Reduced,
    /// It is still there.
    Kept,
}

impl Fate {
    /// The word in tables.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Gone => "gone",
            Self::Reduced => "reduced",
            Self::Kept => "kept",
        }
    }
}

impl Outcome<'_> {
    /// True where the measured gain lies within the range of what was promised.
    pub(crate) fn inside(&self) -> Option<bool> {
        let factor = self.gained?.factor;
        let (_, promised) = self.answered.as_ref()?;
        Some((promised.low..=promised.high).contains(&factor))
    }
}

/// The rows of a run, in its order. Documents without a step are left out: a ladder has none.
pub(crate) fn rows(run: &RunDocument) -> Vec<Row<'_>> {
    let steps: Vec<(&Document, &StepInfo)> =
        run.steps.iter().filter_map(|document| Some((document, document.step.as_ref()?))).collect();
    let branch = |step: &StepInfo| {
        steps.iter().any(|(_, other)| {
            step.name.strip_prefix(&other.name).is_some_and(|rest| rest.starts_with('-'))
        })
    };
    let mut rows = Vec::with_capacity(steps.len());
    let mut previous: Option<&StepInfo> = None;
    for (at, &(document, step)) in steps.iter().enumerate() {
        let is_branch = branch(step);
        let next = steps[at + 1..].iter().find(|(_, other)| !is_branch && !branch(other));
        let found = verdict(document);
        let launch = found.map(|(launch, _)| launch).or_else(|| document.launches.first());
        rows.push(Row {
            step,
            device: document.device.as_deref(),
            branch: is_branch,
            over_previous: previous.and_then(|before| gain(before, step)),
            over_first: (at > 0).then(|| gain(steps[0].1, step)).flatten(),
            bound: launch.map(|launch| launch.bound),
            finding: found.map(|(_, finding)| finding),
            estimate: whole_step_estimate(document),
            outcome: next.map(|&(next, info)| outcome(document, step, next, info)),
        });
        if !is_branch {
            previous = Some(step);
        }
    }
    rows
}

/// The gain from one step to another: times where the sizes agree, otherwise rates in one unit.
fn gain(before: &StepInfo, now: &StepInfo) -> Option<Gain> {
    let factor = |a: f64, b: f64| (a > 0.0 && b > 0.0).then(|| a / b);
    if before.size == now.size {
        let factor = factor(before.time_ns.median, now.time_ns.median)?;
        return Some(Gain { factor, by_rate: false });
    }
    let (before, now) = (before.rate.as_ref()?, now.rate.as_ref()?);
    if before.unit != now.unit {
        return None;
    }
    Some(Gain { factor: factor(now.value, before.value)?, by_rate: true })
}

/// The finding that a step answers, the largest gain where there are several.
fn answered<'a>(document: &'a Document, step: &str) -> Option<(&'a RankedFinding, Estimate)> {
    document
        .launches
        .iter()
        .flat_map(|launch| &launch.findings)
        .filter(|finding| finding.answered_by.as_deref() == Some(step))
        .filter_map(|finding| Some((finding, over_all_launches(document, &finding.rule)?)))
        .max_by(|a, b| a.1.factor.total_cmp(&b.1.factor))
}

/// The time that a fault costs over all launches, as a share of the whole; `None` without it.
fn cost(document: &Document, rule: &str) -> Option<f64> {
    let single = document.launches.len() == 1;
    document
        .launches
        .iter()
        .flat_map(|launch| launch.findings.iter().map(move |finding| (launch, finding)))
        .filter(|(_, finding)| finding.rule == rule)
        .map(|(launch, finding)| {
            let share = if single { 1.0 } else { launch.time_share };
            share * finding.estimated_speedup.map_or(0.0, |gain| 1.0 - 1.0 / gain.factor)
        })
        .reduce(|a, b| a + b)
}

fn outcome<'a>(
    document: &'a Document,
    step: &StepInfo,
    next: &'a Document,
    info: &'a StepInfo,
) -> Outcome<'a> {
    let gained = gain(step, info);
    let fault =
        document.verdict.as_ref().filter(|verdict| !is_roof(&verdict.rule)).map(|verdict| {
            // Shares of different times: the next step's is put in this step's time.
            let now = gained.map_or(1.0, |gain| 1.0 / gain.factor);
            match (cost(document, &verdict.rule), cost(next, &verdict.rule)) {
                (_, None) => Fate::Gone,
                (Some(before), Some(after)) if after * now < REDUCED * before => Fate::Reduced,
                _ => Fate::Kept,
            }
        });
    let (before, after) = (document.rules_found(), next.rules_found());
    Outcome {
        next: info,
        gained,
        answered: answered(document, &info.name),
        fault,
        gone: before.iter().copied().filter(|rule| !after.contains(rule)).collect(),
        come: after.iter().copied().filter(|rule| !before.contains(rule)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn gains_are_over_the_main_steps() {
        let run = samples::run();
        let rows = rows(&run);
        // v1 (N = 16) 0.01 GB/s·…: see the sample's rates; v2 10 ms, v2-shuffle 8 ms, v3 5 ms.
        let factors: Vec<_> = rows.iter().map(|row| row.over_previous).collect();
        assert_eq!(factors[0], None);
        assert_eq!(factors[1], Some(Gain { factor: 160.0, by_rate: true }));
        assert_eq!(factors[2], Some(Gain { factor: 1.25, by_rate: false }));
        assert_eq!(factors[3], Some(Gain { factor: 2.0, by_rate: false }));
        assert!(rows[2].branch && rows[2].outcome.is_none());
    }

    #[test]
    fn the_next_main_step_removed_the_fault() {
        let run = samples::run();
        let rows = rows(&run);
        let outcome = rows[1].outcome.as_ref().expect("v3 follows v2");
        assert_eq!(outcome.next.name, "v3");
        assert_eq!(outcome.fault, Some(Fate::Gone));
        assert_eq!(outcome.gone, ["uncoalesced-global-access"]);
        assert_eq!(outcome.come, ["at-memory-roof"]);
        // 1.5 to 2.1 holds the measured 2.
        assert_eq!(outcome.inside(), Some(true));
        assert!(rows[3].outcome.is_none(), "nothing follows v3");
    }

    #[test]
    fn a_fault_that_costs_a_quarter_as_much_is_reduced() {
        let mut run = samples::run();
        // Factor 2 costs half of 10 ms; factor 1.25 costs a fifth of 5 ms: 1 of 5 ms is left.
        let fault = &run.steps[1].launches[0].findings[0];
        let mut left = fault.clone();
        left.estimated_speedup = Some(Estimate { factor: 1.25, low: 1.1, high: 1.4 });
        run.steps[1].launches[0].findings[0].estimated_speedup =
            Some(Estimate { factor: 2.0, low: 1.5, high: 2.1 });
        run.steps[3].launches[0].findings.push(left);
        let fate =
            |run: &RunDocument| rows(run)[1].outcome.as_ref().and_then(|outcome| outcome.fault);
        assert_eq!(fate(&run), Some(Fate::Reduced));
        // Factor 5 costs 4 of 5 ms: as good as before.
        let kept = &mut run.steps[3].launches[0].findings[1];
        kept.estimated_speedup = Some(Estimate { factor: 5.0, low: 4.0, high: 6.0 });
        assert_eq!(fate(&run), Some(Fate::Kept));
    }

    #[test]
    fn one_of_several_launches_gains_by_its_share() {
        let document = samples::program();
        // The verdict's launch has half of the time and factor 2: three quarters are left.
        let whole = whole_step_estimate(&document).expect("an estimate");
        assert!((whole.factor - 4.0 / 3.0).abs() < 1e-12, "{}", whole.factor);
    }
}
