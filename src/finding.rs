//! What a rule found: the fault, its evidence, where it is, and what to change.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod location;

pub use location::Location;
pub(crate) use location::{Place, Weighted};

/// The name of a rule, a metric, a unit: most stand in the program, and each of thousands of launches has dozens.
pub type Name = Cow<'static, str>;

/// One fault of one launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The rule's name, which is the fault's (`uncoalesced-global-access`).
    pub rule: String,
    /// The profile's section where a person would look (an ncu section identifier).
    pub section: String,
    /// Time now over the time with this fault wholly removed; `None` where it can't be estimated.
    pub estimate: Option<Estimate>,
    /// What was seen, in numbers, and why it matters.
    pub message: String,
    /// The metrics behind the message.
    pub evidence: Vec<Evidence>,
    /// The source lines that cause it, or instructions where the code has no lines, largest share first.
    pub locations: Vec<Location>,
    /// What to change, for this kernel.
    pub hint: String,
    /// The symptoms that this fault explains, by rule name.
    pub explains: Vec<String>,
    /// The same symptoms with what was seen of them.
    pub symptoms: Vec<Symptom>,
}

/// A stall or another symptom that a cause explains.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Symptom {
    /// The symptom's rule.
    pub rule: String,
    /// What was seen, in numbers.
    pub message: String,
}

/// Gains below this factor are smaller than what most timings scatter: not worth acting on.
pub const LEAST_GAIN: f64 = 1.05;

/// A speed-up factor: time now over time then, measured without the profiler.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// The likely factor; 1 is no gain.
    pub factor: f64,
    /// The lower end of the range that should hold the gain four times in five.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Estimate {
    /// No gain to be had.
    pub const NONE: Self = Self { factor: 1.0, low: 1.0, high: 1.0 };

    /// The factor's distance from 1 in percent of the present time that would be saved.
    #[must_use]
    pub fn percent_saved(&self) -> f64 {
        100.0 * (1.0 - 1.0 / self.factor)
    }
}

/// One number behind a finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// ncu's metric name, or the name of a figure derived from metrics.
    pub metric: Name,
    /// The value in `unit`.
    pub value: f64,
    /// The unit (`sector`, `%`, `cycle`), empty for plain ratios.
    pub unit: Name,
}

impl Evidence {
    /// A metric with its value and unit.
    pub fn new(metric: impl Into<Name>, value: f64, unit: impl Into<Name>) -> Self {
        Self { metric: metric.into(), value, unit: unit.into() }
    }
}

/// A rule that could not be checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Skipped {
    /// The rule's name.
    pub rule: Name,
    /// The metrics it needs that the profile does not have.
    pub missing: Vec<Name>,
}

/// What bounds a launch: the largest term of the time model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// DRAM, L2, L1, shared memory or the host bus.
    Memory,
    /// A math pipe or the issue slots.
    Compute,
    /// No unit is busy most of the time: warps wait.
    Latency,
    /// The launch does not fill the device, or is too short.
    Launch,
    /// The metrics that would tell are missing.
    None,
}

impl Bound {
    /// The word used in reports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Compute => "compute",
            Self::Latency => "latency",
            Self::Launch => "launch",
            Self::None => "none",
        }
    }
}
