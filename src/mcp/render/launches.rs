//! Launches with their findings.

use serde_json::Value;

use super::{dimensions, kernel, line, number};
use crate::document::{Document, LaunchReport, RankedFinding};
use crate::finding::Estimate;
use crate::text::{duration, percent};

/// Findings of a launch that are shown without being asked for.
const FEW: usize = 3;
/// Evidence of a finding that is shown without being asked for.
const FEW_FIGURES: usize = 6;

/// The documents of a result: one, or those of several profiles.
pub(super) fn documents(mut value: Value) -> Result<Vec<Document>, String> {
    let wrong = |error: serde_json::Error| format!("the result can't be read: {error}");
    match value.get_mut("profiles").map(Value::take) {
        Some(Value::Array(several)) => {
            several.into_iter().map(|one| serde_json::from_value(one).map_err(wrong)).collect()
        }
        _ => Ok(vec![serde_json::from_value(value).map_err(wrong)?]),
    }
}

/// What is known of launches; all, or one of them.
pub(super) fn blocks(
    document: &Document,
    only: Option<usize>,
    detail: bool,
) -> Result<Vec<String>, String> {
    let count = document.launches.len();
    if let Some(launch) = only.filter(|&launch| launch >= count) {
        return Err(format!(
            "there is no launch {launch}: the profile has {count}, numbered from 0"
        ));
    }
    let mut blocks = vec![head(document)];
    for (at, launch) in
        document.launches.iter().enumerate().filter(|(at, _)| only.is_none_or(|only| only == *at))
    {
        blocks.push(launch_head(at, launch));
        let shown = if detail || only.is_some() { launch.findings.len() } else { FEW };
        blocks.extend(
            launch.findings.iter().take(shown).map(|finding| self::finding(at, finding, detail)),
        );
        let more = launch.findings.len().saturating_sub(shown);
        if more > 0 {
            let names: Vec<&str> =
                launch.findings.iter().skip(shown).map(|one| one.rule.as_str()).collect();
            blocks.push(format!(
                "launch {at}: {more} more findings: {} (ask with \"launch\": {at})",
                names.join(", ")
            ));
        }
        if detail {
            let skipped = launch.skipped.iter();
            blocks.extend(skipped.map(|one| {
                format!(
                    "launch {at}: {} was not checked, because the profile lacks {}",
                    one.rule,
                    one.missing.join(", ")
                )
            }));
        }
    }
    Ok(blocks)
}

fn head(document: &Document) -> String {
    let mut text = match &document.step {
        Some(step) => format!("step {}/{}", line(&step.ladder), line(&step.name)),
        None => "profile".to_owned(),
    };
    text.extend([format!(" with {} launches", document.launches.len())]);
    if let Some(step) = &document.step {
        let time = &step.time_ns;
        text.extend([format!(
            "; time {} ({} to {}) [step, without the profiler, n = {}]",
            duration(time.median),
            duration(time.low),
            duration(time.high),
            time.n
        )]);
    }
    if let Some(verdict) = &document.verdict {
        let of = verdict
            .launch
            .map_or_else(|| "the program".to_owned(), |launch| format!("launch {launch}"));
        text.extend([format!("\nverdict: {} in {of}", verdict.rule)]);
    }
    for notice in &document.notices {
        text.extend([format!("\nnotice: {}", line(notice))]);
    }
    if let Some(saved) = &document.saved {
        text.extend([format!("\nsaved: {}", line(saved))]);
    }
    text
}

fn launch_head(at: usize, launch: &LaunchReport) -> String {
    let (grid, block) = (dimensions(launch.grid), dimensions(launch.block));
    let time = launch.duration_ns.map_or_else(String::new, |ns| {
        let share = percent(launch.time_share);
        format!("; {}, {share} of the time [launch {at}, gpu__time_duration.sum]", duration(ns))
    });
    let device =
        launch.device.as_deref().map(|device| format!(" on {}", line(device))).unwrap_or_default();
    let busy: Vec<String> = launch
        .utilization
        .iter()
        .take(4)
        .map(|unit| format!("{} {}", unit.unit, percent(unit.share)))
        .collect();
    let busy = if busy.is_empty() {
        String::new()
    } else {
        format!("\n  busy shares of the time: {} [launch {at}, model of time]", busy.join(", "))
    };
    format!(
        "launch {at}: {} grid {grid} block {block}{device}{time}; bound by {}{busy}",
        kernel(&launch.kernel),
        launch.bound.word()
    )
}

fn finding(at: usize, finding: &RankedFinding, detail: bool) -> String {
    let gain = worth(finding.estimated_speedup.as_ref(), at);
    let mut text = format!(
        "launch {at}, finding {}: {}{gain}\n  seen: {}",
        finding.rank,
        line(&finding.rule),
        line(&finding.message)
    );
    let figures = if detail { finding.evidence.len() } else { FEW_FIGURES };
    let evidence: Vec<String> = finding
        .evidence
        .iter()
        .take(figures)
        .map(|one| {
            format!("{} = {} {}", line(&one.metric), number(one.value), one.unit)
                .trim_end()
                .to_owned()
        })
        .collect();
    if !evidence.is_empty() {
        text.extend([format!("\n  metrics [launch {at}]: {}", evidence.join("; "))]);
    }
    let places: Vec<String> = finding
        .locations
        .iter()
        .take(3)
        .map(|place| {
            let at = match place.offset {
                Some(_) => format!("{} {}", place.name(), line(&place.text)),
                None => format!("{}:{}", line(&place.file), place.line),
            };
            format!("{at} ({} of {})", percent(place.share), line(&place.share_of))
        })
        .collect();
    if !places.is_empty() {
        text.extend([format!("\n  where: {}", places.join(", "))]);
    }
    text.extend([format!("\n  change: {}", line(&finding.hint))]);
    if !finding.explains.is_empty() {
        text.extend([format!("\n  explains: {}", finding.explains.join(", "))]);
    }
    text
}

fn worth(estimate: Option<&Estimate>, at: usize) -> String {
    estimate.map_or_else(String::new, |gain| {
        format!(
            ", worth {:.2}x ({:.2} to {:.2}) [launch {at}, model of time over gpu__time_duration.sum]",
            gain.factor, gain.low, gain.high
        )
    })
}

/// What changes without new code gave.
pub(super) fn tried(document: &Document) -> Vec<String> {
    let factor = |estimate: &Estimate| {
        format!("{:.2}x ({:.2} to {:.2})", estimate.factor, estimate.low, estimate.high)
    };
    document
        .tried
        .iter()
        .map(|one| {
            let outcome = match (&one.error, &one.measured) {
                (Some(error), _) => format!("failed: {}", line(error)),
                (None, Some(measured)) => {
                    let right = if one.verified { "answer right" } else { "answer not checked" };
                    format!("measured {} [step, without the profiler], {right}", factor(measured))
                }
                (None, None) => "not measured".to_owned(),
            };
            let promised = one
                .promised
                .as_ref()
                .map(|promised| format!("; promised {} [model of time]", factor(promised)));
            format!(
                "tried {} for {}: {outcome}{}",
                line(&one.change),
                one.rule,
                promised.unwrap_or_default()
            )
        })
        .collect()
}
