//! The numbers by which machine code is read.

use crate::threshold::Threshold;

/// All of them, as the page on rules shows them.
pub const THRESHOLDS: &[Threshold] = &[
    FEW_WARPS,
    THREADS_MEET,
    FEW_TURNS,
    LONG_ROW,
    DEPENDENT_CYCLES,
    ENOUGH_SAMPLES,
    EVERY_TURN,
    LONG_SUM,
    PRODUCER_WITHIN,
    SETTER_WITHIN,
    READER_WITHIN,
    MOST_DEFINITIONS,
    MOST_READERS,
    ADDRESS_STEPS,
    LANE_STEPS,
    MANY_STATEMENTS,
    STATEMENT_STEPS,
    REARRANGING_STEPS,
    PACKED_NUMBERS,
    SAME_READING,
    MASKED_OFF,
    MIXED,
    TREE_STEPS,
    WINDOW_VALUES,
    TO_THE_LOOP,
    FRAGMENT_BYTES,
    RUN_SECTORS,
    COLLECTING,
    MOST_FOLLOWED,
    MOST_PER_ACCESS,
];

/// What it costs a warp to collect lanes on one path until they fill a warp.
pub const COLLECTING: Threshold = Threshold {
    what: "instructions by which a warp collects the lanes that take a branch, until they fill one: skipped parts that cost no more are \
           best left as they are",
    value: 24.0,
    unit: "instruction",
    source: "derivation: 9 to number the lanes (a vote, its bits below the lane, two counts, the new total, its comparison, a branch, \
             and two barriers of the warp), and 5 for each of three values (its address twice, a store, a load, and a move); on an \
             H100 such a queue of pairs within a cut-off gained 0.96 where 12 instructions promise 1.21",
};

/// Sectors of a run that lanes could share.
pub const RUN_SECTORS: Threshold = Threshold {
    what: "sectors of a run of neighbouring elements that a lane goes through by itself, for lanes to share it, at least",
    value: 1.0,
    unit: "sector",
    source: "derivation: lanes side by side touch one sector more where a run begins in the middle of one; of a run of one sector or more, \
             elements of 8 bytes or less touch no more than half as many as one by one",
};

/// How much of a row a matrix instruction sums over.
pub const FRAGMENT_BYTES: Threshold = Threshold {
    what: "bytes of the features of a squared distance, for the distances to count as a product of matrices, at least",
    value: 32.0,
    unit: "byte",
    source: "definition: matrix instructions at full rate take 32 bytes of each row, 16 features of 16 bits (mma.m16n8k16) or 8 of TF32 \
             (mma.m16n8k8); with fewer, as for points in space, they multiply padding",
};

/// The share of the warps that must reach a loop for no block to count as having returned before it.
pub const TO_THE_LOOP: Threshold = Threshold {
    what: "share of the warps that come to a loop, for it to count as one that no block leaves out, more than",
    value: 0.75,
    unit: "share",
    source: "derivation: half way between all and the half that is left where blocks below a diagonal return",
};

/// Executions that belong to an access.
pub const MOST_PER_ACCESS: Threshold = Threshold {
    what: "executions of an instruction for one of an access in the same loop, for it to belong to the access, less than",
    value: 2.0,
    unit: "execution",
    source: "derivation: from two on, every other one at least has no access",
};

/// Samples from which shares of time are taken.
pub const ENOUGH_SAMPLES: Threshold = Threshold {
    what: "samples of a kernel, for the time of a part of it to be told by its samples, at least",
    value: 400.0,
    unit: "sample",
    source: "derivation: half of 400 scatter by 10, which is a twentieth of them",
};

/// Distances of a tree over lanes.
pub const TREE_STEPS: Threshold = Threshold {
    what: "distances between lanes that exchange values at one place, for the exchanges to count as a tree, at least",
    value: 3.0,
    unit: "distance",
    source: "definition: a tree over eight lanes, which together load a sector of 4-byte values",
};

