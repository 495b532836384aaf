//! The recordings that travel inside the binary.

use std::collections::BTreeMap;
use std::path::Path;

use include_dir::{Dir, DirEntry};

use super::embedded::{PROFILES, file, folder, inner};
use super::packing::unpack;
use super::{META_FILE, Meta, Saved};
use crate::error::{Error, Result};
use crate::export::csv::Pages;

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

/// What the recording of a step at a size says of itself; `None` where there is none.
///
/// # Errors
/// As [`recordings`].
pub fn recorded(ladder: &str, step: &str, size: &BTreeMap<String, u64>) -> Result<Option<Meta>> {
    let matches = |meta: &Meta| {
        let info = meta.step.as_ref();
        info.is_some_and(|info| info.ladder == ladder && info.name == step && info.size == *size)
    };
    Ok(of_ladder(ladder)?.into_iter().map(|(_, meta)| meta).find(matches))
}

/// A file beside the recording of a step, `profiles/<ladder>/<step>/<name>`; `None` where there is
/// none.
#[must_use]
pub fn recorded_file(ladder: &str, step: &str, name: &str) -> Option<&'static str> {
    file(inner(inner(&PROFILES, ladder)?, step)?, name)?.contents_utf8()
}

fn read(name: &str, mut meta: Meta) -> Result<Saved> {
    if let Some(step) = &mut meta.step {
        step.recorded = Some(meta.environment.date.clone());
    }
    let place = folder(name);
    let page = |page: &str| -> Result<String> {
        let page = format!("{page}.csv.zst");
        let Some(file) = place.and_then(|place| file(place, &page)) else {
            return Ok(String::new());
        };
        unpack(file.contents()).ok().and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(
            || {
                let path = Path::new(name).join(&page);
                Error::input(path, "this shipped recording is damaged; reinstall adoprof")
            },
        )
    };
    let pages = Pages {
        raw: page("raw")?,
        details: page("details")?,
        source: page("source")?,
        ..Pages::default()
    };
    Ok(Saved { meta, pages })
}
