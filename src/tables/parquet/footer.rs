//! What a file says of itself at its end.

use super::{BOOLEAN, BYTE_ARRAY, DOUBLE, INT32, INT64, OPTIONAL};
use crate::tables::thrift::{Damaged, Kind, Reader};

/// Rows of a file at most: so many values of a column are 64 MB.
pub(super) const MOST_ROWS: usize = 1 << 22;

/// A file's columns and parts.
#[derive(Debug, Default)]
pub(super) struct Footer {
    pub columns: Vec<Described>,
    pub groups: Vec<Group>,
}

/// A column as the file describes it.
#[derive(Debug, Default)]
pub(super) struct Described {
    pub name: String,
    pub physical: i32,
    pub is_optional: bool,
}

/// Some rows, column by column.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub rows: usize,
    pub chunks: Vec<Chunk>,
}

/// Where a column's values for some rows lie.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    pub codec: i32,
    /// From where in the file.
    pub start: u64,
    /// How many bytes.
    pub length: u64,
}

/// Reads the footer.
///
/// # Errors
/// In words, what can't be read of it.
pub(super) fn footer(bytes: &[u8]) -> Result<Footer, &'static str> {
    let (mut schema, mut footer) = (Vec::new(), Footer::default());
    Reader::new(bytes)
        .structure(|reader, field, kind| {
            match field {
                2 => schema = structures(reader, kind, element)?,
                4 => footer.groups = structures(reader, kind, group)?,
                _ => return Ok(false),
            }
            Ok(true)
        })
        .map_err(|Damaged| "its list of columns is damaged")?;
    let mut elements = schema.into_iter();
    let root = elements.next().ok_or("it lists no columns")?;
    for Element { column, repetition, children } in elements {
        if children > 0 || repetition > OPTIONAL {
            return Err("it has columns inside of columns, which no table of adoprof's has");
        }
        footer.columns.push(column);
    }
    let is_whole = usize::try_from(root.children).is_ok_and(|count| count == footer.columns.len())
        && footer.groups.iter().all(|group| group.chunks.len() == footer.columns.len());
    if !is_whole {
        return Err("its list of columns is damaged");
    }
    let rows = footer.groups.iter().map(|group| group.rows);
    match rows.fold(0, usize::saturating_add) {
        rows if rows > MOST_ROWS => {
            Err("it has more than 4 million rows; write it as several files")
        }
        _ => Ok(footer),
    }
}

/// An entry of the schema: the first is the table, the others its columns.
struct Element {
    column: Described,
    repetition: i32,
    children: i32,
}

fn element(reader: &mut Reader<'_>) -> Result<Element, Damaged> {
    let (mut column, mut repetition, mut children) =
        (Described { physical: -1, ..Described::default() }, 0, 0);
    reader.structure(|reader, field, kind| {
        match field {
            1 => column.physical = reader.small(kind)?,
            3 => repetition = reader.small(kind)?,
            4 => reader.text(kind)?.clone_into(&mut column.name),
            5 => children = reader.small(kind)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    column.is_optional = repetition == OPTIONAL;
    Ok(Element { column, repetition, children })
}

fn group(reader: &mut Reader<'_>) -> Result<Group, Damaged> {
    let mut group = Group::default();
    reader.structure(|reader, field, kind| {
        match field {
            1 => group.chunks = structures(reader, kind, chunk)?,
            3 => group.rows = usize::try_from(reader.number(kind)?).map_err(|_| Damaged)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(group)
}

fn chunk(reader: &mut Reader<'_>) -> Result<Chunk, Damaged> {
    let mut chunk = Chunk::default();
    reader.structure(|reader, field, _| {
        if field != 3 {
            return Ok(false);
        }
        // Its dictionary stands before its values, where there is one.
        let (mut values, mut dictionary) = (0, 0);
        reader.structure(|reader, field, kind| {
            match field {
                4 => chunk.codec = reader.small(kind)?,
                7 => chunk.length = offset(reader, kind)?,
                9 => values = offset(reader, kind)?,
                11 => dictionary = offset(reader, kind)?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        chunk.start = if dictionary > 0 { dictionary.min(values) } else { values };
        Ok(true)
    })?;
    Ok(chunk)
}

fn offset(reader: &mut Reader<'_>, kind: Kind) -> Result<u64, Damaged> {
    u64::try_from(reader.number(kind)?).map_err(|_| Damaged)
}

/// A list of structures.
fn structures<'a, T>(
    reader: &mut Reader<'a>,
    kind: Kind,
    read: impl Fn(&mut Reader<'a>) -> Result<T, Damaged>,
) -> Result<Vec<T>, Damaged> {
    let (length, _) = reader.list(kind)?;
    // Not reserved: a length that is not true would take the memory of hundreds of times the bytes.
    let mut items = Vec::new();
    for _ in 0..length {
        items.push(read(reader)?);
    }
    Ok(items)
}

/// True for the types that tables of adoprof's have.
pub(super) fn is_known(physical: i32) -> bool {
    [BOOLEAN, INT32, INT64, DOUBLE, BYTE_ARRAY].contains(&physical)
}
