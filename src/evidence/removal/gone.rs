//! What goes of one instruction.

/// Shares of one instruction that go with a fault, each from 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Gone {
    /// Of its executions.
    pub executions: f64,
    /// Of its L1 wavefronts.
    pub wavefronts: f64,
    /// Of its waiting to issue, but for other warps.
    pub waits: f64,
    /// Of its waiting for other warps, at barriers and fences.
    pub for_others: f64,
    /// Of the waiting for its results.
    pub results: f64,
}

impl Gone {
    /// True where anything of it goes.
    pub(super) fn any(&self) -> bool {
        [self.executions, self.wavefronts, self.waits, self.for_others, self.results]
            .iter()
            .any(|share| *share > 0.0)
    }

    /// Makes each share at least the other's: what goes for two reasons goes once.
    pub(super) fn raise(&mut self, other: Self) {
        self.executions = self.executions.max(other.executions);
        self.wavefronts = self.wavefronts.max(other.wavefronts);
        self.waits = self.waits.max(other.waits);
        self.for_others = self.for_others.max(other.for_others);
        self.results = self.results.max(other.results);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_only_grow() {
        let mut gone = Gone { waits: 0.5, ..Gone::default() };
        for waits in [0.25, f64::NAN, 0.0] {
            gone.raise(Gone { waits, ..Gone::default() });
        }
        gone.raise(Gone { results: 0.125, ..Gone::default() });
        assert_eq!(gone, Gone { waits: 0.5, results: 0.125, ..Gone::default() });
    }
}
