//! Structures as bytes.

use super::{BINARY, I32, I64, LIST, STRUCT};

/// A structure's bytes; fields are added in the order of their numbers.
#[derive(Debug, Default)]
pub(in crate::tables) struct Struct {
    bytes: Vec<u8>,
    last: u8,
}

impl Struct {
    pub(in crate::tables) fn i32(mut self, field: u8, value: i32) -> Self {
        self.header(field, I32);
        zigzag(&mut self.bytes, value.into());
        self
    }

    pub(in crate::tables) fn i64(mut self, field: u8, value: i64) -> Self {
        self.header(field, I64);
        zigzag(&mut self.bytes, value);
        self
    }

    pub(in crate::tables) fn text(mut self, field: u8, text: &str) -> Self {
        self.header(field, BINARY);
        binary(&mut self.bytes, text);
        self
    }

    pub(in crate::tables) fn structure(mut self, field: u8, inner: Self) -> Self {
        self.header(field, STRUCT);
        self.bytes.extend(inner.end());
        self
    }

    pub(in crate::tables) fn structures(mut self, field: u8, items: Vec<Self>) -> Self {
        self.list(field, STRUCT, items.len());
        self.bytes.extend(items.into_iter().flat_map(Self::end));
        self
    }

    pub(in crate::tables) fn i32s(mut self, field: u8, items: &[i32]) -> Self {
        self.list(field, I32, items.len());
        for &item in items {
            zigzag(&mut self.bytes, item.into());
        }
        self
    }

    pub(in crate::tables) fn texts(mut self, field: u8, items: &[&str]) -> Self {
        self.list(field, BINARY, items.len());
        for item in items {
            binary(&mut self.bytes, item);
        }
        self
    }

    /// The bytes of the whole structure.
    pub(in crate::tables) fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }

    /// The distance from the field before, at most 15, and the type.
    fn header(&mut self, field: u8, kind: u8) {
        self.bytes.push((field - self.last) << 4 | kind);
        self.last = field;
    }

    fn list(&mut self, field: u8, kind: u8, length: usize) {
        self.header(field, LIST);
        if length < 15 {
            self.bytes.push((length as u8) << 4 | kind);
        } else {
            self.bytes.push(0xf0 | kind);
            varint(&mut self.bytes, length as u64);
        }
    }
}

/// Seven bits a byte, the lowest first; the highest bit says that more follow.
pub(in crate::tables) fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// A signed number: 0, -1, 1, -2 are 0, 1, 2, 3.
fn zigzag(bytes: &mut Vec<u8>, value: i64) {
    varint(bytes, (value << 1 ^ value >> 63).cast_unsigned());
}

fn binary(bytes: &mut Vec<u8>, text: &str) {
    varint(bytes, text.len() as u64);
    bytes.extend(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_protocol() {
        // The specification's own example: 50399 is 1001_1111 0000_1001 0000_0011 with bits that say "more".
        let mut bytes = Vec::new();
        varint(&mut bytes, 50_399);
        assert_eq!(bytes, [0xdf, 0x89, 0x03]);
        for (value, coded) in [(0, 0), (-1, 1), (1, 2), (-2, 3), (63, 126)] {
            let mut bytes = Vec::new();
            zigzag(&mut bytes, value);
            assert_eq!(bytes, [coded], "{value}");
        }
    }

    #[test]
    fn fields_carry_their_distance_and_type() {
        let bytes = Struct::default().i32(1, 2).text(4, "ab").i64(5, -1).end();
        assert_eq!(bytes, [0x15, 4, 0x38, 2, b'a', b'b', 0x16, 1, 0]);
        let inner = Struct::default().i32(2, 0);
        assert_eq!(Struct::default().structures(3, vec![inner]).end(), [0x39, 0x1c, 0x25, 0, 0, 0]);
        assert_eq!(Struct::default().i32s(1, &[0; 15]).end()[..3], [0x19, 0xf5, 15]);
        assert_eq!(Struct::default().texts(1, &["x"]).end(), [0x19, 0x18, 1, b'x', 0]);
    }
}
