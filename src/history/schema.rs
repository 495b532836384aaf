//! The columns of a profile's file, and those of earlier versions.
//!
//! | version | what changed |
//! |---|---|
//! | 1 | the first |
//! | 2 | the GPU's name stands in `device`; `gpu` is the folder's word, which other tools give as a column of that name; CUDA's and ncu's versions |

use std::io::{Read, Seek};
use std::path::Path;

use polars::prelude::*;

use super::commit::Commit;
use crate::error::{Error, Result};
use crate::tables::{Cells, Form, TableFile, Texts};

/// The version that is written.
pub(super) const VERSION: u32 = 2;

/// The version of a row (u32).
pub(super) const SCHEMA_VERSION: &str = "schema_version";
/// The profile that the launch is of: its file's name.
pub(super) const PROFILE: &str = "profile";
/// The commit; null where nobody said.
pub(super) const COMMIT: &str = "commit";
/// When it was committed, s since 1970 (u64); null where the commit is a label.
pub(super) const COMMITTED: &str = "committed";
/// When the profile came into the store, s since 1970 (u64).
pub(super) const ADDED: &str = "added";
/// The date of the profile, `2026-11-20`.
pub(super) const DATE: &str = "date";
/// The GPU's name.
pub(super) const DEVICE: &str = "device";
/// The program, or `ladder/step`.
pub(super) const PROGRAM: &str = "program";
/// The problem's parameters, `L=512,M=512`; empty for programs.
pub(super) const SIZE: &str = "size";
/// The step's time without the profiler, its median, ns.
pub(super) const TIME: &str = "time_ns";
/// The range of the middle 90% of its repetitions, and their number (u32).
pub(super) const TIME_RANGE: [&str; 3] = ["time_low_ns", "time_high_ns", "time_n"];
/// The CUDA version that the driver supports.
pub(super) const CUDA: &str = "cuda";
/// ncu's version.
pub(super) const NCU: &str = "ncu";

/// A file of a store, whatever its version: columns are asked for by the present names.
#[derive(Debug)]
pub(super) struct Versioned<R> {
    file: TableFile<R>,
    version: u32,
}

impl<R: Read + Seek> Versioned<R> {
    /// # Errors
    /// [`Error::Input`] where it is no file of a store, or one of a later version.
    pub(super) fn new(mut file: TableFile<R>, path: &Path) -> Result<Self> {
        let foreign = || {
            Error::input(
                path,
                "is not a profile that adoprof put into a store; take it out of the folder",
            )
        };
        let version = match file.column(SCHEMA_VERSION)? {
            // All rows of a file have the same; without rows there is nothing to misunderstand.
            Some(Cells::U32(versions)) => versions.into_iter().flatten().max().unwrap_or(VERSION),
            _ => return Err(foreign()),
        };
        if !(1..=VERSION).contains(&version) {
            return Err(Error::input(
                path,
                format!(
                    "is of version {version} of the store, and this adoprof reads versions up to {VERSION}; use the \
                     adoprof that wrote it"
                ),
            ));
        }
        Ok(Self { file, version })
    }

    /// The number of launches.
    pub(super) fn rows(&self) -> usize {
        self.file.rows()
    }

    /// A column of texts; null throughout where the file has none of that name.
    ///
    /// # Errors
    /// [`Error::Input`] where it can't be read.
    pub(super) fn texts(&mut self, name: &str) -> Result<Texts> {
        match self.cells(name)? {
            Some(Cells::Text(texts)) => Ok(texts),
            _ => Ok(Texts::nulls(self.rows())),
        }
    }

    /// A column of numbers, likewise.
    ///
    /// # Errors
    /// As [`texts`](Self::texts).
    pub(super) fn numbers(&mut self, name: &str) -> Result<Vec<Option<f64>>> {
        Ok(match self.cells(name)? {
            Some(Cells::F64(numbers)) => numbers,
            Some(Cells::U32(numbers)) => numbers.into_iter().map(|it| it.map(f64::from)).collect(),
            Some(Cells::U64(numbers)) => {
                numbers.into_iter().map(|it| it.map(|it| it as f64)).collect()
            }
            _ => vec![None; self.rows()],
        })
    }

    fn cells(&mut self, name: &str) -> Result<Option<Cells>> {
        self.file.column(earlier(name, self.version))
    }
}

/// What a column was called in a version.
fn earlier(name: &str, version: u32) -> &str {
    match name {
        DEVICE if version < 2 => "gpu",
        name => name,
    }
}

/// The commit that a file is of, which also shows that it is whole.
///
/// # Errors
/// [`Error::Input`] where it is damaged, or no file of a store.
pub(crate) fn commit_of(path: &Path) -> Result<Option<String>> {
    let commits = Versioned::new(TableFile::open(path)?, path)?.texts(COMMIT)?;
    Ok(commits.get(0).map(str::to_owned))
}

