//! Names of folders, from names that anybody may have chosen.

use std::path::{Path, PathBuf};

/// The longest word, bytes: a file system takes 255 for a name, the key of an object 1,024 in all.
const LONGEST: usize = 80;
/// The word for a name of which nothing can stand in a folder's.
const NAMELESS: &str = "unknown";
/// The extension of a profile's file.
pub(super) const EXTENSION: &str = "parquet";

/// Which GPU, program and date a file is about, as its folders say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Partition {
    pub gpu: String,
    pub program: String,
    pub date: String,
}

impl Partition {
    pub(super) fn new(gpu: &str, program: &str, date: &str) -> Self {
        Self { gpu: word(gpu), program: word(program), date: word(date) }
    }

    /// The path of a profile's file within the store, with `/` between its parts.
    pub(super) fn path(&self, profile: &str) -> String {
        let Self { gpu, program, date } = self;
        format!("gpu={gpu}/program={program}/date={date}/{profile}.{EXTENSION}")
    }
}

/// A profile's file in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stored {
    /// Its path within the store, with `/` between its parts.
    pub path: String,
    /// What tells it from another file that lay there before; empty in a folder, where the file itself is read.
    pub version: String,
}

impl Stored {
    /// The profile's name, which is that of its file.
    pub(crate) fn profile(&self) -> &str {
        stem(&self.path).unwrap_or_default()
    }
}

/// A name as a word that any file system and any address takes as it is: small letters, digits, `.`, `_` and `-`. Two
/// names may give the same word: the files are told apart by their own names, and say the name in full.
pub(super) fn word(name: &str) -> String {
    let mut word = String::new();
    for letter in name.chars() {
        if letter.is_ascii_alphanumeric() || letter == '_' || letter == '.' {
            word.push(letter.to_ascii_lowercase());
        } else if !word.ends_with('-') {
            word.push('-');
        }
    }
    word.truncate(LONGEST);
    match word.trim_matches(['-', '.']) {
        "" => NAMELESS.to_owned(),
        word => word.to_owned(),
    }
}

/// What a path's folder says: `of("gpu=a/program=b/…", "program")` is `b`.
pub(super) fn of<'a>(path: &'a str, key: &str) -> Option<&'a str> {
    path.split('/').find_map(|part| part.strip_prefix(key)?.strip_prefix('='))
}

/// The name of a profile's file without its extension.
pub(super) fn stem(path: &str) -> Option<&str> {
    path.rsplit('/').next()?.strip_suffix(EXTENSION)?.strip_suffix('.')
}

/// The files below a folder whose names end as profiles' do, as paths within it, in their order. Four folders deep,
/// so that what others put together, by year say, is found too; names that begin with a dot are left out.
///
/// # Errors
/// The system's, where a folder can't be read; none where the first is not there.
pub(super) fn files(root: &Path) -> std::io::Result<Vec<String>> {
    const DEEPEST: usize = 4;
    let mut found = Vec::new();
    let mut open = vec![(root.to_owned(), String::new(), 0)];
    while let Some((folder, prefix, depth)) = open.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Err(error) if depth == 0 && error.kind() == std::io::ErrorKind::NotFound => break,
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
            let path = format!("{prefix}{name}");
            let is_folder = entry.file_type()?.is_dir();
            if is_folder && depth < DEEPEST {
                open.push((entry.path(), format!("{path}/"), depth + 1));
            } else if !is_folder && stem(&path).is_some() {
                found.push(path);
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// A path within a store as one of this system's.
pub(super) fn local(root: &Path, path: &str) -> PathBuf {
    path.split('/').fold(root.to_owned(), |folder, part| folder.join(part))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_words() {
        for (name, expected) in [
            ("NVIDIA H200", "nvidia-h200"),
            ("ado/v2", "ado-v2"),
            ("../../etc/passwd", "etc-passwd"),
            ("..", "unknown"),
            ("", "unknown"),
            ("a\0b\nc", "a-b-c"),
            ("gpu=x/../y", "gpu-x-..-y"),
            ("Übung 10%", "bung-10"),
            ("2026-11-20", "2026-11-20"),
        ] {
            assert_eq!(word(name), expected, "{name:?}");
        }
        assert_eq!(word(&"x".repeat(1000)).len(), LONGEST);
        let path = Partition::new("NVIDIA H200", "ado/v2", "2026-11-20").path("0123");
        assert_eq!(path, "gpu=nvidia-h200/program=ado-v2/date=2026-11-20/0123.parquet");
        assert_eq!(of(&path, "program"), Some("ado-v2"));
        assert_eq!((of(&path, "year"), stem(&path)), (None, Some("0123")));
    }

    proptest! {
        #[test]
        fn no_name_leaves_its_folder(gpu: String, program: String, date: String) {
            let path = Partition::new(&gpu, &program, &date).path("id");
            let parts: Vec<&str> = path.split('/').collect();
            prop_assert_eq!(parts.len(), 4);
            prop_assert!(parts.iter().all(|part| !part.contains("..") || part.contains('=')));
            prop_assert!(path.bytes().all(|byte| byte.is_ascii_graphic() && !b"\\%?*:\"<>|".contains(&byte)));
            prop_assert!(parts.iter().all(|part| part.len() < 100));
        }
    }

    #[test]
    fn files_are_found_below_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("gpu=a/program=b/date=c")).unwrap();
        std::fs::create_dir_all(at(".hidden")).unwrap();
        for name in [
            "gpu=a/program=b/date=c/2.parquet",
            "1.parquet",
            "notes.txt",
            ".hidden/3.parquet",
            ".tmp.parquet",
        ] {
            std::fs::write(at(name), "").unwrap();
        }
        let found = files(folder.path()).unwrap();
        assert_eq!(found, ["1.parquet", "gpu=a/program=b/date=c/2.parquet"]);
        assert_eq!(files(&at("none")).unwrap(), Vec::<String>::new());
        assert_eq!(local(Path::new("s"), "a/b"), Path::new("s").join("a").join("b"));
    }
}
