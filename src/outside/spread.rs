//! How far what changes gained lies from what rules promise: of each rule, by its own changes and by those
//! of all.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::said::{Said, said};
use super::thresholds::{FAR, OTHERS, WITHIN};

/// How far a change's gain may lie from the estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The gain is expected between estimate / ratio and estimate × ratio; at least 1.
    pub ratio: f64,
    /// The rule's own changes behind it.
    pub changes: usize,
}

/// The spread of a rule.
#[must_use]
pub fn spread(rule: &str) -> Spread {
    static SPREADS: OnceLock<Spreads> = OnceLock::new();
    SPREADS.get_or_init(|| Spreads::new(said())).of(rule)
}

/// The distances |ln(gain / estimate)| of all changes.
struct Spreads {
    /// The distance that [`WITHIN`] of all changes stay below.
    within: f64,
    /// The mean distance.
    mean: f64,
    /// Sum and number of each rule's.
    of_rules: BTreeMap<&'static str, (f64, usize)>,
}

impl Spreads {
    fn new(said: &[Said]) -> Self {
        let distance = |one: &Said| (one.gained / one.estimate.factor).ln().abs();
        let near = |one: &Said| distance(one).min(FAR.value.ln());
        let mut distances: Vec<f64> = said.iter().map(distance).collect();
        distances.sort_by(f64::total_cmp);
        let mut of_rules: BTreeMap<&'static str, (f64, usize)> = BTreeMap::new();
        for one in said {
            let (sum, number) = of_rules.entry(one.rule).or_default();
            *sum += near(one);
            *number += 1;
        }
        let mean = said.iter().map(near).sum::<f64>() / said.len().max(1) as f64;
        Self { within: quantile(&distances, WITHIN.value), mean, of_rules }
    }

    /// The pooled spread, times what the rule's mean distance is of the mean of all once as many as
    /// [`OTHERS`] of the latter count with it.
    fn of(&self, rule: &str) -> Spread {
        let (sum, changes) = self.of_rules.get(rule).copied().unwrap_or_default();
        let others = OTHERS.value;
        let own = if self.mean > 0.0 {
            (others + sum / self.mean) / (others + changes as f64)
        } else {
            1.0
        };
        Spread { ratio: (self.within * own).exp(), changes }
    }
}

/// A quantile of sorted values, linear between two; 0 of none.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * sorted.len().saturating_sub(1) as f64;
    let below = place.floor();
    let at = |place: f64| sorted.get(place as usize).or(sorted.last()).copied().unwrap_or(0.0);
    at(below) + (place - below) * (at(below + 1.0) - at(below))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Estimate;

    fn change(rule: &'static str, factor: f64, gained: f64) -> Said {
        Said {
            program: "p",
            kernel: "k",
            rule,
            rank: 1,
            estimate: Estimate { factor, low: 1.0, high: factor },
            gained,
            time_ns: 1000.0,
        }
    }

    #[test]
    fn a_rule_without_changes_has_the_spread_of_all() {
        // Distances ln 1.1, ln 1.2, ln 1.3, ln 1.4: two thirds of the way from the first to the last is ln 1.3.
        let said = [1.1, 1.2, 1.3, 1.4].map(|gained| change("a", 1.0, gained));
        let spreads = Spreads::new(&said);
        let of_all = spreads.of("b");
        assert!((of_all.ratio - 1.3).abs() < 1e-9 && of_all.changes == 0, "{of_all:?}");
        // Its own are all there are.
        assert!((spreads.of("a").ratio - 1.3).abs() < 1e-9);
        assert_eq!(spreads.of("a").changes, 4);
    }

    #[test]
    fn a_rule_whose_changes_are_far_off_reaches_farther() {
        // Eight at no distance, and eight at ln 2: the mean is half of ln 2.
        let near = (0..8).map(|_| change("near", 2.0, 2.0));
        let far = (0..8).map(|_| change("far", 2.0, 1.0));
        let spreads = Spreads::new(&near.chain(far).collect::<Vec<_>>());
        // Two thirds of 16 lie within ln 2. Of `far` (8 + 8·2) / 16 = 1.5 times that, of `near` half.
        assert!((spreads.of("far").ratio - 2_f64.powf(1.5)).abs() < 1e-9);
        assert!((spreads.of("near").ratio - 2_f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn beyond_twice_is_no_farther() {
        let twice = Spreads::new(&[change("a", 1.0, 2.0), change("b", 1.0, 1.0)]);
        let far = Spreads::new(&[change("a", 1.0, 50.0), change("b", 1.0, 1.0)]);
        assert_eq!(twice.mean.to_bits(), far.mean.to_bits());
        assert_eq!(twice.of_rules, far.of_rules);
        // The mean of ln 2 and nothing.
        assert!((twice.mean - 2_f64.ln() / 2.0).abs() < 1e-12);
    }

    #[test]
    fn between_two_distances_a_quantile_lies_in_proportion() {
        // Distances 0 and ln 2: two thirds of the way.
        let spreads = Spreads::new(&[change("a", 2.0, 2.0), change("b", 1.0, 2.0)]);
        assert!((spreads.of("c").ratio.ln() - 2.0 / 3.0 * 2_f64.ln()).abs() < 1e-9);
    }
}
