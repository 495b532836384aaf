//! Source lines that have a share of something, and which of them are worth naming.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Lines with a smaller share of something are not named: without the whole line a launch would be 1 / (1 - 0.05) = 1.05 times as
/// fast at most, which is no more than [`LEAST_GAIN`](super::LEAST_GAIN).
const LEAST_LINE_SHARE: f64 = 0.05;

/// A source line that has a share of something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Location {
    /// The source file as the profile names it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The line's share, 0 to 1.
    pub share: f64,
    /// Of what (`excess sectors`, `stall samples`).
    pub share_of: String,
    /// The line's text, empty where the profile has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// A source line and how much of something it has, in the unit of that something.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WeightedLine<'a> {
    pub(crate) file: &'a str,
    pub(crate) line: u32,
    pub(crate) weight: f64,
}

impl Location {
    /// The lines with the largest shares of `total`, largest first and equal ones in their order: at most `most`, each
    /// with at least 5%. Empty where `total` is not above 0. Only these are asked for their text.
    pub(crate) fn heaviest<'a>(
        lines: impl IntoIterator<Item = WeightedLine<'a>>,
        total: f64,
        most: usize,
        share_of: &str,
        text_of: impl Fn(WeightedLine) -> &'a str,
    ) -> Vec<Self> {
        if total <= 0.0 {
            return Vec::new();
        }
        let mut heavy: Vec<WeightedLine> =
            lines.into_iter().filter(|line| line.weight / total >= LEAST_LINE_SHARE).collect();
        heavy.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        heavy.truncate(most);
        heavy
            .into_iter()
            .map(|line| Self {
                file: line.file.to_owned(),
                line: line.line,
                share: line.weight / total,
                share_of: share_of.to_owned(),
                text: text_of(line).trim().to_owned(),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weighted(line: u32, weight: f64) -> WeightedLine<'static> {
        WeightedLine { file: "k.cu", line, weight }
    }

    fn named(lines: &[(u32, f64)], total: f64, most: usize) -> Vec<u32> {
        let lines = lines.iter().map(|&(line, weight)| weighted(line, weight));
        Location::heaviest(lines, total, most, "bytes", |_| "")
            .iter()
            .map(|found| found.line)
            .collect()
    }

    #[test]
    fn a_line_with_a_twentieth_is_named_and_one_with_less_is_not() {
        assert_eq!(named(&[(1, 5.0), (2, 4.9), (3, 90.1)], 100.0, 3), [3, 1]);
    }

    #[test]
    fn the_largest_come_first_and_equal_ones_in_their_order() {
        assert_eq!(named(&[(4, 20.0), (7, 30.0), (5, 20.0), (6, 30.0)], 100.0, 3), [7, 6, 4]);
    }

    #[test]
    fn a_share_is_of_the_whole_and_the_text_has_no_indent() {
        let found = Location::heaviest([weighted(9, 30.0)], 120.0, 3, "bytes", |_| "  x[i] = y;");
        let [only] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(
            (only.share, only.share_of.as_str(), only.text.as_str()),
            (0.25, "bytes", "x[i] = y;")
        );
    }

    #[test]
    fn nothing_has_a_share_of_nothing() {
        assert!(named(&[(1, 0.0)], 0.0, 3).is_empty());
    }
}
