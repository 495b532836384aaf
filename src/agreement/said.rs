//! What is said of ncu's rules, as data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What ncu's rules say of the fault of a finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NcuAgreement {
    /// ncu's rule name.
    pub rule: String,
    /// ncu's estimate, percent.
    pub estimate_percent: Option<f64>,
    /// True where the estimate is of the whole kernel's time.
    pub global: bool,
}

/// What ncu promises and no finding does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NcuOnly {
    /// ncu's rule name.
    pub rule: String,
    /// ncu's estimate, percent.
    pub estimate_percent: f64,
    /// True where the estimate is of the whole kernel's time.
    pub global: bool,
    /// The faults that it means, by our names; empty where it means none.
    pub faults: Vec<String>,
    /// Why it would not hold, or could not be checked: one sentence.
    pub reason: String,
}
