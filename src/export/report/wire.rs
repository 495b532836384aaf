//! Messages decoded only where they are as large as what they turn into.
//!
//! An empty element of a repeated field takes 2 bytes in the file and a hundred in memory, so a file of a
//! few megabytes could ask for gigabytes. What a report really holds takes 10 bytes per element and more.

use prost::Message;
use prost::encoding::{WireType, decode_varint};

/// Decoded elements may take so many times the bytes of their message: those of real reports take 8 times.
const MOST_GROWTH: usize = 24;
/// Small messages may grow to this whatever they hold, bytes.
const ALWAYS_ALLOWED: usize = 16 << 20;

/// Decodes a message; `None` where it is damaged, or where its elements would take more memory than a
/// report's do. `nested` has the paths to the fields whose elements are many, each of `size` bytes at most.
pub(super) fn decode<M: Message + Default>(
    message: &[u8],
    nested: &[&[u32]],
    size: usize,
) -> Option<M> {
    let most = most_elements(message.len(), size);
    // No message has more elements than pairs of bytes.
    if message.len() / 2 > most {
        let elements: usize = nested.iter().map(|path| elements(message, path)).sum();
        if elements > most {
            return None;
        }
    }
    M::decode(message).ok()
}

/// How many elements of a size a message of so many bytes may turn into.
fn most_elements(bytes: usize, size: usize) -> usize {
    ALWAYS_ALLOWED.max(bytes.saturating_mul(MOST_GROWTH)) / size.max(1)
}

/// How many elements lie on a path: fields of the first number, those of the second in them, and so on.
/// What comes after a damaged place is not counted: it is not decoded either.
pub(super) fn elements(message: &[u8], path: &[u32]) -> usize {
    let Some((&wanted, rest)) = path.split_first() else { return 0 };
    let of_field = fields(message).map_while(|field| field).filter(|(number, _)| *number == wanted);
    of_field.map(|(_, field)| 1 + field.message().map_or(0, |body| elements(body, rest))).sum()
}

/// A field as it stands in a message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Field<'a> {
    /// A whole number of any width.
    Number(u64),
    /// Four bytes.
    Four([u8; 4]),
    /// Eight bytes.
    Eight([u8; 8]),
    /// A message, a text, or bytes.
    Message(&'a [u8]),
    /// The beginning or the end of a group, which no report has.
    Group,
}

impl<'a> Field<'a> {
    /// The bytes of a field that has a length.
    pub(super) fn message(self) -> Option<&'a [u8]> {
        if let Self::Message(body) = self { Some(body) } else { None }
    }

    /// The whole number.
    pub(super) fn number(self) -> Option<u64> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }
}

/// The fields of a message with their numbers, one after the other; `None` at a damaged place, which is the
/// end.
pub(super) fn fields(mut rest: &[u8]) -> impl Iterator<Item = Option<(u32, Field<'_>)>> {
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let field = field(&mut rest);
        if field.is_none() {
            rest = &[];
        }
        Some(field)
    })
}

fn field<'a>(rest: &mut &'a [u8]) -> Option<(u32, Field<'a>)> {
    // Nearly all of a report is short messages in fields of low numbers: a byte for the key, one for the length.
    if let &[key @ 0x08..0x80, length @ ..0x80, ref body @ ..] = *rest
        && key & 7 == WireType::LengthDelimited as u8
    {
        let (body, behind) = body.split_at_checked(usize::from(length))?;
        *rest = behind;
        return Some((u32::from(key >> 3), Field::Message(body)));
    }
    let key = varint(rest)?;
    let kind = WireType::try_from(key & 7).ok()?;
    let number = u32::try_from(key >> 3).ok().filter(|number| *number > 0)?;
    let field = match kind {
        WireType::Varint => Field::Number(varint(rest)?),
        WireType::StartGroup | WireType::EndGroup => Field::Group,
        WireType::SixtyFourBit => {
            let (bytes, behind) = rest.split_first_chunk()?;
            *rest = behind;
            Field::Eight(*bytes)
        }
        WireType::ThirtyTwoBit => {
            let (bytes, behind) = rest.split_first_chunk()?;
            *rest = behind;
            Field::Four(*bytes)
        }
        WireType::LengthDelimited => {
            let length = usize::try_from(varint(rest)?).ok()?;
            let (body, behind) = rest.split_at_checked(length)?;
            *rest = behind;
            Field::Message(body)
        }
    };
    Some((number, field))
}

/// A whole number of any width. Keys and lengths are nearly all of one byte.
fn varint(rest: &mut &[u8]) -> Option<u64> {
    match rest.split_first() {
        Some((&byte, behind)) if byte < 0x80 => {
            *rest = behind;
            Some(u64::from(byte))
        }
        _ => decode_varint(rest).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::launch_metric;
    use super::super::messages::ProfileResult;
    use super::super::sample::{Kernel, MetricResult, double, instanced, kernel, metric};
    use super::*;

    #[test]
    fn elements_are_counted_along_the_path() {
        let metrics = vec![instanced(0, &[(1, 1.0), (2, 2.0)]), metric(1, Some(double(1.0)))];
        let message = Kernel { metrics, ..Kernel::default() }.encoded();
        assert_eq!(elements(&message, &[13]), 2);
        assert_eq!(elements(&message, &[13, 3]), 4);
        assert_eq!(elements(&message, &[99]), 0);
        assert_eq!(elements(&message[..message.len() - 1], &[13]), 1, "the last one is cut");
    }

    #[test]
    fn empty_elements_by_the_million_are_not_decoded() {
        let decoded = |kernel: &Kernel| {
            decode::<ProfileResult>(&kernel.encoded(), &[&[launch_metric::METRICS]], 144)
        };
        let real: Vec<_> = (0..300_000).map(|at| (0x7f00_0000_0000 + at, 1.0)).collect();
        let real = kernel("k", vec![instanced(1, &real)]);
        assert_eq!(decoded(&real).as_ref(), Some(&real.result));
        let bomb = kernel("k", vec![MetricResult::default(); 3_000_000]);
        assert!(decoded(&bomb).is_none());
    }

    #[test]
    fn elements_may_take_24_times_their_message_or_16_mib() {
        assert_eq!(most_elements(1_000_000, 1), 24_000_000);
        assert_eq!(most_elements(1_000_000, 96), 250_000);
        assert_eq!((most_elements(0, 1), most_elements(0, 0)), (16_777_216, 16_777_216));
        assert_eq!(most_elements(usize::MAX, 1), usize::MAX);
    }

    #[test]
    fn fields_end_at_a_damaged_place() {
        // Field 1 is 300, field 2 two bytes, field 3 four, field 4 eight; then a length beyond the end.
        let message =
            b"\x08\xac\x02\x12\x02ab\x1d\x00\x00\x80\x3f\x21\0\0\0\0\0\0\x08\x40\x2a\x05x";
        let found: Vec<_> = fields(message).collect();
        let expected = [
            Some((1, Field::Number(300))),
            Some((2, Field::Message(b"ab"))),
            Some((3, Field::Four(1_f32.to_le_bytes()))),
            Some((4, Field::Eight(3_f64.to_le_bytes()))),
            None,
        ];
        assert_eq!(found, expected);
        assert_eq!(fields(b"").count(), 0);
        assert_eq!(
            fields(b"\x00\x01\x08\x01").collect::<Vec<_>>(),
            [None],
            "no field has number 0"
        );
    }
}
