//! The 128 bits of an instruction.

/// Bytes of an instruction.
pub const SIZE: usize = 16;

/// An instruction as it stands in memory, bit 0 first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Encoding(pub u128);

impl Encoding {
    /// The instruction of these bytes.
    #[must_use]
    pub fn of(bytes: [u8; SIZE]) -> Self {
        Self(u128::from_le_bytes(bytes))
    }

    /// Bits from a place on; 0 beyond the end. `width` is at most 64.
    #[must_use]
    pub fn bits(self, low: u8, width: u8) -> u64 {
        let shifted = self.0.checked_shr(u32::from(low)).unwrap_or_default() as u64;
        match width {
            0 => 0,
            1..64 => shifted & ((1 << width) - 1),
            _ => shifted,
        }
    }

    /// True where a bit is set.
    #[must_use]
    pub fn bit(self, place: u8) -> bool {
        self.bits(place, 1) == 1
    }

    /// The twelve bits that tell operation and form.
    #[must_use]
    pub fn opcode(self) -> u16 {
        self.bits(0, 12) as u16
    }
}

/// The instructions of a code section; bytes that are left over at its end are none.
pub fn instructions(code: &[u8]) -> impl Iterator<Item = Encoding> {
    code.as_chunks::<SIZE>().0.iter().map(|bytes| Encoding::of(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_taken_from_anywhere() {
        let encoding = Encoding(0x8_0000_0000_0000_1947 | 1 << 127);
        assert_eq!(encoding.opcode(), 0x947);
        assert_eq!(encoding.bits(12, 3), 1);
        assert!(encoding.bit(67) && !encoding.bit(66));
        assert_eq!(encoding.bits(64, 8), 8);
        assert_eq!(encoding.bits(64, 64), 1 << 63 | 8);
        assert_eq!(encoding.bits(120, 64), 0x80);
        assert_eq!(encoding.bits(200, 8), 0);
        assert_eq!(instructions(&[0; 40]).count(), 2);
    }
}
