//! Samples of a stall, charged to the instruction whose result was awaited.

/// How a waiting instruction depends on the one it waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Link {
    /// It reads the result.
    Reads,
    /// It writes a register that the other still reads or writes.
    Overwrites,
    /// Nothing in the text connects them. Scoreboards are few, so the compiler lets one wait stand for
    /// several results: those that set the scoreboard, or, where no control codes tell them, the last
    /// instruction of that kind before it.
    Near,
}

/// Stall samples of one instruction that another one made wait, by their places in the listing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Charge {
    /// Place of the instruction that makes others wait.
    pub producer: usize,
    /// Place of the instruction that waits.
    pub waiting: usize,
    /// How they depend on each other.
    pub link: Link,
    /// Stall samples.
    pub samples: f64,
}
