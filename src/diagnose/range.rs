//! How far a range reaches: what the model bounds, and what changes to other people's programs showed.

use crate::finding::Estimate;
use crate::outside;
use crate::rules::{Cure, Rule};

/// The model's range, reaching at least as far as changes were from what findings promised at first sight.
///
/// More warps hide waiting and take no work away: that all waiting goes is the most that they can give, so
/// that the upper end stays where the model has it. Any other change is code written anew, which may take
/// away more than the fault; and all of them can cost more than they bring, so that a range may begin
/// below 1.
#[must_use]
pub(super) fn reaching(rule: &Rule, estimate: Estimate) -> Estimate {
    let Estimate { factor, low, high } = estimate;
    let ratio = outside::ratio(factor);
    let high = if rule.cure == Cure::MoreWarps { high } else { high.max(factor * ratio) };
    Estimate { factor, low: low.min(factor / ratio), high }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::find;

    #[test]
    fn a_range_reaches_as_far_as_findings_were_off() {
        let narrow = Estimate { factor: 2.0, low: 1.9, high: 2.1 };
        let rule = find("shared-memory-pressure").unwrap();
        let ratio = outside::ratio(2.0);
        assert!(ratio > 1.1);
        let reaching = reaching(rule, narrow);
        assert_eq!(reaching, Estimate { factor: 2.0, low: 2.0 / ratio, high: 2.0 * ratio });
    }

    #[test]
    fn what_the_model_has_wider_stays() {
        let wide = Estimate { factor: 2.0, low: 0.5, high: 9.0 };
        assert_eq!(reaching(find("slow-math-functions").unwrap(), wide), wide);
    }

    #[test]
    fn more_warps_can_do_no_more_than_hide_all_waiting() {
        let bounded = Estimate { factor: 1.2, low: 1.1, high: 1.25 };
        let rule = find("occupancy-limited-by-registers").unwrap();
        let reaching = reaching(rule, bounded);
        assert!(reaching.low < 1.0 && (reaching.high - bounded.high).abs() < 1e-12, "{reaching:?}");
    }
}
