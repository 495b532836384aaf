//! Lines of bounded length from a client.

use std::io::{BufRead, Result};

/// The longest message, bytes: paths, names and command lines need a thousandth of it.
pub(super) const LONGEST: usize = 1 << 20;

/// A line, or that it was too long.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Without its end.
    Whole(Vec<u8>),
    /// It was read to its end, and nothing of it was kept.
    TooLong,
}

/// The next line; `None` at the end of the input.
pub(super) fn next(from: &mut impl BufRead) -> Result<Option<Line>> {
    let mut line = Vec::new();
    let (mut length, mut is_any) = (0, false);
    loop {
        let buffer = from.fill_buf()?;
        if buffer.is_empty() {
            break;
        }
        is_any = true;
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let part = &buffer[..end.unwrap_or(buffer.len())];
        length += part.len();
        if length <= LONGEST {
            line.extend_from_slice(part);
        } else {
            line = Vec::new();
        }
        let used = part.len() + usize::from(end.is_some());
        from.consume(used);
        if end.is_some() {
            break;
        }
    }
    Ok(is_any.then_some(if length > LONGEST { Line::TooLong } else { Line::Whole(line) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_dropped_and_the_next_is_read() {
        let text = format!("one\n{}\nthree", "x".repeat(LONGEST + 1));
        let mut from = std::io::BufReader::with_capacity(1000, text.as_bytes());
        assert_eq!(next(&mut from).unwrap(), Some(Line::Whole(b"one".to_vec())));
        assert_eq!(next(&mut from).unwrap(), Some(Line::TooLong));
        assert_eq!(next(&mut from).unwrap(), Some(Line::Whole(b"three".to_vec())));
        assert_eq!(next(&mut from).unwrap(), None);
    }
}
