//! The ordinary ladders: whether the finding that the next step is made for stood among the first.
//!
//! A step's manifest names in `answers` what its change takes away. The first of them is the one that
//! the change is made for, and the only one that counts here.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FIRST_FEW, Tally};
use crate::finding::LEAST_GAIN;
use crate::ladder::Step;
use crate::profile::RecordedLadder;
use crate::timing::StepInfo;

/// The transitions of the ladders.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Transitions {
    /// Those that gain at least [`LEAST_GAIN`] and say what they take away.
    pub transitions: Vec<Transition>,
    /// Those that gain less, or lose: nothing is to be found there.
    pub lost: Vec<Lost>,
    /// Those whose fault is among the first three findings.
    pub first_three: Chance,
    /// Those whose fault is first, where nothing else that was measured gives more.
    pub first: Chance,
}

/// How many are right, and how many would be if each step's findings stood in a random order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Chance {
    /// How many are right.
    pub right: Tally,
    /// How many are expected of a random order: the sum of the probabilities. A fault that is not
    /// among the findings has none.
    pub by_chance: f64,
    /// The standard deviation of that number.
    pub deviation: f64,
}

impl Chance {
    fn of(probabilities: impl Iterator<Item = (bool, f64)>) -> Self {
        let mut variance = 0.0;
        let mut chance = Self::default();
        for (right, p) in probabilities {
            chance.right.of += usize::from(right);
            chance.right.all += 1;
            chance.by_chance += p;
            variance += p * (1.0 - p);
        }
        Self { deviation: f64::sqrt(variance), ..chance }
    }
}

/// From one main step to the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Transition {
    /// The ladder.
    pub ladder: String,
    /// The step.
    pub from: String,
    /// The next main step.
    pub to: String,
    /// The measured gain.
    pub gain: f64,
    /// True where the sizes differ, so that rates were compared.
    pub by_rate: bool,
    /// The fault that the next step is made to take away.
    pub fault: String,
    /// Its rank among the step's findings; `None` where it is none of them.
    pub rank: Option<usize>,
    /// How many findings the step has.
    pub findings: usize,
    /// The step's first finding.
    pub first: Option<String>,
    /// A side step or a what-if that takes something else away and gives more, with its gain.
    pub beaten_by: Option<(String, f64)>,
}

impl Transition {
    /// The probability that the fault stands among the first `places` of the findings in a random
    /// order.
    #[must_use]
    pub fn chance(&self, places: usize) -> f64 {
        self.rank.map_or(0.0, |_| places.min(self.findings) as f64 / self.findings as f64)
    }
}

/// A main step that gains less than the next step of a ladder should.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lost {
    /// The ladder.
    pub ladder: String,
    /// The step.
    pub from: String,
    /// The next main step.
    pub to: String,
    /// The measured gain, below 1 for a loss.
    pub gain: f64,
    /// The fault that the next step is made to take away.
    pub fault: String,
    /// The step's first finding.
    pub first: Option<String>,
}

/// Judges the transitions.
pub(super) fn judge(ladders: &[&RecordedLadder]) -> Transitions {
    let (mut transitions, mut lost) = (Vec::new(), Vec::new());
    for recorded in ladders {
        let steps: Vec<&Step> = recorded.ladder.main_steps().collect();
        for pair in steps.windows(2) {
            let Some(one) = transition(recorded, pair[0], pair[1]) else { continue };
            if one.gain < LEAST_GAIN {
                let Transition { ladder, from, to, gain, fault, first, .. } = one;
                lost.push(Lost { ladder, from, to, gain, fault, first });
            } else {
                transitions.push(one);
            }
        }
    }
    let few = |one: &Transition| one.rank.is_some_and(|rank| rank <= FIRST_FEW);
    let unbeaten = transitions.iter().filter(|one| one.beaten_by.is_none());
    Transitions {
        first_three: Chance::of(transitions.iter().map(|one| (few(one), one.chance(FIRST_FEW)))),
        first: Chance::of(unbeaten.map(|one| (one.rank == Some(1), one.chance(1)))),
        transitions,
        lost,
    }
}

fn transition(recorded: &RecordedLadder, from: &Step, to: &Step) -> Option<Transition> {
    let (before, after) = (recorded.step(from.name())?, recorded.step(to.name())?);
    recorded.of_one_device(from.name(), to.name()).then_some(())?;
    let (gain, by_rate) = gain(before, after)?;
    let fault = to.answers().first()?;
    let ranking = recorded.document(from.name())?.ranked();
    Some(Transition {
        ladder: recorded.ladder.name().to_owned(),
        from: from.name().to_owned(),
        to: to.name().to_owned(),
        gain,
        by_rate,
        rank: ranking.iter().position(|ranked| ranked.rule == fault).map(|at| at + 1),
        fault: fault.clone(),
        findings: ranking.len(),
        first: ranking.first().map(|ranked| ranked.rule.to_owned()),
        beaten_by: better(recorded, from, to, gain),
    })
}

/// Times where the sizes agree, else rates in one unit.
fn gain(before: &StepInfo, after: &StepInfo) -> Option<(f64, bool)> {
    let over = |a: f64, b: f64| (a > 0.0 && b > 0.0).then(|| a / b);
    if before.size == after.size {
        return Some((over(before.time_ns.median, after.time_ns.median)?, false));
    }
    let (before, after) = (before.rate.as_ref()?, after.rate.as_ref()?);
    (before.unit == after.unit).then(|| over(after.value, before.value))?.map(|gain| (gain, true))
}

/// The side step or what-if that gives most, where it gives more than the transition and takes away
/// nothing that the next step answers.
fn better(
    recorded: &RecordedLadder,
    from: &Step,
    to: &Step,
    gain_of_next: f64,
) -> Option<(String, f64)> {
    let other = |rules: &[String]| !rules.iter().any(|rule| to.answers().contains(rule));
    let before = recorded.step(from.name())?;
    let sides = recorded
        .ladder
        .steps()
        .iter()
        .filter(|side| side.is_side() && side.from() == Some(from.name()) && other(side.answers()))
        .filter(|side| recorded.of_one_device(from.name(), side.name()))
        .filter_map(|side| {
            let (gain, _) = gain(before, recorded.step(side.name())?)?;
            Some((side.name().to_owned(), gain))
        });
    let what_ifs = recorded
        .limiter(from.name())
        .into_iter()
        .flat_map(|limiter| &limiter.variants)
        .filter(|variant| !variant.removes.is_empty() && other(&variant.removes))
        .map(|variant| (variant.name.clone(), variant.factor));
    sides
        .chain(what_ifs)
        .filter(|(_, gain)| *gain > gain_of_next)
        .max_by(|a, b| a.1.total_cmp(&b.1))
}
