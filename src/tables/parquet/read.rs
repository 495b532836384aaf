//! Reading: a file's columns by name, whatever its bytes are.

use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::MARK;
use super::cells::Cells;
use super::footer::{Footer, footer, is_known};
use super::page;
use crate::error::{Error, Result};

/// A list of columns has at most so many bytes: 10,000 columns of one part.
const MOST_FOOTER: u64 = 4 << 20;
/// From the end: the length of the list of columns, and the mark.
const TAIL: u64 = 8;

/// A Parquet file, of which columns are read as they are asked for.
#[derive(Debug)]
pub(crate) struct TableFile<R> {
    source: R,
    path: PathBuf,
    length: u64,
    footer: Footer,
}

impl TableFile<File> {
    /// Opens a file.
    ///
    /// # Errors
    /// [`Error::Input`] where it can't be read, or is no Parquet file of a form that adoprof reads.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let io = |error| Error::io(path, "read", &error);
        // Opening a pipe would wait for who writes into it.
        if !std::fs::metadata(path).map_err(io)?.is_file() {
            return Err(Error::input(path, "is not a regular file"));
        }
        Self::new(File::open(path).map_err(io)?, path)
    }
}

impl TableFile<Cursor<Vec<u8>>> {
    /// The same of bytes; `path` stands for them in messages.
    ///
    /// # Errors
    /// As [`open`](TableFile::open).
    pub(crate) fn of_bytes(bytes: Vec<u8>, path: &Path) -> Result<Self> {
        Self::new(Cursor::new(bytes), path)
    }
}

impl<R: Read + Seek> TableFile<R> {
    fn new(mut source: R, path: &Path) -> Result<Self> {
        let none = || {
            Error::input(
                path,
                "is not a complete Parquet file: it is damaged, or a file of another kind",
            )
        };
        let io = |error| Error::io(path, "read", &error);
        let length = source.seek(SeekFrom::End(0)).map_err(io)?;
        let mark = MARK.len() as u64;
        if length < mark + TAIL {
            return Err(none());
        }
        let tail = bytes(&mut source, length - TAIL, TAIL).map_err(io)?;
        let (size, end) = tail.split_at(TAIL as usize - MARK.len());
        let size = size.try_into().map_or(0, u32::from_le_bytes);
        let size = u64::from(size);
        if end != MARK || size > length - mark - TAIL {
            return Err(none());
        }
        if size > MOST_FOOTER {
            return Err(Error::input(path, "lists more columns than any table of adoprof's"));
        }
        let list = bytes(&mut source, length - TAIL - size, size).map_err(io)?;
        let footer = footer(&list).map_err(|why| unreadable(path, why))?;
        Ok(Self { source, path: path.to_owned(), length, footer })
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.footer.groups.iter().map(|group| group.rows).sum()
    }

    /// The names of the columns, in their order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.footer.columns.iter().map(|column| column.name.as_str())
    }

    /// Reads a column; `None` where there is none of that name.
    ///
    /// # Errors
    /// [`Error::Input`] where its values can't be read.
    pub(crate) fn column(&mut self, name: &str) -> Result<Option<Cells>> {
        let columns = &self.footer.columns;
        let Some(at) = columns.iter().position(|column| column.name == name) else {
            return Ok(None);
        };
        let column = &columns[at];
        let path = &self.path;
        let unread = |why: &str| unreadable(path, &format!("column {name}: {why}"));
        let mut cells = Some(column.physical)
            .filter(|physical| is_known(*physical))
            .and_then(page::empty)
            .ok_or_else(|| unread("it is of a type that adoprof's tables do not have"))?;
        for group in &self.footer.groups {
            let chunk = &group.chunks[at];
            let end = chunk.start.checked_add(chunk.length);
            if end.is_none_or(|end| end > self.length) {
                return Err(unread("it is damaged"));
            }
            let bytes = bytes(&mut self.source, chunk.start, chunk.length)
                .map_err(|error| Error::io(path, "read", &error))?;
            page::add(column, chunk, &bytes, group.rows, &mut cells).map_err(unread)?;
        }
        Ok(Some(cells))
    }
}

/// A part of a file, of which the caller has seen that it is there.
fn bytes(source: &mut (impl Read + Seek), start: u64, length: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.seek(SeekFrom::Start(start))?;
    source.by_ref().take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn unreadable(path: &Path, why: &str) -> Error {
    Error::input(path, format!("can't be read as a table: {why}"))
}

#[cfg(test)]
mod tests {
    use polars::prelude::*;

    use super::*;
    use crate::tables::parquet::write;
    use crate::tables::tests::sample;

    fn written(table: &DataFrame) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(table, &mut bytes).unwrap();
        bytes
    }

    fn read(bytes: Vec<u8>) -> Result<DataFrame> {
        let mut file = TableFile::of_bytes(bytes, Path::new("t.parquet"))?;
        let names: Vec<String> = file.names().map(str::to_owned).collect();
        let columns = names
            .iter()
            .map(|name| Ok(file.column(name)?.expect("it is listed").column(name)))
            .collect::<Result<Vec<_>>>()?;
        Ok(DataFrame::new(file.rows(), columns)?)
    }

    #[test]
    fn what_was_written_is_read_back() {
        let table = sample();
        assert!(read(written(&table)).unwrap().equals_missing(&table));
        let none = table.slice(0, 0);
        assert!(read(written(&none)).unwrap().equals_missing(&none));
        // More than a page of each type.
        let rows = 150_000_u32;
        let text = |n: u32| (!n.is_multiple_of(7)).then(|| format!("kernel {}", n % 1000));
        let long = df!(
            "text" => (0..rows).map(text).collect::<Vec<_>>(),
            "number" => (0..rows).map(|n| (n % 3 > 0).then(|| f64::from(n) / 7.0)).collect::<Vec<_>>(),
            "whole" => (0..rows).collect::<Vec<_>>(),
            "truth" => (0..rows).map(|n| Some(n % 5 == 0)).collect::<Vec<_>>(),
        );
        let long = long.unwrap();
        assert!(read(written(&long)).unwrap().equals_missing(&long));
    }

    #[test]
    fn a_column_that_is_not_there_is_none() {
        let mut file = TableFile::of_bytes(written(&sample()), Path::new("t")).unwrap();
        assert_eq!(file.column("colour").unwrap(), None);
        assert_eq!(file.rows(), 3);
    }

    #[test]
    fn every_cut_and_every_flipped_byte_ends_in_a_table_or_a_sentence() {
        let whole = written(&sample());
        for length in 0..whole.len() {
            let said = read(whole[..length].to_vec()).unwrap_err().to_string();
            assert!(said.contains("is not a complete Parquet file"), "{length}: {said}");
        }
        for at in 0..whole.len() {
            for flip in [1, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] ^= flip;
                if let Err(error) = read(bytes) {
                    assert_eq!(error.to_string().lines().count(), 1, "{error}");
                }
            }
        }
    }
}
