//! Two profiles side by side, as data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Document;
use super::version::Version;

/// A comparison with the documents of both sides, whose findings it names: the JSON is the comparison's.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Compared {
    /// What moved.
    pub diff: Diff,
    /// What was found in the baseline.
    #[serde(skip)]
    pub base: Document,
    /// What was found in the new profile.
    #[serde(skip)]
    pub new: Document,
}

/// What moved between a baseline and a new profile.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Diff {
    /// Always [`SCHEMA`].
    #[serde(default)]
    pub schema: String,
    /// The version that wrote it.
    #[serde(default)]
    pub adoprof: Version,
    /// The baseline, as the user named it.
    pub base: String,
    /// The new profile, as the user named it.
    pub new: String,
    /// Unlike things: problem sizes, GPUs, clocks, versions. Each one sentence.
    pub warnings: Vec<String>,
    /// Base time over new time, measured without the profiler where both have it; `None` where the
    /// two can't be compared.
    pub speedup: Option<f64>,
    /// Whose times these are; null where there is no factor.
    #[serde(default)]
    pub speedup_of: Option<TimeOf>,
    /// Launches of the one profile that were compared with one of the other.
    #[serde(default)]
    pub launches_compared: usize,
    /// Metrics that both sides have, over all launches that were compared; 0 where nothing was.
    #[serde(default)]
    pub metrics_compared: usize,
    /// Metrics that moved, the key ones first; key metrics stand here even where they did not move.
    pub metrics: Vec<MetricChange>,
    /// Findings of the baseline that are gone.
    pub gone: Vec<String>,
    /// Findings that are new.
    pub come: Vec<String>,
    /// Findings in both.
    pub kept: Vec<String>,
}

/// What a factor of two times is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimeOf {
    /// A ladder's steps, measured without the profiler.
    Step,
    /// All kernels of programs that launch equally many, as the surveys recorded them.
    Kernels,
    /// A launch of the kernels that both programs have, on average, as the surveys recorded them: the programs launch
    /// unequally many.
    Launch,
    /// All launches of both profiles, under the profiler.
    Launches,
    /// The launches that both profiles have, under the profiler: one has more.
    PairedLaunches,
}

/// One metric in both profiles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricChange {
    /// The kernel, where several launches were compared; empty where there is one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kernel: String,
    /// ncu's metric name.
    pub metric: String,
    /// A title for people, empty for metrics outside the catalogue.
    pub title: String,
    /// The unit.
    pub unit: String,
    /// The baseline's value.
    pub base: f64,
    /// The new value.
    pub new: f64,
    /// `better`, `worse`, `same` where it did not move, or `neither` where the metric has no better
    /// side or the profiles are unlike.
    pub direction: String,
    /// True for the metrics shown first.
    pub key: bool,
}
