//! The model's own numbers. What a device can reach stands in the devices' files.

use crate::threshold::Threshold;

/// All of them, as the page on rules shows them.
pub const THRESHOLDS: &[Threshold] = &[
    WORST_ERROR,
    FEW_ADDRESSES,
    TENSOR_FULL,
    PIPE_FULL,
    SHORTEST,
    LAUNCH_KNOWN,
    LEAST_OF_PAUSES,
    MOST_BLOCKS,
];

/// The share of a predicted gain that may fail to appear.
pub const WORST_ERROR: Threshold = Threshold {
    what: "constant: share of a predicted gain that may fail to appear",
    value: 0.39,
    unit: "share",
    source: "the worst error that GPA (Zhou et al., CGO 2021), the estimator with the best \
             published figures, reports on its 26 kernels",
};

/// How many times the average slice's atomics the busiest one has where few addresses take most of them.
pub const FEW_ADDRESSES: Threshold = Threshold {
    what: "atomics of the busiest L2 slice, as a multiple of the average slice's, for them to count as going \
           to few addresses, at least",
    value: 4.0,
    unit: "",
    source: "measured on the 839 recorded launches: 2 and 8 give the same findings, and 4 is their geometric \
             mean",
};

/// The busy share of the tensor pipe from which it is at what a kernel can reach.
pub const TENSOR_FULL: Threshold = Threshold {
    what: "time for which the tensor pipe is busy, for it to count as full, at least",
    value: 0.75,
    unit: "share",
    source: "measured on an H200: seven tuned kernels for products and attention keep it busy 75 to 82% of the \
             time, and cuBLAS at its best 93%; between the two, shapes and power decide, not faults",
};

/// The busy share of one of the SM's pipes, of what it can reach, from which waits cost nothing.
pub const PIPE_FULL: Threshold = Threshold {
    what: "share of what a math pipe, the issue slots, the load/store unit or L1's data pipe can do, for shorter \
           waits alone to promise nothing more, at least",
    value: 0.75,
    unit: "share",
    source: "measured on an H200: seven tuned kernels for products and attention keep the tensor pipe busy 75 to \
             82% of the time, cuBLAS's matrix products of floats the FMA pipe 77%, and two more tuned kernels the \
             issue slots 82% and L1's data pipe 78%",
};

/// The shortest time, as a share of the present time, that counters can tell from nothing.
pub const SHORTEST: Threshold = Threshold {
    what: "constant: shortest time that an estimate may leave, as a share of the present time",
    value: 0.002,
    unit: "share",
    source: "derivation: utilizations are exported to 0.01%, so a term of 0.2% is known to within a twentieth; \
             anything shorter can't be told from nothing",
};

/// What else the host does between two launches may stay.
pub const LEAST_OF_PAUSES: Threshold = Threshold {
    what: "constant: share of the pauses before merged launches that goes with them at least",
    value: 0.5,
    unit: "share",
    source: "definition: as much as the rest",
};

/// The share of the present time up to which the launch's own cost is known.
pub const LAUNCH_KNOWN: Threshold = Threshold {
    what: "constant: time beyond that of an empty launch that is left at least when the launch itself is saved, \
           as a share of the present time",
    value: 0.05,
    unit: "share",
    source: "counters collected in different passes differ by about 5%",
};

/// How many blocks an SM holds, at most.
pub const MOST_BLOCKS: Threshold = Threshold {
    what: "constant: blocks that an SM holds at once, at most: equal blocks leave SMs idle at the end for the time of one",
    value: 32.0,
    unit: "block",
    source: "definition: CUDA C++ Programming Guide, compute capabilities: 16 to 32 resident blocks per SM",
};
