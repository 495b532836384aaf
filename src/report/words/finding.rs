//! What is said of findings, whatever the form.

use std::collections::BTreeMap;

use crate::document::{Document, LaunchReport, NcuOnly, ProgramFinding, RankedFinding};
use crate::finding::{Estimate, Location, Name};
use crate::ladder;
use crate::report::words::number::place;
use crate::text::percent;

/// What ncu's own rules say of a finding's fault.
pub(crate) fn agreement(finding: &RankedFinding) -> String {
    let Some(ncu) = &finding.ncu else {
        return "no rule names this fault".to_owned();
    };
    match ncu.estimate_percent {
        Some(percent) => format!("also named by {}", promise(&ncu.rule, percent, ncu.global)),
        None => format!("also named by {}, without an estimate", ncu.rule),
    }
}

/// What ncu's rules promise and no finding of the launch says: a rule that is named beside a finding,
/// and one whose fault was found, stand there and not here. What one rule promises twice for the same reason, as of the
/// SMs and of the slices of L2, stands here once, with the larger promise.
pub(crate) fn ncu_alone(launch: &LaunchReport) -> Vec<&NcuOnly> {
    let found = |only: &NcuOnly| {
        launch.findings.iter().any(|finding| {
            finding.ncu.as_ref().is_some_and(|ncu| ncu.rule == only.rule)
                || only.faults.contains(&finding.rule)
        })
    };
    let mut alone: Vec<&NcuOnly> = Vec::new();
    for only in launch.ncu_only.iter().filter(|only| !found(only)) {
        let is_same = |known: &&NcuOnly| {
            (&known.rule, &known.reason, known.global) == (&only.rule, &only.reason, only.global)
        };
        if !alone.iter().any(is_same) {
            alone.push(only);
        }
    }
    alone
}

/// The rules that could not be checked for some launch, each once with the metrics that it lacks there.
pub(crate) fn unchecked(document: &Document) -> BTreeMap<&str, &[Name]> {
    let mut rules: BTreeMap<&str, &[Name]> = BTreeMap::new();
    for skipped in document.launches.iter().flat_map(|launch| &launch.skipped) {
        rules.entry(&skipped.rule).or_insert(&skipped.missing);
    }
    rules
}

/// ncu's promise in words: `CPIStall (estimate: 30% of the time)`.
pub(crate) fn promise(rule: &str, percent: f64, global: bool) -> String {
    format!("{rule} (estimate: {})", saving(percent, global))
}

/// What ncu's estimate stands for: time of the whole kernel, or work of one unit.
pub(crate) fn saving(percent: f64, global: bool) -> String {
    if global {
        format!("{percent:.0}% of the time")
    } else {
        format!("one unit {percent:.0}% more efficient")
    }
}

/// The verdict where it is a finding about the program.
pub(crate) fn program_verdict(document: &Document) -> Option<&ProgramFinding> {
    let verdict = document.verdict.as_ref().filter(|verdict| verdict.launch.is_none())?;
    let findings = &document.program.as_ref()?.findings;
    findings.iter().find(|finding| finding.rule == verdict.rule)
}

/// The verdict's launch and finding.
pub(crate) fn verdict(document: &Document) -> Option<(&LaunchReport, &RankedFinding)> {
    let verdict = document.verdict.as_ref()?;
    let launch = document.launches.get(verdict.launch?)?;
    let finding = launch.findings.iter().find(|finding| finding.rule == verdict.rule)?;
    Some((launch, finding))
}

/// The way that the workflow goes: bottleneck, section, rule, line.
pub(crate) fn chain(launch: &LaunchReport, finding: &RankedFinding) -> String {
    let mut steps = vec![launch.bound.word().to_owned()];
    if !finding.section.is_empty() {
        steps.push(finding.section.clone());
    }
    steps.push(finding.rule.clone());
    steps.extend(finding.locations.first().map(place));
    steps.join(" → ")
}

/// How much of what a place has: `85% of stall samples`; `None` where it stands for the whole launch.
pub(crate) fn weight(location: &Location) -> Option<String> {
    let share = percent(location.share);
    match location.share_of.as_str() {
        "launch" => None,
        "" => Some(format!("{share} of all")),
        of => Some(format!("{share} of {of}")),
    }
}

/// The command to go on with.
pub(crate) struct NextStep {
    /// As the user would type it.
    pub command: String,
    /// What it has to do with the verdict.
    pub about: String,
}

/// The ladder's next step, and whether it makes the verdict's change.
pub(crate) fn next_step(document: &Document) -> Option<NextStep> {
    let next = document.next_step.as_deref()?;
    let ladder = document.step.as_ref().map(|step| step.ladder.as_str());
    let command = match (&document.next_arguments, ladder) {
        (Some(arguments), _) => format!("adoprof step {arguments} --kernel {next}"),
        (None, None | Some(ladder::DEFAULT)) => format!("adoprof step --kernel {next}"),
        (None, Some(ladder)) => format!("adoprof step --kernel {ladder}/{next}"),
    };
    let (launch, finding) = verdict(document)?;
    let answers = launch.findings.iter().find(|f| f.answered_by.as_deref() == Some(next));
    let about = match (finding.answered_by.as_deref(), answers) {
        (Some(answer), Some(_)) if answer != next => format!(
            "the ladder's next step; {answer} makes this \
        change"
        ),
        (None, Some(_)) => "the ladder's next step, which removes another fault".to_owned(),
        _ => "makes this change".to_owned(),
    };
    Some(NextStep { command, about })
}

/// The verdict's estimate over the whole time: all launches with its fault count.
pub(crate) fn whole_step_estimate(document: &Document) -> Option<Estimate> {
    let (_, finding) = verdict(document)?;
    over_all_launches(document, &finding.rule)
}

/// A fault's estimate over the whole step's time: all launches with it count.
pub(crate) fn over_all_launches(document: &Document, rule: &str) -> Option<Estimate> {
    document.ranked().iter().find(|ranked| ranked.rule == rule)?.estimate
}
