//! The numbers by which findings are put into their order.

use crate::evidence::Threshold;
use crate::evidence::threshold::{NOISE, NOISE_SOURCE};

/// All of them, as the page on rules shows them.
pub const THRESHOLDS: &[Threshold] = &[
    INFLATES,
    UNREAD_CODE,
    UNREAD_RANGE,
    ENOUGH_WARPS,
    ABOUT_AS_MUCH,
    EXPLAINS_GAIN,
    EXPLAINS_STALL,
    LEAST_CHANGE,
    LOW_THROUGHPUT,
    FEW_IDLE,
    FAR_REACH,
    CHAINED,
    CHAINED_READINGS,
    STORES_ANEW,
];

/// How often a launch of a chain may read what one before it stored.
pub const CHAINED_READINGS: Threshold = Threshold {
    what: "times that a launch in a row loads what one before it stored, to count as going element by element, at most",
    value: 1.1,
    unit: "time",
    source: "derivation: once, and a tenth more for rows that begin in the middle of a sector. A stencil loads its neighbours' \
             elements again, and each further step in one kernel would make more of them twice",
};

/// Launches in a chain.
pub const CHAINED: Threshold = Threshold {
    what: "launches in a row that pass arrays on element by element, for one kernel to be asked to do the work of all, at least",
    value: 3.0,
    unit: "launch",
    source: "definition: what two pass on is told by the launches beside one another",
};

/// What overwrites a store.
pub const STORES_ANEW: Threshold = Threshold {
    what: "share of what a launch stored that a later one must store there, for nothing behind it to need the first, at least",
    value: 0.9,
    unit: "share",
    source: "derivation: along the edges of a grid a tenth at most is left out",
};

/// How far above its estimate a range may end without a word on it.
pub const FAR_REACH: Threshold = Threshold {
    what: "upper end of a range, divided by its estimate, for the finding to say what decides it, more than",
    value: 4.0,
    unit: "",
    source: "measured: 49 of 2,092 findings of the recordings have such a range (2%), so that readers expect no other",
};

/// The share of the time without a warp that is too small to be what a small grid costs.
pub const FEW_IDLE: Threshold = Threshold {
    what: "time for which SMs have no warp, for a small grid to be described by that and not by what its warps \
           wait for, at least",
    value: NOISE / 100.0,
    unit: "share",
    source: NOISE_SOURCE,
};

/// From this share of a unit's work on, a fault keeps the unit from its roof.
pub const INFLATES: Threshold = Threshold {
    what: "share of a unit's work that a cause must remove to keep the unit from counting as at its roof, at \
           least",
    value: NOISE / 100.0,
    unit: "share",
    source: NOISE_SOURCE,
};

/// From this share of the executed instructions on, unread ones keep a launch from any roof.
pub const UNREAD_CODE: Threshold = Threshold {
    what: "share of the executed instructions that could not be read, to keep a launch from counting as at a \
           roof, at least",
    value: INFLATES.value,
    unit: "share",
    source: "derivation: they may hide a cause that removes as much of a unit's work, and such a cause \
             would keep the unit from its roof",
};

/// By how much ranges are wider where the machine code can't be read.
pub const UNREAD_RANGE: Threshold = Threshold {
    what: "constant: factor by which both ends of an estimate's range move outwards where the machine code \
           can't be read",
    value: 1.3,
    unit: "",
    source: "measured on the 154 planted faults that have an estimate with and without SASS: the two \
             differ by more than this in 10%",
};

/// The share of the latency that more warps must cover to come before more loads.
pub const ENOUGH_WARPS: Threshold = Threshold {
    what: "share of the latency that more warps must cover for missing warps to be named before missing loads, \
           at least",
    value: 0.5,
    unit: "share",
    source: "derivation: bytes in flight are warps times bytes per warp (Little's law), and twice \
             the warps cover half of the latency; where fewer than twice as many fit, more loads \
             per warp are needed anyway",
};

/// How much more a change that only hides waits must promise to come before one that takes work away.
pub const ABOUT_AS_MUCH: Threshold = Threshold {
    what: "promised gain beyond 1 of a change that only hides waits, as a multiple of that of a change that takes \
           work away, to come before it, at least",
    value: 1.2,
    unit: "",
    source: "measured on the changes to other people's programs that rules are tuned by: estimates are off by \
             1.2 in the median, so that two which are closer can't be told apart",
};

/// The part of a symptom's gain that a cause must promise to explain it.
pub const EXPLAINS_GAIN: Threshold = Threshold {
    what: "share of a symptom's gain that a cause must promise to explain the symptom, at least",
    value: 0.5,
    unit: "share",
    source: "definition: half, so that no other fault explains more of it",
};

/// The part of a symptom's own stall that a cause must take away to explain it, whatever it promises.
pub const EXPLAINS_STALL: Threshold = Threshold {
    what: "or share of the symptom's own stall that the cause must remove, at least",
    value: 0.25,
    unit: "share",
    source: "measured on the 839 recorded launches: 0.2 changes no finding; at 0.3 eight launches name a stall \
             first although a cause that removes it was found",
};

/// A change of the time below this share has no row in the ranking.
pub const LEAST_CHANGE: Threshold = Threshold {
    what: "change of the time that earns a row under --explain-ranking, at least",
    value: 0.01,
    unit: "share",
    source: "derivation: shares of the time are printed in whole percent, and a smaller change \
             would repeat the row above",
};

/// Throughput under which neither computing nor memory bounds a launch.
pub const LOW_THROUGHPUT: Threshold = Threshold {
    what: "ncu's compute and memory throughput, for a launch to count as bound by latency where no unit's own \
           counter was collected, less than",
    value: 60.0,
    unit: "%",
    source: "ncu's SOLBottleneck rule: 60%",
};
