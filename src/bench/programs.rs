//! Other people's programs: what is said of their kernels today, beside what changes to them gained.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::figures::{Tally, median};
use super::{FIRST_FEW, Promise, planted};
use crate::document::{Document, Ranked, is_roof};
use crate::error::Result;
use crate::finding::{Estimate, LEAST_GAIN};
use crate::profile::read_packed;

pub use crate::outside::{Change, ChangedKernel, PublicProgram, all};

/// A change that gains this much was worth making.
pub const WORTH_MAKING: f64 = 1.1;
/// Of two changes that differ by no more than this, neither is the better one: kernel times of two
/// runs differ by about 5%.
const ALIKE: f64 = 1.05;

/// The kernels of other people's programs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Programs {
    /// Every kernel whose profile is there.
    pub kernels: Vec<ProgramKernel>,
    /// The figures of those by which rules and model were tuned.
    pub tuning: ProgramFigures,
    /// The figures of those that were kept back.
    pub kept_back: ProgramFigures,
}

/// What is said of a kernel, and what was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramKernel {
    /// The program.
    pub program: String,
    /// The kernel.
    pub kernel: String,
    /// True where nothing was tuned by it.
    pub kept_back: bool,
    /// Its launches in the profile.
    pub launches: usize,
    /// Their time under the profiler, ns.
    pub time_ns: f64,
    /// The first findings over all these launches.
    pub findings: Vec<MeasuredFinding>,
    /// The changes that findings asked for when they were made, and what is said of these rules today.
    pub tried: Vec<MeasuredFinding>,
    /// The most that any change gained.
    pub most: f64,
    /// Whether the first finding is right: the change that it asks for gained, and no other finding's
    /// gained more. `None` where nobody made that change.
    pub right: Option<bool>,
}

/// A rule with what it promises today and what its change gained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeasuredFinding {
    /// The rule.
    pub rule: String,
    /// Its place today; `None` where it says nothing any more.
    pub rank: Option<usize>,
    /// What it promises today.
    pub estimate: Option<Estimate>,
    /// What its change gained; `None` where nobody made it.
    pub gained: Option<f64>,
}

impl MeasuredFinding {
    /// True where something is promised of it.
    fn promises(&self) -> bool {
        self.estimate.is_some_and(|gain| gain.factor >= LEAST_GAIN)
    }

    /// Promise and gain, where both are known.
    fn both(&self) -> Option<(Estimate, f64)> {
        self.estimate.zip(self.gained)
    }
}

/// Figures over all kernels.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramFigures {
    /// First findings whose change somebody made, of all kernels.
    pub first_tried: Tally,
    /// First findings that are right, of those.
    pub right: Tally,
    /// First findings that promise [`WORTH_MAKING`] and gained it.
    pub worth_making: Tally,
    /// First findings whose change made the kernel slower.
    pub harmed: Tally,
    /// Changes that gained less than [`LEAST_GAIN`] and that nothing is promised of today.
    pub withdrawn: Tally,
    /// Changes that gained [`WORTH_MAKING`] and that something is promised of today.
    pub kept: Tally,
    /// Ranges that hold the gain, of rules that say something today and whose change was made.
    pub held: Tally,
    /// How far their estimates are off, in the median.
    pub median_ratio: Option<f64>,
    /// How far the worst is off.
    pub worst_ratio: Option<f64>,
    /// The median of their ranges' upper end over the lower end.
    pub median_range: Option<f64>,
}

/// Judges every program whose profile lies in a folder of its name; the names of the others come beside.
///
/// # Errors
/// Where a page that is there cannot be read.
pub fn judge(folder: &Path) -> Result<(Programs, Vec<String>)> {
    let (mut kernels, mut missing) = (Vec::new(), Vec::new());
    for program in all()? {
        let place: PathBuf = folder.join(&program.name);
        let Some(profile) = read_packed(&place)? else {
            missing.push(program.name);
            continue;
        };
        for changed in &program.kernels {
            let mut of_kernel = profile.clone();
            of_kernel.retain_kernels(|kernel| kernel.contains(&changed.kernel))?;
            let document = of_kernel.diagnose(None)?;
            kernels.push(of_document(&program, changed, &document));
        }
    }
    let of = |kept_back| figures(kernels.iter().filter(|kernel| kernel.kept_back == kept_back));
    let (tuning, kept_back) = (of(false), of(true));
    Ok((Programs { kernels, tuning, kept_back }, missing))
}

