//! Which finding comes first.

use super::Found;
use super::thresholds::ENOUGH_WARPS;
use crate::finding::{LEAST_GAIN, Symptom};
use crate::rules::{Cure, Kind};

/// Puts causes in order: a roof, a rebuild, then by what they promise; missing warps before missing loads.
pub(super) fn order(causes: &mut [(Found, Vec<Symptom>)]) {
    causes.sort_by(|(a, _), (b, _)| {
        let (roof, gain) = (|one: &Found| one.rule.kind == Kind::Roof, Found::gain);
        let (rebuild, weight) = (|one: &Found| one.rule.cure == Cure::Rebuild, Found::weight);
        let kind = roof(b).cmp(&roof(a)).then(rebuild(b).cmp(&rebuild(a)));
        kind.then(weight(b).total_cmp(&weight(a))).then(gain(b).total_cmp(&gain(a)))
    });
    warps_before_loads(causes);
}

/// Bytes in flight are warps times bytes per warp (Little's law), so that both cures answer the same wait
/// and neither promise tells which one the code lacks. Where twice the warps or more would fit, it is
/// warps that are missing; each of them loading more makes up for that. The same goes for twice the blocks. Warps that promise
/// nothing hide nothing: another unit, or work that they would add, is in the way.
fn warps_before_loads(causes: &mut [(Found, Vec<Symptom>)]) {
    let Some(loads) = causes.iter().position(|(one, _)| one.rule.cure == Cure::MoreLoads) else {
        return;
    };
    let warps = causes.iter().position(|(cause, _)| {
        let effect = &cause.draft.effect;
        let room = match cause.rule.cure {
            Cure::MoreWarps => effect.hidden >= ENOUGH_WARPS.value,
            Cure::MoreBlocks => {
                effect.at_most.is_some_and(|times| 1.0 - 1.0 / times >= ENOUGH_WARPS.value)
            }
            _ => false,
        };
        room && cause.gain() >= LEAST_GAIN
    });
    if let Some(warps) = warps.filter(|&warps| warps > loads) {
        causes[loads..=warps].rotate_right(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Draft;
    use crate::finding::Estimate;
    use crate::model::Effect;
    use crate::rules;

    #[test]
    fn twice_the_blocks_stand_before_loads() {
        let found = |name: &str, at_most: Option<f64>, factor: f64| {
            let effect = Effect { at_most, hidden: 0.4, idle: 0.2, ..Effect::default() };
            let found = Found {
                rule: rules::find(name).unwrap(),
                draft: Draft { effect, ..Draft::default() },
                estimate: Some(Estimate { factor, low: 1.0, high: 2.0 }),
                bounds: None,
                has_own_cause: false,
            };
            (found, Vec::new())
        };
        let first = |parts, promised| {
            let loads = found("low-memory-parallelism", None, 1.5);
            let mut causes = [loads, found("grid-too-small", parts, promised)];
            order(&mut causes);
            causes[0].0.rule.name
        };
        assert_eq!(first(Some(2.0), 1.4), "grid-too-small");
        assert_eq!(first(Some(1.9), 1.4), "low-memory-parallelism");
        assert_eq!(first(None, 1.4), "low-memory-parallelism", "the work is in no such parts");
        assert_eq!(first(Some(2.0), 1.04), "low-memory-parallelism", "more blocks gain nothing");
    }
}
