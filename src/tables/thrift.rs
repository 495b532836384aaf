//! Thrift's compact protocol, as far as Parquet's metadata needs it: structures of numbers, texts, and lists.

mod read;
mod write;

pub(super) use read::{Damaged, Kind, Reader};
pub(super) use write::{Struct, varint};

/// Numbers that the protocol gives to types.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;
