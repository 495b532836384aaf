//! The numbers by which machine code is read.

use crate::threshold::Threshold;

/// All of them, as the page on rules shows them.
pub const THRESHOLDS: &[Threshold] = &[
    FEW_WARPS,
    THREADS_MEET,
    FEW_TURNS,
    EVERY_TURN,
    LONG_SUM,
    PRODUCER_WITHIN,
    READER_WITHIN,
    MOST_DEFINITIONS,
    ADDRESS_STEPS,
    MANY_STATEMENTS,
    STATEMENT_STEPS,
    REARRANGING_STEPS,
];

/// The part of a block's warps that are few: the rest, half or more, waits for them.
pub const FEW_WARPS: Threshold = Threshold {
    what: "part of the warps that run code in front of a barrier for which the others wait, at most",
    value: 0.5,
    unit: "share",
    source: "definition: no more than the rest, which waits",
};

/// The part of the threads that must be at a branch's target for it to be where they meet.
pub const THREADS_MEET: Threshold = Threshold {
    what: "part of a branch's threads that arrive at the target where all of them meet, at least",
    value: 0.9,
    unit: "share",
    source: "derivation: all but the few that left the kernel on the way; measured on the 839 \
             recorded launches: at 0.99 they keep their findings, at 0.5 three change theirs",
};

/// Turns of a loop that make something to share out.
pub const FEW_TURNS: Threshold = Threshold {
    what: "turns of a loop that could be shared out among threads, at least",
    value: 2.0,
    unit: "turn",
    source: "derivation: one turn can't be divided; a loop over a grid's stride turns once where there \
             is a thread for each element, and the loops in it are looked at instead",
};

/// Turns of a loop that make a sum worth dividing.
pub const LONG_SUM: Threshold = Threshold {
    what: "turns of a loop that adds something up, from which its sum is worth dividing among threads, at \
           least",
    value: 32.0,
    unit: "turn",
    source: "derivation: the lanes of a warp share 32 terms, one each, and add them up in five exchanges; a \
             shorter sum does not occupy a warp",
};

/// The part of a loop's turns that makes a value anew in every turn.
pub const EVERY_TURN: Threshold = Threshold {
    what: "part of a loop's turns that work out a value where each does, at least",
    value: 0.9,
    unit: "share",
    source: "derivation: all but the turns that left the loop on the way, as for the threads that meet \
             behind a branch",
};

/// How far back an unconnected producer is looked for.
pub const PRODUCER_WITHIN: Threshold = Threshold {
    what: "instructions back to the one that a stall is charged to where no register leads to it, \
           at most",
    value: 64.0,
    unit: "instruction",
    source: "bounds the time that a hostile listing takes; without it no finding of a recording comes \
             or goes",
};

/// Instructions behind a guarded one among which its reader is looked for.
pub const READER_WITHIN: Threshold = Threshold {
    what: "instructions from a guarded one to the next reader of its result, at most",
    value: 256.0,
    unit: "instruction",
    source: "bounds the time that a hostile listing takes; an unrolled loop of a recorded stencil \
             needs more than 64",
};

/// Definitions of one value that are followed.
pub const MOST_DEFINITIONS: Threshold = Threshold {
    what: "definitions of one value that are followed, at most",
    value: 256.0,
    unit: "instruction",
    source: "bounds the time that a hostile listing takes; a compiler guards a handful of writes in \
             a row",
};

/// Steps back from an access to what makes its address.
pub const ADDRESS_STEPS: Threshold = Threshold {
    what: "steps from an access back to what makes its address, at most",
    value: 3.0,
    unit: "step",
    source: "derivation: base plus row times stride plus column, each times the width, is three \
             operations deep; what is further back works out which row and column are meant",
};

/// Statements in a row that are worth dividing among blocks.
pub const MANY_STATEMENTS: Threshold = Threshold {
    what: "statements in a row, outside loops, that are worth dividing among blocks, at least",
    value: 32.0,
    unit: "statement",
    source: "derivation: as for a sum, fewer do not occupy a warp; each block needs a branch to its own",
};

/// How long what statements are worked out from is followed.
pub const STATEMENT_STEPS: Threshold = Threshold {
    what: "steps from statements back to what they are worked out from, per instruction of the code, \
           at most",
    value: 64.0,
    unit: "step/instruction",
    source: "bounds the time that a hostile listing takes; 191 statements of a public kernel need fewer",
};

/// Conversions and permutations that may stand between a load and the product that takes its value.
pub const REARRANGING_STEPS: Threshold = Threshold {
    what: "conversions and permutations between a load and the matrix product that takes its value, at most",
    value: 3.0,
    unit: "step",
    source: "derivation: a value is made narrower, packed with its neighbour, and permuted within its register",
};
