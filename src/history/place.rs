//! Where a store lies.

use std::path::PathBuf;

use super::bucket::{Bucket, SCHEME};
use super::partition::{self, Stored};
use crate::error::{Error, Result};
use crate::files::write_atomically;

/// A folder or a bucket.
#[derive(Debug)]
pub(crate) enum Place {
    /// A folder of this machine, or of a file system that it shares.
    Folder(PathBuf),
    /// A bucket of an object store.
    Bucket(Box<Bucket>),
}

impl Place {
    /// Where the store lies unless somebody says otherwise.
    pub(crate) const DEFAULT: &str = ".adoprof/history";

    /// Understands `--store`.
    ///
    /// # Errors
    /// [`Error::Usage`] for what is neither a folder nor an address, [`Error::Environment`] where what leads to a bucket
    /// is missing.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        if text.starts_with(SCHEME) {
            return Ok(Self::Bucket(Box::new(Bucket::parse(text)?)));
        }
        if text.is_empty() || text.contains("://") {
            return Err(Error::Usage(format!(
                "--store takes a folder or s3://BUCKET/FOLDER, and `{text}` is neither"
            )));
        }
        Ok(Self::Folder(PathBuf::from(text)))
    }

    /// Its name for people.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Folder(folder) => folder.display().to_string(),
            Self::Bucket(bucket) => bucket.name.clone(),
        }
    }

    /// The files of all profiles.
    ///
    /// # Errors
    /// [`Error::Input`] where a folder can't be read, [`Error::Environment`] where a bucket's server does not answer.
    pub(crate) fn list(&self) -> Result<Vec<Stored>> {
        let folder = match self {
            Self::Folder(folder) => folder,
            Self::Bucket(bucket) => return bucket.list(),
        };
        let paths = partition::files(folder).map_err(|error| Error::io(folder, "read", &error))?;
        Ok(paths.into_iter().map(|path| Stored { path, version: String::new() }).collect())
    }

    /// Writes a file whole or not at all.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    pub(crate) fn put(&self, path: &str, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Folder(folder) => write_atomically(&partition::local(folder, path), bytes),
            Self::Bucket(bucket) => bucket.put(path, bytes),
        }
    }

    /// Files of the store as files of this machine.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    pub(crate) fn local(&self, files: &[Stored]) -> Result<Vec<PathBuf>> {
        match self {
            Self::Folder(folder) => {
                Ok(files.iter().map(|file| partition::local(folder, &file.path)).collect())
            }
            Self::Bucket(bucket) => bucket.local(files),
        }
    }
}
