//! A step over a grid of settings: what to vary, what is known already, which point is best, and
//! what moves with the time. Everything here is pure or only touches the sweep's own file.

pub mod axis;
pub mod correlation;
pub mod grid;
pub mod journal;
pub mod winner;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{SCHEMA, Version};
use crate::ladder::Tuning;
use crate::timing::{Rate, Timing};

pub use axis::{Axis, Point};
pub use correlation::Moving;
pub use journal::{Identity, Journal};
pub use winner::Conclusion;

/// What `sweep` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepDocument {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The version that wrote it.
    #[serde(default)]
    pub adoprof: Version,
    /// The ladder's name.
    pub ladder: String,
    /// The step's name.
    pub step: String,
    /// The GPU's name.
    pub device: String,
    /// The devices over which the points were spread, where there were several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<SweepDevice>,
    /// What was varied, in the order of the command line.
    pub axes: Vec<AxisValues>,
    /// Every point, the last axis fastest.
    pub points: Vec<PointResult>,
    /// The best point of each problem size, or of all sizes by rate where each has a single point.
    pub best: Vec<Conclusion>,
    /// Metrics that rise or fall with the time, where points were profiled.
    pub moving: Vec<Moving>,
    /// Where the points are kept.
    pub file: Option<String>,
    /// Things to know about this result, each one sentence.
    pub notices: Vec<String>,
}

/// An axis as the document names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AxisValues {
    /// `N`, `BLOCK`, `maxrregcount`, …
    pub name: String,
    /// Its values as they were written.
    pub values: Vec<String>,
}

/// One of several devices of a sweep.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepDevice {
    /// Its number.
    pub number: usize,
    /// Its name.
    pub name: String,
    /// Its UUID.
    pub uuid: String,
    /// The time of the first point there, which runs on every device; `None` where it failed or was known.
    pub first_point_ns: Option<Timing>,
}

/// One point: its settings, and what came of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PointResult {
    /// Each axis's value at this point.
    pub settings: BTreeMap<String, String>,
    /// The problem's parameters.
    pub size: BTreeMap<String, u64>,
    /// Tunables, flags, block, carve-out.
    #[serde(default)]
    pub tuning: Tuning,
    /// True where the answer was checked and right.
    #[serde(default)]
    pub verified: bool,
    /// Largest difference from the reference, absolute.
    #[serde(default)]
    pub max_error: Option<f64>,
    /// The UUID of the device on which it ran, where the sweep had several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Kernel time, measured without the profiler; `None` where the point failed.
    pub time_ns: Option<Timing>,
    /// The ladder's figure of merit.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// Why it failed.
    #[serde(default)]
    pub error: Option<String>,
    /// The failure's exit code; `None` for a success and for a process that crashed.
    #[serde(default)]
    pub exit_code: Option<u8>,
    /// The catalogue's metrics over all launches, where the point was profiled.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, f64>,
    /// How much was collected for them: `quick`, `standard` or `full`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collected: Option<String>,
    /// Where its profile was saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved: Option<String>,
    /// Things noticed at this point, each one sentence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

impl PointResult {
    /// Units of work a run, in the rate's own billions; `None` for a point that failed.
    #[must_use]
    pub fn work(&self) -> Option<f64> {
        let (time, rate) = (self.time_ns?, self.rate.as_ref()?);
        Some(time.median.max(1.0) * rate.value).filter(|work| *work > 0.0)
    }
}

/// What the process of one point prints on its standard output, as one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PointReport {
    /// True where the answer was checked and right.
    pub verified: bool,
    /// Largest difference from the reference, absolute.
    pub max_error: Option<f64>,
    /// Kernel time, measured without the profiler.
    pub time_ns: Timing,
    /// The ladder's figure of merit.
    pub rate: Option<Rate>,
    /// The catalogue's metrics over all launches; empty where the point was not profiled.
    pub metrics: BTreeMap<String, f64>,
    /// Where its profile was saved.
    pub saved: Option<String>,
    /// Things noticed, each one sentence.
    pub notices: Vec<String>,
}

impl SweepDocument {
    /// Draws the conclusions from what the points came to.
    #[must_use]
    pub fn new(identity: &Identity, axes: &[Axis], points: Vec<PointResult>) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            adoprof: Version::default(),
            ladder: identity.ladder.clone(),
            step: identity.step.clone(),
            device: identity.device.clone(),
            devices: Vec::new(),
            axes: axes
                .iter()
                .map(|axis| AxisValues { name: axis.name.clone(), values: axis.texts() })
                .collect(),
            best: winner::conclude(&points),
            moving: correlation::moving(&points),
            points,
            file: None,
            notices: Vec::new(),
        }
    }

    /// A point in words: `BLOCK=64, maxrregcount=32`.
    #[must_use]
    pub fn label(&self, place: usize) -> String {
        let Some(point) = self.points.get(place) else { return String::new() };
        let parts: Vec<String> = self
            .axes
            .iter()
            .filter_map(|axis| {
                let value = point.settings.get(&axis.name)?;
                Some(format!("{}={}", axis.name, axis::shown(value)))
            })
            .collect();
        parts.join(", ")
    }
}
