//! Limiter analysis by modified source: what the times of a kernel and of its variants say.
//!
//! A kernel without its arithmetic and one without its accesses to memory tell how long each takes
//! alone; how the whole compares with the longer of the two and with their sum tells how well they
//! overlap (P. Micikevicius, "Analysis-Driven Optimization", GTC 2010). Everything here is pure: it
//! turns times, counts and figures of the device into a [`LimiterDocument`].

mod bytes;
mod conclusion;
mod copy;
mod profile;
#[cfg(test)]
mod tests;
mod verdict;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::finding::Bound;
use crate::plan::VariantKind;
use crate::timing::{StepInfo, Timing};

pub(crate) use bytes::{Balance, InFlight, Throughput, balance, in_flight, throughput};
pub(crate) use conclusion::conclusions;
pub(crate) use copy::copy_plan;
pub(crate) use profile::{BusyUnit, busy_unit};
#[cfg(test)]
pub(crate) use tests::sample;
pub(crate) use verdict::{Limiter, Verdict, verdict};

/// The name of a stored limiter run beside a shipped recording.
pub(crate) const FILE: &str = "limiter.json";

/// What `limiter` prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimiterDocument {
    /// Always [`crate::document::SCHEMA`].
    pub schema: String,
    /// The version that wrote it.
    #[serde(default)]
    pub adoprof: crate::document::Version,
    /// The step, verified and timed by itself.
    pub step: StepInfo,
    /// The date of the run, `2026-11-20`.
    pub date: String,
    /// The device.
    pub device: DeviceFigures,
    /// The whole kernel, timed in turn with its variants.
    pub full: Entrant,
    /// Its variants, in the manifest's order.
    pub variants: Vec<VariantTime>,
    /// What limits it; `None` where it has no memory-only or no arithmetic-only variant.
    pub verdict: Option<Verdict>,
    /// Bytes per second, the application's and the hardware's.
    pub throughput: Throughput,
    /// Instructions per byte against the device's balance; `None` without a profile.
    pub balance: Option<Balance>,
    /// Plain copies at the kernel's occupancy.
    pub copies: Vec<CopyRate>,
    /// Bytes in flight by Little's law; `None` where the device's latency is not known.
    pub in_flight: Option<InFlight>,
    /// The kernel at half the size; `None` where it has no smaller problem.
    pub growth: Option<Growth>,
    /// What bounds the kernel by its profile's counters; `None` without a profile.
    pub profile_bound: Option<Bound>,
    /// The busiest unit of its profile; `None` without one.
    #[serde(default)]
    pub profile_unit: Option<BusyUnit>,
    /// What all that means, each one sentence.
    pub conclusions: Vec<String>,
    /// Things to know about this result, each one sentence.
    pub notices: Vec<String>,
}

/// Figures of the device that the analysis needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceFigures {
    /// Its name.
    pub name: String,
    /// Compute capability, major and minor.
    pub compute_capability: (u32, u32),
    /// Multiprocessors.
    pub sm_count: u32,
    /// Its highest SM clock, Hz; `None` where the driver does not say.
    pub clock_hz: Option<f64>,
    /// Its memory's rate by clock and width, bytes per second; `None` where the driver does not say.
    pub peak_bytes_per_s: Option<f64>,
}

/// A kernel that was timed in turn with others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Entrant {
    /// Its time.
    pub time_ns: Timing,
    /// Blocks of its largest launch.
    pub blocks: u64,
    /// Threads per block there.
    pub threads_per_block: u32,
    /// Blocks of it that an SM holds.
    pub blocks_per_sm: u32,
    /// Dynamic shared memory that was added to its blocks so that no SM holds more of them than of
    /// the whole kernel's, bytes.
    pub added_shared_bytes: u32,
}

impl Entrant {
    /// Threads of it that an SM holds.
    #[must_use]
    pub fn threads_per_sm(&self) -> u32 {
        self.blocks_per_sm * self.threads_per_block
    }
}

/// A variant's time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VariantTime {
    /// Its name in the manifest.
    pub name: String,
    /// What it leaves out.
    pub kind: VariantKind,
    /// The variant in one line.
    pub title: String,
    /// The faults that a what-if takes away, as rule names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removes: Vec<String>,
    /// Its time and its occupancy.
    #[serde(flatten)]
    pub entrant: Entrant,
    /// The whole kernel's time over this one's: for a what-if the most that taking the fault away
    /// can give.
    pub factor: f64,
    /// Global loads and stores, where they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accesses: Option<Accesses>,
}

/// Warp instructions that access global memory.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Accesses {
    /// Loads.
    pub loads: f64,
    /// Stores.
    pub stores: f64,
    /// The whole kernel's loads.
    pub full_loads: f64,
    /// The whole kernel's stores.
    pub full_stores: f64,
}

/// A plain copy with as many threads on an SM as the kernel has.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CopyRate {
    /// Bytes that a thread loads.
    pub bytes_per_thread: u32,
    /// Threads on an SM.
    pub threads_per_sm: u32,
    /// Bytes read plus bytes written per second.
    pub bytes_per_s: f64,
}

/// How the time grows with the problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Growth {
    /// The parameter that doubles: the ladder's first.
    pub parameter: String,
    /// Its smaller value.
    pub from: u64,
    /// Its larger value: the size that all the rest is about.
    pub to: u64,
    /// The ladder's measure of work at the larger size over that at the smaller.
    pub work_ratio: f64,
    /// The kernel's time likewise.
    pub time_ratio: f64,
}

impl LimiterDocument {
    /// The variant of a kind that stands at most once.
    #[must_use]
    pub fn variant(&self, kind: VariantKind) -> Option<&VariantTime> {
        self.variants.iter().find(|variant| variant.kind == kind)
    }

    /// Draws all that follows from times and counts: the verdict and the conclusions.
    #[must_use]
    pub fn concluded(mut self) -> Self {
        let median = |kind| self.variant(kind).map(|variant| variant.entrant.time_ns.median);
        self.verdict = median(VariantKind::MemoryOnly)
            .zip(median(VariantKind::ArithmeticOnly))
            .map(|(memory, arithmetic)| verdict(self.full.time_ns.median, memory, arithmetic));
        self.conclusions = conclusions(&self);
        self
    }
}
