//! A stream on which no line is a command to the CI that reads it.
//!
//! GitHub Actions takes every line that begins with two colons (`::error::…`, `::add-mask::…`) for a command,
//! and source lines and kernels' names come from anywhere.

use std::io::{self, Write};

/// Where in a line the stream is.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// Only blanks so far.
    Start,
    /// A colon behind them.
    Colon,
    /// Further on, where nothing is a command any more.
    Within,
}

/// Parts two colons at the beginning of a line by a space.
pub(super) struct NoCommands<W> {
    out: W,
    place: Place,
}

impl<W: Write> NoCommands<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, place: Place::Start }
    }
}

impl<W: Write> Write for NoCommands<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            let mut rest = line;
            while let Some((&first, behind)) = rest.split_first()
                && self.place != Place::Within
            {
                self.place = match (self.place, first) {
                    (Place::Start, b' ' | b'\t' | b'\r' | b'\n') => Place::Start,
                    (Place::Start, b':') => Place::Colon,
                    _ => Place::Within,
                };
                if first == b':' && self.place == Place::Within {
                    self.out.write_all(b" ")?;
                }
                self.out.write_all(&[first])?;
                rest = behind;
            }
            self.out.write_all(rest)?;
            if line.ends_with(b"\n") {
                self.place = Place::Start;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_begin_with_two_colons_are_parted_in_pieces_of_any_size() {
        let text = "::error::a\n \t::b\nc ::d\n:e\n\n:\n::\n\"::f\"";
        let expected = ": :error::a\n \t: :b\nc ::d\n:e\n\n:\n: :\n\"::f\"";
        for size in [1, 2, 3, 100] {
            let mut out = NoCommands::new(Vec::new());
            for piece in text.as_bytes().chunks(size) {
                out.write_all(piece).unwrap();
            }
            assert_eq!(String::from_utf8(out.out).unwrap(), expected, "in pieces of {size}");
        }
    }
}
