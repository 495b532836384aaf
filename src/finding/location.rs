//! Places in a kernel's code that have a share of something, and which of them are worth naming.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Places with a smaller share of something are not named: without all of it a launch would be 1 / (1 - 0.05) = 1.05 times as
/// fast at most, which is no more than [`LEAST_GAIN`](super::LEAST_GAIN).
const LEAST_SHARE: f64 = 0.05;

/// A source line that has a share of something, or an instruction where the code has no line information.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Location {
    /// The source file as the profile names it; empty for an instruction.
    pub file: String,
    /// The line, from 1; 0 for an instruction.
    pub line: u32,
    /// For an instruction, how many bytes it lies behind the kernel's first, as `cuobjdump -sass` lists it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The place's share, 0 to 1.
    pub share: f64,
    /// Of what (`excess sectors`, `stall samples`).
    pub share_of: String,
    /// The line's or instruction's text, empty where the profile has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// A place in a kernel's code.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place<'a> {
    /// A source line.
    Line { file: &'a str, line: u32 },
    /// An instruction so many bytes behind the kernel's first.
    Instruction { offset: u64, text: &'a str },
}

/// A place and how much of something it has, in the unit of that something.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Weighted<'a> {
    pub(crate) place: Place<'a>,
    pub(crate) weight: f64,
}

impl Location {
    /// The places with the largest shares of `total`, largest first and equal ones in their order: at most `most`, each
    /// with at least 5%. Empty where `total` is not above 0. Only these lines are asked for their text.
    pub(crate) fn heaviest<'a>(
        places: impl IntoIterator<Item = Weighted<'a>>,
        total: f64,
        most: usize,
        share_of: &str,
        text_of_line: impl Fn(&str, u32) -> &'a str,
    ) -> Vec<Self> {
        if total <= 0.0 {
            return Vec::new();
        }
        let mut heavy: Vec<Weighted> =
            places.into_iter().filter(|one| one.weight / total >= LEAST_SHARE).collect();
        heavy.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        heavy.truncate(most);
        heavy
            .into_iter()
            .map(|Weighted { place, weight }| {
                let (file, line, offset, text) = match place {
                    Place::Line { file, line } => (file, line, None, text_of_line(file, line)),
                    Place::Instruction { offset, text } => ("", 0, Some(offset), text),
                };
                Self {
                    file: file.to_owned(),
                    line,
                    offset,
                    share: weight / total,
                    share_of: share_of.to_owned(),
                    text: text.trim().to_owned(),
                }
            })
            .collect()
    }

    /// How a sentence names the place: `line 43`, `instruction 0x2a0`.
    #[must_use]
    pub fn name(&self) -> String {
        match self.offset {
            Some(offset) => format!("instruction {offset:#x}"),
            None => format!("line {}", self.line),
        }
    }

    /// How a sentence that begins with the place names it: `Line 43`, `Instruction 0x2a0`.
    #[must_use]
    pub fn title(&self) -> String {
        match self.offset {
            Some(offset) => format!("Instruction {offset:#x}"),
            None => format!("Line {}", self.line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weighted(line: u32, weight: f64) -> Weighted<'static> {
        Weighted { place: Place::Line { file: "k.cu", line }, weight }
    }

    fn named(lines: &[(u32, f64)], total: f64, most: usize) -> Vec<u32> {
        let lines = lines.iter().map(|&(line, weight)| weighted(line, weight));
        Location::heaviest(lines, total, most, "bytes", |_, _| "")
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
        let found =
            Location::heaviest([weighted(9, 30.0)], 120.0, 3, "bytes", |_, _| "  x[i] = y;");
        let [only] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(
            (only.share, only.share_of.as_str(), only.text.as_str(), only.name().as_str()),
            (0.25, "bytes", "x[i] = y;", "line 9")
        );
    }

    #[test]
    fn an_instruction_is_named_by_its_offset() {
        let place = Place::Instruction { offset: 0x2a0, text: " LDS R4, [R3] " };
        let found =
            Location::heaviest([Weighted { place, weight: 1.0 }], 1.0, 3, "bytes", |_, _| "");
        let [only] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(
            (only.title().as_str(), only.text.as_str()),
            ("Instruction 0x2a0", "LDS R4, [R3]")
        );
    }

    #[test]
    fn nothing_has_a_share_of_nothing() {
        assert!(named(&[(1, 0.0)], 0.0, 3).is_empty());
    }
}
