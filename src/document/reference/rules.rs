//! Rules that users write.

use schemars::JsonSchema;
use serde::Serialize;

use crate::document::Version;

/// What `rules list` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RulesDocument {
    /// Always [`SCHEMA`](crate::document::SCHEMA).
    pub schema: &'static str,
    /// The version that wrote it.
    pub adoprof: Version,
    /// The files of rules that are in force here.
    pub files: Vec<RuleFile>,
}

/// A file of rules.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RuleFile {
    /// The file.
    pub path: String,
    /// `project`, `user`, or `named`.
    pub from: &'static str,
    /// The first mistake, where the file can't be used.
    pub mistake: Option<String>,
    /// Its rules.
    pub rules: Vec<UserRule>,
}

/// A rule of the user's.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UserRule {
    /// Its name.
    pub rule: &'static str,
    /// The fault in one line.
    pub summary: &'static str,
    /// How many tests it has.
    pub tests: usize,
}

/// What `rules check` prints.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct RulesCheckDocument {
    /// Always [`SCHEMA`](crate::document::SCHEMA).
    pub schema: &'static str,
    /// The version that wrote it.
    pub adoprof: Version,
    /// How many files were read.
    pub files: usize,
    /// How many rules they have.
    pub rules: usize,
    /// What makes a file unusable, and what is surely not meant.
    pub mistakes: Vec<String>,
    /// Every test with its outcome.
    pub tests: Vec<RuleTest>,
    /// Rules without a test.
    pub untested: Vec<&'static str>,
}

/// The outcome of a test.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RuleTest {
    /// `FILE:LINE`.
    pub place: String,
    /// The rule.
    pub rule: String,
    /// The profile that it was tested on.
    pub profile: String,
    /// True where the rule did what the test expects.
    pub passed: bool,
    /// What the rule did there.
    pub came_to: String,
}

/// What `rules metrics` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RulesMetricsDocument {
    /// Always [`SCHEMA`](crate::document::SCHEMA).
    pub schema: &'static str,
    /// The version that wrote it.
    pub adoprof: Version,
    /// The kernel whose values are shown, or null.
    pub kernel: Option<String>,
    /// Every figure that a rule can name.
    pub figures: Vec<FigureRow>,
}

/// A figure that a rule can name.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FigureRow {
    /// Its name.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// What it is.
    pub title: &'static str,
    /// What kind of figure it is.
    pub group: &'static str,
    /// The kernel's value; null without a kernel, or where it was not collected.
    pub value: Option<f64>,
}
