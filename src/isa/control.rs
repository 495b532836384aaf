//! What the compiler tells the scheduler in bits that no listing prints.

use super::encoding::Encoding;

/// The barriers of a warp.
const BARRIERS: u8 = 6;

/// What stands for none.
const NO_BARRIER: u8 = 7;

/// Where the codes begin in an instruction.
const FIRST_BIT: u8 = 105;

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
        let field = |place, width| encoding.bits(FIRST_BIT + place, width) as u8;
        let barrier = |place| Some(field(place, 3)).filter(|&number| number < BARRIERS);
        Self {
            stall_cycles: field(0, 4),
            yields: field(4, 1) == 0,
            write_barrier: barrier(5),
            read_barrier: barrier(8),
            waits: field(11, 6),
        }
    }

    /// The codes as [`Control::bits`] gave them.
    #[must_use]
    pub fn of_bits(bits: u32) -> Self {
        Self::of(Encoding(u128::from(bits) << FIRST_BIT))
    }

    /// The codes as they stand in an instruction, from the lowest of their bits on.
    #[must_use]
    pub fn bits(self) -> u32 {
        let barrier = |barrier: Option<u8>| u32::from(barrier.unwrap_or(NO_BARRIER));
        u32::from(self.stall_cycles)
            | u32::from(!self.yields) << 4
            | barrier(self.write_barrier) << 5
            | barrier(self.read_barrier) << 8
            | u32::from(self.waits) << 11
    }

    /// True where the instruction waits for a barrier.
    #[must_use]
    pub fn waits_for(self, barrier: u8) -> bool {
        barrier < 8 && self.waits >> barrier & 1 == 1
    }
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
    fn bits_are_the_codes() {
        for (stall, write, read, waits) in
            [(4, 2, 7, 0b10_0001), (15, 7, 5, 0), (0, 0, 0, 0b11_1111)]
        {
            let codes = encoding(stall, write, read, waits);
            assert_eq!(u128::from(Control::of(codes).bits()), codes.0 >> FIRST_BIT);
            assert_eq!(Control::of_bits(Control::of(codes).bits()), Control::of(codes));
        }
    }
}
