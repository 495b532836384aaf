//! Numbers as they stand in machine code.

/// A number of 32 bits with its sign: 16 of `0x10`, -8 of `-0x8` and of `0xfffffff8`. `None` for any other text.
#[must_use]
pub fn signed(text: &str) -> Option<i64> {
    let (digits, sign) = text.strip_prefix('-').map_or((text, 1), |digits| (digits, -1));
    let bits = u32::from_str_radix(digits.strip_prefix("0x")?, 16).ok()?;
    Some(sign * i64::from(bits.cast_signed()))
}

/// An address in brackets in two: the registers, and the number of bytes added to them. `None` without a bracket at the end.
#[must_use]
pub fn without_offset(text: &str) -> Option<(&str, i64)> {
    let inside = text.strip_suffix(']')?;
    let number = |(base, added)| Some((base, signed(added)?));
    inside.rsplit_once('+').and_then(number).or(Some((inside, 0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap_around_at_32_bits() {
        assert_eq!(signed("0x10"), Some(16));
        assert_eq!(signed("-0x8"), Some(-8));
        assert_eq!(signed("0xfffffff8"), Some(-8));
        assert_eq!(signed("-0x80000000"), Some(1 << 31));
        for text in ["", "8", "-", "0x", "R2", "-0x-8", "-0x-8000000000000000", "0x100000000"] {
            assert_eq!(signed(text), None, "{text}");
        }
    }

    #[test]
    fn addresses_end_with_their_offset() {
        assert_eq!(without_offset("[R4+0x10]"), Some(("[R4", 16)));
        assert_eq!(without_offset("[R4+UR6+-0x8]"), Some(("[R4+UR6", -8)));
        assert_eq!(without_offset("[R4+UR6]"), Some(("[R4+UR6", 0)));
        assert_eq!(without_offset("R4"), None);
    }
}
