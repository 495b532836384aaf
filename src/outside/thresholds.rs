//! The numbers that decide how far a range reaches at least.

use crate::threshold::Threshold;

/// All of them, as the page on rules shows them.
pub const THRESHOLDS: &[Threshold] = &[WITHIN, OTHERS, FAR];

/// The share of all changes that lie within the pooled spread.
pub const WITHIN: Threshold = Threshold {
    what: "constant: share of the changes to other people's programs that gained between the estimate / spread \
           and the estimate × spread",
    value: 2.0 / 3.0,
    unit: "share",
    source: "derivation: the model's own bounds apply where they are wider, so the spread may hold fewer gains \
             than the four in five that the range should. With each program left out in turn, the ranges that \
             the others give hold 78% of its gains",
};

/// How many changes of its own weigh as much as those of all rules together.
pub const OTHERS: Threshold = Threshold {
    what: "constant: how many changes made for a rule weigh as much in its spread as the changes for all rules \
           together",
    value: 8.0,
    unit: "change",
    source: "measured: with each program left out in turn, 4, 8, and 1000 all hold 35 of 45 gains, so the \
             rules hardly differ by more than chance",
};

/// The ratio of gain and estimate beyond which one is no longer told from another.
pub const FAR: Threshold = Threshold {
    what: "constant: ratio of gain to estimate that a single change counts with, at most",
    value: 2.0,
    unit: "",
    source: "derivation: beyond it a change did something other than the finding meant, or nothing, and how \
             far beyond says nothing about other changes. Six of 45 lie beyond",
};
