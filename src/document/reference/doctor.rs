//! What a machine lacks, and what its device reaches.

use schemars::JsonSchema;
use serde::Serialize;

use crate::document::Version;

/// What `doctor` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DoctorDocument {
    /// Always [`SCHEMA`](crate::document::SCHEMA).
    pub schema: &'static str,
    /// The version that wrote it.
    pub adoprof: Version,
    /// Everything that was looked at; empty with `--measure`.
    pub checks: Vec<MachineCheck>,
    /// What `--measure` measured; empty without it.
    pub measured: Vec<MeasuredQuantity>,
}

/// One thing that was looked at.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MachineCheck {
    /// What was looked at.
    pub name: &'static str,
    /// `ok`, `warning`, or `missing`; `missing` is what exit code 3 is for.
    pub status: &'static str,
    /// What was found.
    pub found: String,
    /// What to do; null where nothing needs doing.
    pub remedy: Option<String>,
}

/// A rate or latency of the device.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MeasuredQuantity {
    /// Its key in a device's file.
    pub quantity: &'static str,
    /// What was measured, in `unit`.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// How it was measured.
    pub how: String,
    /// The value that ships with adoprof for this device; null where there is none.
    pub shipped: Option<f64>,
}
