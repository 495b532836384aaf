//! Parquet's mixture of runs and packed bits: which values are there, and which of a dictionary they are.

/// Reads `count` numbers of `width` bits each; `None` where the bytes end before, or are none of this form.
pub(super) fn runs(bytes: &[u8], width: u8, count: usize) -> Option<Vec<u32>> {
    if width > 32 {
        return None;
    }
    let (mut numbers, mut rest) = (Vec::with_capacity(count), bytes);
    while numbers.len() < count {
        let head = varint(&mut rest)?;
        let (left, length) = (count - numbers.len(), usize::try_from(head >> 1).ok()?);
        if head & 1 == 0 {
            let bytes = rest.split_off(..usize::from(width).div_ceil(8))?;
            let value = bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
            // A run of none would be read for ever.
            numbers.extend(std::iter::repeat_n(value, length.min(left)));
            (length > 0).then_some(())?;
        } else {
            let bits = length.checked_mul(8)?.checked_mul(usize::from(width))?;
            let packed = rest.split_off(..bits / 8)?;
            let length = length.checked_mul(8)?;
            (length > 0).then_some(())?;
            numbers.extend((0..length.min(left)).map(|at| number(packed, at, width)));
        }
    }
    Some(numbers)
}

/// The number at a place of packed ones, the lowest bits first.
fn number(packed: &[u8], at: usize, width: u8) -> u32 {
    let (first, width) = (at * usize::from(width), usize::from(width));
    (0..width).fold(0, |value, bit| {
        let place = first + bit;
        value | u32::from(packed[place / 8] >> (place % 8) & 1) << bit
    })
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *rest.split_off_first()?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_packed_bits_mix() {
        // The specification's own example: 0 to 7 in three bits each. Before it a run of three fives.
        let bytes = [6, 5, 3, 0b1000_1000, 0b1100_0110, 0b1111_1010];
        assert_eq!(runs(&bytes, 3, 11).unwrap(), [5, 5, 5, 0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(runs(&bytes, 3, 5).unwrap(), [5, 5, 5, 0, 1], "the rest fills a byte");
        // Of one word, no bits tell which it is.
        assert_eq!(runs(&[8], 0, 4).unwrap(), [0; 4]);
    }

    #[test]
    fn damage_ends_in_nothing() {
        // No bytes, a run of none, packed bits that are not there, a width of 33, a length beyond all.
        assert_eq!(runs(&[], 1, 1), None);
        assert_eq!(runs(&[0, 1, 0, 1], 1, 1), None);
        assert_eq!(runs(&[3, 1], 3, 8), None);
        assert_eq!(runs(&[2, 1, 1, 1, 1, 1], 33, 1), None);
        assert_eq!(runs(&[0xff; 12], 1, 1), None);
        // A run of 2^40 is as long as it is asked for.
        assert_eq!(runs(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x40, 1], 1, 3).unwrap(), [1; 3]);
    }
}
