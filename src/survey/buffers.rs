//! Which memory launches were given: the addresses among their parameters, and how far what lies there reaches.
//!
//! An allocation may hold several buffers (PyTorch's allocator cuts its own): a buffer is taken to end where the next one
//! begins that any launch was given.

use std::collections::{BTreeSet, HashMap};

use super::memory::Memory;
use super::record::{Argument, Kernel, Process};

/// A launch's words are recorded up to so many; of one with more, some are missing.
const MOST_WORDS: usize = 32;

/// A stretch of a device's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffer {
    /// Where it begins.
    pub address: u64,
    /// How much of it can lie there, bytes.
    pub bytes: u64,
}

/// What the launches of a process were given.
pub struct Buffers<'a> {
    memory: &'a Memory,
    words: &'a HashMap<u32, Vec<Argument>>,
    /// Where buffers begin.
    begins: BTreeSet<u64>,
}

impl<'a> Buffers<'a> {
    /// Of a process.
    #[must_use]
    pub fn new(process: &'a Process) -> Self {
        let begins = process.arguments.values().flatten().map(|each| each.word).collect();
        Self { memory: &process.memory, words: &process.arguments, begins }
    }

    /// The memory that a launch was given, by address; `None` where not all of it is known: launched by a graph, among too many
    /// launches, or with too many pointers.
    #[must_use]
    pub fn of(&self, kernel: &Kernel) -> Option<Vec<Buffer>> {
        let mut buffers: Vec<Buffer> =
            self.arguments_of(kernel)?.into_iter().map(|(_, buffer)| buffer).collect();
        buffers.sort_by_key(|buffer| buffer.address);
        buffers.dedup();
        (!buffers.is_empty()).then_some(buffers)
    }

    /// The same in the order of the parameters, each with the word that points there.
    #[must_use]
    pub fn arguments_of(&self, kernel: &Kernel) -> Option<Vec<(Argument, Buffer)>> {
        let words =
            self.words.get(&kernel.place.correlation).filter(|_| kernel.place.graph == 0)?;
        if words.len() >= MOST_WORDS {
            return None;
        }
        let at = |each: &Argument| Some((*each, self.at(each.word, kernel.span.start)?));
        Some(words.iter().filter_map(at).collect())
    }

    fn at(&self, address: u64, time: u64) -> Option<Buffer> {
        let end = self.memory.end_of(address, time)?;
        let next = self.begins.range(address + 1..end).next().copied();
        Some(Buffer { address, bytes: next.unwrap_or(end) - address })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::memory::{Change, kind};
    use crate::survey::samples::{arguments, process, shape};

    #[test]
    fn a_buffer_ends_where_the_next_begins_or_its_allocation_ends() {
        let mut process = process(&[shape("a", 10)], &[(0, 100), (0, 100)]);
        let pool = Change::new(1, 0x1_0000_0000, 0x1000, 0, 1, kind::DEVICE);
        process.memory = Memory::new(pool.into_iter().collect());
        let words = [0x1_0000_0400, 0x2_0000_0000, 0x1_0000_0000, 0x1_0000_0400];
        process.arguments.insert(1, arguments(words));
        process.arguments.insert(2, arguments([0x7_0000_0000]));
        let buffers = Buffers::new(&process);
        let of_first = buffers.of(&process.kernels[0]).unwrap();
        let expected = [(0x1_0000_0000, 0x400), (0x1_0000_0400, 0xc00)];
        assert_eq!(of_first, expected.map(|(address, bytes)| Buffer { address, bytes }));
        assert_eq!(buffers.of(&process.kernels[1]), None, "nothing was allocated there");
    }
}
