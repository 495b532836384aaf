//! What CI shows beside code: remarks with a level, a place, and a text. JUnit and GitHub's annotations are made of
//! them.

use super::Content;
use crate::document::{Diff, Document};
use crate::finding::LEAST_GAIN;
use crate::gate::{CheckDocument, Outcome, Timed};
use crate::report::words::check::{cause, gate, headline, remedy};
use crate::report::words::number::estimate;

/// How much a remark matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// Fails the check.
    Error,
    /// Worth a look.
    Warning,
    /// To know.
    Notice,
}

/// One remark.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Remark {
    pub level: Level,
    /// What is checked: the case of a test suite.
    pub case: String,
    /// A title in a few words.
    pub title: String,
    pub text: String,
    /// The file and its line, from 1; 0 for no line.
    pub place: Option<(String, u32)>,
    /// False for what was looked at and not found wanting.
    pub is_shown: bool,
}

/// Why tables have no place here.
pub(super) const REFUSAL: &str = "this form holds findings and checks";

/// The remarks of a result; `None` for tables.
pub(super) fn remarks(content: Content<'_>) -> Option<Vec<Remark>> {
    match content {
        Content::Document(of) => Some(document(of)),
        Content::Run(of) => Some(of.steps.iter().flat_map(document).collect()),
        Content::Diff(of) => Some(diff(of)),
        Content::Check(of) => Some(check(of)),
        Content::Sweep(_)
        | Content::Limiter(_)
        | Content::Bench(_)
        | Content::Ledger(_)
        | Content::History(_) => None,
    }
}

/// One remark per finding.
pub(super) fn document(document: &Document) -> Vec<Remark> {
    let of = document.step.as_ref().map(|step| format!("{}/{}", step.ladder, step.name));
    let mut remarks = Vec::new();
    for launch in &document.launches {
        let case = of.clone().unwrap_or_else(|| launch.kernel.clone());
        for finding in &launch.findings {
            let gain = finding.estimated_speedup;
            let is_large = gain.is_some_and(|gain| gain.factor >= LEAST_GAIN);
            let worth = gain.map(|gain| format!(" Worth {}.", estimate(&gain))).unwrap_or_default();
            let place = finding.locations.iter().find(|place| !place.file.is_empty());
            remarks.push(Remark {
                level: if is_large { Level::Warning } else { Level::Notice },
                case: format!("{case}: {}", finding.rule),
                title: format!("adoprof: {}", finding.rule),
                text: format!("{} {}{worth}", finding.message, finding.hint),
                place: place.map(|place| (place.file.clone(), place.line)),
                is_shown: true,
            });
        }
    }
    remarks
}

/// One remark per finding that came.
fn diff(diff: &Diff) -> Vec<Remark> {
    let come = diff.come.iter().map(|rule| Remark {
        level: Level::Warning,
        case: format!("{} → {}: {rule}", diff.base, diff.new),
        title: format!("adoprof: {rule}"),
        text: format!("{rule} is new in {}", diff.new),
        place: None,
        is_shown: true,
    });
    come.collect()
}

/// One remark for the time and one per gate, at the line of the finding that came where there is one.
fn check(check: &CheckDocument) -> Vec<Remark> {
    let pair = format!("{} → {}", check.base, check.new);
    let mut remarks = Vec::new();
    if check.timed != Timed::NotAtAll || check.is_refused() {
        let unlike = check
            .unlike
            .iter()
            .map(|one| format!("unlike: {}: {} against {}", one.what, one.base, one.new));
        let words = std::iter::once(headline(check))
            .chain(unlike)
            .chain(remedy(check).map(str::to_owned))
            .chain(check.cause.as_ref().and_then(cause))
            .chain(check.places.iter().map(|one| format!("{}: {}", one.rule, one.message)));
        let is_slower = check.verdict == crate::gate::Verdict::Slower && !check.is_refused();
        let is_decided = check.verdict.is_decided() && !check.is_refused();
        let level = match (is_slower, is_decided) {
            (true, _) => Level::Error,
            (false, true) => Level::Notice,
            (false, false) => Level::Warning,
        };
        let place = check.places.first().map(|one| (one.place.file.clone(), one.place.line));
        remarks.push(Remark {
            level,
            case: format!("{pair}: time"),
            title: format!("adoprof: {}", check.verdict.word()),
            text: words.collect::<Vec<_>>().join("\n"),
            place: place.filter(|_| is_slower),
            is_shown: level != Level::Notice,
        });
    }
    for one in &check.gates {
        let level = match one.outcome {
            Outcome::Failed => Level::Error,
            Outcome::Unknown => Level::Warning,
            Outcome::Passed => Level::Notice,
        };
        remarks.push(Remark {
            level,
            case: format!("{pair}: {}", one.gate),
            title: "adoprof: a gate".to_owned(),
            text: gate(one),
            place: one.place.as_ref().map(|place| (place.file.clone(), place.line)),
            is_shown: level != Level::Notice,
        });
    }
    remarks
}
