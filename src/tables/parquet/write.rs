//! Writing: one row group, every column optional, plain values, zstd. `scripts/check-formats` has pandas, polars, and
//! DuckDB read it.

use std::io::Write;

use polars::prelude::*;

use super::{
    BOOLEAN, BYTE_ARRAY, DATA_PAGE, DOUBLE, INT32, INT64, MARK, OPTIONAL, PLAIN, RLE, UINT_32,
    UINT_64, UTF8, ZSTD,
};
use crate::error::{Error, Result};
use crate::tables::thrift::{Struct, varint};
use crate::tables::unknown;

/// Rows of a page: a reader unpacks a page as a whole.
const PAGE_ROWS: usize = 1 << 16;
const ZSTD_LEVEL: i32 = 3;

/// A column's physical type, and what its values mean where that says too little.
struct Kind {
    physical: i32,
    converted: Option<i32>,
}

/// A column as the file has it.
struct Chunk {
    name: String,
    kind: Kind,
    /// Where it begins in the file.
    offset: usize,
    rows: usize,
    packed: usize,
    unpacked: usize,
}

/// Writes the file.
///
/// # Errors
/// As [`Form::write`](crate::tables::Form::write).
pub(in crate::tables) fn write(table: &DataFrame, out: &mut dyn Write) -> Result<()> {
    let mut file = MARK.to_vec();
    let chunks: Vec<Chunk> =
        table.columns().iter().map(|column| add(&mut file, column)).collect::<Result<_>>()?;
    let footer = footer(table.height(), &chunks);
    let length = u32::try_from(footer.len()).map_err(|_| too_large("its list of columns"))?;
    file.extend(footer);
    file.extend(length.to_le_bytes());
    file.extend(MARK);
    out.write_all(&file).map_err(|error| Error::io("the table", "write", &error))
}

fn too_large(what: &str) -> Error {
    Error::input("the table", format!("{what} has more bytes than Parquet counts"))
}

/// A length as the format counts it; none comes near the largest.
fn i64_of(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

/// The same of rows in a page and of columns.
fn i32_of(length: usize) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX)
}

/// Adds a column to the file.
fn add(file: &mut Vec<u8>, column: &Column) -> Result<Chunk> {
    let kind = match column.dtype() {
        DataType::Boolean => Kind { physical: BOOLEAN, converted: None },
        DataType::UInt32 => Kind { physical: INT32, converted: Some(UINT_32) },
        DataType::UInt64 => Kind { physical: INT64, converted: Some(UINT_64) },
        DataType::Float64 => Kind { physical: DOUBLE, converted: None },
        DataType::String => Kind { physical: BYTE_ARRAY, converted: Some(UTF8) },
        _ => return Err(unknown(column)),
    };
    let rows = column.len();
    let (offset, mut unpacked) = (file.len(), 0);
    for start in (0..rows.max(1)).step_by(PAGE_ROWS) {
        let part = column.slice(i64_of(start), PAGE_ROWS);
        unpacked += add_page(file, &part)?;
    }
    let packed = file.len() - offset;
    Ok(Chunk { name: column.name().to_string(), kind, offset, rows, packed, unpacked })
}

/// Adds a page: its header, then packed where values are missing and the others. Returns its bytes unpacked.
fn add_page(file: &mut Vec<u8>, column: &Column) -> Result<usize> {
    let body = match column.dtype() {
        DataType::Boolean => bits(column.bool()?.iter()),
        DataType::UInt32 => body(column.u32()?.iter(), |value, to| to.extend(value.to_le_bytes())),
        DataType::UInt64 => body(column.u64()?.iter(), |value, to| to.extend(value.to_le_bytes())),
        DataType::Float64 => body(column.f64()?.iter(), |value, to| to.extend(value.to_le_bytes())),
        _ => body(column.str()?.iter(), |text, to| {
            to.extend((text.len() as u32).to_le_bytes());
            to.extend(text.as_bytes());
        }),
    };
    let packed = zstd::encode_all(body.as_slice(), ZSTD_LEVEL)
        .map_err(|error| Error::io("the table", "compress", &error))?;
    let counted = |bytes: usize| i32::try_from(bytes).map_err(|_| too_large("a page"));
    let page = Struct::default().i32(1, i32_of(column.len())).i32(2, PLAIN).i32(3, RLE).i32(4, RLE);
    let header = Struct::default()
        .i32(1, DATA_PAGE)
        .i32(2, counted(body.len())?)
        .i32(3, counted(packed.len())?)
        .structure(5, page)
        .end();
    let unpacked = header.len() + body.len();
    file.extend(header);
    file.extend(packed);
    Ok(unpacked)
}

/// A page's body: which values are there, then those.
fn body<T>(values: impl Iterator<Item = Option<T>>, add: impl Fn(T, &mut Vec<u8>)) -> Vec<u8> {
    let (mut present, mut bytes) = (Vec::new(), Vec::new());
    for value in values {
        present.push(value.is_some());
        if let Some(value) = value {
            add(value, &mut bytes);
        }
    }
    let mut body = levels(&present);
    body.append(&mut bytes);
    body
}

