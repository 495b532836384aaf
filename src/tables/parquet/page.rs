//! A column's pages unpacked into values.

use std::io::Read;

use super::cells::{Cells, Texts};
use super::footer::{Chunk, Described};
use super::runs::runs;
use super::{
    BOOLEAN, BYTE_ARRAY, DATA_PAGE, DICTIONARY_PAGE, DOUBLE, INT32, INT64, PLAIN, PLAIN_DICTIONARY,
    RLE_DICTIONARY, UNCOMPRESSED, ZSTD,
};
use crate::tables::thrift::{Damaged, Reader};

/// A page unpacked takes no more than this, bytes; those of adoprof's tables have 65,536 values.
const MOST_BYTES: usize = 256 << 20;

type Result<T> = std::result::Result<T, &'static str>;

const DAMAGED: &str = "it is damaged";

/// No values yet of a column's type.
pub(super) fn empty(physical: i32) -> Option<Cells> {
    Some(match physical {
        BOOLEAN => Cells::Bool(Vec::new()),
        INT32 => Cells::U32(Vec::new()),
        INT64 => Cells::U64(Vec::new()),
        DOUBLE => Cells::F64(Vec::new()),
        BYTE_ARRAY => Cells::Text(Texts::default()),
        _ => return None,
    })
}

/// Adds the values of a chunk to those of its column.
///
/// # Errors
/// In words, what can't be read of it.
pub(super) fn add(
    column: &Described,
    chunk: &Chunk,
    bytes: &[u8],
    rows: usize,
    cells: &mut Cells,
) -> Result<()> {
    let (mut rest, end) = (bytes, cells.len() + rows);
    let mut dictionary = None;
    while cells.len() < end {
        let mut reader = Reader::new(rest);
        let header = header(&mut reader).map_err(|Damaged| DAMAGED)?;
        rest = &rest[reader.position()..];
        let packed = rest.split_off(..header.packed).ok_or(DAMAGED)?;
        match header.kind {
            DATA_PAGE => {
                if header.values > end - cells.len() || header.values == 0 {
                    return Err(DAMAGED);
                }
                let body = unpacked(packed, header.unpacked, chunk.codec)?;
                data(column, &header, &body, dictionary.as_ref(), cells)?;
            }
            DICTIONARY_PAGE => {
                let body = unpacked(packed, header.unpacked, chunk.codec)?;
                dictionary = Some(plain(column.physical, &body, header.values, cells)?);
            }
            _ => return Err("its pages are of a kind that adoprof does not read (version 2, say)"),
        }
    }
    Ok(())
}

/// A page's header.
#[derive(Debug, Default)]
struct Header {
    kind: i32,
    unpacked: usize,
    packed: usize,
    values: usize,
    coding: i32,
}

