//! The resources of the model, and the counters that tell how busy each is.

use crate::finding::Bound;
use crate::metric::stall::StallReason;

/// A resource whose busy time is a term of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Term {
    /// Device memory.
    Dram,
    /// The L2 slices' data, and its way to the SMs.
    L2,
    /// The requests to L2: tags, and the way from the SMs with what is written. A dense request of a
    /// warp brings up to four sectors, a scattered one brings one.
    L2Requests,
    /// The L1 data pipe: one wavefront per cycle and SM, shared memory included.
    L1Data,
    /// The load/store unit's input: one warp instruction per cycle and SM.
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
    /// The atomic unit of the busiest L2 slice: an address lives in one slice.
    Atomic,
    /// The indexed-constant cache: one constant a cycle and SM.
    Constant,
    /// The bus to host memory.
    HostLink,
    /// The links to other devices' memory.
    PeerLink,
    /// What starts blocks, one after another for the whole device.
    BlockScheduler,
}

impl Term {
    /// How many terms there are.
    pub const COUNT: usize = 16;

    /// All terms.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Dram,
        Self::L2,
        Self::L2Requests,
        Self::L1Data,
        Self::Lsu,
        Self::Issue,
        Self::Fma,
        Self::Alu,
        Self::Fp64,
        Self::Xu,
        Self::Tensor,
        Self::Atomic,
        Self::Constant,
        Self::HostLink,
        Self::PeerLink,
        Self::BlockScheduler,
    ];

    /// The unit's name in reports.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Dram => "DRAM",
            Self::L2 => "L2",
            Self::L2Requests => "L2 requests",
            Self::L1Data => "L1 data pipe",
            Self::Lsu => "LSU",
            Self::Issue => "issue slots",
            Self::Fma => "FMA pipe",
            Self::Alu => "ALU pipe",
            Self::Fp64 => "FP64 pipe",
            Self::Xu => "XU pipe",
            Self::Tensor => "tensor pipe",
            Self::Atomic => "L2 atomics",
            Self::Constant => "constant cache",
            Self::HostLink => "host link",
            Self::PeerLink => "peer link",
            Self::BlockScheduler => "block scheduler",
        }
    }

    /// What a launch is bound by when this term is the largest.
    #[must_use]
    pub fn bound(self) -> Bound {
        match self {
            Self::Dram
            | Self::L2
            | Self::L2Requests
            | Self::L1Data
            | Self::Lsu
            | Self::Atomic
            | Self::Constant
            | Self::HostLink
            | Self::PeerLink => Bound::Memory,
            Self::BlockScheduler => Bound::Launch,
            Self::Issue | Self::Fma | Self::Alu | Self::Fp64 | Self::Xu | Self::Tensor => {
                Bound::Compute
            }
        }
    }

    /// The utilization counters of the unit, percent of peak over elapsed time; the largest counts.
    /// Elementary counters only: ncu's `*throughput*` metrics are maxima over several units.
    #[must_use]
    pub const fn counters(self) -> &'static [&'static str] {
        match self {
            Self::Dram => &["dram__cycles_active.avg.pct_of_peak_sustained_elapsed"],
            Self::L2 => &[
                "lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
                "lts__d_sectors.avg.pct_of_peak_sustained_elapsed",
                "lts__lts2xbar_cycles_active.avg.pct_of_peak_sustained_elapsed",
                "lts__d_atomic_input_cycles_active.avg.pct_of_peak_sustained_elapsed",
            ],
            Self::L2Requests => &[
                "lts__t_tag_requests.avg.pct_of_peak_sustained_elapsed",
                "lts__xbar2lts_cycles_active.avg.pct_of_peak_sustained_elapsed",
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
            Self::Atomic => {
                &["lts__d_atomic_input_cycles_active.max.pct_of_peak_sustained_elapsed"]
            }
            // Worked out from counts, or from counters that only devices with such links have: see
            // `counts`.
            Self::HostLink | Self::PeerLink | Self::BlockScheduler => &[],
            Self::Constant => &["idc__request_cycles_active.avg.pct_of_peak_sustained_elapsed"],
        }
    }

    /// The stalls in which warps wait for a place in the unit's queue, or for what stands in it.
    #[must_use]
    pub fn waits(self) -> &'static [StallReason] {
        use StallReason::{
            Drain, ImcMiss, LgThrottle, LongScoreboard, MathPipeThrottle, Membar, MioThrottle,
            ShortScoreboard,
        };
        match self {
            Self::Dram
            | Self::L2
            | Self::L2Requests
            | Self::Atomic
            | Self::HostLink
            | Self::PeerLink => &[LongScoreboard, LgThrottle, MioThrottle, Drain, Membar],
            Self::L1Data | Self::Lsu => &[ShortScoreboard, MioThrottle, LgThrottle, LongScoreboard],
            Self::Constant => &[ShortScoreboard, MioThrottle, ImcMiss],
            Self::Xu => &[ShortScoreboard, MioThrottle, MathPipeThrottle],
            Self::Fma | Self::Alu | Self::Fp64 | Self::Tensor => &[MathPipeThrottle],
            // A block that has not started has no warp that could wait.
            Self::Issue | Self::BlockScheduler => &[],
        }
    }

    /// True for units that all SMs share.
    #[must_use]
    pub fn is_beyond_l1(self) -> bool {
        matches!(
            self,
            Self::Dram
                | Self::L2
                | Self::L2Requests
                | Self::Atomic
                | Self::HostLink
                | Self::PeerLink
        )
    }

    /// The metric that stands in where none of the unit's own counters was collected.
    #[must_use]
    pub fn stand_in(self) -> Option<&'static str> {
        match self {
            Self::Dram => Some("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"),
            Self::L2 => Some("lts__throughput.avg.pct_of_peak_sustained_elapsed"),
            Self::Lsu => Some("sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active"),
            _ => None,
        }
    }
}
