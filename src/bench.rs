//! The fault bench: how often the first finding is right, and how far the estimates are off, on
//! kernels whose faults were put there on purpose; the same for ncu's own rules on the same data.
//!
//! The truth is measured: the time of a step with a planted fault over the time of the step that
//! takes this fault away. Gains and estimates count as [`MOST`] where they are more, and a missing
//! estimate counts as off by [`MISSING`].

mod case;
mod climb;
mod figures;
mod ncu;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::document::SCHEMA;
use crate::finding::Estimate;
use crate::ladder::Half;
use crate::profile::RecordedLadder;

pub use climb::{Climb, Transition};
pub use figures::{Figures, Tally};
pub use ncu::NcuPromise;

/// Gains and estimates above this count as this.
pub const MOST: f64 = 20.0;
/// How far an estimate that is missing counts as off.
pub const MISSING: f64 = 3.0;
/// A finding that promises less changes nothing.
pub const LEAST_GAIN: f64 = 1.05;
/// A fault is among the first findings up to this rank.
pub const FIRST_FEW: usize = 3;

/// What `bench` prints.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BenchDocument {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Every planted fault.
    pub cases: Vec<Case>,
    /// Steps of which nothing, or not some fault, should be said.
    pub quiet: Vec<Quiet>,
    /// The figures of each half that was asked for, then of both together where both were.
    pub figures: Vec<HalfFigures>,
    /// The ordinary ladders, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ladders: Option<Climb>,
    /// Things to know about this result, each one sentence.
    pub notices: Vec<String>,
}

/// The figures of one half.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HalfFigures {
    /// `tuning`, `held-out` or `together`.
    pub half: String,
    /// adoprof's.
    pub adoprof: Figures,
    /// Those of ncu's rules, taking each rule's estimate, of whatever kind.
    pub ncu: Figures,
    /// Those of ncu's rules, taking only estimates of the whole kernel.
    pub ncu_global: Figures,
}

/// A planted fault, what removing it gained, and what was said of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// The half of the bench.
    pub half: String,
    /// The ladder.
    pub ladder: String,
    /// The step that has the fault.
    pub step: String,
    /// The fault.
    pub fault: String,
    /// The step that takes it away.
    pub answered_by: String,
    /// The measured gain.
    pub gain: f64,
    /// True for the step's fault with the largest measured gain: the one that should come first.
    pub largest: bool,
    /// What adoprof says.
    pub adoprof: Said,
    /// What ncu's rules say, by the estimates of every kind.
    pub ncu: Said,
    /// What ncu's rules say, by the estimates of the whole kernel alone.
    pub ncu_global: Said,
}

/// What one advisor says of a step and of a fault in it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// What it names first; `None` where it says nothing.
    pub first: Option<Promise>,
    /// The planted fault's place among what it says, from 1; `None` where it does not name it.
    pub rank: Option<usize>,
    /// What it promises for the planted fault.
    pub estimate: Option<Estimate>,
    /// The larger of estimate and gain over the smaller, both capped; [`MISSING`] without estimate.
    pub ratio: f64,
    /// Whether the promised range holds the gain; `None` where no range is promised.
    pub held: Option<bool>,
}

/// A name with a promise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Promise {
    /// Our rule's name; for ncu's rules theirs.
    pub rule: String,
    /// The promised gain.
    pub estimate: Option<Estimate>,
}

impl Promise {
    /// True where following it should gain something.
    #[must_use]
    pub fn promises(&self) -> bool {
        self.estimate.is_some_and(|gain| gain.factor >= LEAST_GAIN)
    }
}

/// A step at a limit, or one with a look of a fault that it has not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quiet {
    /// The half of the bench.
    pub half: String,
    /// The ladder.
    pub ladder: String,
    /// The step.
    pub step: String,
    /// The fault that is not there; `None` for a step at a limit, of which nothing should be said.
    pub innocent_of: Option<String>,
    /// adoprof's first finding, or the finding of the fault that is not there.
    pub adoprof: Option<Promise>,
    /// True where that is a false alarm.
    pub adoprof_alarm: bool,
    /// The same of ncu's rules, by the estimates of every kind.
    pub ncu: Option<Promise>,
    /// True where that is a false alarm.
    pub ncu_alarm: bool,
    /// The same by the estimates of the whole kernel alone.
    pub ncu_global: Option<Promise>,
    /// True where that is a false alarm.
    pub ncu_global_alarm: bool,
}

/// Judges the ladders that belong to a half of the bench.
#[must_use]
pub fn judge(ladders: &[RecordedLadder], halves: &[Half]) -> BenchDocument {
    let mut document = BenchDocument { schema: SCHEMA.to_owned(), ..BenchDocument::default() };
    for recorded in ladders {
        let Some(half) = recorded.ladder.bench().filter(|half| halves.contains(half)) else {
            continue;
        };
        for step in &recorded.missing {
            document.notices.push(format!(
                "{}/{step} was not recorded and is left out",
                recorded.ladder.name()
            ));
        }
        case::cases(recorded, half, &mut document);
        case::quiet(recorded, half, &mut document);
    }
    if document.cases.is_empty() && document.quiet.is_empty() {
        document.notices.push("no recorded kernel belongs to this part of the bench".to_owned());
    }
    let of = |name: &str, wanted: &dyn Fn(&str) -> bool| figures::half(name, &document, wanted);
    let mut all: Vec<HalfFigures> =
        halves.iter().map(|half| of(half.word(), &|word| word == half.word())).collect();
    if halves.len() > 1 {
        all.push(of("together", &|_| true));
    }
    document.figures = all;
    document
}

/// Adds the ordinary ladders: those that belong to no half.
pub fn climb(document: &mut BenchDocument, ladders: &[RecordedLadder]) {
    let ordinary: Vec<&RecordedLadder> =
        ladders.iter().filter(|recorded| recorded.ladder.bench().is_none()).collect();
    document.ladders = Some(climb::climb(&ordinary));
}
