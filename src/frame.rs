//! The profile as polars frames, and one launch of it as rules see it.
//!
//! Frames hold everything that the export held; a [`Launch`] is a small view for the rules: the
//! catalogue's metrics under their canonical names, the source rows, and ncu's own findings.

mod launch;

use polars::prelude::*;

use crate::export::{Export, MetricRow};

pub use launch::Launch;

/// A profile as frames. Every frame has the launch's id in `launch` (u32).
#[derive(Debug, Clone)]
pub struct Frames {
    /// One row a launch: `launch`, `kernel`, `grid`, `block`, `device`, `cc`.
    pub launches: DataFrame,
    /// Long form: `launch`, `section`, `metric`, `unit`, `value` (f64, null for text), `text`.
    pub metrics: DataFrame,
    /// ncu's rule results: `launch`, `section`, `rule`, `kind`, `message`, `estimate`, `global`.
    pub ncu_rules: DataFrame,
    /// Counters: `launch`, `file`, `line`, `address`, `text`, then one column a counter.
    pub source: DataFrame,
}

fn dims(xyz: [u32; 3]) -> String {
    format!("{}x{}x{}", xyz[0], xyz[1], xyz[2])
}

impl Frames {
    /// Builds the frames of an export.
    ///
    /// # Panics
    /// Never: every column of a frame is built from the same rows, so lengths agree.
    #[must_use]
    pub fn new(export: &Export) -> Self {
        Self {
            launches: launches(export),
            metrics: metrics(&export.metrics),
            ncu_rules: ncu_rules(export),
            source: source(export),
        }
    }
}

fn launches(export: &Export) -> DataFrame {
    let rows = &export.launches;
    df!(
        "launch" => rows.iter().map(|row| row.id).collect::<Vec<_>>(),
        "kernel" => rows.iter().map(|row| row.kernel.as_str()).collect::<Vec<_>>(),
        "grid" => rows.iter().map(|row| dims(row.grid)).collect::<Vec<_>>(),
        "block" => rows.iter().map(|row| dims(row.block)).collect::<Vec<_>>(),
        "device" => rows.iter().map(|row| row.device.as_deref()).collect::<Vec<_>>(),
        "cc" => rows
            .iter()
            .map(|row| row.compute_capability.map(|(major, minor)| format!("{major}.{minor}")))
            .collect::<Vec<_>>(),
    )
    .expect("columns of one length")
}

/// The long frame of metric rows.
///
/// # Panics
/// Never: the columns have one length.
#[must_use]
pub fn metrics(rows: &[MetricRow]) -> DataFrame {
    df!(
        "launch" => rows.iter().map(|row| row.launch).collect::<Vec<_>>(),
        "section" => rows.iter().map(|row| row.section.as_str()).collect::<Vec<_>>(),
        "metric" => rows.iter().map(|row| row.metric.as_str()).collect::<Vec<_>>(),
        "unit" => rows.iter().map(|row| row.unit.as_str()).collect::<Vec<_>>(),
        "value" => rows.iter().map(|row| row.value).collect::<Vec<_>>(),
        "text" => rows.iter().map(|row| row.text.as_deref()).collect::<Vec<_>>(),
    )
    .expect("columns of one length")
}

fn ncu_rules(export: &Export) -> DataFrame {
    let rows = &export.rules;
    df!(
        "launch" => rows.iter().map(|row| row.launch).collect::<Vec<_>>(),
        "section" => rows.iter().map(|row| row.section.as_str()).collect::<Vec<_>>(),
        "rule" => rows.iter().map(|row| row.rule.as_str()).collect::<Vec<_>>(),
        "kind" => rows.iter().map(|row| format!("{:?}", row.kind)).collect::<Vec<_>>(),
        "message" => rows.iter().map(|row| row.message.as_str()).collect::<Vec<_>>(),
        "estimate" => rows.iter().map(|row| row.estimate_percent).collect::<Vec<_>>(),
        "global" => rows.iter().map(|row| row.global).collect::<Vec<_>>(),
    )
    .expect("columns of one length")
}

fn source(export: &Export) -> DataFrame {
    let rows = &export.source;
    df!(
        "launch" => rows.iter().map(|row| row.launch).collect::<Vec<_>>(),
        "file" => rows.iter().map(|row| row.file.as_deref()).collect::<Vec<_>>(),
        "line" => rows.iter().map(|row| row.line).collect::<Vec<_>>(),
        "address" => rows.iter().map(|row| row.address).collect::<Vec<_>>(),
        "text" => rows.iter().map(|row| row.text.as_str()).collect::<Vec<_>>(),
        "samples" => rows.iter().map(|row| row.counters.samples).collect::<Vec<_>>(),
        "inst_executed" => rows.iter().map(|row| row.counters.inst_executed).collect::<Vec<_>>(),
        "l2_sectors_global" => rows.iter().map(|row| row.counters.l2_sectors_global).collect::<Vec<_>>(),
        "l2_sectors_global_ideal" => rows.iter().map(|row| row.counters.l2_sectors_global_ideal).collect::<Vec<_>>(),
        "wavefronts_shared" => rows.iter().map(|row| row.counters.wavefronts_shared).collect::<Vec<_>>(),
        "wavefronts_shared_ideal" => rows.iter().map(|row| row.counters.wavefronts_shared_ideal).collect::<Vec<_>>(),
    )
    .expect("columns of one length")
}
