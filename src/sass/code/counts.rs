//! The counters that questions about all instructions ask for, in the listing's order and in little room.

use crate::export::{SourceCounters, SourceRow};
use crate::metric::stall::StallReason;
use crate::sass::code::marks::Marks;

/// Counts of a listing's instructions, apart from their rows: a row has some 300 bytes, most of which no
/// question needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Counts {
    /// Warp instructions executed at each place.
    pub(in crate::sass) executed: Box<[f64]>,
    /// Instructions at which a warp was sampled.
    sampled: Marks,
    stall_samples: [f64; StallReason::COUNT],
    wavefronts: f64,
}

impl Default for Counts {
    fn default() -> Self {
        Self::new(std::iter::empty())
    }
}

impl Counts {
    /// The counts of rows in the listing's order.
    pub(in crate::sass) fn new<'a>(rows: impl ExactSizeIterator<Item = &'a SourceRow>) -> Self {
        let mut sampled = Marks::new(rows.len());
        let mut stall_samples = [0.0; StallReason::COUNT];
        let mut wavefronts = 0.0;
        let executed = rows.enumerate().map(|(index, SourceRow { counters, .. })| {
            if counters.stall_samples.iter().any(|&samples| samples != 0.0) {
                sampled.insert(index);
                for (sum, samples) in stall_samples.iter_mut().zip(counters.stall_samples) {
                    *sum += samples;
                }
            }
            wavefronts += l1_wavefronts(counters);
            counters.inst_executed
        });
        Self { executed: executed.collect(), sampled, stall_samples, wavefronts }
    }

    /// The places of the instructions at which a warp was sampled, ascending.
    pub fn sampled(&self) -> impl Iterator<Item = usize> {
        self.sampled.iter()
    }

    /// True where a warp was sampled at an instruction.
    #[must_use]
    pub fn is_sampled(&self, index: usize) -> bool {
        self.sampled[index]
    }

    /// The samples of a stall at all instructions.
    #[must_use]
    pub fn stall_samples(&self, reason: StallReason) -> f64 {
        self.stall_samples[reason as usize]
    }

    /// Wavefronts of L1's data pipe for all instructions.
    #[must_use]
    pub fn wavefronts(&self) -> f64 {
        self.wavefronts
    }
}

/// Wavefronts that L1's data pipe takes for an instruction: one for each line that a global access touches,
/// and those of shared memory.
#[must_use]
pub fn l1_wavefronts(counters: &SourceCounters) -> f64 {
    counters.l1_tag_requests_global + counters.wavefronts_shared
}