/// How many exclusive ors make a number count as mixed.
pub const MIXED: Threshold = Threshold {
    what: "exclusive ors of two values that an address is made of, for it to count as a hash or a random number, at least",
    value: 2.0,
    unit: "instruction",
    source: "derivation: one permutes the elements of a tile, as swizzled layouts do; hashes and shift registers mix several times",
};

/// What a mask puts in the place of a score.
pub const MASKED_OFF: Threshold = Threshold {
    what: "constant in the place of a product, for it to count as switched off by a mask, at most",
    value: -10_000.0,
    unit: "",
    source: "derivation: masks are minus infinity or, by custom, -10000 and beyond; the exponential of a score that is \
             lower than others by 104 is zero in single precision",
};

/// How alike two loops' sectors are that read the same.
pub const SAME_READING: Threshold = Threshold {
    what: "difference between the sectors of two loops that read the same, at most",
    value: 0.05,
    unit: "share",
    source: "derivation: a loop that reads a part of what another reads, or a neighbour more on each side, differs \
             by more on rows of fewer than 40 sectors; a remainder loop of an unrolled pass has fewer than 1 in 20",
};

/// The part of a block's warps that are few: the rest, half or more, waits for them.
pub const FEW_WARPS: Threshold = Threshold {
    what: "share of a block's warps that may run the code before a barrier while the others count as waiting \
           for them, at most",
    value: 0.5,
    unit: "share",
    source: "definition: no more than wait",
};

/// The part of the threads that must be at a branch's target for it to be where they meet.
pub const THREADS_MEET: Threshold = Threshold {
    what: "share of a branch's threads that must arrive at its target for all of them to count as meeting \
           there, at least",
    value: 0.9,
    unit: "share",
    source: "derivation: all but the few that left the kernel on the way; measured on the 839 recorded \
             launches: 0.99 changes no finding, 0.5 changes those of three",
};

/// Cycles from one arithmetic instruction to the next one that needs its result.
pub const DEPENDENT_CYCLES: Threshold = Threshold {
    what: "constant: cycles from an arithmetic instruction to one that needs its result, for a thread that is left with one element \
           of several",
    value: 4.0,
    unit: "cycle",
    source: "Jia et al., Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking, 2018: 4 cycles for most arithmetic",
};

/// Turns of a loop that make something to share out.
pub const FEW_TURNS: Threshold = Threshold {
    what: "iterations of a loop that could be divided among threads, at least",
    value: 2.0,
    unit: "iteration",
    source: "derivation: one iteration can't be divided; a grid-stride loop with a thread for each element has \
             one, and the loops inside it are examined instead",
};

/// Additions and fused multiplications in a row that make a sum worth dividing.
pub const LONG_ROW: Threshold = Threshold {
    what: "additions or fused multiplications in a row, each of what the one before made, of which several rows could run side \
           by side, at least",
    value: 16.0,
    unit: "instruction",
    source: "derivation: the polynomials of CUDA's mathematical functions have fewer steps in a row (12 for the exponential \
             of a double), and their code can't be changed",
};

/// Turns of a loop that make a sum worth dividing.
pub const LONG_SUM: Threshold = Threshold {
    what: "additions of a summing loop (several per iteration where it is unrolled), for its sum to be worth \
           dividing among threads, at least",
    value: 32.0,
    unit: "addition",
    source: "derivation: the lanes of a warp share 32 terms, one each, and add them up in five exchanges; a \
             shorter sum does not occupy a warp",
};

/// The part of a loop's turns that makes a value anew in every turn.
pub const EVERY_TURN: Threshold = Threshold {
    what: "share of a loop's iterations that compute a value, for it to count as computed in every iteration, \
           at least",
    value: 0.9,
    unit: "share",
    source: "derivation: all but the iterations in which the loop was left early, as for the threads that meet \
             after a branch",
};

/// How far back an unconnected producer is looked for.
pub const PRODUCER_WITHIN: Threshold = Threshold {
    what: "instructions searched backwards for the one that a stall belongs to, where no register leads to it, \
           at most",
    value: 64.0,
    unit: "instruction",
    source: "bounds the time that a hostile listing takes; no finding of a recording depends on it",
};

