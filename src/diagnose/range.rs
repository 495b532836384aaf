//! How far a range reaches: what the model bounds, and what changes to other people's programs showed.

use super::thresholds::FAR_REACH;
use crate::finding::Estimate;
use crate::model::Effect;
use crate::outside;
use crate::rules::{Cure, Rule};
use crate::text::significant;

/// The model's range, reaching at least as far as changes were from what findings promised at first sight.
///
/// More warps hide waiting and take no work away: that all waiting goes is the most that they can give, so
/// that the upper end stays where the model has it. Any other change is code written anew, which may take
/// away more than the fault; and all of them can cost more than they bring, so that a range may begin
/// below 1. Work that is divided into parts gains no more than there are parts.
#[must_use]
pub(super) fn reaching(rule: &Rule, effect: &Effect, estimate: Estimate) -> Estimate {
    let Estimate { factor, low, high } = estimate;
    let ratio = outside::ratio(factor);
    let high = if rule.cure == Cure::MoreWarps { high } else { high.max(factor * ratio) };
    let high = effect.at_most.map_or(high, |most| high.min(most).max(factor));
    Estimate { factor, low: low.min(factor / ratio), high }
}

/// Why a range ends so far above its estimate, as a sentence; `None` where it does not. `known` is what the model alone
/// has, and `first` a finding about the same waiting that promises more.
#[must_use]
pub(super) fn why_so_far(
    effect: &Effect,
    known: Estimate,
    shown: Estimate,
    first: Option<&str>,
) -> Option<String> {
    if shown.high <= FAR_REACH.value * shown.factor {
        return None;
    }
    let end = format!("{}×", significant(shown.high, 3));
    let ratio = outside::ratio(shown.factor);
    if shown.factor * ratio > known.high {
        return Some(format!(
            " The range ends at {end} because one in four of such large promises was off by a factor of {ratio:.1} or \
             more."
        ));
    }
    if effect.launch {
        return Some(format!(
            " The range ends at {end} because in so short a kernel the rest of the waiting may be launch overhead too."
        ));
    }
    let first = first.map_or_else(String::new, |rule| {
        format!("; {rule}, which promises more, is about the same waiting")
    });
    Some(format!(
        " The range ends at {end}, where warps would not wait at all, because it can't be told how much of the waiting \
         goes with this fault{first}."
    ))
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
        let reaching = reaching(rule, &Effect::default(), narrow);
        assert_eq!(reaching, Estimate { factor: 2.0, low: 2.0 / ratio, high: 2.0 * ratio });
    }

    #[test]
    fn what_the_model_has_wider_stays() {
        let wide = Estimate { factor: 2.0, low: 0.5, high: 9.0 };
        let rule = find("slow-math-functions").unwrap();
        assert_eq!(reaching(rule, &Effect::default(), wide), wide);
    }

    #[test]
    fn so_many_parts_gain_as_much_at_most() {
        let all = Estimate { factor: 32.0, low: 9.0, high: 32.0 };
        let rule = find("grid-too-small").unwrap();
        let high = |at_most| reaching(rule, &Effect { at_most, ..Effect::default() }, all).high;
        assert!(high(None) > 100.0);
        assert!((high(Some(32.0)) - 32.0).abs() < 1e-12);
        assert!((high(Some(31.0)) - 32.0).abs() < 1e-12, "not below the estimate");
    }

    #[test]
    fn an_end_over_four_times_the_estimate_is_explained() {
        let said = |effect: &Effect, factor: f64, high: f64, first: Option<&str>| {
            let known = Estimate { factor, low: 1.0, high };
            let shown = reaching(find("narrow-global-access").unwrap(), effect, known);
            why_so_far(effect, known, shown, first)
        };
        let waits = Effect::default();
        assert_eq!(said(&waits, 1.5, 6.0, None), None, "four times");
        let waiting = said(&waits, 1.14, 6.9, Some("occupancy-limited-by-registers")).unwrap();
        assert!(waiting.contains("ends at 6.90×, where warps would not wait at all"), "{waiting}");
        assert!(waiting.ends_with(
            "fault; occupancy-limited-by-registers, which promises more, is about the same waiting."
        ));
        assert!(said(&waits, 1.14, 6.9, None).unwrap().ends_with("goes with this fault."));
        let launch = Effect { launch: true, ..Effect::default() };
        assert!(said(&launch, 1.93, 8.21, None).unwrap().contains("may be launch overhead too"));
        let large = said(&waits, 80.0, 90.0, None).unwrap();
        assert!(large.contains("such large promises was off by a factor of"), "{large}");
    }

    #[test]
    fn more_warps_can_do_no_more_than_hide_all_waiting() {
        let bounded = Estimate { factor: 1.2, low: 1.1, high: 1.25 };
        let rule = find("occupancy-limited-by-registers").unwrap();
        let reaching = reaching(rule, &Effect::default(), bounded);
        assert!(reaching.low < 1.0 && (reaching.high - bounded.high).abs() < 1e-12, "{reaching:?}");
    }
}
