//! `ladder.toml` as it is written. Unknown keys are errors; every error names its line and what to
//! write instead.

mod argument;
mod program;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

pub(super) use argument::{Argument, Scalar, Texture};
pub(super) use program::{AnswerCheck, OutputTime};

use super::expression::Expression;
use super::flag::Flag;
use crate::error::{Error, Result};
use crate::plan::{DType, Fill, Role, VariantKind};
use crate::text::nearest::nearest;

/// The file's name in a ladder's directory.
pub const FILE: &str = "ladder.toml";

/// An expression and where it stands.
pub(super) type Formula = Spanned<Expression>;
/// Parameter values and where they stand.
pub(super) type Sizes = BTreeMap<Spanned<String>, Spanned<i64>>;

/// A whole manifest.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    pub name: Spanned<String>,
    pub title: String,
    #[serde(default)]
    pub description: String,
    pub reference: Option<Spanned<String>>,
    pub tolerance: Option<Spanned<Tolerance>>,
    /// The set of the fault bench that it came with.
    pub set: Option<u32>,
    /// The commit with which the fault bench first judged it, before any rule was tuned on it.
    pub first_judged: Option<Spanned<String>>,
    /// The least compute capability that its kernels compile for, as `[8, 0]`.
    pub least_compute_capability: Option<(u32, u32)>,
    pub library: Option<Spanned<String>>,
    #[serde(default)]
    pub parameters: Sizes,
    pub metric: Option<Metric>,
    pub bytes: Option<Formula>,
    pub flops: Option<Formula>,
    #[serde(default)]
    pub buffers: Vec<Buffer>,
    pub steps: Vec<Step>,
    #[serde(default)]
    pub cases: Vec<DeclaredSize>,
}

/// How far an answer may be from the reference step's.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tolerance {
    pub relative: f64,
}

/// The figure of merit: rate = work / seconds / 1e9.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Metric {
    pub unit: Spanned<String>,
    pub work: Formula,
}

/// Memory that the kernels work on.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Buffer {
    pub name: Spanned<String>,
    pub dtype: DType,
    pub shape: Spanned<Vec<Formula>>,
    pub role: Role,
    pub fill: Option<Spanned<Fill>>,
}

/// A step.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    pub name: Spanned<String>,
    pub title: String,
    #[serde(default)]
    pub changes: String,
    #[serde(default)]
    pub side: bool,
    pub from: Option<Spanned<String>>,
    /// The CUDA source; required of a step of kernels.
    pub file: Option<Spanned<String>>,
    /// The file of a launch that `adoprof capture` wrote: the step replays it.
    pub captured: Option<Spanned<String>>,
    /// The command that runs a step that is a program.
    pub run: Option<Spanned<Flag>>,
    /// The command that builds it.
    pub build: Option<Spanned<Flag>>,
    /// Which of its kernels count.
    #[serde(rename = "match")]
    pub kernels: Option<Spanned<String>>,
    /// What says whether its answer is right.
    pub check: Option<Spanned<AnswerCheck>>,
    /// Where its time comes from, if not from a survey.
    pub time: Option<OutputTime>,
    /// How often it is run to be timed.
    pub runs: Option<Spanned<i64>>,
    #[serde(default)]
    pub flags: Vec<Spanned<Flag>>,
    #[serde(default)]
    pub size: Sizes,
    /// What a sweep may vary, with its defaults: names in this step's expressions, and `-DNAME=value`
    /// for its compiler.
    #[serde(default)]
    pub tune: Sizes,
    #[serde(default)]
    pub note: String,
    #[serde(default)]
    pub requires: Vec<Requirement>,
    /// The faults of the step before it that its change takes away; the first is the one that the
    /// change is made for, chosen from the change and before the step is profiled.
    #[serde(default)]
    pub answers: Vec<Spanned<String>>,
    /// Faults that were put into the step on purpose.
    #[serde(default)]
    pub plants: Vec<Spanned<String>>,
    /// Faults that a counter suggests and that the step does not have.
    #[serde(default)]
    pub innocent: Vec<Spanned<String>>,
    /// The step runs at a limit of the hardware: there is nothing to propose.
    #[serde(default)]
    pub at_limit: bool,
    /// Buffers that lie in pinned host memory, which the device reads over the bus.
    #[serde(default)]
    pub host: Vec<Spanned<String>>,
    /// Buffers that lie in another device's memory.
    #[serde(default)]
    pub peer: Vec<Spanned<String>>,
    #[serde(default)]
    pub published: Vec<Published>,
    /// Required of a step of kernels.
    pub launches: Option<Spanned<Vec<DeclaredLaunch>>>,
    #[serde(default)]
    pub variants: Vec<Variant>,
}

