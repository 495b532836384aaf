//! The rules as records.

use schemars::JsonSchema;
use serde::Serialize;

use crate::document::Version;

/// What `explain` prints: all rules and numbers, or what was asked for.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainDocument {
    /// Always [`SCHEMA`](crate::document::SCHEMA).
    pub schema: &'static str,
    /// The version that wrote it.
    pub adoprof: Version,
    /// The rules: all of them, or the one that was asked for.
    pub rules: Vec<RuleRecord>,
    /// Thresholds and constants that belong to no single rule, by what they decide.
    pub numbers: Vec<NumberGroup>,
}

/// One rule.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RuleRecord {
    /// Its name, which is the fault's.
    pub rule: &'static str,
    /// `cause`, `symptom`, `roof`, `program` (around a program's kernels), or `yours`.
    pub kind: &'static str,
    /// The fault in one line.
    pub summary: &'static str,
    /// What is checked, why it matters, and what to do.
    pub explanation: &'static str,
    /// The fault in a few lines of CUDA, and its repair.
    pub examples: Vec<RuleExample>,
    /// What to change; null where the finding's own hint says it.
    pub hint: Option<&'static str>,
    /// The change in Triton; null where it is no other.
    pub in_triton: Option<&'static str>,
    /// What decides whether the fault is there.
    pub thresholds: Vec<Number>,
    /// Constants that the estimate assumes.
    pub assumes: Vec<Number>,
    /// How far its range reaches; null where it promises nothing.
    pub range: Option<RuleRange>,
    /// Metrics without which it can't be checked.
    pub needs: Vec<&'static str>,
    /// True where it reads the instructions, which an .ncu-rep and a source page with SASS have.
    pub needs_sass: bool,
    /// Further metrics that it reads where they were collected.
    pub reads: Vec<&'static str>,
    /// The symptoms that it explains.
    pub explains: Vec<&'static str>,
    /// What `adoprof step --try` tries.
    pub trials: Vec<String>,
    /// The section of Nsight Compute where a person would look; null where there is none.
    pub section: Option<&'static str>,
    /// Why no recording shows the fault; null where one does.
    pub unrecorded: Option<&'static str>,
}

/// A fault in a few lines of CUDA.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RuleExample {
    /// The code with the fault.
    pub fault: &'static str,
    /// The same without it.
    pub repair: &'static str,
    /// What the repair does and costs.
    pub note: &'static str,
}

/// From the estimate divided by a ratio to the estimate times it; the model's bounds can widen it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RuleRange {
    /// Three in four findings that were judged at first sight of other people's programs gained within this factor of
    /// the estimate, where that promised little.
    pub ratio: f64,
    /// The same at an estimate of 2.
    pub ratio_at_2: f64,
    /// The same at an estimate of 10.
    pub ratio_at_10: f64,
    /// How many of the findings were this rule's.
    pub changes: usize,
}

/// Numbers that decide the same thing.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NumberGroup {
    /// What they decide.
    pub decides: &'static str,
    /// The numbers.
    pub numbers: Vec<Number>,
}

/// A number that decides.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Number {
    /// What is compared or assumed, in words.
    pub what: &'static str,
    /// The number, in `unit`.
    pub value: f64,
    /// Its unit: empty for ratios, `share` for 0 to 1.
    pub unit: &'static str,
    /// Where it comes from.
    pub source: &'static str,
}
