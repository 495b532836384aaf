//! What goes of each instruction, in little room: a listing has thousands of instructions, a fault takes a
//! handful of different shares of them.

use crate::evidence::packed::Packed;

/// What goes of an instruction: shares from 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Share {
    /// Of its executions.
    pub executions: f64,
    /// Of its L1 wavefronts.
    pub wavefronts: f64,
    /// Of its waiting to issue.
    pub waits: f64,
    /// Of the waiting for its results.
    pub results: f64,
}

impl Share {
    fn max(self, other: Self) -> Self {
        Self {
            executions: self.executions.max(other.executions),
            wavefronts: self.wavefronts.max(other.wavefronts),
            waits: self.waits.max(other.waits),
            results: self.results.max(other.results),
        }
    }
}

/// What goes of each instruction of a listing; nothing until it is raised. Holds nothing before the first is,
/// then a few bits per instruction and the different shares once.
#[derive(Debug, Clone)]
pub struct Shares {
    /// For each instruction the place of its share in `values`.
    places: Packed,
    /// The different shares, none first.
    values: Vec<Share>,
}

impl Shares {
    /// Nothing goes of so many instructions.
    pub fn new(count: usize) -> Self {
        Self { places: Packed::new(count), values: vec![Share::default()] }
    }

    /// What goes of an instruction.
    pub fn of(&self, index: usize) -> Share {
        self.values[usize::from(self.places.get(index))]
    }

    /// The instructions of which something goes, in their order.
    pub fn raised(&self) -> impl Iterator<Item = (usize, Share)> {
        (0..self.places.count())
            .map(|index| (index, self.places.get(index)))
            .filter(|&(_, place)| place > 0)
            .map(|(index, place)| (index, self.values[usize::from(place)]))
    }

    /// True where no share of this kind is more than 0.
    pub fn are_none(&self, kind: impl Fn(&Share) -> f64) -> bool {
        self.values.iter().all(|share| kind(share) <= 0.0)
    }

    /// Makes each of an instruction's shares this one, where that is more than it has.
    pub fn raise(&mut self, index: usize, share: Share) {
        let present = self.of(index);
        let raised = present.max(share);
        if raised == present {
            return;
        }
        // The last is the likeliest: neighbours share a line, and a line has one share.
        let known = self.values.iter().rposition(|value| *value == raised);
        let place = known.unwrap_or_else(|| {
            self.values.push(raised);
            self.values.len() - 1
        });
        // 65,535 different shares are more than any fault has; the last stands for what is beyond.
        self.places.set(index, u16::try_from(place).unwrap_or(u16::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_only_grow() {
        let mut shares = Shares::new(3);
        let waits = |share: &Share| share.waits;
        assert!(shares.are_none(waits));
        for (index, share) in [(1, 0.5), (2, 0.25), (1, 0.25), (2, 1.0), (0, 0.0), (0, f64::NAN)] {
            shares.raise(index, Share { waits: share, ..Share::default() });
        }
        shares.raise(1, Share { results: 0.125, ..Share::default() });
        let raised: Vec<_> = shares.raised().map(|(at, share)| (at, share.waits)).collect();
        assert_eq!(raised, [(1, 0.5), (2, 1.0)]);
        assert_eq!(shares.of(1), Share { waits: 0.5, results: 0.125, ..Share::default() });
        assert_eq!((shares.of(0), shares.are_none(waits)), (Share::default(), false));
        assert!(shares.are_none(|share| share.executions));
    }
}
