//! Small numbers in little room.

/// A number for each instruction, 0 until it is set: as many bits each as the largest takes, rounded up to
/// a power of two. Holds nothing before the first is set.
#[derive(Debug, Clone)]
pub struct Packed {
    count: usize,
    /// The binary logarithm of the bits that a number has.
    size: u32,
    words: Vec<u64>,
}

impl Packed {
    /// So many zeros.
    pub fn new(count: usize) -> Self {
        Self { count, size: 0, words: Vec::new() }
    }

    /// How many numbers there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The number at a place.
    pub fn get(&self, index: usize) -> u16 {
        let (word, shift) = self.place(index);
        let mask = (1 << (1 << self.size)) - 1;
        self.words.get(word).map_or(0, |word| (word >> shift & mask) as u16)
    }

    /// Changes the number at a place below the count.
    pub fn set(&mut self, index: usize, number: u16) {
        let size = (u16::BITS - number.leading_zeros()).max(1).next_power_of_two().ilog2();
        if self.words.is_empty() || size > self.size {
            self.widen(size);
        }
        let (word, shift) = self.place(index);
        let mask = (1 << (1 << self.size)) - 1;
        self.words[word] = self.words[word] & !(mask << shift) | u64::from(number) << shift;
    }

    /// Gives each number more bits.
    fn widen(&mut self, size: u32) {
        let mut wider = Self { count: self.count, size, words: Vec::new() };
        wider.words = vec![0; self.count.div_ceil(64 >> size)];
        for index in (0..self.count).filter(|_| !self.words.is_empty()) {
            let (word, shift) = wider.place(index);
            wider.words[word] |= u64::from(self.get(index)) << shift;
        }
        *self = wider;
    }

    /// The word that a number stands in, and how many bits are before it.
    fn place(&self, index: usize) -> (usize, usize) {
        let a_word = 6 - self.size;
        (index >> a_word, (index & ((1 << a_word) - 1)) << self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_as_their_room_grows() {
        let mut packed = Packed::new(100);
        assert_eq!(packed.get(99), 0);
        let numbers = [(99, 1), (0, 1), (63, 2), (64, 3), (7, 15), (8, 16), (9, 255), (10, 65_535)];
        for (set, &(index, number)) in numbers.iter().enumerate() {
            packed.set(index, number);
            for &(index, number) in &numbers[..=set] {
                assert_eq!(packed.get(index), number, "{index}");
            }
        }
        packed.set(99, 0);
        assert_eq!((packed.get(99), packed.get(98), packed.count()), (0, 0, 100));
    }
}
