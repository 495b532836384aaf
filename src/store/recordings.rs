//! The recordings that travel inside the binary.

use std::collections::BTreeMap;
use std::path::Path;

use include_dir::{Dir, DirEntry, File, include_dir};

use super::packing::unpack;
use super::{META_FILE, Meta, Pages, Saved};
use crate::error::{Error, Result};

static PROFILES: Dir = include_dir!("$CARGO_MANIFEST_DIR/profiles");

/// The dictionaries that pages are packed with, `profiles/<kind>.dictionary`.
pub(super) fn dictionaries() -> impl Iterator<Item = &'static [u8]> {
    let named = |file: &&File| file.path().extension().is_some_and(|end| end == "dictionary");
    PROFILES.files().filter(named).map(File::contents)
}

/// Every recording's folder (`ado/v2`) with what it says of itself.
///
/// # Errors
/// [`Error::Input`] where a shipped recording is damaged, which the tests exclude.
pub fn recordings() -> Result<Vec<(String, Meta)>> {
    under(&PROFILES)
}

/// The recordings of one ladder, which lie in the folder of its name.
fn of_ladder(ladder: &str) -> Result<Vec<(String, Meta)>> {
    inner(&PROFILES, ladder).map_or_else(|| Ok(Vec::new()), under)
}

/// The folder of a name in a folder. `Dir::get_dir` and `Dir::get_file` compare whole paths with those
/// of all entries, for hundreds of recordings of each a noticeable part of the time of reading them.
fn inner(folder: &'static Dir, name: &str) -> Option<&'static Dir<'static>> {
    folder.dirs().find(|inner| inner.path().file_name().is_some_and(|last| last == name))
}

/// The file of a name in a folder.
fn file(folder: &'static Dir, name: &str) -> Option<&'static File<'static>> {
    folder.files().find(|file| file.path().file_name().is_some_and(|last| last == name))
}

/// The folder of a recording, by what [`recordings`] names it.
fn folder(name: &str) -> Option<&'static Dir<'static>> {
    Path::new(name).iter().try_fold(&PROFILES, |folder, part| inner(folder, part.to_str()?))
}

fn under(folder: &'static Dir) -> Result<Vec<(String, Meta)>> {
    let mut found = Vec::new();
    visit(folder, &mut found)?;
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

fn visit(folder: &'static Dir, found: &mut Vec<(String, Meta)>) -> Result<()> {
    for entry in folder.entries() {
        let DirEntry::Dir(inner) = entry else { continue };
        if let Some(file) = file(inner, META_FILE) {
            let text = file.contents_utf8().unwrap_or_default();
            let name = inner.path().to_string_lossy().into_owned();
            found.push((name, Meta::parse(text, file.path())?));
        }
        visit(inner, found)?;
    }
    Ok(())
}

/// The sizes at which a step was recorded.
///
/// # Errors
/// As [`recordings`].
pub fn recorded_sizes(ladder: &str, step: &str) -> Result<Vec<BTreeMap<String, u64>>> {
    Ok(of_ladder(ladder)?
        .into_iter()
        .filter_map(|(_, meta)| meta.step)
        .filter(|info| info.ladder == ladder && info.name == step)
        .map(|info| info.size)
        .collect())
}

/// The recording of a step at a size; `None` where there is none.
///
/// # Errors
/// As [`recordings`].
pub fn recording(ladder: &str, step: &str, size: &BTreeMap<String, u64>) -> Result<Option<Saved>> {
    for (folder, meta) in of_ladder(ladder)? {
        let matches = meta
            .step
            .as_ref()
            .is_some_and(|info| info.ladder == ladder && info.name == step && info.size == *size);
        if matches {
            return read(&folder, meta).map(Some);
        }
    }
    Ok(None)
}

/// A file beside the recording of a step, `profiles/<ladder>/<step>/<name>`; `None` where there is
/// none.
#[must_use]
pub fn recorded_file(ladder: &str, step: &str, name: &str) -> Option<&'static str> {
    file(inner(inner(&PROFILES, ladder)?, step)?, name)?.contents_utf8()
}

fn read(folder: &str, mut meta: Meta) -> Result<Saved> {
    if let Some(step) = &mut meta.step {
        step.recorded = Some(meta.environment.date.clone());
    }
    let place = self::folder(folder);
    let page = |name: &str| -> Result<String> {
        let name = format!("{name}.csv.zst");
        let Some(file) = place.and_then(|place| file(place, &name)) else {
            return Ok(String::new());
        };
        unpack(file.contents()).ok().and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(
            || {
                let path = Path::new(folder).join(&name);
                Error::input(path, "this shipped recording is damaged; reinstall adoprof")
            },
        )
    };
    let pages = Pages { raw: page("raw")?, details: page("details")?, source: page("source")? };
    Ok(Saved { meta, pages })
}
