//! Numbers that decide, each with its source.

/// A limit that something is compared with, or a constant of an estimate, and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// What is compared, in words; after `constant: ` a constant of the estimate, which is no limit.
    pub what: &'static str,
    /// The limit.
    pub value: f64,
    /// Its unit: empty for ratios, `share` for what is printed in percent.
    pub unit: &'static str,
    /// Where the number comes from: a derivation or a source.
    pub source: &'static str,
}

impl Threshold {
    /// The value of one that is counted in whole things.
    #[must_use]
    pub const fn whole(self) -> usize {
        self.value as usize
    }
}
