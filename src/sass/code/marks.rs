//! A set of instructions of a listing, a bit each.

use std::ops::Index;

/// Marked instructions, by their places in a listing. A listing has thousands of instructions, and many
/// questions are answered by a yes or no for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marks {
    words: Box<[u64]>,
    count: usize,
}

impl Marks {
    /// None of so many instructions.
    #[must_use]
    pub fn new(count: usize) -> Self {
        Self { words: vec![0; count.div_ceil(64)].into(), count }
    }

    /// Those of so many instructions that are picked.
    #[must_use]
    pub fn of(count: usize, mut pick: impl FnMut(usize) -> bool) -> Self {
        let mut marks = Self::new(count);
        for index in 0..count {
            if pick(index) {
                marks.insert(index);
            }
        }
        marks
    }

    /// How many instructions there are, marked or not.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Marks an instruction; true where it was not marked before.
    ///
    /// # Panics
    /// Where there is no such instruction.
    pub fn insert(&mut self, index: usize) -> bool {
        let (word, bit) = (&mut self.words[index / 64], 1 << (index % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Takes an instruction's mark away.
    ///
    /// # Panics
    /// Where there is no such instruction.
    pub fn remove(&mut self, index: usize) {
        self.words[index / 64] &= !(1 << (index % 64));
    }

    /// Takes all marks away.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// True where no instruction is marked.
    #[must_use]
    pub fn are_none(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Marks what belongs to the marked instructions as well, and what belongs to that, until nothing more does.
    /// `belongs` is asked about places of `among` that are not marked, and sees the marks as they are so far.
    pub fn spread(&mut self, among: &Self, mut belongs: impl FnMut(usize, &Self) -> bool) {
        loop {
            let mut has_grown = false;
            for at in among.iter() {
                if !self[at] && belongs(at, self) {
                    has_grown |= self.insert(at);
                }
            }
            if !has_grown {
                return;
            }
        }
    }

    /// The places of the marked instructions, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            let rest = |word: &u64| Some(word & (word - 1)).filter(|&rest| rest != 0);
            std::iter::successors(Some(word).filter(|&word| word != 0), rest)
                .map(move |rest| 64 * at + rest.trailing_zeros() as usize)
        })
    }
}

impl Index<usize> for Marks {
    type Output = bool;

    fn index(&self, index: usize) -> &bool {
        if self.words[index / 64] >> (index % 64) & 1 == 1 { &true } else { &false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_stay_until_they_are_taken_away() {
        let mut marks = Marks::of(200, |index| matches!(index, 0 | 63 | 64 | 199));
        assert_eq!((marks.insert(63), marks.insert(100)), (false, true));
        marks.remove(64);
        let mut none = marks.clone();
        none.clear();
        assert!(none.are_none() && !marks.are_none());
        assert_eq!(marks.iter().collect::<Vec<_>>(), [0, 63, 100, 199]);
        assert_eq!((marks[100], marks[101], marks.count()), (true, false, 200));
        assert_eq!((marks.are_none(), Marks::new(200).are_none()), (false, true));
    }
}
