//! Numbers as they stand in machine code.

/// A number of 32 bits with its sign: 16 of `0x10`, -8 of `-0x8` and of `0xfffffff8`. `None` for any other text.
#[must_use]
pub fn signed(text: &str) -> Option<i64> {
    let (digits, sign) = text.strip_prefix('-').map_or((text, 1), |digits| (digits, -1));
    let bits = u32::from_str_radix(digits.strip_prefix("0x")?, 16).ok()?;
    Some(sign * i64::from(bits.cast_signed()))
}

/// The 32 bits of an immediate: 8 of `8` and of `0x8`, all but the lowest three of `-8`. `None` for any other text.
#[must_use]
pub fn word(text: &str) -> Option<u32> {
    let (is_negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let value = match digits.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if is_negative { value.wrapping_neg() } else { value })
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
    fn immediates_are_words() {
        assert_eq!(word("8"), Some(8));
        assert_eq!(word("0xffffffff"), Some(u32::MAX));
        assert_eq!(word("-8"), Some(0xffff_fff8));
        assert_eq!(word("-0x8"), Some(0xffff_fff8));
        for text in ["", "-", "0x", "R2", "1.5", "0x100000000"] {
            assert_eq!(word(text), None, "{text}");
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