fn header(reader: &mut Reader<'_>) -> std::result::Result<Header, Damaged> {
    let mut header = Header::default();
    reader.structure(|reader, field, kind| {
        match field {
            1 => header.kind = reader.small(kind)?,
            2 => header.unpacked = usize::try_from(reader.small(kind)?).map_err(|_| Damaged)?,
            3 => header.packed = usize::try_from(reader.small(kind)?).map_err(|_| Damaged)?,
            // Of values and of a dictionary alike.
            5 | 7 => reader.structure(|reader, field, kind| {
                match field {
                    1 => {
                        header.values =
                            usize::try_from(reader.small(kind)?).map_err(|_| Damaged)?;
                    }
                    2 => header.coding = reader.small(kind)?,
                    _ => return Ok(false),
                }
                Ok(true)
            })?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(header)
}

fn unpacked(packed: &[u8], length: usize, codec: i32) -> Result<Vec<u8>> {
    if length > MOST_BYTES {
        return Err("one of its pages is larger than 256 MiB");
    }
    let body = match codec {
        UNCOMPRESSED => packed.to_vec(),
        ZSTD => {
            let mut body = Vec::new();
            let decoder = zstd::Decoder::with_buffer(packed).map_err(|_| DAMAGED)?;
            decoder.take(length as u64 + 1).read_to_end(&mut body).map_err(|_| DAMAGED)?;
            body
        }
        _ => return Err("it is compressed in another way than with zstd; write it with zstd"),
    };
    if body.len() == length { Ok(body) } else { Err(DAMAGED) }
}

/// Values side by side.
enum Plain {
    Bool(Vec<bool>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    F64(Vec<f64>),
    /// As numbers of the column's texts.
    Text(Vec<u32>),
}

/// Reads so many values of a type. Texts become the column's.
fn plain(physical: i32, body: &[u8], count: usize, cells: &mut Cells) -> Result<Plain> {
    fn fixed<const N: usize, T>(body: &[u8], count: usize, of: fn([u8; N]) -> T) -> Result<Vec<T>> {
        let (values, _) = body.as_chunks::<N>();
        Ok(values.get(..count).ok_or(DAMAGED)?.iter().map(|bytes| of(*bytes)).collect())
    }
    Ok(match (physical, cells) {
        (BOOLEAN, _) => {
            let bytes = body.get(..count.div_ceil(8)).ok_or(DAMAGED)?;
            Plain::Bool((0..count).map(|at| bytes[at / 8] >> (at % 8) & 1 == 1).collect())
        }
        (INT32, _) => Plain::U32(fixed(body, count, u32::from_le_bytes)?),
        (INT64, _) => Plain::U64(fixed(body, count, u64::from_le_bytes)?),
        (DOUBLE, _) => Plain::F64(fixed(body, count, f64::from_le_bytes)?),
        (_, Cells::Text(texts)) => {
            let (mut rest, mut codes) = (body, Vec::new());
            let mut last: Option<(&[u8], u32)> = None;
            for _ in 0..count {
                let length = rest.split_off(..4).ok_or(DAMAGED)?.try_into().map_err(|_| DAMAGED)?;
                let length = usize::try_from(u32::from_le_bytes(length)).map_err(|_| DAMAGED)?;
                let bytes = rest.split_off(..length).ok_or(DAMAGED)?;
                // Rows that follow one another mostly have the same text.
                let code = match last {
                    Some((same, code)) if same == bytes => code,
                    _ => {
                        let text = std::str::from_utf8(bytes).map_err(|_| DAMAGED)?;
                        texts.code(text).ok_or("its texts take more than 64 MiB")?
                    }
                };
                last = Some((bytes, code));
                codes.push(code);
            }
            Plain::Text(codes)
        }
        _ => return Err(DAMAGED),
    })
}

/// Adds a page's values.
fn data(
    column: &Described,
    header: &Header,
    body: &[u8],
    dictionary: Option<&Plain>,
    cells: &mut Cells,
) -> Result<()> {
    let mut rest = body;
    let mut present = vec![true; header.values];
    if column.is_optional {
        let length = rest.split_off(..4).ok_or(DAMAGED)?.try_into().map_err(|_| DAMAGED)?;
        let length = usize::try_from(u32::from_le_bytes(length)).map_err(|_| DAMAGED)?;
        let levels = rest.split_off(..length).ok_or(DAMAGED)?;
        let levels = runs(levels, 1, header.values).ok_or(DAMAGED)?;
        present = levels.into_iter().map(|level| level == 1).collect();
    }
    let count = present.iter().filter(|present| **present).count();
    let values = match header.coding {
        PLAIN => plain(column.physical, rest, count, cells)?,
        PLAIN_DICTIONARY | RLE_DICTIONARY => {
            let places = if count == 0 {
                Vec::new()
            } else {
                let (width, coded) = rest.split_first().ok_or(DAMAGED)?;
                runs(coded, *width, count).ok_or(DAMAGED)?
            };
            looked_up(dictionary.ok_or(DAMAGED)?, &places).ok_or(DAMAGED)?
        }
        _ => {
            return Err(
                "its values are coded in a way that adoprof does not read (neither plain nor by dictionary)",
            );
        }
    };
    match (values, cells) {
        (Plain::Bool(values), Cells::Bool(cells)) => spread(&present, values, cells),
        (Plain::U32(values), Cells::U32(cells)) => spread(&present, values, cells),
        (Plain::U64(values), Cells::U64(cells)) => spread(&present, values, cells),
        (Plain::F64(values), Cells::F64(cells)) => spread(&present, values, cells),
        (Plain::Text(codes), Cells::Text(texts)) => {
            let mut codes = codes.into_iter();
            for is_there in present {
                texts.push(if is_there { codes.next() } else { None });
            }
        }
        _ => return Err(DAMAGED),
    }
    Ok(())
}

fn looked_up(dictionary: &Plain, places: &[u32]) -> Option<Plain> {
    fn of<T: Copy>(values: &[T], places: &[u32]) -> Option<Vec<T>> {
        places.iter().map(|place| values.get(*place as usize).copied()).collect()
    }
    Some(match dictionary {
        Plain::Bool(values) => Plain::Bool(of(values, places)?),
        Plain::U32(values) => Plain::U32(of(values, places)?),
        Plain::U64(values) => Plain::U64(of(values, places)?),
        Plain::F64(values) => Plain::F64(of(values, places)?),
        Plain::Text(codes) => Plain::Text(of(codes, places)?),
    })
}

/// Values to the rows that have one.
fn spread<T>(present: &[bool], values: Vec<T>, cells: &mut Vec<Option<T>>) {
    let mut values = values.into_iter();
    cells.extend(present.iter().map(|is_there| if *is_there { values.next() } else { None }));
}
