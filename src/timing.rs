//! What a step's run came to: what was run, whether the answer was right, and the times that were
//! measured without the profiler.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::assignments;

/// How far the ends of a [`Timing`]'s range are apart, from the 5th to the 95th percentile, in standard deviations of a
/// normal distribution.
pub(crate) const RANGE_IN_DEVIATIONS: f64 = 3.29;

/// A step of a ladder: what was run, how well, how fast.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepInfo {
    /// The ladder's name.
    pub ladder: String,
    /// The step's name.
    pub name: String,
    /// The step in one line.
    #[serde(default)]
    pub title: String,
    /// The problem's parameters.
    pub size: BTreeMap<String, u64>,
    /// True where the answer was checked and right.
    pub verified: bool,
    /// Largest difference from the reference, absolute; 0 where they agree exactly.
    pub max_error: f64,
    /// Kernel time, measured without the profiler.
    pub time_ns: Timing,
    /// All its repetitions in their order, ns; empty where a profile is older than that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples_ns: Vec<f64>,
    /// The same with the inputs left in L2 by the run before; `None` where they don't stay there, so
    /// that both are the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_ns: Option<Timing>,
    /// Kernel time plus the transfers of inputs and outputs, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_ns: Option<f64>,
    /// Bytes that the problem needs to move, each input and output once.
    pub bytes: u64,
    /// Floating-point operations that the problem needs.
    pub flops: u64,
    /// The ladder's own figure of merit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// CPU references, where they were timed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpu: Vec<CpuTime>,
    /// The device's copy rate measured in the same run, bytes read plus bytes written per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_bytes_per_s: Option<f64>,
    /// A library's routine for the same problem, timed in the same run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<LibraryTime>,
    /// What was run, where the step is a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<ProgramRun>,
    /// The date of the recording; `None` for a live run.
    pub recorded: Option<String>,
}

/// How a step that is a program was run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramRun {
    /// Its command line.
    pub command: String,
    /// What said that the answer is right; `None` where nothing did.
    pub checked_by: Option<CheckedBy>,
    /// Where its time comes from.
    pub timed_by: TimedBy,
}

/// What said that a program's answer is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CheckedBy {
    /// Its output.
    Output,
    /// Another command.
    Command,
}

/// Where a program's time comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TimedBy {
    /// The time of its launches together, as a survey recorded them.
    Survey,
    /// Its output.
    Output,
}

/// A measured time: median and the range that holds the middle 90% of the repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timing {
    /// Median, ns.
    pub median: f64,
    /// 5th percentile, ns.
    pub low: f64,
    /// 95th percentile, ns.
    pub high: f64,
    /// Repetitions.
    pub n: usize,
}

/// Two runs of a baseline and two of a candidate, one pair around the other: a drift that is steady over the four
/// meets both alike.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Quartet {
    /// The baseline's times, ns, in their order.
    pub base_ns: [f64; 2],
    /// The candidate's, likewise.
    pub new_ns: [f64; 2],
    /// The clock of an SM just before, Hz, where it was read.
    pub clock_hz: Option<f64>,
}

/// A figure of merit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rate {
    /// The value in `unit`.
    pub value: f64,
    /// The unit: `GB/s`, `GFLOP/s`, `Gelements/s`.
    pub unit: String,
}

/// A timed CPU reference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuTime {
    /// Which reference: `original` or `cache-friendly`.
    pub name: String,
    /// Threads.
    pub threads: usize,
    /// Wall time, ns.
    pub ns: f64,
}

/// How long a library's routine takes for a step's problem, on the same device and inputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LibraryTime {
    /// The routine: `cublas-sgemm`.
    pub name: String,
    /// Median, ns.
    pub ns: f64,
}

impl StepInfo {
    /// The problem's parameters in words: `L=1024 M=1024 N=1024`.
    #[must_use]
    pub fn size_words(&self) -> String {
        assignments(&self.size, " ")
    }
}
