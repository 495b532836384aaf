//! A share for each instruction, in little room: a listing has thousands of instructions, a fault
//! takes a handful of different shares of them.

use std::ops::Index;

/// A share (0 to 1) for each instruction of a listing; 0 until it is raised. Holds nothing before the
/// first is, then two bytes an instruction and the different shares once.
#[derive(Debug, Clone)]
pub struct Shares {
    count: usize,
    /// For each instruction the place of its share in `values`; empty while all are 0.
    places: Vec<u16>,
    /// The different shares, 0 first.
    values: Vec<f64>,
}

impl Shares {
    /// 0 for so many instructions.
    pub fn new(count: usize) -> Self {
        Self { count, places: Vec::new(), values: vec![0.0] }
    }

    /// How many instructions there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// The shares in the instructions' order.
    pub fn iter(&self) -> impl Iterator<Item = f64> {
        (0..self.count).map(|index| self[index])
    }

    /// True where no share is more than 0.
    pub fn are_none(&self) -> bool {
        self.values.iter().all(|share| *share <= 0.0)
    }

    /// Makes an instruction's share this one, where that is more than it has.
    pub fn raise(&mut self, index: usize, share: f64) {
        let raised = self[index].max(share);
        if raised.total_cmp(&self[index]).is_eq() {
            return;
        }
        if self.places.is_empty() {
            self.places = vec![0; self.count];
        }
        // The last is the likeliest: neighbours share a line, and a line has one share.
        let known = self.values.iter().rposition(|value| value.total_cmp(&raised).is_eq());
        let place = known.unwrap_or_else(|| {
            self.values.push(raised);
            self.values.len() - 1
        });
        // 65,535 different shares are more than any fault has; the last stands for what is beyond.
        self.places[index] = u16::try_from(place).unwrap_or(u16::MAX);
    }
}

impl Index<usize> for Shares {
    type Output = f64;

    fn index(&self, index: usize) -> &f64 {
        &self.values[self.places.get(index).copied().map_or(0, usize::from)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_only_grow() {
        let mut shares = Shares::new(3);
        assert!(shares.are_none());
        for (index, share) in [(1, 0.5), (2, 0.25), (1, 0.25), (2, 1.0), (0, 0.0), (0, f64::NAN)] {
            shares.raise(index, share);
        }
        assert_eq!(shares.iter().collect::<Vec<_>>(), [0.0, 0.5, 1.0]);
        assert_eq!((shares.len(), shares.are_none()), (3, false));
    }
}
