//! What CI shows beside code: remarks with a level, a place, and a text. JUnit and GitHub's annotations are made of
//! them.

use super::Content;
use crate::document::{CallSite, Compared, Document};
use crate::finding::{Estimate, LEAST_GAIN, Location};
use crate::gate::{CheckDocument, Outcome, Timed};
use crate::kernel_name;
use crate::report::words::check::{cause, gate, headline, remedy};
use crate::report::words::number::estimate;

/// Columns of a kernel's name in a title.
const NAME: usize = 40;

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
    let findings = findings(document).map(|finding| {
        let of = of.as_deref().or(finding.kernel).unwrap_or("around the kernels");
        Remark { case: format!("{of}: {}", finding.remark.case), ..finding.remark }
    });
    findings.collect()
}

/// A finding as a remark whose case is the rule, and its kernel, where it is one of a launch.
struct OfFinding<'a> {
    remark: Remark,
    kernel: Option<&'a str>,
}

/// All findings, those around a program's kernels first.
fn findings(document: &Document) -> impl Iterator<Item = OfFinding<'_>> {
    let around = document.program.iter().flat_map(|program| &program.findings);
    let around = around.map(|finding| {
        let gain = Some(finding.estimated_speedup);
        let place = finding.sites.first().and_then(CallSite::location);
        let text = format!("{} {}", finding.message, finding.hint);
        let of = " of the whole program";
        OfFinding { remark: remark(&finding.rule, &text, gain, of, place.as_ref()), kernel: None }
    });
    let of_launches = document
        .launches
        .iter()
        .flat_map(|launch| launch.findings.iter().map(|finding| (launch.kernel.as_str(), finding)));
    let is_one = document.launches.len() < 2;
    around.chain(of_launches.map(move |(kernel, finding)| {
        let gain = finding.estimated_speedup;
        let place = finding.locations.iter().find(|place| !place.file.is_empty());
        let text = format!("{} {}", finding.message, finding.hint);
        let mut remark = remark(&finding.rule, &text, gain, "", place);
        if !is_one {
            remark.title = format!("{} in {}", remark.title, kernel_name::short(kernel, NAME));
        }
        OfFinding { remark, kernel: Some(kernel) }
    }))
}

/// A finding's level is that of its gain, which is one `of` the launch or of more.
fn remark(
    rule: &str,
    text: &str,
    gain: Option<Estimate>,
    of: &str,
    place: Option<&Location>,
) -> Remark {
    let is_large = gain.is_some_and(|gain| gain.factor >= LEAST_GAIN);
    let worth = gain.map(|gain| format!(" Worth {}{of}.", estimate(&gain))).unwrap_or_default();
    Remark {
        level: if is_large { Level::Warning } else { Level::Notice },
        case: rule.to_owned(),
        title: format!("adoprof: {rule}"),
        text: format!("{text}{worth}"),
        place: place.map(|place| (place.file.clone(), place.line)),
        is_shown: true,
    }
}

/// One remark per finding of the new profile, new ones first.
fn diff(Compared { diff, new, .. }: &Compared) -> Vec<Remark> {
    let pair = format!("{} → {}", diff.base, diff.new);
    let is_one = new.launches.len() == 1;
    let of = |rules: &[String], state: &str| -> Vec<Remark> {
        findings(new)
            .filter(|finding| rules.contains(&finding.remark.case))
            .map(|OfFinding { remark, kernel }| {
                let kernel = kernel.filter(|_| !is_one);
                let kernel = kernel.map(|kernel| format!("{kernel}: ")).unwrap_or_default();
                Remark {
                    case: format!("{pair}: {kernel}{}", remark.case),
                    title: format!("{} ({state})", remark.title),
                    ..remark
                }
            })
            .collect()
    };
    [of(&diff.come, "new"), of(&diff.kept, "still there")].concat()
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
