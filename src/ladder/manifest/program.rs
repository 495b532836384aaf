//! What a manifest says of a step that is a program.

use serde::Deserialize;
use toml::Spanned;

use crate::ladder::flag::Flag;

/// What says whether the answer is right: an expression that the output must match, or a command.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::ladder) struct AnswerCheck {
    pub output: Option<Spanned<String>>,
    pub run: Option<Spanned<Flag>>,
}

/// The time in the program's output: the first group of an expression is the number, the second its unit.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::ladder) struct OutputTime {
    pub output: Spanned<String>,
    /// The unit where the output has none.
    pub unit: Option<Spanned<String>>,
}
