//! Thresholds, each with its source, and those that belong to no rule.

use super::layout::{WIDEST, item, lines};
use crate::evidence::{Threshold, slow_routines};
use crate::text::layout::wrap;
use crate::text::percent;
use crate::{diagnose, model, outside, sass};

/// How a rule's record marks a number that is no limit: a constant that its estimate builds on.
pub(super) const GIVEN: &str = "constant: ";

/// What [`numbers`] are asked for by.
pub(crate) const NUMBERS: &str = "numbers";

/// The numbers that decide and belong to no rule, by what they decide.
pub(super) const SHARED: [(&str, &[Threshold]); 5] = [
    ("the order of the findings", diagnose::thresholds::THRESHOLDS),
    ("the time model", model::thresholds::THRESHOLDS),
    ("how far ranges reach", outside::thresholds::THRESHOLDS),
    ("how machine code is read", sass::thresholds::THRESHOLDS),
    ("how library routines are found", slow_routines::THRESHOLDS),
];

/// The numbers that decide and belong to no rule, each with its source.
#[must_use]
pub(crate) fn numbers(width: usize) -> String {
    let width = width.min(WIDEST);
    let mut text = wrap(
        "Thresholds and constants that belong to no single rule. `adoprof explain RULE` shows a rule's own; a \
         device's stand in its file.",
        width,
    );
    for (title, thresholds) in SHARED {
        text.extend([String::new(), title.to_owned()]);
        text.extend(thresholds.iter().flat_map(|one| number(one, width)));
    }
    lines(text)
}

/// A number with what it is of, and below it where it comes from.
pub(super) fn number(threshold: &Threshold, width: usize) -> Vec<String> {
    let what = threshold.what.strip_prefix(GIVEN).unwrap_or(threshold.what);
    let mut lines = item(&format!("{what}: {}", value(threshold)), width);
    let source = wrap(threshold.source, width.saturating_sub(6));
    lines.extend(source.iter().map(|line| format!("      {line}")));
    lines
}

/// The value with its unit, in the plural where it is one that is counted and there are several.
pub(super) fn value(threshold: &Threshold) -> String {
    let value = threshold.value;
    match threshold.unit {
        "" => format!("{value}"),
        "%" => format!("{value}%"),
        "share" => percent(value),
        // Symbols, rates and what is a plural already stay as they are.
        unit @ ("ns" | "block/SM" | "percentage points") => format!("{value} {unit}"),
        unit if (value - 1.0).abs() < f64::EPSILON => format!("{value} {unit}"),
        unit if unit.ends_with("ch") => format!("{value} {unit}es"),
        unit => format!("{value} {unit}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::testing::flat;

    #[test]
    fn every_number_of_no_rule_has_a_source_and_is_shown() {
        for width in [50, WIDEST] {
            let text = numbers(width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
            let all = flat(&text);
            for threshold in SHARED.iter().flat_map(|(_, thresholds)| *thresholds) {
                assert!(threshold.source.len() > 15, "{}", threshold.what);
                assert!(all.contains(&flat(threshold.source)), "{}", threshold.what);
            }
        }
    }

    #[test]
    fn units_follow_their_value() {
        let threshold =
            |value, unit| super::value(&Threshold { what: "", value, unit, source: "a source" });
        assert_eq!(threshold(32.0, "thread"), "32 threads");
        assert_eq!(threshold(1.0, "wave"), "1 wave");
        assert_eq!(threshold(3.0, "launch"), "3 launches");
        assert_eq!(threshold(1.25, "%"), "1.25%");
        assert_eq!(threshold(1728.0, "ns"), "1728 ns");
        assert_eq!(threshold(1.05, ""), "1.05");
    }
}
