//! What is said of findings, whatever the form.

use crate::document::{Document, LaunchReport, RankedFinding};
use crate::report::words::number::place;

/// What ncu's own rules say of a finding's fault.
pub fn agreement(finding: &RankedFinding) -> String {
    let Some(ncu) = &finding.ncu else {
        return "has no word on it".to_owned();
    };
    match ncu.estimate_percent {
        Some(percent) => format!("names it too: {}", promise(&ncu.rule, percent, ncu.global)),
        None => format!("names it too, without an estimate: {}", ncu.rule),
    }
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
        (Some(answer), Some(other)) if answer != next => format!(
            "{answer} makes this change; on the way {next} takes away {}: {command}",
            other.rule
        ),
        (None, Some(other)) => format!("{next} takes away {}: {command}", other.rule),
        _ => format!("{next} makes this change: {command}"),
    })
}