/// How far back what an instruction waits for by its control codes is looked for.
pub const SETTER_WITHIN: Threshold = Threshold {
    what: "instructions searched backwards for those that an instruction waits for by its control codes, at most",
    value: 4096.0,
    unit: "instruction",
    source: "bounds the time that a hostile listing takes; of 4,400 waits in public reports none is for an \
             instruction more than 700 before it",
};

/// Instructions behind a guarded one among which its reader is looked for.
pub const READER_WITHIN: Threshold = Threshold {
    what: "instructions searched from a predicated one to the next reader of its result, at most",
    value: 256.0,
    unit: "instruction",
    source: "bounds the time that a hostile listing takes; an unrolled loop of a recorded stencil \
             needs more than 64",
};

/// Definitions of one value that are followed.
pub const MOST_DEFINITIONS: Threshold = Threshold {
    what: "definitions of one value that are followed, at most",
    value: 256.0,
    unit: "definition",
    source: "bounds the time that a hostile listing takes; a compiler predicates a handful of writes in a \
             row",
};

/// Readers of a value that a loop keeps as its best, at most.
pub const MOST_READERS: Threshold = Threshold {
    what: "instructions of a loop that read the best value so far, or what compares with it, at most",
    value: 64.0,
    unit: "instruction",
    source: "bounds the time that a hostile listing takes; a loop that is unrolled 16 times compares as often",
};

/// Steps back from an access to what makes its address.
pub const ADDRESS_STEPS: Threshold = Threshold {
    what: "steps followed back from an access to what its address is computed from, at most",
    value: 3.0,
    unit: "step",
    source: "derivation: base plus row times stride plus column, each times the width, is three \
             operations deep; anything further back computes the row and the column",
};

/// Steps back from an access in working out each lane's address.
pub const LANE_STEPS: Threshold = Threshold {
    what: "steps followed back from an access in working out the address of each lane, at most",
    value: 64.0,
    unit: "step",
    source: "bounds the time that a hostile listing takes; where more are needed, the hint names no padding",
};

/// Statements in a row that are worth dividing among blocks.
pub const MANY_STATEMENTS: Threshold = Threshold {
    what: "consecutive statements outside loops that are worth dividing among blocks, at least",
    value: 32.0,
    unit: "statement",
    source: "derivation: as for a sum, fewer do not occupy a warp, and each block needs a branch to its own",
};

/// How long what statements are worked out from is followed.
pub const STATEMENT_STEPS: Threshold = Threshold {
    what: "steps followed back from statements to what they are computed from, per instruction of the code, at \
           most",
    value: 64.0,
    unit: "step",
    source: "bounds the time that a hostile listing takes; 191 statements of a public kernel need fewer",
};

/// Conversions and permutations that may stand between a load and the product that takes its value.
pub const REARRANGING_STEPS: Threshold = Threshold {
    what: "conversions and permutations between a load and the matrix product that takes its value, at most",
    value: 3.0,
    unit: "step",
    source: "derivation: a value is made narrower, packed with its neighbour, and permuted within its register",
};

/// Numbers that a word may hold.
pub const PACKED_NUMBERS: Threshold = Threshold {
    what: "values of a product's depth that share a row, or copies from one address in a turn, more than",
    value: 16.0,
    unit: "value",
    source: "derivation: a word of 32 bits holds up to 16 packed numbers of two bits, and is needed for each of them until it is \
             unpacked; the groups of common formats have 32 values and more",
};

/// Values of a window in shared memory.
pub const WINDOW_VALUES: Threshold = Threshold {
    what: "values that a thread reads around one place in shared memory, for what neighbouring results share to be counted, at most",
    value: 128.0,
    unit: "value",
    source: "bounds the time that a hostile listing takes; a cube of five by five by five values has 125",
};

/// Things of one kind that are followed in a listing.
pub const MOST_FOLLOWED: Threshold = Threshold {
    what: "constant: locks, loops of compare-and-swap, loops with products, pairs of loops that read the same, places in a loop's local \
           memory, called functions, and moves in a row that are followed in a listing, of each",
    value: 64.0,
    unit: "",
    source: "bounds the time that a hostile listing takes; no kernel that was looked at has as many",
};