/// The same of truth values, eight to a byte, the first in the lowest bit.
fn bits(values: impl Iterator<Item = Option<bool>>) -> Vec<u8> {
    let values: Vec<Option<bool>> = values.collect();
    let present: Vec<bool> = values.iter().map(Option::is_some).collect();
    let known: Vec<bool> = values.into_iter().flatten().collect();
    let byte = |eight: &[bool]| {
        eight.iter().enumerate().fold(0, |byte, (at, bit)| byte | u8::from(*bit) << at)
    };
    let mut body = levels(&present);
    body.extend(known.chunks(8).map(byte));
    body
}

/// Which values are there, as runs of the same, with their length in bytes in front.
fn levels(present: &[bool]) -> Vec<u8> {
    let mut runs = Vec::new();
    for run in present.chunk_by(|a, b| a == b) {
        varint(&mut runs, (run.len() as u64) << 1);
        runs.push(u8::from(run[0]));
    }
    let mut bytes = (runs.len() as u32).to_le_bytes().to_vec();
    bytes.append(&mut runs);
    bytes
}

/// What the file holds, behind it all.
fn footer(rows: usize, chunks: &[Chunk]) -> Vec<u8> {
    let mut schema = vec![Struct::default().text(4, "adoprof").i32(5, i32_of(chunks.len()))];
    let mut columns = Vec::new();
    for chunk in chunks {
        let Chunk { name, kind, offset, rows, packed, unpacked } = chunk;
        let element = Struct::default().i32(1, kind.physical).i32(3, OPTIONAL).text(4, name);
        schema.push(match kind.converted {
            Some(converted) => element.i32(6, converted),
            None => element,
        });
        let meta = Struct::default()
            .i32(1, kind.physical)
            .i32s(2, &[PLAIN, RLE])
            .texts(3, &[name])
            .i32(4, ZSTD)
            .i64(5, i64_of(*rows))
            .i64(6, i64_of(*unpacked))
            .i64(7, i64_of(*packed))
            .i64(9, i64_of(*offset));
        columns.push(Struct::default().i64(2, i64_of(*offset)).structure(3, meta));
    }
    let bytes: usize = chunks.iter().map(|chunk| chunk.unpacked).sum();
    let group = Struct::default().structures(1, columns).i64(2, i64_of(bytes)).i64(3, i64_of(rows));
    Struct::default()
        .i32(1, 1)
        .structures(2, schema)
        .i64(3, i64_of(rows))
        .structures(4, vec![group])
        .text(6, concat!("adoprof version ", env!("CARGO_PKG_VERSION")))
        .end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_stands_in_runs() {
        // Three values, two missing, one value: lengths 3, 2 and 1, each doubled.
        let present = [true, true, true, false, false, true];
        assert_eq!(levels(&present), [6, 0, 0, 0, 6, 1, 4, 0, 2, 1]);
        assert_eq!(levels(&[]), [0, 0, 0, 0]);
    }

    #[test]
    fn values_lie_side_by_side_without_the_missing_ones() {
        let numbers = body([Some(1_u32), None, Some(258)].into_iter(), |value, to| {
            to.extend(value.to_le_bytes());
        });
        assert_eq!(numbers[4..], [2, 1, 2, 0, 2, 1, 1, 0, 0, 0, 2, 1, 0, 0]);
        let nine = [true, false, true, true, false, false, false, true, true];
        let packed = bits(nine.into_iter().map(Some));
        assert_eq!(packed[4..], [18, 1, 0b1000_1101, 1]);
    }

    #[test]
    fn a_file_begins_and_ends_as_one_and_names_its_columns() {
        let mut out = Vec::new();
        write(&crate::tables::tests::sample(), &mut out).unwrap();
        assert!(out.starts_with(MARK) && out.ends_with(MARK));
        // The length of the footer stands before the last mark, and the columns' names in it.
        let length = u32::from_le_bytes(out[out.len() - 8..out.len() - 4].try_into().unwrap());
        let footer = &out[out.len() - 8 - length as usize..];
        for name in ["kernel", "line", "address", "value", "global", "adoprof "] {
            assert!(footer.windows(name.len()).any(|part| part == name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn long_columns_have_several_pages_and_empty_ones_one() {
        let table = |rows: usize| df!("n" => vec![7_u32; rows]).unwrap();
        let pages = |rows: usize| {
            let mut file = MARK.to_vec();
            let chunk = add(&mut file, &table(rows).columns()[0]).unwrap();
            // zstd's own mark stands at the beginning of each page's body.
            file[chunk.offset..].windows(4).filter(|part| part == b"\x28\xb5\x2f\xfd").count()
        };
        assert_eq!([pages(0), pages(1), pages(PAGE_ROWS), pages(PAGE_ROWS + 1)], [1, 1, 1, 2]);
    }
}