fn of_document(
    program: &PublicProgram,
    changed: &ChangedKernel,
    document: &Document,
) -> ProgramKernel {
    let ranked = document.ranked();
    let measured = |(at, ranked): (usize, &Ranked<'_>)| MeasuredFinding {
        rule: ranked.rule.to_owned(),
        rank: Some(at + 1),
        estimate: ranked.estimate,
        gained: changed.gain_of(ranked.rule),
    };
    let findings: Vec<MeasuredFinding> = ranked.iter().enumerate().map(measured).collect();
    let tried = changed.changes.iter().filter_map(|change| change.rule.as_deref());
    let tried = tried.map(|rule| {
        let now = findings.iter().find(|finding| finding.rule == rule);
        now.cloned().unwrap_or_else(|| MeasuredFinding {
            rule: rule.to_owned(),
            rank: None,
            estimate: None,
            gained: changed.gain_of(rule),
        })
    });
    ProgramKernel {
        program: program.name.clone(),
        kernel: changed.kernel.clone(),
        kept_back: program.kept_back,
        launches: document.launches.len(),
        time_ns: document.launches.iter().filter_map(|launch| launch.duration_ns).sum(),
        tried: tried.collect(),
        most: changed.changes.iter().map(|change| change.gained).fold(1.0, f64::max),
        right: right(changed, &findings),
        findings: findings.into_iter().take(FIRST_FEW).collect(),
    }
}

/// Whether the first finding's change gained, and none that another finding or the answer to one asks
/// for gained more.
fn right(changed: &ChangedKernel, findings: &[MeasuredFinding]) -> Option<bool> {
    let first = findings.first()?;
    let rules = || changed.changes.iter().flat_map(|c| c.rule.iter().chain(&c.answers));
    let best = rules().filter_map(|rule| changed.most_of(rule)).fold(1.0, f64::max);
    if is_roof(&first.rule) || !first.promises() {
        return Some(best < WORTH_MAKING);
    }
    let gained = changed.most_of(&first.rule)?;
    Some(gained >= LEAST_GAIN && gained * ALIKE >= best)
}

fn figures<'a>(kernels: impl Iterator<Item = &'a ProgramKernel>) -> ProgramFigures {
    let kernels: Vec<&ProgramKernel> = kernels.collect();
    let firsts = || kernels.iter().filter_map(|kernel| kernel.findings.first());
    let with_gain = || firsts().filter_map(|first| Some((first, first.gained?)));
    let worth = |gain: f64| gain >= WORTH_MAKING;
    let promised = |first: &MeasuredFinding| first.estimate.is_some_and(|gain| worth(gain.factor));
    let tried = || kernels.iter().flat_map(|kernel| &kernel.tried);
    let both: Vec<(Estimate, f64)> = tried().filter_map(MeasuredFinding::both).collect();
    let sorted = |ratios: Vec<f64>| {
        let mut ratios = ratios;
        ratios.sort_by(f64::total_cmp);
        ratios
    };
    let ratios = both.iter().map(|(gain, gained)| planted::ratio(Some(gain.factor), *gained));
    let ratios = sorted(ratios.collect());
    let ranges = sorted(both.iter().map(|(gain, _)| gain.high / gain.low).collect());
    let gained =
        |which: fn(f64) -> bool| tried().filter(move |finding| finding.gained.is_some_and(which));
    ProgramFigures {
        first_tried: Tally::count(firsts().map(|first| first.gained.is_some())),
        right: Tally::count(kernels.iter().filter_map(|kernel| kernel.right)),
        worth_making: Tally::count(
            with_gain().filter(|(first, _)| promised(first)).map(|(_, gain)| worth(gain)),
        ),
        harmed: Tally::count(with_gain().map(|(_, gain)| gain < 1.0 / ALIKE)),
        withdrawn: Tally::count(gained(|gain| gain < LEAST_GAIN).map(|one| !one.promises())),
        kept: Tally::count(gained(|gain| gain >= WORTH_MAKING).map(MeasuredFinding::promises)),
        held: Tally::count(both.iter().map(|(gain, gained)| planted::held(gain, *gained))),
        median_ratio: median(&ratios),
        worst_ratio: ratios.last().copied(),
        median_range: median(&ranges),
    }
}

