//! From a document to the hints that it gives, and from two documents to what came of the first
//! one's.

use std::collections::BTreeMap;

use super::entry::{Hint, LEDGER_SCHEMA, Outcome, Subject, version_of};
use crate::document::{Diff, Document, LaunchReport, ProgramFinding};
use crate::finding::Estimate;
use crate::ladder::{Ladder, Step};
use crate::timing::StepInfo;

/// Where and when a document was made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The time, `2026-11-20T10:00:00Z`, or a date.
    pub date: String,
    /// The program's name, where it is no step of a ladder.
    pub program: String,
    /// The GPU, where the launches do not know it.
    pub device: String,
}

/// The hints of a document: every fault with an estimate, roofs left out. A step is timed as a whole,
/// so its hints are of all its launches together; a program's are of each kernel's longest launch, and of what lies
/// around its kernels.
#[must_use]
pub(crate) fn hints(document: &Document, origin: &Origin) -> Vec<Hint> {
    match &document.step {
        Some(step) => of_step(document, step, origin),
        None => of_program(document, origin),
    }
}

fn of_step(document: &Document, step: &StepInfo, origin: &Origin) -> Vec<Hint> {
    let subject =
        Subject { of: step.ladder.clone(), step: Some(step.name.clone()), size: step.size.clone() };
    let ranked = document.ranked();
    ranked
        .iter()
        .enumerate()
        .filter_map(|(at, ranked)| {
            let with = || {
                document.launches.iter().filter(|launch| {
                    launch.findings.iter().any(|finding| finding.rule == ranked.rule)
                })
            };
            let longest = with().max_by(|a, b| document.share(a).total_cmp(&document.share(b)))?;
            let fault = Fault {
                rule: ranked.rule,
                rank: at + 1,
                estimate: ranked.estimate?,
                time_ns: step.time_ns.median,
                time_share: with().map(|launch| document.share(launch)).sum::<f64>().min(1.0),
            };
            hint(&fault, &subject, &Whose::of(longest), origin)
        })
        .collect()
}

fn of_program(document: &Document, origin: &Origin) -> Vec<Hint> {
    let subject = Subject { of: origin.program.clone(), step: None, size: BTreeMap::new() };
    let ns = |launch: &LaunchReport| launch.duration_ns.unwrap_or_default();
    let longest = |launch: &&LaunchReport| {
        let of_kernel = document.launches.iter().filter(|other| other.kernel == launch.kernel);
        let first = of_kernel.reduce(|a, b| if ns(b) > ns(a) { b } else { a });
        first.is_some_and(|first| std::ptr::eq(first, *launch))
    };
    document
        .launches
        .iter()
        .filter(longest)
        .flat_map(|launch| launch.findings.iter().map(move |finding| (launch, finding)))
        .filter_map(|(launch, finding)| {
            let fault = Fault {
                rule: &finding.rule,
                rank: finding.rank,
                estimate: finding.estimated_speedup?,
                time_ns: ns(launch),
                time_share: document.share(launch),
            };
            hint(&fault, &subject, &Whose::of(launch), origin)
        })
        .chain(around_kernels(document, &subject, origin))
        .collect()
}

/// The hints of what lies around a program's kernels: of its whole time.
fn around_kernels(document: &Document, subject: &Subject, origin: &Origin) -> Vec<Hint> {
    let Some(program) = &document.program else { return Vec::new() };
    let device = document.launches.iter().find_map(|launch| launch.device.as_deref());
    let whose = Whose { kernel: "", device };
    let of_finding = |finding: &ProgramFinding| {
        let fault = Fault {
            rule: &finding.rule,
            rank: finding.rank,
            estimate: finding.estimated_speedup,
            time_ns: program.wall_ns,
            time_share: 1.0,
        };
        hint(&fault, subject, &whose, origin)
    };
    program.findings.iter().filter_map(of_finding).collect()
}

/// What a finding is of.
struct Whose<'a> {
    /// The kernel; empty for a whole program.
    kernel: &'a str,
    device: Option<&'a str>,
}

impl<'a> Whose<'a> {
    fn of(launch: &'a LaunchReport) -> Self {
        Self { kernel: &launch.kernel, device: launch.device.as_deref() }
    }
}

/// A fault with what was promised of which time.
struct Fault<'a> {
    rule: &'a str,
    rank: usize,
    estimate: Estimate,
    time_ns: f64,
    time_share: f64,
}

fn hint(fault: &Fault<'_>, subject: &Subject, whose: &Whose<'_>, origin: &Origin) -> Option<Hint> {
    let version = version_of(fault.rule)?;
    let timed = fault.time_ns.is_finite() && fault.time_ns > 0.0;
    if !(timed && is_sound(&fault.estimate)) {
        return None;
    }
    let mut hint = Hint {
        schema: LEDGER_SCHEMA.to_owned(),
        id: String::new(),
        date: origin.date.clone(),
        subject: subject.clone(),
        device: whose.device.unwrap_or(&origin.device).to_owned(),
        kernel: whose.kernel.to_owned(),
        time_share: fault.time_share,
        time_ns: fault.time_ns,
        rule: fault.rule.to_owned(),
        version,
        rank: fault.rank,
        estimate: fault.estimate,
    };
    hint.id = hint.new_id();
    Some(hint)
}

