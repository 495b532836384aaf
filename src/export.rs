//! Foreign formats, each turned at once into one small form, [`Export`].
//!
//! The formats are ncu's `raw`, `details` and `source` pages as CSV, and its binary report. Nothing
//! after this module knows which of them a number came from.

pub mod csv;
mod limits;
mod plausible;
pub mod report;
pub mod section;
mod shared_text;
pub mod unit;

use std::sync::Arc;

use crate::isa::control::Control;
use crate::metric::stall::StallReason;

pub(crate) use shared_text::SharedTexts;

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
    /// How it was collected, where the format tells.
    pub collected: Collected,
    /// Things the reader noticed that a user should know, each one sentence.
    pub notices: Vec<String>,
}

/// How a profile was collected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Collected {
    /// ncu's version, `2025.3.1`.
    pub ncu: Option<String>,
    /// The CUDA version that the driver supports, `13.0`.
    pub cuda: Option<String>,
    /// ncu's clock control: `none`, or in words that it held the clocks.
    pub clock_control: Option<String>,
}

/// One kernel launch.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LaunchRow {
    /// The launch's number within the profile (ncu's "ID").
    pub id: u32,
    /// The demangled kernel name with its parameter list.
    pub kernel: String,
    /// Blocks in x, y, z; zeros where they are not known, and for results of several kernels.
    pub grid: [u32; 3],
    /// Threads per block in x, y, z; zeros likewise.
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
    pub section: Arc<str>,
    /// ncu's metric name (`gpu__time_duration.sum`).
    pub metric: Arc<str>,
    /// ncu's base unit as printed (`ns`, `byte/s`, `%`), empty for plain counts.
    pub unit: Arc<str>,
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
    pub file: Option<Arc<str>>,
    /// The line, from 1; for an instruction, the line it was compiled from.
    pub line: Option<u32>,
    /// The instruction's address; `None` for a source line.
    pub address: Option<u64>,
    /// The source text or the SASS text; empty where the export has none.
    pub text: String,
    /// What the compiler tells the scheduler of an instruction; `None` where the export has no encodings: a listing
    /// does not show it.
    pub control: Option<Control>,
    /// The counts.
    pub counters: SourceCounters,
}

/// What ncu calls results of several kernels that it counted together: a range of the program, a list of commands,
/// a CUDA graph.
pub const WORKLOADS: [&str; 3] = ["range", "cmdlist", "graph"];

impl LaunchRow {
    /// True for a range, a list of commands or a graph: several kernels that were counted together.
    #[must_use]
    pub fn is_of_several_kernels(&self) -> bool {
        self.grid == [0; 3] && WORKLOADS.contains(&self.kernel.as_str())
    }

    /// Makes it a result of several kernels, which have no grid and no block in common.
    pub(crate) fn name_workload(&mut self, name: &str) {
        name.clone_into(&mut self.kernel);
        (self.grid, self.block) = ([0; 3], [0; 3]);
    }
}

impl Export {
    /// Takes a launch out, with all that is known of it.
    pub(crate) fn forget(&mut self, launch: u32) {
        self.launches.retain(|row| row.id != launch);
        self.metrics.retain(|row| row.launch != launch);
        self.rules.retain(|row| row.launch != launch);
        self.source.retain(|row| row.launch != launch);
    }
}

impl NcuRuleKind {
    const ALL: [Self; 4] = [Self::Info, Self::Optimization, Self::Warning, Self::Error];

    /// The word for it in frames and documents.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Optimization => "optimization",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    /// The kind behind a word; `None` for other words.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
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

/// The place of one counter.
type Field = fn(&mut SourceCounters) -> &mut f64;

/// The counters but the samples by stall reason, by name.
const FIELDS: [(&str, Field); 10] = [
    ("samples", |counters| &mut counters.samples),
    ("inst_executed", |counters| &mut counters.inst_executed),
    ("thread_inst_executed", |counters| &mut counters.thread_inst_executed),
    ("thread_inst_executed_pred_on", |counters| &mut counters.thread_inst_executed_pred_on),
    ("l1_tag_requests_global", |counters| &mut counters.l1_tag_requests_global),
    ("wavefronts_shared", |counters| &mut counters.wavefronts_shared),
    ("wavefronts_shared_ideal", |counters| &mut counters.wavefronts_shared_ideal),
    ("l2_sectors_global", |counters| &mut counters.l2_sectors_global),
    ("l2_sectors_global_ideal", |counters| &mut counters.l2_sectors_global_ideal),
    ("l2_sectors_local", |counters| &mut counters.l2_sectors_local),
];

impl SourceCounters {
    /// How many counters there are.
    pub const COUNT: usize = FIELDS.len() + StallReason::COUNT;

    /// The counters' names by number: the fields, then ncu's columns of the stall reasons.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FIELDS.iter().map(|(name, _)| *name).chain(StallReason::all().map(StallReason::column))
    }

    /// The counter with a number below [`Self::COUNT`].
    pub fn counter(&mut self, number: usize) -> &mut f64 {
        match FIELDS.get(number) {
            Some((_, field)) => field(self),
            None => &mut self.stall_samples[number - FIELDS.len()],
        }
    }
}

impl std::ops::AddAssign for SourceCounters {
    fn add_assign(&mut self, mut other: Self) {
        for number in 0..Self::COUNT {
            *self.counter(number) += *other.counter(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_has_a_number_and_a_name_of_its_own() {
        let mut counters = SourceCounters::default();
        for number in 0..SourceCounters::COUNT {
            *counters.counter(number) += 1.0 + number as f64;
        }
        let values: Vec<f64> =
            (0..SourceCounters::COUNT).map(|number| *counters.counter(number)).collect();
        let expected: Vec<f64> = (1..=SourceCounters::COUNT).map(|number| number as f64).collect();
        assert_eq!(values, expected, "no two numbers share a place");
        let names: std::collections::BTreeSet<&str> = SourceCounters::names().collect();
        assert_eq!(names.len(), SourceCounters::COUNT);
    }

    #[test]
    fn kinds_of_ncus_rules_are_read_back_from_their_words() {
        for kind in NcuRuleKind::ALL {
            assert_eq!(NcuRuleKind::of_word(kind.word()), Some(kind));
        }
        assert_eq!(NcuRuleKind::of_word("Optimization"), None);
    }
}
