//! One of several devices of a ladder's run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::timing::Timing;

/// A device over which the steps of a run were spread.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunDevice {
    /// Its number.
    pub number: usize,
    /// Its name.
    pub name: String,
    /// Its UUID.
    pub uuid: String,
    /// The time of the ladder's first step there, which runs on every device; null where it failed.
    pub first_step_ns: Option<Timing>,
}
