//! Saved profiles: a directory with the exports, the timing and the environment.
//!
//! ```text
//! profile.json       what was run, how fast, where; this module's `Meta`
//! raw.csv.zst        the raw page: ncu's, or made of its report in the same form
//! details.csv.zst    the details page
//! source.csv.zst     the source page, cuda,sass view
//! sass.csv.zst       its sass view, where ncu exported kernels without line information
//! report.ncu-rep     the report itself, for Nsight Compute's window; not in shipped recordings
//! report-2.ncu-rep   that of a second run, where the first left something undecided
//! ```

mod embedded;
mod meta;
mod packing;
mod recordings;
mod writer;

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::export::csv::Pages;
use crate::files;

pub use meta::{Environment, META_SCHEMA, Meta};
pub(crate) use packing::unpack;
pub use recordings::{recorded, recorded_file, recorded_sizes, recording, recordings};
pub(crate) use writer::is_same_file;
pub use writer::{Target, newest_local, next_local_folder};

/// The file that makes a directory a saved profile.
pub const META_FILE: &str = "profile.json";
/// The kept report.
pub const REPORT_FILE: &str = "report.ncu-rep";

/// A saved profile, read.
#[derive(Debug, Clone)]
pub struct Saved {
    /// What was run and where.
    pub meta: Meta,
    /// ncu's pages.
    pub pages: Pages,
}

/// True where a directory is a saved profile.
#[must_use]
pub fn is_saved(folder: &Path) -> bool {
    folder.join(META_FILE).is_file()
}

/// Reads what a saved profile says of itself.
///
/// # Errors
/// [`Error::Input`] where the directory is no saved profile or `profile.json` is damaged.
pub fn read_meta(folder: &Path) -> Result<Meta> {
    let path = folder.join(META_FILE);
    let text = files::read_text(&path).map_err(|e| {
        let why = match e.kind() {
            std::io::ErrorKind::NotFound => format!("it has no {META_FILE}"),
            _ => format!("{META_FILE} cannot be read: {e}"),
        };
        Error::input(
            folder,
            format!("this folder is not a saved profile ({why}); {}", instead(folder)),
        )
    })?;
    Meta::parse(&text, &path)
}

/// What a folder is that is no saved profile, and the command that takes it.
pub(crate) fn instead(folder: &Path) -> String {
    let shown = folder.display().to_string();
    let shown = shell_words::quote(shown.trim_end_matches('/'));
    let is_report = |path: &Path| path.extension().is_some_and(|it| it == "ncu-rep");
    let mut entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    if folder.join("ladder.toml").is_file() {
        format!("it is a ladder, which `adoprof run --ladder {shown}` takes")
    } else if entries.any(|entry| is_report(&entry.path())) {
        format!("name the reports in it: `adoprof analyze {shown}/*.ncu-rep`")
    } else {
        "adoprof saves profiles under .adoprof/<ladder>/<step>/<time>".to_owned()
    }
}

/// Reads a saved profile.
///
/// # Errors
/// [`Error::Input`] where the directory is no saved profile or a file of it is damaged.
pub fn read(folder: &Path) -> Result<Saved> {
    let meta = read_meta(folder)?;
    let page = |name: &str| read_page(folder, name);
    Ok(Saved {
        meta,
        pages: Pages {
            raw: page("raw")?,
            details: page("details")?,
            source: page("source")?,
            sass: page("sass")?,
        },
    })
}

/// A saved profile from the bytes of its files: `profile.json`, then its pages, not compressed.
///
/// # Errors
/// As [`read`].
pub(crate) fn of_parts(meta: &[u8], pages: &[&[u8]]) -> Result<Saved> {
    let meta = Meta::parse(&String::from_utf8_lossy(meta), Path::new(META_FILE))?;
    let page = |at: usize| {
        pages.get(at).map(|page| String::from_utf8_lossy(page).into_owned()).unwrap_or_default()
    };
    let pages = Pages { raw: page(0), details: page(1), source: page(2), sass: page(3) };
    Ok(Saved { meta, pages })
}

/// The bytes of a compressed page.
///
/// # Errors
/// Where it can't be decompressed.
pub(crate) fn unpacked(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    packing::unpack(bytes)
}

/// A page, compressed or plain; empty where it is absent.
fn read_page(folder: &Path, name: &str) -> Result<String> {
    let compressed = folder.join(format!("{name}.csv.zst"));
    let plain = folder.join(format!("{name}.csv"));
    let (path, bytes): (PathBuf, _) = if compressed.is_file() {
        let bytes = files::read(&compressed, packing::LARGEST)
            .map_err(|e| Error::io(&compressed, "read", &e))?;
        let text = unpack(&bytes).map_err(|e| Error::io(&compressed, "decompress", &e))?;
        (compressed, text)
    } else if plain.is_file() {
        let bytes =
            files::read(&plain, packing::LARGEST).map_err(|e| Error::io(&plain, "read", &e))?;
        (plain, bytes)
    } else {
        return Ok(String::new());
    };
    String::from_utf8(bytes)
        .map_err(|_| Error::input(path, "is not a text file; collect the profile again"))
}
