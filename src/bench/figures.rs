//! Figures over many planted faults.
//!
//! A figure counts the cases for which something holds, and nothing is grouped but by set: one pass over
//! the cases for each says that more plainly than columns and aggregates of a frame would.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BenchDocument, FIRST_FEW, FaultSet, PlantedFault, QuietStep, Said};

/// So many of so many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// How many are so.
    pub of: usize,
    /// How many there are.
    pub all: usize,
}

impl Tally {
    /// Counts.
    pub fn count(marks: impl Iterator<Item = bool>) -> Self {
        marks.fold(Self::default(), |tally, mark| Self {
            of: tally.of + usize::from(mark),
            all: tally.all + 1,
        })
    }

    /// The share, 0 to 1; `None` of nothing.
    #[must_use]
    pub fn share(self) -> Option<f64> {
        (self.all > 0).then(|| self.of as f64 / self.all as f64)
    }
}

/// The figures of one set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetFigures {
    /// The set, with the figures of its first judgement.
    pub set: FaultSet,
    /// How many pairs and single kernels it has.
    pub kernels: usize,
    /// What the rules of this build say: of a set that they have been changed since.
    pub seen_since: Three,
}

/// The figures of three advisors on the same kernels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Three {
    /// adoprof's.
    pub adoprof: Figures,
    /// Those of ncu's rules, taking each rule's estimate, of whatever kind.
    pub ncu: Figures,
    /// Those of ncu's rules, taking only estimates of the whole kernel.
    pub ncu_global: Figures,
    /// Steps whose fault adoprof names first where the source page has no SASS.
    pub first_without_sass: Tally,
    /// Findings of adoprof whose first line is one of the fault's.
    pub lines: Tally,
}

/// How right one advisor is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figures {
    /// Steps whose fault with the largest measured gain is named first.
    pub first: Tally,
    /// The same of the faults that one of ncu's rules can name.
    pub first_of_ncus_kinds: Tally,
    /// Planted faults that are among the first three.
    pub first_three: Tally,
    /// How far estimates are off, in the median; a missing one counts as [`super::MISSING`]. `None`
    /// without cases.
    pub median_ratio: Option<f64>,
    /// The same of the faults that have an estimate.
    pub median_ratio_estimated: Option<f64>,
    /// How far the worst is off.
    pub worst_ratio: Option<f64>,
    /// Planted faults with an estimate.
    pub estimated: Tally,
    /// Ranges that hold the measured gain; nothing of advisors that promise no range.
    pub held: Tally,
    /// Repaired kernels of which the repaired fault's rule still promises more than
    /// [`super::REPAIRED_PROMISE`].
    pub insists: Tally,
    /// Those of them where it does so as the first finding.
    pub insists_first: Tally,
    /// Steps at a limit that are told to change something.
    pub false_alarms: Tally,
    /// Faults that are not there and are named among the first three.
    pub accused: Tally,
}

/// The figures of a set.
pub(super) fn set(set: &FaultSet, kernels: usize, document: &BenchDocument) -> SetFigures {
    let seen_since = Three::of(document, |number| number == set.number);
    SetFigures { set: set.clone(), kernels, seen_since }
}

impl Three {
    /// The figures over the sets that are wanted.
    pub fn of(document: &BenchDocument, wanted: impl Fn(u32) -> bool) -> Self {
        let cases: Vec<&PlantedFault> =
            document.cases.iter().filter(|case| wanted(case.set)).collect();
        let quiet: Vec<&QuietStep> =
            document.quiet.iter().filter(|quiet| wanted(quiet.set)).collect();
        let largest = cases.iter().filter(|case| case.largest);
        Self {
            adoprof: of(&cases, &quiet, |case| &case.adoprof, |quiet| quiet.adoprof_alarm),
            ncu: of(&cases, &quiet, |case| &case.ncu, |quiet| quiet.ncu_alarm),
            ncu_global: of(&cases, &quiet, |case| &case.ncu_global, |quiet| quiet.ncu_global_alarm),
            first_without_sass: Tally::count(largest.map(|case| case.rank_without_sass == Some(1))),
            lines: Tally::count(
                cases.iter().filter_map(|case| case.line.as_ref()).map(|line| line.of_the_fault),
            ),
        }
    }
}

fn of(
    cases: &[&PlantedFault],
    quiet: &[&QuietStep],
    said: impl Fn(&PlantedFault) -> &Said,
    alarm: impl Fn(&QuietStep) -> bool,
) -> Figures {
    let sorted = |mut ratios: Vec<f64>| {
        ratios.sort_by(f64::total_cmp);
        ratios
    };
    let ratios = sorted(cases.iter().map(|case| said(case).ratio).collect());
    let has_estimate = |case: &&&PlantedFault| said(case).estimate.is_some();
    let estimated =
        sorted(cases.iter().filter(has_estimate).map(|case| said(case).ratio).collect());
    let is_first = |case: &&PlantedFault| said(case).rank == Some(1);
    let largest = || cases.iter().filter(|case| case.largest);
    let insists = |case: &&PlantedFault| said(case).insists();
    let insists_first =
        |case: &&PlantedFault| insists(case) && said(case).rank_when_repaired == Some(1);
    Figures {
        first: Tally::count(largest().map(is_first)),
        first_of_ncus_kinds: Tally::count(
            largest().filter(|case| case.ncu_has_a_rule).map(is_first),
        ),
        first_three: Tally::count(
            cases.iter().map(|case| said(case).rank.is_some_and(|rank| rank <= FIRST_FEW)),
        ),
        median_ratio: median(&ratios),
        median_ratio_estimated: median(&estimated),
        worst_ratio: ratios.last().copied(),
        estimated: Tally { of: estimated.len(), all: cases.len() },
        held: Tally::count(cases.iter().filter_map(|case| said(case).held)),
        insists: Tally::count(cases.iter().map(insists)),
        insists_first: Tally::count(cases.iter().map(insists_first)),
        false_alarms: Tally::count(
            quiet.iter().filter(|quiet| quiet.innocent_of.is_none()).map(|quiet| alarm(quiet)),
        ),
        accused: Tally::count(
            quiet.iter().filter(|quiet| quiet.innocent_of.is_some()).map(|quiet| alarm(quiet)),
        ),
    }
}

/// The middle of sorted values, the mean of the two middle ones where they are even.
pub(super) fn median(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}
