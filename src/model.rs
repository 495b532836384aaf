//! How long each resource is busy during a launch, and what would be left without a fault.
//!
//! For every unit r, busy time b_r = T × U_r, with T the duration under the profiler and U_r the
//! unit's own utilization (percent of its sustained peak over elapsed time), divided by the share
//! of the peak that a kernel can reach. What no unit covers is u = T − max b_r: latency, imbalance,
//! launch and tail. Removing a fault scales the terms it inflates; the new time lies between the
//! new largest term (all latency gone) and that term plus u (all latency kept). The likely value
//! keeps u less the share of stall cycles that the fault causes. Faults hidden behind another limit
//! thus get the gain that they really have now.

use crate::ceiling::{Ceilings, DRAM_SHARE_UNMEASURED};
use crate::export::stall::StallReason;
use crate::finding::{Bound, Estimate};
use crate::frame::Launch;

/// A resource whose busy time is a term of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(usize)]
pub enum Term {
    /// Device memory.
    Dram,
    /// The L2 slices: tags, data, and their crossbar ports.
    L2,
    /// The L1 data pipe: one wavefront a cycle and SM, shared memory included.
    L1Data,
    /// The load/store unit's input: one warp instruction a cycle and SM.
    Lsu,
    /// The schedulers' issue slots.
    Issue,
    /// The FP32 multiply-add pipes.
    Fma,
    /// The integer and logic pipe.
    Alu,
    /// The double-precision pipe.
    Fp64,
    /// The special-function and conversion pipe.
    Xu,
    /// The tensor pipe.
    Tensor,
}

impl Term {
    /// How many terms there are.
    pub const COUNT: usize = 10;

    /// All terms.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Dram,
        Self::L2,
        Self::L1Data,
        Self::Lsu,
        Self::Issue,
        Self::Fma,
        Self::Alu,
        Self::Fp64,
        Self::Xu,
        Self::Tensor,
    ];

    /// The unit's name in reports.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Dram => "DRAM",
            Self::L2 => "L2",
            Self::L1Data => "L1 data pipe",
            Self::Lsu => "LSU",
            Self::Issue => "issue slots",
            Self::Fma => "FMA pipe",
            Self::Alu => "ALU pipe",
            Self::Fp64 => "FP64 pipe",
            Self::Xu => "XU pipe",
            Self::Tensor => "tensor pipe",
        }
    }

    /// What a launch is bound by when this term is the largest.
    #[must_use]
    pub fn bound(self) -> Bound {
        match self {
            Self::Dram | Self::L2 | Self::L1Data | Self::Lsu => Bound::Memory,
            Self::Issue | Self::Fma | Self::Alu | Self::Fp64 | Self::Xu | Self::Tensor => {
                Bound::Compute
            }
        }
    }

    /// The utilization counters of the unit, percent of peak over elapsed time; the largest counts.
    /// Elementary counters only: ncu's `*throughput*` metrics are maxima over several units.
    #[must_use]
    pub fn counters(self) -> &'static [&'static str] {
        match self {
            Self::Dram => &["dram__cycles_active.avg.pct_of_peak_sustained_elapsed"],
            Self::L2 => &[
                "lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
                "lts__t_tag_requests.avg.pct_of_peak_sustained_elapsed",
                "lts__d_sectors.avg.pct_of_peak_sustained_elapsed",
                "lts__lts2xbar_cycles_active.avg.pct_of_peak_sustained_elapsed",
                "lts__xbar2lts_cycles_active.avg.pct_of_peak_sustained_elapsed",
                "lts__d_atomic_input_cycles_active.avg.pct_of_peak_sustained_elapsed",
            ],
            Self::L1Data => &["l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"],
            Self::Lsu => &[
                "l1tex__lsuin_requests.avg.pct_of_peak_sustained_elapsed",
                "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed",
            ],
            Self::Issue => &["sm__issue_active.avg.pct_of_peak_sustained_elapsed"],
            Self::Fma => &["sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed"],
            Self::Alu => &["sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed"],
            Self::Fp64 => &["sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_elapsed"],
            Self::Xu => &["sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed"],
            Self::Tensor => &["sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"],
        }
    }

    /// The composite metric that stands in where none of the unit's own counters was collected.
    fn composite(self) -> Option<&'static str> {
        match self {
            Self::Dram => Some("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"),
            Self::L2 => Some("lts__throughput.avg.pct_of_peak_sustained_elapsed"),
            _ => None,
        }
    }
}

/// What taking a fault away does to the terms.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Effect {
    /// Terms that shrink, each with the share of its busy time that goes (0 to 1).
    pub removed: Vec<(Term, f64)>,
    /// Stalls that go with the fault, and the share of each that does (0 to 1).
    pub stalls: Vec<(StallReason, f64)>,
    /// The share of SM time that idle SMs or an uneven tail waste now and would not then (0 to 1):
    /// SM-side terms and the uncovered time shrink to `1 - idle`.
    pub idle: f64,
}

impl Effect {
    /// A fault that inflates one term.
    #[must_use]
    pub fn on(term: Term, share: f64) -> Self {
        Self { removed: vec![(term, share)], ..Self::default() }
    }

    /// A fault that costs only latency: these stalls would go.
    #[must_use]
    pub fn stalls(reasons: impl IntoIterator<Item = StallReason>) -> Self {
        Self {
            stalls: reasons.into_iter().map(|reason| (reason, 1.0)).collect(),
            ..Self::default()
        }
    }
}

