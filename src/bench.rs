//! The bench: how often the first finding is right, and how far the estimates are off, on kernels whose
//! faults were planted and on the transitions of the ordinary ladders; the same for ncu's own rules on
//! the same data.
//!
//! The truth is measured: the time of a step with a planted fault over the time of the step that
//! takes this fault away. Gains and estimates count as [`MOST`] where they are more, and a missing
//! estimate counts as off by [`MISSING`].

mod figures;
mod lines;
mod ncu;
mod planted;
pub mod programs;
mod quiet;
pub mod sets;
#[cfg(test)]
mod tests;
mod transitions;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::SCHEMA;
use crate::finding::{Estimate, LEAST_GAIN};
use crate::profile::RecordedLadder;

pub use figures::{Figures, SetFigures, Tally, Three};
pub use lines::PointedAt;
pub use ncu::NcuPromise;
pub use planted::held;
pub use programs::{MeasuredFinding, ProgramFigures, ProgramKernel, Programs};
pub use sets::{FaultSet, FirstJudged};
pub use transitions::{Chance, Lost, Transition, Transitions};

/// Gains and estimates above this count as this.
pub const MOST: f64 = 20.0;
/// How far an estimate that is missing counts as off.
pub const MISSING: f64 = 3.0;
/// A fault is among the first findings up to this rank.
pub const FIRST_FEW: usize = 3;
/// A rule that promises more of a kernel from which its fault was taken away is wrong there.
pub const REPAIRED_PROMISE: f64 = 1.2;

/// What `bench` prints.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BenchDocument {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The version that wrote it.
    #[serde(default)]
    pub adoprof: crate::document::Version,
    /// Every planted fault.
    pub cases: Vec<PlantedFault>,
    /// Steps of which nothing, or not some fault, should be said.
    pub quiet: Vec<QuietStep>,
    /// The figures of each set that was asked for.
    pub sets: Vec<SetFigures>,
    /// The figures of these sets together, where they are more than one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together: Option<Three>,
    /// The ordinary ladders, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ladders: Option<Transitions>,
    /// Other people's programs, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub programs: Option<Programs>,
    /// Things to know about this result, each one sentence.
    pub notices: Vec<String>,
}

/// A planted fault, what removing it gained, and what was said of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlantedFault {
    /// The set that it came with.
    pub set: u32,
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
    /// True where one of ncu's rules can name the fault.
    pub ncu_has_a_rule: bool,
    /// What adoprof says.
    pub adoprof: Said,
    /// What ncu's rules say, by the estimates of every kind.
    pub ncu: Said,
    /// What ncu's rules say, by the estimates of the whole kernel alone.
    pub ncu_global: Said,
    /// The line that adoprof's finding of the fault names first, where it names one and the repair
    /// changes lines of the kernel.
    pub line: Option<PointedAt>,
    /// The fault's place among adoprof's findings where the source page has no SASS.
    pub rank_without_sass: Option<usize>,
}

/// What one advisor says of a step and of a fault in it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// The fault's place among what it says of the step without the fault; `None` where it is gone.
    pub rank_when_repaired: Option<usize>,
    /// What it still promises there.
    pub estimate_when_repaired: Option<Estimate>,
}

impl Said {
    /// True where it still promises more than [`REPAIRED_PROMISE`] of a fault that is gone.
    #[must_use]
    pub fn insists(&self) -> bool {
        self.estimate_when_repaired.is_some_and(|gain| gain.factor > REPAIRED_PROMISE)
    }
}

/// A name with a promise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuietStep {
    /// The set that it came with.
    pub set: u32,
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

/// The shipped recordings that the bench judges.
#[derive(Debug, Clone, Copy)]
pub struct Recordings<'a> {
    /// The ladders, diagnosed from whole pages.
    pub whole: &'a [RecordedLadder],
    /// The same ladders, diagnosed without SASS; those that are missing here count as wrong.
    pub without_sass: &'a [RecordedLadder],
}

/// Judges the planted faults of the ladders that belong to these sets.
#[must_use]
pub fn judge(recordings: Recordings<'_>, sets: &[FaultSet]) -> BenchDocument {
    let mut document = empty();
    let mut kernels = vec![0; sets.len()];
    for recorded in recordings.whole {
        let of_bench = recorded.ladder.set();
        let Some(at) = sets.iter().position(|set| of_bench == Some(set.number)) else { continue };
        kernels[at] += 1;
        for step in &recorded.missing {
            document.notices.push(format!(
                "{}/{step} was not recorded and is left out",
                recorded.ladder.name()
            ));
        }
        let same = |other: &&RecordedLadder| other.ladder.name() == recorded.ladder.name();
        let without_sass = recordings.without_sass.iter().find(same);
        planted::judge(recorded, without_sass, sets[at].number, &mut document);
        quiet::judge(recorded, sets[at].number, &mut document);
    }
    if document.cases.is_empty() && document.quiet.is_empty() {
        document.notices.push("no recorded kernel belongs to these sets of the bench".to_owned());
    }
    let figures = sets.iter().zip(kernels);
    document.sets = figures.map(|(set, kernels)| figures::set(set, kernels, &document)).collect();
    if sets.len() > 1 {
        document.together = Some(Three::of(&document, |_| true));
    }
    document
}

/// A document that holds nothing yet.
#[must_use]
pub fn empty() -> BenchDocument {
    BenchDocument { schema: SCHEMA.to_owned(), ..BenchDocument::default() }
}

/// Adds the transitions of the ordinary ladders: those that belong to no set.
pub fn add_ladders(document: &mut BenchDocument, ladders: &[RecordedLadder]) {
    let ordinary: Vec<&RecordedLadder> =
        ladders.iter().filter(|recorded| recorded.ladder.set().is_none()).collect();
    document.ladders = Some(transitions::judge(&ordinary));
}
