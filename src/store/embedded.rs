//! The folder of recordings inside the binary.

use std::path::Path;

use include_dir::{Dir, File, include_dir};

pub(super) static PROFILES: Dir = include_dir!("$CARGO_MANIFEST_DIR/profiles");

/// The dictionaries that pages are packed with, `profiles/<kind>.dictionary`.
pub(super) fn dictionaries() -> impl Iterator<Item = &'static [u8]> {
    let named = |file: &&File| file.path().extension().is_some_and(|end| end == "dictionary");
    PROFILES.files().filter(named).map(File::contents)
}

/// The folder of a name in a folder. `Dir::get_dir` and `Dir::get_file` compare whole paths with those
/// of all entries, for hundreds of recordings of each a noticeable part of the time of reading them.
pub(super) fn inner(folder: &'static Dir, name: &str) -> Option<&'static Dir<'static>> {
    folder.dirs().find(|inner| inner.path().file_name().is_some_and(|last| last == name))
}

/// The file of a name in a folder.
pub(super) fn file(folder: &'static Dir, name: &str) -> Option<&'static File<'static>> {
    folder.files().find(|file| file.path().file_name().is_some_and(|last| last == name))
}

/// The folder of a recording, by what [`recordings`] names it.
pub(super) fn folder(name: &str) -> Option<&'static Dir<'static>> {
    Path::new(name).iter().try_fold(&PROFILES, |folder, part| inner(folder, part.to_str()?))
}
