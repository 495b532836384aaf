//! Figures over many cases.

use serde::{Deserialize, Serialize};

use super::{BenchDocument, Case, FIRST_FEW, HalfFigures, Quiet, Said};

/// So many of so many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
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

/// How right one advisor is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Steps whose fault with the largest measured gain is named first.
    pub first: Tally,
    /// Planted faults that are among the first three.
    pub first_three: Tally,
    /// How far estimates are off, in the median; `None` without cases.
    pub median_ratio: Option<f64>,
    /// How far the worst is off.
    pub worst_ratio: Option<f64>,
    /// Planted faults without an estimate.
    pub missing: Tally,
    /// Ranges that hold the measured gain; nothing of advisors that promise no range.
    pub held: Tally,
    /// Steps at a limit that are told to change something.
    pub false_alarms: Tally,
    /// Faults that are not there and are named among the first three.
    pub accused: Tally,
}

/// The figures of the halves that are wanted.
pub fn half(name: &str, document: &BenchDocument, wanted: &dyn Fn(&str) -> bool) -> HalfFigures {
    let cases: Vec<&Case> = document.cases.iter().filter(|case| wanted(&case.half)).collect();
    let quiet: Vec<&Quiet> = document.quiet.iter().filter(|quiet| wanted(&quiet.half)).collect();
    HalfFigures {
        half: name.to_owned(),
        adoprof: of(&cases, &quiet, |case| &case.adoprof, |quiet| quiet.adoprof_alarm),
        ncu: of(&cases, &quiet, |case| &case.ncu, |quiet| quiet.ncu_alarm),
        ncu_global: of(&cases, &quiet, |case| &case.ncu_global, |quiet| quiet.ncu_global_alarm),
    }
}

fn of(
    cases: &[&Case],
    quiet: &[&Quiet],
    said: impl Fn(&Case) -> &Said,
    alarm: impl Fn(&Quiet) -> bool,
) -> Figures {
    let mut ratios: Vec<f64> = cases.iter().map(|case| said(case).ratio).collect();
    ratios.sort_by(f64::total_cmp);
    Figures {
        first: Tally::count(
            cases.iter().filter(|case| case.largest).map(|case| said(case).rank == Some(1)),
        ),
        first_three: Tally::count(
            cases.iter().map(|case| said(case).rank.is_some_and(|rank| rank <= FIRST_FEW)),
        ),
        median_ratio: median(&ratios),
        worst_ratio: ratios.last().copied(),
        missing: Tally::count(cases.iter().map(|case| said(case).estimate.is_none())),
        held: Tally::count(cases.iter().filter_map(|case| said(case).held)),
        false_alarms: Tally::count(
            quiet.iter().filter(|quiet| quiet.innocent_of.is_none()).map(|quiet| alarm(quiet)),
        ),
        accused: Tally::count(
            quiet.iter().filter(|quiet| quiet.innocent_of.is_some()).map(|quiet| alarm(quiet)),
        ),
    }
}

/// The middle of sorted values, the mean of the two middle ones where they are even.
pub fn median(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}
