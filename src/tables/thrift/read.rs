//! Structures read from bytes that anybody may have written: nothing is kept of what is not asked for.

use super::{BINARY, BYTE, DOUBLE, FALSE, I16, I32, I64, LIST, MAP, SET, STRUCT, TRUE};

/// Structures in structures, deeper than any of Parquet's.
const DEEPEST: usize = 32;

/// The bytes are none of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tables) struct Damaged;

type Result<T> = std::result::Result<T, Damaged>;

/// The type of a field, by the protocol's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tables) struct Kind(u8);

/// Bytes, and how far they were read.
#[derive(Debug, Clone)]
pub(in crate::tables) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(in crate::tables) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// How many bytes were read.
    pub(in crate::tables) fn position(&self) -> usize {
        self.at
    }

    /// Reads a structure: `read` gets each field's number and type and reads its value, or says false.
    ///
    /// # Errors
    /// [`Damaged`], from here or from `read`.
    pub(in crate::tables) fn structure(
        &mut self,
        mut read: impl FnMut(&mut Self, i16, Kind) -> Result<bool>,
    ) -> Result<()> {
        let mut last = 0;
        while let Some((number, kind)) = self.field(&mut last)? {
            if !read(self, number, kind)? {
                self.skip(kind, 0)?;
            }
        }
        Ok(())
    }

    /// A whole number of any size.
    ///
    /// # Errors
    /// [`Damaged`] where the field has another type.
    pub(in crate::tables) fn number(&mut self, kind: Kind) -> Result<i64> {
        match kind.0 {
            BYTE => Ok(i64::from(self.byte()?.cast_signed())),
            I16 | I32 | I64 => self.zigzag(),
            _ => Err(Damaged),
        }
    }

    /// The same, which must be a small one.
    ///
    /// # Errors
    /// [`Damaged`] where it is not, or the field has another type.
    pub(in crate::tables) fn small(&mut self, kind: Kind) -> Result<i32> {
        i32::try_from(self.number(kind)?).map_err(|_| Damaged)
    }

    /// A text.
    ///
    /// # Errors
    /// [`Damaged`] where the field has another type, or the bytes are no text.
    pub(in crate::tables) fn text(&mut self, kind: Kind) -> Result<&'a str> {
        if kind.0 != BINARY {
            return Err(Damaged);
        }
        let length = usize::try_from(self.varint()?).map_err(|_| Damaged)?;
        std::str::from_utf8(self.take(length)?).map_err(|_| Damaged)
    }

    /// The length of a list and the type of its items. Each takes a byte at least, which bounds the length.
    ///
    /// # Errors
    /// [`Damaged`] where the field has another type, or there are not so many bytes.
    pub(in crate::tables) fn list(&mut self, kind: Kind) -> Result<(usize, Kind)> {
        if kind.0 != LIST && kind.0 != SET {
            return Err(Damaged);
        }
        let head = self.byte()?;
        let length = match head >> 4 {
            15 => usize::try_from(self.varint()?).map_err(|_| Damaged)?,
            length => usize::from(length),
        };
        if length > self.bytes.len() - self.at {
            return Err(Damaged);
        }
        Ok((length, Kind(head & 15)))
    }

    fn field(&mut self, last: &mut i16) -> Result<Option<(i16, Kind)>> {
        let head = self.byte()?;
        if head == 0 {
            return Ok(None);
        }
        *last = match head >> 4 {
            0 => i16::try_from(self.zigzag()?).map_err(|_| Damaged)?,
            distance => last.checked_add(i16::from(distance)).ok_or(Damaged)?,
        };
        Ok(Some((*last, Kind(head & 15))))
    }

    fn skip(&mut self, kind: Kind, depth: usize) -> Result<()> {
        if depth > DEEPEST {
            return Err(Damaged);
        }
        match kind.0 {
            TRUE | FALSE => {}
            BYTE => drop(self.byte()?),
            I16 | I32 | I64 => drop(self.varint()?),
            DOUBLE => drop(self.take(8)?),
            BINARY => {
                let length = usize::try_from(self.varint()?).map_err(|_| Damaged)?;
                self.take(length)?;
            }
            LIST | SET => {
                let (length, item) = self.list(kind)?;
                for _ in 0..length {
                    self.skip_item(item, depth + 1)?;
                }
            }
            MAP => {
                let length = self.varint()?;
                if length > 0 {
                    let kinds = self.byte()?;
                    for _ in 0..length {
                        self.skip_item(Kind(kinds >> 4), depth + 1)?;
                        self.skip_item(Kind(kinds & 15), depth + 1)?;
                    }
                }
            }
            STRUCT => {
                let mut last = 0;
                while let Some((_, inner)) = self.field(&mut last)? {
                    self.skip(inner, depth + 1)?;
                }
            }
            _ => return Err(Damaged),
        }
        Ok(())
    }

    /// In a list a truth value is a byte; as a field it lies in the type.
    fn skip_item(&mut self, kind: Kind, depth: usize) -> Result<()> {
        if matches!(kind.0, TRUE | FALSE) { self.byte().map(drop) } else { self.skip(kind, depth) }
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Damaged)
    }

    fn zigzag(&mut self) -> Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -((value & 1).cast_signed()))
    }

    fn byte(&mut self) -> Result<u8> {
        let byte = self.bytes.get(self.at).copied().ok_or(Damaged)?;
        self.at += 1;
        Ok(byte)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let end = self.at.checked_add(length).ok_or(Damaged)?;
        let bytes = self.bytes.get(self.at..end).ok_or(Damaged)?;
        self.at = end;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Struct;
    use super::*;

    #[test]
    fn what_is_written_is_read_and_the_rest_passed_over() {
        let inner = Struct::default().texts(1, &["x", "yz"]).i64(9, i64::MIN);
        let bytes = Struct::default()
            .i32(1, -7)
            .structures(2, vec![inner])
            .i32s(3, &[1; 20])
            .text(12, "the end")
            .end();
        let mut reader = Reader::new(&bytes);
        let (mut number, mut text) = (0, "");
        reader
            .structure(|reader, field, kind| {
                match field {
                    1 => number = reader.small(kind)?,
                    12 => text = reader.text(kind)?,
                    _ => return Ok(false),
                }
                Ok(true)
            })
            .unwrap();
        assert_eq!((number, text, reader.position()), (-7, "the end", bytes.len()));
    }

    #[test]
    fn hostile_bytes_end_in_an_error() {
        let all = |_: &mut Reader<'_>, _, _| Ok(false);
        // A list of 2^40 texts in five bytes; structures without an end; a number without one; nothing.
        let nested = [0x1c; 1000];
        for bytes in [
            &[0x19, 0xf8, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20][..],
            &nested,
            &[0x15, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            &[],
        ] {
            assert_eq!(Reader::new(bytes).structure(all), Err(Damaged), "{bytes:?}");
        }
    }
}
