//! The limits that several rules share.

use crate::finding::LEAST_GAIN;
use crate::threshold::Threshold;

/// Issue slots used, percent, under which schedulers count as idle.
pub(crate) const ISSUE_LOW: f64 = 60.0;

/// [`ISSUE_LOW`] as `explain` prints it.
pub(crate) const ISSUE_LOW_LIMIT: Threshold = Threshold {
    what: "issue slots used, less than",
    value: ISSUE_LOW,
    unit: "%",
    source: "ncu's IssueSlotUtilization rule: 0.6 instructions per cycle and scheduler",
};

/// Busy share of a unit, percent, from which more warps can't help.
pub(crate) const UNIT_SATURATED: f64 = 70.0;

/// [`UNIT_SATURATED`] as `explain` prints it.
pub(crate) const UNIT_SATURATED_LIMIT: Threshold = Threshold {
    what: "the busiest unit's share of the time, less than",
    value: UNIT_SATURATED,
    unit: "%",
    source: "derivation: a unit that is busy 70% of the time bounds the gain at 1/0.7 = 1.4, \
             however well latency is hidden, and every further warp lengthens the queue in front \
             of it",
};

/// Lanes at work of 32, under which warps count as divergent or idle.
pub(crate) const LANES: f64 = 24.0;

/// [`LANES`] as `explain` prints it.
pub(crate) const LANES_LIMIT: Threshold = Threshold {
    what: "lanes at work per warp, fewer than",
    value: LANES,
    unit: "lane",
    source: "ncu's ThreadDivergence rule: 24 of 32 lanes",
};

/// A share of the time, percent, below which a difference is noise.
pub(crate) const NOISE: f64 = 5.0;

/// Source of [`NOISE`].
pub(crate) const NOISE_SOURCE: &str = "ncu's WorkloadImbalance rule reports 5% of the time or more; \
                                counters collected in different passes differ by about as much";

/// A stall's share of the cycles between two instructions, percent.
pub(crate) const STALL_SHARE: f64 = 30.0;

/// [`STALL_SHARE`] as `explain` prints it.
pub(crate) const STALL_SHARE_LIMIT: Threshold = Threshold {
    what: "the stall's share of the cycles between two instructions of a warp, at least",
    value: STALL_SHARE,
    unit: "%",
    source: "ncu's CPIStall rule: 0.3",
};

/// What a stall must be worth, as a speed-up, to be named though its share is smaller.
pub(crate) const STALL_GAIN_LIMIT: Threshold = Threshold {
    what: "or the speed-up that the time model expects without the stall, at least",
    value: LEAST_GAIN,
    unit: "",
    source: "counters collected in different passes differ by about 5%. The share of the cycles \
             alone says little: a warp that waits while others use the issue slots costs no time",
};

/// Issue slots used, percent, from which stalls are hidden.
pub(crate) const STALL_ISSUE: f64 = 80.0;

/// [`STALL_ISSUE`] as `explain` prints it.
pub(crate) const STALL_ISSUE_LIMIT: Threshold = Threshold {
    what: "issue slots used, less than",
    value: STALL_ISSUE,
    unit: "%",
    source: "ncu's CPIStall rule: 0.8 instructions per cycle and scheduler; above that, other \
             warps hide the stalls",
};

/// Busy share of the binding unit, percent of what the device achieves, that counts as the roof.
pub(crate) const ROOF: f64 = 85.0;

/// [`ROOF`] as `explain` prints it.
pub(crate) const ROOF_LIMIT: Threshold = Threshold {
    what: "the busiest unit's rate, share of what the device achieves, at least",
    value: ROOF,
    unit: "%",
    source: "derivation: the rest is worth at most 1/0.85 = 1.18, and the rates of library copies \
             and matrix products themselves vary by 5% with size (H200: 4.10 to 4.29 TB/s, 49.0 to \
             51.3 TFLOP/s)",
};

/// The scheduler's issue rate.
pub(crate) const ISSUE: &str = "smsp__issue_active.avg.pct_of_peak_sustained_active";
/// Cycles between two instructions of a warp.
pub(crate) const LATENCY: &str = "smsp__average_warp_latency_per_inst_issued.ratio";

/// Results that use a loaded value from a register, at most.
pub(crate) const REGISTER_TILE: f64 = 8.0;

/// [`REGISTER_TILE`] as `explain` prints it.
pub(crate) const REGISTER_TILE_LIMIT: Threshold = Threshold {
    what: "constant: results that use a loaded value from a register, at most",
    value: REGISTER_TILE,
    unit: "result",
    source: "derivation: a tile of 8 by 8 results takes 64 registers, with which two blocks of 512 \
             threads still fit on an SM",
};
