//! Messages decoded only where they are as large as what they turn into.
//!
//! An empty element of a repeated field takes 2 bytes in the file and a hundred in memory, so a file of a
//! few megabytes could ask for gigabytes. What a report really holds takes 10 bytes per element and more.

use prost::Message;
use prost::encoding::{WireType, decode_key, decode_varint};

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
    let most = ALWAYS_ALLOWED.max(message.len().saturating_mul(MOST_GROWTH)) / size.max(1);
    // No message has more elements than pairs of bytes.
    if message.len() / 2 > most {
        let elements: usize = nested.iter().map(|path| elements(message, path)).sum();
        if elements > most {
            return None;
        }
    }
    M::decode(message).ok()
}

/// How many elements lie on a path: fields of the first number, those of the second in them, and so on.
/// What comes after a damaged place is not counted: it is not decoded either.
fn elements(mut message: &[u8], path: &[u32]) -> usize {
    let Some((&wanted, rest)) = path.split_first() else { return 0 };
    let mut count = 0;
    while !message.is_empty() {
        let Ok((field, kind)) = decode_key(&mut message) else { break };
        let length = match kind {
            WireType::LengthDelimited => decode_varint(&mut message).ok(),
            WireType::SixtyFourBit => Some(8),
            WireType::ThirtyTwoBit => Some(4),
            WireType::Varint => decode_varint(&mut message).ok().map(|_| 0),
            WireType::StartGroup | WireType::EndGroup => Some(0),
        };
        let length = length.and_then(|length| usize::try_from(length).ok());
        let Some((body, behind)) = length.and_then(|length| message.split_at_checked(length))
        else {
            break;
        };
        message = behind;
        if field == wanted {
            count += 1;
            if kind == WireType::LengthDelimited {
                count += elements(body, rest);
            }
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::super::messages::{Instance, MetricResult, ProfileResult};
    use super::super::sample::{double, instanced, kernel, metric};
    use super::*;

    #[test]
    fn elements_are_counted_along_the_path() {
        let metrics = vec![instanced(0, &[(1, 1.0), (2, 2.0)]), metric(1, Some(double(1.0)))];
        let message = ProfileResult { metrics, ..ProfileResult::default() }.encode_to_vec();
        assert_eq!(elements(&message, &[13]), 2);
        assert_eq!(elements(&message, &[13, 3]), 4);
        assert_eq!(elements(&message, &[99]), 0);
        assert_eq!(elements(&message[..message.len() - 1], &[13]), 1, "the last one is cut");
    }

    #[test]
    fn empty_elements_by_the_million_are_not_decoded() {
        let decoded = |result: &ProfileResult| {
            decode::<ProfileResult>(&result.encode_to_vec(), &[&[13, 3]], 144)
        };
        let of = |instances| MetricResult { name: 1, value: None, instances };
        let real: Vec<_> = (0..300_000).map(|at| (0x7f00_0000_0000 + at, 1.0)).collect();
        let real = kernel("k", vec![instanced(1, &real)]);
        assert_eq!(decoded(&real).as_ref(), Some(&real));
        let bomb = kernel("k", vec![of(vec![Instance::default(); 3_000_000])]);
        assert_eq!(decoded(&bomb), None);
        let bomb = kernel("k", vec![MetricResult::default(); 3_000_000]);
        assert_eq!(decoded(&bomb), None);
    }
}
