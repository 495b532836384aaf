//! Apache Parquet, as much of it as tables of five types need, written and read back.
//!
//! The crates that do all of it cost a megabyte of the program for writing alone. What other programs write is read too
//! where it keeps to plain or dictionary-coded values, and to zstd or no compression.

mod cells;
mod footer;
mod page;
mod read;
mod runs;
mod write;

pub(crate) use cells::{Cells, Texts};
pub(crate) use read::TableFile;
pub(super) use write::write;

/// What a file begins and ends with.
const MARK: &[u8] = b"PAR1";

/// Numbers of the format: whether a value may be missing,
const OPTIONAL: i32 = 1;
/// how values are coded,
const PLAIN: i32 = 0;
const PLAIN_DICTIONARY: i32 = 2;
const RLE: i32 = 3;
const RLE_DICTIONARY: i32 = 8;
/// how pages are compressed,
const UNCOMPRESSED: i32 = 0;
const ZSTD: i32 = 6;
/// what a page is,
const DATA_PAGE: i32 = 0;
const DICTIONARY_PAGE: i32 = 2;
/// what a column has, as it lies in the file,
const BOOLEAN: i32 = 0;
const INT32: i32 = 1;
const INT64: i32 = 2;
const DOUBLE: i32 = 5;
const BYTE_ARRAY: i32 = 6;
/// and what that means.
const UTF8: i32 = 0;
const UINT_32: i32 = 13;
const UINT_64: i32 = 14;
