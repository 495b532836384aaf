//! The ordinary ladders: whether the finding that the next step answers stood among the first.

use serde::{Deserialize, Serialize};

use super::{FIRST_FEW, LEAST_GAIN, Tally};
use crate::ladder::Step;
use crate::profile::RecordedLadder;
use crate::timing::StepInfo;

/// The transitions of the ladders.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Climb {
    /// The transitions that gain at least 5% and say what they take away.
    pub transitions: Vec<Transition>,
    /// Those whose fault is among the first three findings.
    pub first_three: Tally,
    /// Those whose fault is first, where nothing else that was measured gives more.
    pub first: Tally,
}

/// From one main step to the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// The finding that the next step answers and that stands first among such.
    pub answered: Option<String>,
    /// Its rank.
    pub rank: Option<usize>,
    /// The step's first finding.
    pub first: Option<String>,
    /// A side step or a what-if that takes something else away and gives more, with its gain.
    pub beaten_by: Option<(String, f64)>,
}

/// Judges the transitions.
pub fn climb(ladders: &[&RecordedLadder]) -> Climb {
    let transitions: Vec<Transition> = ladders.iter().flat_map(|ladder| of(ladder)).collect();
    let few = |transition: &Transition| transition.rank.is_some_and(|rank| rank <= FIRST_FEW);
    Climb {
        first_three: Tally::count(transitions.iter().map(few)),
        first: Tally::count(
            transitions
                .iter()
                .filter(|transition| transition.beaten_by.is_none())
                .map(|transition| transition.rank == Some(1)),
        ),
        transitions,
    }
}

fn of(recorded: &RecordedLadder) -> Vec<Transition> {
    let steps: Vec<&Step> = recorded.ladder.main_steps().collect();
    steps.windows(2).filter_map(|pair| transition(recorded, pair[0], pair[1])).collect()
}

fn transition(recorded: &RecordedLadder, from: &Step, to: &Step) -> Option<Transition> {
    let (before, after) = (recorded.step(from.name())?, recorded.step(to.name())?);
    let (gain, by_rate) = gain(before, after)?;
    if gain < LEAST_GAIN || to.answers().is_empty() {
        return None;
    }
    let ranking = recorded.document(from.name())?.ranked();
    let answered = ranking.iter().position(|r| to.answers().iter().any(|rule| rule == r.rule));
    Some(Transition {
        ladder: recorded.ladder.name().to_owned(),
        from: from.name().to_owned(),
        to: to.name().to_owned(),
        gain,
        by_rate,
        answered: answered.map(|at| ranking[at].rule.to_owned()),
        rank: answered.map(|at| at + 1),
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
