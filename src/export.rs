//! Foreign formats, each turned at once into one small form, [`Export`].
//!
//! The formats are ncu's `raw`, `details` and `source` pages as CSV, and its binary report. Nothing
//! after this module knows which of them a number came from.

pub mod csv;
pub mod report;
pub mod section;
pub mod unit;

use crate::metric::stall::StallReason;

/// What one profile holds, whatever file it came from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Export {
    /// The profiled kernel launches, in launch order; ids are unique.
    pub launches: Vec<LaunchRow>,
    /// Metric values, several per launch.
    pub metrics: Vec<MetricRow>,
    /// What ncu's own rules said.
    pub rules: Vec<NcuRuleRow>,
    /// Counters per source line and per SASS instruction.
    pub source: Vec<SourceRow>,
    /// Things the reader noticed that a user should know, each one sentence.
    pub notices: Vec<String>,
}

/// One kernel launch.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LaunchRow {
    /// The launch's number within the profile (ncu's "ID").
    pub id: u32,
    /// The demangled kernel name with its parameter list.
    pub kernel: String,
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads a block in x, y, z.
    pub block: [u32; 3],
    /// The device's name, where the export has it.
    pub device: Option<String>,
    /// Compute capability, major and minor.
    pub compute_capability: Option<(u32, u32)>,
}

/// One metric of one launch, in ncu's base unit.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MetricRow {
    /// The launch's id.
    pub launch: u32,
    /// The section's identifier (`SpeedOfLight`), empty where the page does not say.
    pub section: String,
    /// ncu's metric name (`gpu__time_duration.sum`).
    pub metric: String,
    /// ncu's base unit as printed (`ns`, `byte/s`, `%`), empty for plain counts.
    pub unit: String,
    /// The value; `None` for text metrics and for `n/a` (not available).
    pub value: Option<f64>,
    /// The text of a text metric (`device__attribute_display_name`).
    pub text: Option<String>,
}

/// How ncu's rule ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NcuRuleKind {
    /// The rule passed or only informs.
    Info,
    /// An optimization is proposed.
    Optimization,
    /// Something makes the measurement or the launch suspect.
    Warning,
    /// The rule could not run.
    Error,
}

/// ncu's own rule result for one launch.
#[derive(Debug, Clone, PartialEq)]
pub struct NcuRuleRow {
    /// The launch's id.
    pub launch: u32,
    /// The section's identifier.
    pub section: String,
    /// The rule's identifier or title (`SOLBottleneck`, `CPIStall`).
    pub rule: String,
    /// How it ended.
    pub kind: NcuRuleKind,
    /// ncu's text, as stored by the collecting version.
    pub message: String,
    /// Estimated speed-up in percent of the kernel's time; `global` tells of which time.
    pub estimate_percent: Option<f64>,
    /// True where the estimate is of the whole kernel, false where of one unit's efficiency.
    pub global: bool,
}

/// Counters of one source line, or of one SASS instruction where `address` is set.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SourceRow {
    /// The launch's id.
    pub launch: u32,
    /// The source file, as the compiler named it; `None` without line information.
    pub file: Option<String>,
    /// The line, from 1; for an instruction, the line it was compiled from.
    pub line: Option<u32>,
    /// The instruction's address; `None` for a source line.
    pub address: Option<u64>,
    /// The source text or the SASS text; empty where the export has none.
    pub text: String,
    /// The counts.
    pub counters: SourceCounters,
}

impl SourceRow {
    /// True for a SASS instruction, false for a source line.
    #[must_use]
    pub fn is_instruction(&self) -> bool {
        self.address.is_some()
    }
}

/// Counts of one line or instruction. Warp-level unless said; 0 where not applicable.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SourceCounters {
    /// Warp-state samples.
    pub samples: f64,
    /// Warp instructions executed, predicated-off ones included.
    pub inst_executed: f64,
    /// Thread instructions executed.
    pub thread_inst_executed: f64,
    /// Thread instructions executed with their predicate on.
    pub thread_inst_executed_pred_on: f64,
    /// L1 tag requests of global accesses.
    pub l1_tag_requests_global: f64,
    /// Shared-memory wavefronts.
    pub wavefronts_shared: f64,
    /// Shared-memory wavefronts that the accesses would need without conflicts.
    pub wavefronts_shared_ideal: f64,
    /// L2 sectors of global accesses.
    pub l2_sectors_global: f64,
    /// L2 sectors that the warp's addresses would need if they were dense.
    pub l2_sectors_global_ideal: f64,
    /// L2 sectors of local accesses.
    pub l2_sectors_local: f64,
    /// Samples by stall reason, indexed by [`StallReason`].
    pub stall_samples: [f64; StallReason::COUNT],
}
