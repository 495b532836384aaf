//! Whether a candidate is slower than a baseline, from times alone: pure, so that the test can be tried on noise of
//! any kind without a device.
//!
//! Both run in turn, in quartets. Some quartets make a round; a round's value is the median of the candidate's times
//! over the median of the baseline's. Rounds that follow one another are joined to at most 64 batches,
//! the middle half of the batches' values is averaged, and the batches are drawn anew with replacement to learn how
//! far that average scatters. `docs/check.md` has the test in plain words and how often it errs.

mod document;
mod estimate;
mod experiment;
mod fail_on;
mod looks;
mod margin;
mod planted;
mod random;
mod recorded;
#[cfg(test)]
mod simulation;
mod trial;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use document::{CheckDocument, Difference, GateOutcome, Outcome, Place, Timed};
pub(crate) use experiment::{Experiment, Form, Row, experiments};
pub use fail_on::FailOn;
pub(crate) use fail_on::{Found, Seen};
pub(crate) use planted::{Planted, clock_reader};

pub(crate) use recorded::{Run, Total, recorded, recorded_totals};
pub(crate) use trial::{Pace, Trial};

/// What the gate says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// The candidate takes less time, by more than the margin.
    Faster,
    /// The candidate takes more time, by more than the margin.
    Slower,
    /// The times differ by less than the margin.
    Same,
    /// The interval did not leave the margin's edge in the time given.
    Undecided,
}

impl Verdict {
    /// False where there was not enough time.
    #[must_use]
    pub fn is_decided(self) -> bool {
        self != Self::Undecided
    }

    /// The word that people and programs read.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Faster => "FASTER",
            Self::Slower => "SLOWER",
            Self::Same => "SAME",
            Self::Undecided => "UNDECIDED",
        }
    }
}

/// The candidate's time over the baseline's, with the interval that holds the true ratio.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// The estimate.
    pub ratio: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The chance that it holds the true ratio, at this look alone.
    pub confidence: f64,
}

impl Interval {
    /// What the interval says of a margin, a share of the baseline's time.
    #[must_use]
    pub(crate) fn verdict(&self, margin: f64) -> Verdict {
        let (slow, fast) = (1.0 + margin, 1.0 / (1.0 + margin));
        if self.low > slow {
            Verdict::Slower
        } else if self.high < fast {
            Verdict::Faster
        } else if self.low > fast && self.high < slow {
            Verdict::Same
        } else {
            Verdict::Undecided
        }
    }
}

/// How far apart two times must be to count, each a share of the baseline's time; the largest holds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Margin {
    /// What the user allows.
    pub max_slowdown: f64,
    /// A part of the scatter of single runs of one kernel: a tenth, a quarter where its grid is less than a wave.
    pub noise: f64,
    /// One step of the timer.
    pub timer: f64,
    /// How far two runs of one kernel in different processes are apart; 0 where both ran in turn.
    pub between_runs: f64,
}

impl Margin {
    /// The margin that holds.
    #[must_use]
    pub fn used(&self) -> f64 {
        self.max_slowdown.max(self.noise).max(self.timer).max(self.between_runs)
    }
}

/// What the times say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The verdict.
    pub verdict: Verdict,
    /// The candidate's time over the baseline's.
    pub time: Interval,
    /// The same in cycles of the SM's clock, where the clock moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles: Option<Interval>,
    /// What counts as a difference.
    pub margin: Margin,
    /// Scatter of a single run, a standard deviation as a share of the time.
    pub scatter: f64,
    /// The clock's middle value, Hz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_hz: Option<f64>,
    /// How far the clock moved: from the 5th to the 95th percentile, as a share of the middle value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_moved: Option<f64>,
    /// Runs of each side.
    pub runs: usize,
    /// How often the times were looked at.
    pub looks: u32,
    /// What the draws of the bootstrap begin with.
    pub seed: u64,
}

/// The seed of every draw: the same times give the same verdict.
pub(crate) const SEED: u64 = 1;
/// The chance of a wrong verdict over all looks of a comparison, where the true ratio is at the margin's edge.
pub(crate) const ERROR: f64 = 0.01;
/// The slow-down that is allowed where nobody says another.
pub(crate) const MAX_SLOWDOWN: f64 = 0.005;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_judged_by_its_ends() {
        let of = |low: f64, high: f64| {
            Interval { ratio: f64::midpoint(low, high), low, high, confidence: 0.99 }.verdict(0.01)
        };
        assert_eq!(of(1.011, 1.03), Verdict::Slower);
        assert_eq!(of(1.009, 1.03), Verdict::Undecided);
        assert_eq!(of(0.995, 1.009), Verdict::Same);
        // 1 / 1.01 is 0.990099.
        assert_eq!(of(0.95, 0.9900), Verdict::Faster);
        assert_eq!(of(0.95, 0.9902), Verdict::Undecided);
        assert_eq!(of(0.9902, 1.0), Verdict::Same);
        assert_eq!(of(0.98, 1.02), Verdict::Undecided);
    }

    #[test]
    fn the_widest_margin_holds() {
        let margin = Margin { max_slowdown: 0.005, noise: 0.002, timer: 0.01, between_runs: 0.0 };
        assert!((margin.used() - 0.01).abs() < 1e-15);
    }
}
