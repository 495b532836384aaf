//! A folder of ncu's pages, some of them compressed: one profile.

use std::path::{Path, PathBuf};

use super::Profile;
use crate::error::{Error, Result};
use crate::export::csv::pages;
use crate::store;

/// Reads the pages in a folder as one profile; `None` where there are none.
///
/// # Errors
/// [`Error::Input`] where a page is damaged.
pub fn read_packed(folder: &Path) -> Result<Option<Profile>> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(None) };
    let is_page = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".csv") || name.ends_with(".csv.zst")
    };
    let mut paths: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(is_page).collect();
    paths.sort();
    let mut read: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    for path in paths {
        let bytes = std::fs::read(&path).map_err(|e| Error::io(&path, "read", &e))?;
        let bytes = if path.extension().is_some_and(|extension| extension == "zst") {
            store::unpack(&bytes).map_err(|e| Error::io(&path, "decompress", &e))?
        } else {
            bytes
        };
        read.push((path, bytes));
    }
    if read.is_empty() {
        return Ok(None);
    }
    let name = folder.display().to_string();
    Profile::from_export(name, pages::read(&read)?).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compressed_pages_beside_plain_ones_are_one_profile() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read_packed(folder.path()).unwrap().is_none(), "no page yet");
        assert!(read_packed(&folder.path().join("absent")).unwrap().is_none());
        let raw = "\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n\"\",\"\",\"ns\"\n\
                   \"0\",\"saxpy\",\"7\"\n";
        let packed = zstd::encode_all(raw.as_bytes(), 3).unwrap();
        std::fs::write(folder.path().join("p.raw.csv.zst"), packed).unwrap();
        let profile = read_packed(folder.path()).unwrap().unwrap();
        assert_eq!(profile.frames.kernels().unwrap(), ["saxpy"]);
    }
}