impl From<&MeasuredFinding> for Promise {
    fn from(finding: &MeasuredFinding) -> Self {
        Self { rule: finding.rule.clone(), estimate: finding.estimate }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(rule: &str, factor: f64, gained: Option<f64>) -> MeasuredFinding {
        let estimate = Some(Estimate { factor, low: 1.0, high: 2.0 * factor });
        MeasuredFinding { rule: rule.to_owned(), rank: Some(1), estimate, gained }
    }

    fn changed(changes: &[(&str, f64)]) -> ChangedKernel {
        let change = |&(rule, gained): &(&str, f64)| Change {
            rule: Some(rule.to_owned()),
            rank: Some(1),
            promised: None,
            answers: Vec::new(),
            gained,
            what: None,
        };
        ChangedKernel { kernel: "k".to_owned(), changes: changes.iter().map(change).collect() }
    }

    #[test]
    fn the_first_finding_is_right_where_no_other_change_gained_more() {
        let kernel = changed(&[("a", 1.5), ("b", 1.6), ("c", 0.9)]);
        let first = |rule: &str, factor: f64| right(&kernel, &[finding(rule, factor, None)]);
        assert_eq!(first("b", 1.2), Some(true));
        assert_eq!(first("a", 1.2), Some(false), "1.5 is more than a run's noise below 1.6");
        assert_eq!(first("c", 1.2), Some(false));
        assert_eq!(first("d", 1.2), None, "nobody tried it");
        assert_eq!(first("d", 1.0), Some(false), "nothing is promised, and something was gained");
    }

    #[test]
    fn figures_count_what_was_tried() {
        let kernel = |findings: Vec<MeasuredFinding>| ProgramKernel {
            program: "p".to_owned(),
            kernel: "k".to_owned(),
            kept_back: false,
            launches: 1,
            time_ns: 1.0,
            tried: findings.clone(),
            findings,
            most: 3.0,
            right: Some(true),
        };
        let gone = MeasuredFinding { rank: None, estimate: None, ..finding("c", 1.0, Some(0.9)) };
        let kernels = [
            kernel(vec![finding("a", 1.5, Some(3.0)), gone]),
            kernel(vec![finding("b", 2.0, Some(0.8))]),
        ];
        let figures = figures(kernels.iter());
        assert_eq!(figures.first_tried, Tally { of: 2, all: 2 });
        assert_eq!(figures.worth_making, Tally { of: 1, all: 2 });
        assert_eq!(figures.harmed, Tally { of: 1, all: 2 });
        assert_eq!(figures.withdrawn, Tally { of: 1, all: 2 }, "b still promises");
        assert_eq!(figures.kept, Tally { of: 1, all: 1 });
        assert_eq!(figures.held, Tally { of: 1, all: 2 }, "1 to 3 holds 3, 1 to 4 not 0.8");
        assert_eq!(figures.median_ratio, Some(2.25), "between 2 and 2.5");
        assert_eq!(figures.median_range, Some(3.5));
    }

    #[test]
    fn a_change_that_gains_a_tenth_was_worth_making() {
        // Nothing is promised of the first finding: right unless another's change was worth making.
        let nothing =
            |gained: f64| right(&changed(&[("a", gained)]), &[finding("d", 1.0, None)]).unwrap();
        assert!(nothing(1.09) && !nothing(1.1));
        let counts = |promised: f64, gained: f64| {
            let first = finding("a", promised, Some(gained));
            let kernel = ProgramKernel {
                program: "p".to_owned(),
                kernel: "k".to_owned(),
                kept_back: false,
                launches: 1,
                time_ns: 1.0,
                tried: vec![first.clone()],
                findings: vec![first],
                most: gained,
                right: None,
            };
            let figures = figures([kernel].iter());
            (figures.worth_making, figures.kept)
        };
        let tally = |of, all| Tally { of, all };
        assert_eq!(counts(1.1, 1.1), (tally(1, 1), tally(1, 1)));
        assert_eq!(counts(1.1, 1.09), (tally(0, 1), tally(0, 0)));
        assert_eq!(counts(1.09, 1.1), (tally(0, 0), tally(1, 1)));
    }
}
