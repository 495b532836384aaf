//! What the compiler tells the scheduler in bits that no listing prints.

use super::encoding::Encoding;

/// The barriers of a warp. In an instruction's bits the number 7 stands for none.
const BARRIERS: u8 = 6;

/// An instruction's control codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Control {
    /// Cycles until the warp's next instruction may issue.
    pub stall_cycles: u8,
    /// True where the scheduler may turn to another warp.
    pub yields: bool,
    /// The barrier, 0 to 5, that is released when the result is written.
    pub write_barrier: Option<u8>,
    /// The barrier that is released when the operands are read.
    pub read_barrier: Option<u8>,
    /// The barriers that are waited for before this instruction issues, bit by bit.
    pub waits: u8,
}

impl Control {
    /// The codes of an instruction.
    #[must_use]
    pub fn of(encoding: Encoding) -> Self {
        let barrier = |low| {
            let number = encoding.bits(low, 3) as u8;
            (number < BARRIERS).then_some(number)
        };
        Self {
            stall_cycles: encoding.bits(105, 4) as u8,
            yields: !encoding.bit(109),
            write_barrier: barrier(110),
            read_barrier: barrier(113),
            waits: encoding.bits(116, 6) as u8,
        }
    }

    /// True where the instruction waits for a barrier.
    #[must_use]
    pub fn waits_for(self, barrier: u8) -> bool {
        barrier < 8 && self.waits >> barrier & 1 == 1
    }
}

/// The instructions of a straight piece of code that one of them waits for: for each barrier in its
/// wait mask, those before it that set the barrier since the last wait for it.
///
/// Instructions before the piece are not seen: what a wait at its beginning waits for may lie there.
#[must_use]
pub fn awaited(code: &[Control], waiting: usize) -> Vec<usize> {
    let Some(this) = code.get(waiting) else { return Vec::new() };
    let mut found = Vec::new();
    for barrier in (0..BARRIERS).filter(|&barrier| this.waits_for(barrier)) {
        for (index, before) in code[..waiting].iter().enumerate().rev() {
            if [before.write_barrier, before.read_barrier].contains(&Some(barrier)) {
                found.push(index);
            }
            if before.waits_for(barrier) {
                break;
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoding(stall: u128, write: u128, read: u128, waits: u128) -> Encoding {
        Encoding(stall << 105 | 1 << 109 | write << 110 | read << 113 | waits << 116)
    }

    #[test]
    fn codes_stand_in_the_upper_bits() {
        let load = Control::of(encoding(4, 2, 7, 0b10_0001));
        assert_eq!((load.stall_cycles, load.yields), (4, false));
        assert_eq!((load.write_barrier, load.read_barrier), (Some(2), None));
        assert!(load.waits_for(0) && load.waits_for(5) && !load.waits_for(1));
        assert!(!load.waits_for(8));
        assert_eq!(Control::of(encoding(15, 7, 7, 0)).stall_cycles, 15);
        assert!(Control::of(Encoding(0)).yields);
        let last = Control::of(encoding(1, 5, 6, 0));
        assert_eq!((last.write_barrier, last.read_barrier), (Some(5), None), "there are six");
    }

    #[test]
    fn a_wait_is_for_what_set_the_barrier_since_the_last_wait() {
        let code = [
            encoding(1, 0, 7, 0),      // sets 0
            encoding(1, 7, 7, 1),      // waits for it
            encoding(1, 0, 7, 0),      // sets it again
            encoding(1, 0, 1, 0),      // and again, and 1 once its operands are read
            encoding(1, 3, 7, 0),      // sets another
            encoding(2, 7, 7, 0b0011), // waits for 0 and 1
        ]
        .map(Control::of);
        assert_eq!(awaited(&code, 1), [0]);
        assert_eq!(awaited(&code, 5), [2, 3]);
        assert_eq!(awaited(&code, 4), [] as [usize; 0]);
        assert_eq!(awaited(&code, 6), [] as [usize; 0]);
    }
}