impl Step {
    /// The launches; none of a program.
    pub(super) fn launches(&self) -> &[DeclaredLaunch] {
        self.launches.as_ref().map_or(&[], |launches| launches.get_ref())
    }
}

/// A step with something left out, for `adoprof limiter`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Variant {
    pub name: Spanned<String>,
    pub kind: VariantKind,
    #[serde(default)]
    pub title: String,
    /// Beside the step's own.
    #[serde(default)]
    pub flags: Vec<Spanned<Flag>>,
    /// The step's own where none is given.
    pub file: Option<Spanned<String>>,
    /// The step's own where none are given.
    pub launches: Option<Spanned<Vec<DeclaredLaunch>>>,
    /// The faults that a what-if takes away, as rule names.
    #[serde(default)]
    pub removes: Vec<Spanned<String>>,
}

/// A condition on the size, with the reason why.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Requirement {
    pub that: Formula,
    pub because: String,
}

/// A figure that somebody published for a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Where it was measured: `V100-SXM2-32GB`.
    pub device: String,
    /// What was measured, with the size where it is not the ladder's default.
    pub what: String,
    /// The figure in `unit`.
    pub value: f64,
    /// Its unit.
    pub unit: String,
    /// Who published it, where.
    pub source: String,
}

/// A kernel launch.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeclaredLaunch {
    pub kernel: Spanned<String>,
    pub grid: Spanned<Vec<Formula>>,
    pub block: Spanned<Vec<Formula>>,
    pub shared: Option<Formula>,
    /// The launch is repeated so often, with `i` = 0, 1, … in its expressions.
    pub repeat: Option<Formula>,
    #[serde(default)]
    pub args: Vec<Spanned<Argument>>,
}

/// A named problem size.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeclaredSize {
    pub name: Spanned<String>,
    pub step: Spanned<String>,
    pub size: Sizes,
    #[serde(default)]
    pub note: String,
}

/// A manifest's text and place, for error messages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin<'a> {
    pub path: &'a Path,
    pub text: &'a str,
}

impl Origin<'_> {
    /// An error at a byte range of the text.
    pub(super) fn error(&self, span: &Range<usize>, problem: impl Into<String>) -> Error {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        Error::Manifest { path: self.path.to_owned(), line, problem: problem.into() }
    }

    /// Reads the text's shape; what it means is checked later.
    pub(super) fn parse(&self) -> Result<Manifest> {
        toml::from_str(self.text).map_err(|error| self.unreadable(&error))
    }

    /// A mistake of form.
    pub(super) fn unreadable(&self, error: &toml::de::Error) -> Error {
        self.error(&error.span().unwrap_or(0..0), remedy(error.message()))
    }
}

/// serde's message, with what to write instead.
fn remedy(message: &str) -> String {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let (what, kind) = if message.starts_with("unknown field") {
        ("key", "keys here are")
    } else if message.starts_with("unknown variant") {
        ("word", "words here are")
    } else if let (true, [key, ..]) = (message.starts_with("missing field"), quoted.as_slice()) {
        return format!("the key `{key}` is missing: add it");
    } else if let (true, [key, ..]) = (message.starts_with("duplicate key"), quoted.as_slice()) {
        return format!("the key `{key}` appears twice: remove one");
    } else {
        return message.to_owned();
    };
    let [word, known @ ..] = quoted.as_slice() else { return message.to_owned() };
    let suggestion = match nearest(word, known.iter().copied()) {
        Some(near) => format!("write `{near}`"),
        None => "remove it or write another".to_owned(),
    };
    format!("unknown {what} `{word}`: {suggestion} (the {kind} {})", known.join(", "))
}
