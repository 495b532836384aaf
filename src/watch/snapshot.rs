//! What files held at one moment. Polled: a handful of files costs microseconds to look at, and notifications of
//! the system miss what is edited on another machine or in a container's folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

use crate::files;

/// What files held; a file that is gone has nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Snapshot(BTreeMap<PathBuf, Option<Content>>);

#[derive(Debug, Clone)]
struct Content {
    length: u64,
    modified: Option<SystemTime>,
    digest: [u8; 32],
}

/// A file that was only touched is the same.
impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl Eq for Content {}

impl Snapshot {
    /// What files hold now. A file whose length and time are those of `before` is not read again.
    pub(crate) fn take(files: &[PathBuf], before: &Self) -> Self {
        let content = |path: &PathBuf| {
            let known = before.0.get(path).and_then(Option::as_ref);
            (path.clone(), Content::of(path, known))
        };
        Self(files.iter().map(content).collect())
    }

    /// What the same files hold now.
    pub(crate) fn again(&self) -> Self {
        let files: Vec<PathBuf> = self.0.keys().cloned().collect();
        Self::take(&files, self)
    }

    /// The files of which this moment has another content than `before`.
    pub(crate) fn changed_since(&self, before: &Self) -> Vec<&Path> {
        let changed = self.0.iter().filter(|(path, now)| before.0.get(*path) != Some(*now));
        changed.map(|(path, _)| path.as_path()).collect()
    }
}

impl Content {
    fn of(path: &Path, known: Option<&Self>) -> Option<Self> {
        let meta = std::fs::metadata(path).ok()?;
        let (length, modified) = (meta.len(), meta.modified().ok());
        let is_known = |known: &&Self| known.length == length && known.modified == modified;
        let digest = match known.filter(is_known) {
            Some(known) => known.digest,
            None => Sha256::digest(files::read(path, files::MOST_TEXT).ok()?).into(),
        };
        Some(Self { length, modified, digest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_other_contents_are_changes() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b, c] = ["a.cu", "b.cu", "c.cu"].map(|name| folder.path().join(name));
        let write = |path: &Path, text: &str, second: u64| {
            std::fs::write(path, text).unwrap();
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(second);
            std::fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
        };
        write(&a, "one", 1);
        write(&b, "two", 1);
        let files = [a.clone(), b.clone(), c.clone()];
        let before = Snapshot::take(&files, &Snapshot::default());
        assert!(before.again().changed_since(&before).is_empty());
        // Touched, written anew with the same text, and not there yet.
        write(&a, "one", 2);
        assert_eq!(before.again(), before);
        write(&b, "2.0", 2);
        write(&c, "three", 2);
        let after = before.again();
        assert_eq!(after.changed_since(&before), [b.as_path(), c.as_path()]);
        std::fs::remove_file(&a).unwrap();
        assert_eq!(after.again().changed_since(&after), [a.as_path()]);
    }
}