fn is_sound(estimate: &Estimate) -> bool {
    [estimate.factor, estimate.low, estimate.high].iter().all(|x| x.is_finite() && *x > 0.0)
}

/// The hint with the largest estimate: the gain is its.
fn leading<'a>(hints: &[&'a Hint]) -> Option<&'a str> {
    hints
        .iter()
        .max_by(|a, b| a.estimate.factor.total_cmp(&b.estimate.factor))
        .map(|hint| hint.id.as_str())
}

/// What a step of a ladder made of the hints of steps before it: of those that it is there to take
/// away, at the same size on the same GPU.
#[must_use]
pub(crate) fn by_ladder(
    earlier: &[Hint],
    later: &Document,
    ladder: &Ladder,
    origin: &Origin,
) -> Vec<Outcome> {
    let Some(step) = later.step.as_ref().filter(|step| step.verified) else { return Vec::new() };
    let Ok(answering) = ladder.step(&step.name) else { return Vec::new() };
    let time_ns = step.time_ns.median;
    let device = device(later, origin);
    let takes_away = |hint: &&Hint| {
        hint.subject.of == ladder.name()
            && hint.subject.size == step.size
            && hint.device == device
            && answering.answers().contains(&hint.rule)
            && hint.subject.step.as_deref().is_some_and(|before| follows(ladder, before, answering))
    };
    let answered: Vec<&Hint> = earlier.iter().filter(takes_away).collect();
    let mut outcomes = Vec::new();
    for (place, hint) in answered.iter().enumerate() {
        // The hints of one profile share the gain; profiles are told apart by their date.
        let together = |other: &&Hint| (&other.subject, &other.date) == (&hint.subject, &hint.date);
        let siblings: Vec<&Hint> =
            answered.iter().copied().filter(|other| together(other)).collect();
        let repeated = answered[..place].iter().any(|other| other.id == hint.id);
        if !repeated && time_ns > 0.0 {
            outcomes.push(Outcome {
                schema: LEDGER_SCHEMA.to_owned(),
                of: hint.id.clone(),
                date: origin.date.clone(),
                by: format!("{}/{}", ladder.name(), step.name),
                gain: hint.time_ns / time_ns,
                gone: !later.rules_found().contains(&hint.rule.as_str()),
                counts: leading(&siblings) == Some(&hint.id),
            });
        }
    }
    outcomes
}

/// True where a step's gain over an earlier one is that of the faults that it answers: a side step
/// over the step that it starts from, a main step over the one just before it, or over a side step of
/// that one which has taken away some of the same faults and nothing else.
fn follows(ladder: &Ladder, before: &str, step: &Step) -> bool {
    if step.is_side() {
        return step.from() == Some(before);
    }
    let Ok(before) = ladder.step(before) else { return false };
    let place = before.from().unwrap_or(before.name());
    let next = ladder.main_steps().skip_while(|main| main.name() != place).nth(1);
    let part =
        !before.is_side() || before.answers().iter().all(|answer| step.answers().contains(answer));
    part && next.is_some_and(|next| next.name() == step.name())
}

/// What a new profile made of its baseline's hints. The gain is that of the finding that went away,
/// or of the one with the largest estimate where several did.
#[must_use]
pub(crate) fn by_baseline(
    base: &[Hint],
    new: &Document,
    diff: &Diff,
    origin: &Origin,
) -> Vec<Outcome> {
    let Some(speedup) = diff.speedup.filter(|gain| gain.is_finite() && *gain > 0.0) else {
        return Vec::new();
    };
    let wall_ns = new.program.as_ref().map_or(f64::NAN, |program| program.wall_ns);
    let gain = |hint: &Hint| match (&hint.subject.step, &new.step) {
        // What lies around kernels is of the program's own time, which a survey measures.
        (None, None) if hint.kernel.is_empty() => hint.time_ns / wall_ns,
        // The same kernel's longest launch, where the new profile has it too.
        (None, None) => new
            .launches
            .iter()
            .filter(|launch| launch.kernel == hint.kernel)
            .filter_map(|launch| launch.duration_ns)
            .reduce(f64::max)
            .map_or(speedup, |ns| hint.time_ns / ns),
        _ => speedup,
    };
    // A launch's gain and the program's are of different times, so each has a leading hint of its own.
    let leading = [true, false].map(|is_around| {
        let gone = base.iter().filter(|hint| diff.gone.contains(&hint.rule));
        let gone: Vec<&Hint> = gone.filter(|hint| hint.kernel.is_empty() == is_around).collect();
        leading(&gone)
    });
    base.iter()
        .filter_map(|hint| {
            let gain = gain(hint);
            let gone = diff.gone.contains(&hint.rule);
            (gain.is_finite() && gain > 0.0).then(|| Outcome {
                schema: LEDGER_SCHEMA.to_owned(),
                of: hint.id.clone(),
                date: origin.date.clone(),
                by: diff.new.clone(),
                gain,
                gone,
                counts: leading.contains(&Some(hint.id.as_str())),
            })
        })
        .collect()
}

/// The GPU of a document.
#[must_use]
pub(super) fn device(document: &Document, origin: &Origin) -> String {
    document
        .launches
        .iter()
        .find_map(|launch| launch.device.clone())
        .unwrap_or_else(|| origin.device.clone())
}
