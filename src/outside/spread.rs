//! How far what changes gained lies from what findings promised at first sight.

use std::sync::OnceLock;

use super::first_sight::{Judged, first_sight};
use super::thresholds::WITHIN;

/// The gain of a change is expected between estimate / ratio and estimate × ratio. The ratio is at least 1 and grows with the
/// estimate: of the sixth of the findings that promised least, up to 1.26×, three in four gained within a factor of 1.39
/// of that, of the sixth that promised most, from 5.4× on, within 2.9.
#[must_use]
pub fn ratio(estimate: f64) -> f64 {
    static WITHIN_UNITS: OnceLock<f64> = OnceLock::new();
    let within = WITHIN_UNITS.get_or_init(|| distance_of_most(first_sight()));
    (within * in_units(estimate)).exp()
}

/// What a distance between the logarithms of gain and estimate is measured in.
fn in_units(estimate: f64) -> f64 {
    1.0 + estimate.max(1.0).ln()
}

/// The distance |ln(gain / estimate)|, in units of 1 + ln(estimate), that [`WITHIN`] of all findings stay below.
fn distance_of_most(judged: &[Judged]) -> f64 {
    let distance = |one: &Judged| {
        (one.gained / one.estimate.factor).ln().abs() / in_units(one.estimate.factor)
    };
    let mut distances: Vec<f64> = judged.iter().map(distance).collect();
    distances.sort_by(f64::total_cmp);
    quantile(&distances, WITHIN.value)
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
    use crate::text::count;

    fn judged(factor: f64, gained: f64) -> Judged {
        Judged {
            page: "p",
            heading: "h",
            case: "c",
            rule: None,
            estimate: Estimate { factor, low: 1.0, high: factor },
            gained,
        }
    }

    #[test]
    fn three_in_four_lie_within() {
        // Distances 0, ln 1.1, …, ln 1.4: three quarters of the way is ln 1.3.
        let all = [1.4, 1.1, 1.0, 1.3, 1.2].map(|gained| judged(1.0, gained));
        assert!((distance_of_most(&all) - 1.3_f64.ln()).abs() < 1e-12);
        // Distances 0 and ln 2: three quarters of the way, in proportion.
        let two = [judged(1.0, 0.5), judged(1.0, 1.0)];
        assert!((distance_of_most(&two) - 0.75 * 2_f64.ln()).abs() < 1e-12);
        assert!(distance_of_most(&[]).abs() < 1e-12);
    }

    #[test]
    fn what_promises_much_is_farther_off() {
        // Half of e is ln 2 away in two units.
        let e = std::f64::consts::E;
        assert!((distance_of_most(&[judged(e, e / 2.0)]) - 2_f64.ln() / 2.0).abs() < 1e-12);
        assert!((ratio(e) - ratio(1.0).powi(2)).abs() < 1e-9);
        assert!((ratio(0.5) - ratio(1.0)).abs() < 1e-12 && ratio(1.0) > 1.0);
    }

    #[test]
    fn most_gains_lie_in_the_ranges_that_the_other_sets_give() {
        let set = |one: &Judged| (one.page, one.heading);
        let held = first_sight().iter().filter(|one| {
            let others: Vec<Judged> =
                first_sight().iter().filter(|other| set(other) != set(one)).copied().collect();
            let Estimate { factor, low, high } = one.estimate;
            let ratio = (distance_of_most(&others) * in_units(factor)).exp();
            (low.min(factor / ratio)..=high.max(factor * ratio)).contains(&one.gained)
        });
        let all = count(first_sight().len() as f64);
        let said = format!("hold {} of {all} gains", count(held.count() as f64));
        assert!(WITHIN.source.contains(&said), "{said}");
        let readme = include_str!("../../README.md").replace('\n', " ");
        assert!(readme.contains(&said), "{said}");
    }
}