/// A file's bytes in the present version; `None` where they are of that already.
///
/// # Errors
/// [`Error::Input`] where it is no file of a store, one of a later version, or damaged.
pub(crate) fn migrated(bytes: &[u8], path: &Path) -> Result<Option<Vec<u8>>> {
    let file = Versioned::new(TableFile::of_bytes(bytes.to_vec(), path)?, path)?;
    let Versioned { mut file, version } = file;
    if version == VERSION {
        return Ok(None);
    }
    let names: Vec<String> = file.names().map(str::to_owned).collect();
    let mut columns = Vec::new();
    for old in &names {
        let new = if old == earlier(DEVICE, version) { DEVICE } else { old };
        let cells = match (new, file.column(old)?) {
            (SCHEMA_VERSION, _) => Some(Cells::U32(vec![Some(VERSION); file.rows()])),
            (_, cells) => cells,
        };
        columns.extend(cells.map(|cells| cells.column(new)));
    }
    let mut written = Vec::new();
    Form::Parquet.write(&DataFrame::new(file.rows(), columns)?, &mut written)?;
    Ok(Some(written))
}

/// A file's bytes with a commit for all rows, whatever it said before.
///
/// # Errors
/// [`Error::Input`] where it is no file of a store, one of a later version, or damaged.
pub(crate) fn with_commit(bytes: &[u8], path: &Path, commit: &Commit) -> Result<Vec<u8>> {
    let file = Versioned::new(TableFile::of_bytes(bytes.to_vec(), path)?, path)?;
    let mut file = file.file;
    let (rows, names) = (file.rows(), file.names().map(str::to_owned).collect::<Vec<_>>());
    let mut columns = Vec::new();
    for name in &names {
        let same = |value: Option<u64>| Some(Cells::U64(vec![value; rows]).column(name));
        columns.extend(match name.as_str() {
            COMMIT => {
                let texts = vec![commit.name.as_str(); rows];
                Some(Column::new(name.as_str().into(), texts))
            }
            COMMITTED => same(commit.committed),
            _ => file.column(name)?.map(|cells| cells.column(name)),
        });
    }
    let mut written = Vec::new();
    Form::Parquet.write(&DataFrame::new(rows, columns)?, &mut written)?;
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As version 1 wrote it, by hand.
    fn first() -> Vec<u8> {
        let table = df!(
            SCHEMA_VERSION => [1_u32, 1],
            PROFILE => ["aa", "aa"],
            COMMIT => [Some("c0ffee"), Some("c0ffee")],
            "gpu" => ["NVIDIA H200", "NVIDIA H200"],
            PROGRAM => ["app", "app"],
            "gpu__time_duration.sum" => [Some(1000.0), None],
        );
        bytes(&table.unwrap())
    }

    fn bytes(table: &DataFrame) -> Vec<u8> {
        let mut bytes = Vec::new();
        Form::Parquet.write(table, &mut bytes).unwrap();
        bytes
    }

    fn opened(bytes: Vec<u8>) -> Result<Versioned<std::io::Cursor<Vec<u8>>>> {
        let path = Path::new("old.parquet");
        Versioned::new(TableFile::of_bytes(bytes, path)?, path)
    }

    #[test]
    fn an_earlier_version_is_read_as_the_present_one_and_rewritten_as_it() {
        let rewritten = migrated(&first(), Path::new("old.parquet")).unwrap().unwrap();
        for bytes in [first(), rewritten.clone()] {
            let mut file = opened(bytes).unwrap();
            assert_eq!(file.texts(DEVICE).unwrap().get(1), Some("NVIDIA H200"));
            assert_eq!(file.texts(CUDA).unwrap().get(0), None, "version 1 did not keep it");
            assert_eq!(file.texts(COMMIT).unwrap().get(0), Some("c0ffee"));
            assert_eq!(file.numbers("gpu__time_duration.sum").unwrap(), [Some(1000.0), None]);
            assert_eq!(file.rows(), 2);
        }
        let names: Vec<String> = TableFile::of_bytes(rewritten.clone(), Path::new("new"))
            .unwrap()
            .names()
            .map(str::to_owned)
            .collect();
        assert!(!names.contains(&"gpu".to_owned()), "{names:?}");
        assert_eq!(migrated(&rewritten, Path::new("new")).unwrap(), None, "nothing is left to do");
    }

    #[test]
    fn a_commit_is_added_and_nothing_else_changes() {
        let commit = Commit { name: "a1".to_owned(), committed: Some(7) };
        let table = df!(
            SCHEMA_VERSION => [VERSION, VERSION],
            COMMIT => [None::<&str>, None],
            COMMITTED => [None::<u64>, None],
            DEVICE => ["NVIDIA H200", "NVIDIA H200"],
            "gpu__time_duration.sum" => [Some(1000.0), None],
        );
        let before = bytes(&table.unwrap());
        let after = with_commit(&before, Path::new("p.parquet"), &commit).unwrap();
        let mut file = opened(after).unwrap();
        assert_eq!(file.texts(COMMIT).unwrap().get(1), Some("a1"));
        assert_eq!(file.numbers(COMMITTED).unwrap(), [Some(7.0), Some(7.0)]);
        assert_eq!(file.texts(DEVICE).unwrap().get(1), Some("NVIDIA H200"));
        assert_eq!(file.numbers("gpu__time_duration.sum").unwrap(), [Some(1000.0), None]);
    }

    #[test]
    fn later_versions_and_other_tables_are_refused() {
        let later = bytes(&df!(SCHEMA_VERSION => [VERSION + 1]).unwrap());
        let said = opened(later).unwrap_err().to_string();
        assert!(said.contains("version 3 of the store") && said.contains("up to 2"), "{said}");
        let other = bytes(&df!("a" => [1_u32]).unwrap());
        let said = opened(other).unwrap_err().to_string();
        assert!(said.contains("is not a profile that adoprof put into a store"), "{said}");
    }
}
