//! The counters that questions about all instructions ask for, in the listing's order and in little room.

use crate::export::{SourceCounters, SourceRow};
use crate::metric::stall::StallReason;
use crate::sass::code::marks::Marks;
use crate::sass::parse::opcode::Family;

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
    /// The counts of rows in the listing's order, each with the bytes per lane of its access and what it is.
    pub(in crate::sass) fn new<'a>(
        rows: impl ExactSizeIterator<Item = (&'a SourceRow, u8, Family)>,
    ) -> Self {
        let mut sampled = Marks::new(rows.len());
        let mut stall_samples = [0.0; StallReason::COUNT];
        let mut wavefronts = 0.0;
        let executed =
            rows.enumerate().map(|(index, (SourceRow { counters, .. }, width, family))| {
                if counters.stall_samples.iter().any(|&samples| samples != 0.0) {
                    sampled.insert(index);
                    for (sum, samples) in stall_samples.iter_mut().zip(counters.stall_samples) {
                        *sum += samples;
                    }
                }
                wavefronts += l1_wavefronts(counters, width, family);
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

/// Wavefronts that L1's data pipe takes for an instruction: of a global access one for each line that it
/// touches, and as many as its lanes' bytes need where these are more (a wide load gives every lane its
/// own copy, whatever it shares with others); those of shared memory; and one of a shuffle, which no counter of
/// instructions has. `width` is in bytes per lane.
///
/// Of a kernel that reads a table by 16-byte loads (H200), 9.7 M lines are touched and 26.2 M times 128
/// bytes given out; the pipe's own counter has 28.7 M. Another one has 2.16 M wavefronts of global accesses and 21.0 M
/// shuffles, of which the counter has 23.2 M.
#[must_use]
pub fn l1_wavefronts(counters: &SourceCounters, width: u8, family: Family) -> f64 {
    let lines = counters.l1_tag_requests_global;
    let bytes = counters.thread_inst_executed_pred_on * f64::from(width);
    let global = if lines > 0.0 { lines.max(bytes / PIPE_BYTES) } else { 0.0 };
    let exchange = if family == Family::Shuffle { counters.inst_executed } else { 0.0 };
    global + counters.wavefronts_shared + exchange
}

/// Bytes that L1's data pipe moves in a wavefront.
const PIPE_BYTES: f64 = 128.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::parse::access::Space;

    #[test]
    fn a_wavefront_is_a_line_or_a_hundred_and_twenty_eight_bytes() {
        let of = |lines: f64, width: u8| {
            let counters = SourceCounters {
                l1_tag_requests_global: lines,
                thread_inst_executed_pred_on: 320.0,
                wavefronts_shared: 7.0,
                ..SourceCounters::default()
            };
            l1_wavefronts(&counters, width, Family::Load(Space::Global))
        };
        // 320 lanes with 16 bytes each are 5,120 bytes, and seven wavefronts are shared memory's.
        assert!((of(10.0, 16) - 47.0).abs() < 1e-12);
        assert!((of(41.0, 16) - 48.0).abs() < 1e-12, "more lines");
        assert!((of(0.0, 16) - 7.0).abs() < 1e-12, "no global access");
        let shuffle = SourceCounters { inst_executed: 10.0, ..SourceCounters::default() };
        assert!((l1_wavefronts(&shuffle, 0, Family::Shuffle) - 10.0).abs() < 1e-12);
    }
}
