//! What is said of findings, whatever the form.

use crate::document::{Document, LaunchReport, NcuOnly, RankedFinding};
use crate::finding::Estimate;
use crate::report::words::number::place;

/// What ncu's own rules say of a finding's fault.
pub fn agreement(finding: &RankedFinding) -> String {
    let Some(ncu) = &finding.ncu else {
        return "has no rule that names this fault".to_owned();
    };
    match ncu.estimate_percent {
        Some(percent) => format!("names it too: {}", promise(&ncu.rule, percent, ncu.global)),
        None => format!("names it too, without an estimate: {}", ncu.rule),
    }
}

/// What ncu's rules promise and no finding of the launch says: a rule that is named beside a finding,
/// and one whose fault was found, stand there and not here.
pub fn ncu_alone(launch: &LaunchReport) -> Vec<&NcuOnly> {
    let found = |only: &NcuOnly| {
        launch.findings.iter().any(|finding| {
            finding.ncu.as_ref().is_some_and(|ncu| ncu.rule == only.rule)
                || only.faults.contains(&finding.rule)
        })
    };
    launch.ncu_only.iter().filter(|only| !found(only)).collect()
}

/// ncu's promise in words: `CPIStall, 30% of the time`.
pub fn promise(rule: &str, percent: f64, global: bool) -> String {
    let of = if global { "of the time" } else { "of one unit's efficiency" };
    format!("{rule}, {percent:.0}% {of}")
}

/// The verdict's launch and finding.
pub fn verdict(document: &Document) -> Option<(&LaunchReport, &RankedFinding)> {
    let verdict = document.verdict.as_ref()?;
    let launch = document.launches.get(verdict.launch)?;
    let finding = launch.findings.iter().find(|finding| finding.rule == verdict.rule)?;
    Some((launch, finding))
}

/// The way that the workflow goes: bottleneck, section, rule, line.
pub fn chain(launch: &LaunchReport, finding: &RankedFinding) -> String {
    let mut steps = vec![launch.bound.word().to_owned()];
    if !finding.section.is_empty() {
        steps.push(finding.section.clone());
    }
    steps.push(finding.rule.clone());
    steps.extend(finding.locations.first().map(place));
    steps.join(" → ")
}

/// The ladder's step that makes the change, and how to run the one that comes next.
pub fn next_step(document: &Document) -> Option<String> {
    let next = document.next_step.as_deref()?;
    let ladder = document.step.as_ref().map(|step| step.ladder.as_str());
    let command = match ladder {
        None | Some("ado") => format!("adoprof step --kernel {next}"),
        Some(ladder) => format!("adoprof step --kernel {ladder}/{next}"),
    };
    let (launch, finding) = verdict(document)?;
    let answers = launch.findings.iter().find(|f| f.answered_by.as_deref() == Some(next));
    Some(match (finding.answered_by.as_deref(), answers) {
        (Some(answer), Some(_)) if answer != next => {
            format!("{command} ({answer} makes this change)")
        }
        (None, Some(_)) => format!("{command} (for another fault)"),
        _ => format!("{command} makes this change"),
    })
}

/// The verdict's estimate over the whole step's time.
pub fn whole_step_estimate(document: &Document) -> Option<Estimate> {
    let (launch, finding) = verdict(document)?;
    over_all_launches(document, launch, finding)
}

/// A finding's estimate over the whole step's time.
pub fn over_all_launches(
    document: &Document,
    launch: &LaunchReport,
    finding: &RankedFinding,
) -> Option<Estimate> {
    let gain = finding.estimated_speedup?;
    Some(document.over_all_launches(launch, &gain))
}