/// The time model of one launch.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Duration under the profiler, ns: the T of the formulas.
    pub time_ns: f64,
    /// Busy time of each term at its achievable rate, ns; `None` where no counter was collected.
    busy_ns: [Option<f64>; Term::COUNT],
    /// Stall cycles per issued instruction by reason, without `selected` and `not_selected`.
    stall_cycles: [f64; StallReason::COUNT],
}

impl Model {
    /// The model of a launch; `None` without a duration.
    #[must_use]
    pub fn new(launch: &Launch) -> Option<Self> {
        let time_ns = launch.duration_ns()?;
        let ceilings = launch.row.device.as_deref().and_then(Ceilings::of);
        let dram_share = dram_share(launch, ceilings);
        let busy_ns = Term::ALL.map(|term| {
            let percent = term
                .counters()
                .iter()
                .filter_map(|name| launch.get(name))
                .reduce(f64::max)
                .or_else(|| term.composite().and_then(|name| launch.get(name)))?;
            let reachable = if term == Term::Dram { dram_share } else { 1.0 };
            // Rounded counters of different passes can exceed the peak by a little.
            Some((time_ns * percent / 100.0 / reachable).clamp(0.0, time_ns))
        });
        let mut stall_cycles = [0.0; StallReason::COUNT];
        for reason in StallReason::all() {
            if !matches!(reason, StallReason::Selected | StallReason::NotSelected) {
                stall_cycles[reason as usize] = launch.stall(reason).unwrap_or(0.0).max(0.0);
            }
        }
        Some(Self { time_ns, busy_ns, stall_cycles })
    }

    /// Busy time of a term, ns.
    #[must_use]
    pub fn busy_ns(&self, term: Term) -> Option<f64> {
        self.busy_ns[term as usize]
    }

    /// Share of the time that a term is busy at its achievable rate, 0 to 1.
    #[must_use]
    pub fn utilization(&self, term: Term) -> Option<f64> {
        self.busy_ns(term).map(|ns| ns / self.time_ns)
    }

    /// The terms that are known, longest busy first.
    #[must_use]
    pub fn ranked(&self) -> Vec<(Term, f64)> {
        let mut terms: Vec<(Term, f64)> =
            Term::ALL.iter().filter_map(|&term| Some((term, self.busy_ns(term)?))).collect();
        terms.sort_by(|a, b| b.1.total_cmp(&a.1));
        terms
    }

    /// The longest busy term and its time, ns.
    #[must_use]
    pub fn largest(&self) -> Option<(Term, f64)> {
        self.ranked().into_iter().next()
    }

    /// Time that no unit covers, ns; 0 where nothing is known of the units.
    #[must_use]
    pub fn uncovered_ns(&self) -> f64 {
        self.largest().map_or(0.0, |(_, busy)| (self.time_ns - busy).max(0.0))
    }

    /// The share of all stall cycles that given stalls make up, 0 to 1; `selected` and
    /// `not_selected` are no stalls.
    #[must_use]
    pub fn stall_share(&self, stalls: &[(StallReason, f64)]) -> f64 {
        let total: f64 = self.stall_cycles.iter().sum();
        if total <= 0.0 {
            return 0.0;
        }
        let part: f64 =
            stalls.iter().map(|&(reason, share)| share * self.stall_cycles[reason as usize]).sum();
        (part / total).clamp(0.0, 1.0)
    }

    /// The speed-up that taking a fault away would give; `None` where no term is known.
    #[must_use]
    pub fn without(&self, effect: &Effect) -> Option<Estimate> {
        let uncovered = self.uncovered_ns();
        let kept = 1.0 - effect.idle.clamp(0.0, 1.0);
        let longest = Term::ALL
            .iter()
            .filter_map(|&term| {
                let removed: f64 =
                    effect.removed.iter().filter(|(t, _)| *t == term).map(|(_, share)| share).sum();
                let side = if matches!(term, Term::Dram | Term::L2) { 1.0 } else { kept };
                Some(self.busy_ns(term)? * (1.0 - removed.clamp(0.0, 1.0)) * side)
            })
            .reduce(f64::max)?;
        let uncovered = uncovered * kept;
        let stalls = self.stall_share(&effect.stalls);
        let factor = |uncovered: f64| (self.time_ns / (longest + uncovered).max(1.0)).max(1.0);
        Some(Estimate {
            factor: factor(uncovered * (1.0 - stalls)),
            low: factor(uncovered),
            high: factor(0.0),
        })
    }

    /// What bounds the launch: the largest term, or latency where the largest term is shorter than
    /// the time that no unit covers.
    #[must_use]
    pub fn bound(&self) -> Bound {
        match self.largest() {
            None => Bound::None,
            Some((term, busy)) if busy >= self.uncovered_ns() => term.bound(),
            Some(_) => Bound::Latency,
        }
    }
}

/// The share of the DRAM peak that this device reaches: measured rate over its peak, which is the
/// counter's bytes a cycle times the memory clock.
fn dram_share(launch: &Launch, ceilings: Option<&Ceilings>) -> f64 {
    let peak = launch
        .get("dram__bytes.sum.peak_sustained")
        .zip(launch.get("dram__cycles_elapsed.avg.per_second"))
        .map(|(bytes_per_cycle, hz)| bytes_per_cycle * hz);
    match (ceilings, peak) {
        (Some(ceilings), Some(peak)) if peak > 0.0 => {
            (ceilings.read_bytes_per_s / peak).clamp(0.5, 1.0)
        }
        _ => DRAM_SHARE_UNMEASURED,
    }
}
