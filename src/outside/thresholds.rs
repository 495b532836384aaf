//! The numbers that decide how far a range reaches at least.

use crate::threshold::Threshold;

/// All of them, as the page on rules shows them.
pub const THRESHOLDS: &[Threshold] = &[WITHIN, OTHERS, FAR];

/// The share of all changes that lie within the pooled spread.
pub const WITHIN: Threshold = Threshold {
    what: "given: share of the changes to other people's programs that gained between estimate / spread \
           and estimate × spread",
    value: 2.0 / 3.0,
    unit: "share",
    source: "derivation: the model's own bounds stay where they are wider, so that the spread needs to hold \
             fewer than the four in five that the range does. Left out one program at a time, the ranges \
             that the others give hold 78% of its gains",
};

/// How many changes of its own weigh as much as those of all rules together.
pub const OTHERS: Threshold = Threshold {
    what: "given: changes of its own that weigh as much for a rule's spread as those of all rules",
    value: 8.0,
    unit: "change",
    source: "measured: left out one program at a time, 4, 8, and 1000 all hold 35 of 45 gains, so \
             that rules hardly differ by more than their few changes do by chance",
};

/// The ratio of gain and estimate beyond which one is no longer told from another.
pub const FAR: Threshold = Threshold {
    what: "given: ratio of gain and estimate up to which it counts, at most",
    value: 2.0,
    unit: "",
    source: "derivation: beyond it a change did something else than the finding meant, or nothing; how \
             far says nothing of the other changes. Six of 45 lie beyond",
};
