//! Where compiled kernels and materialised sources are kept between runs.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The cache folder: `ADOPROF_CACHE`, else `$XDG_CACHE_HOME/adoprof`, else `~/.cache/adoprof`, else a
/// folder under the system's temporary one.
#[must_use]
pub fn folder() -> PathBuf {
    let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(own) = from("ADOPROF_CACHE") {
        return own.into();
    }
    from("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| from("HOME").map(|home| Path::new(&home).join(".cache")))
        .unwrap_or_else(std::env::temp_dir)
        .join("adoprof")
}

/// Writes a file whole or not at all: to a temporary file beside it, then renamed into place.
///
/// # Errors
/// [`Error::Input`] where the folder can't be created or written.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new("."));
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, "create this folder", &e))?;
    let mut file =
        tempfile::NamedTempFile::new_in(folder).map_err(|e| Error::io(folder, "write here", &e))?;
    std::io::Write::write_all(&mut file, bytes).map_err(|e| Error::io(path, "write", &e))?;
    file.persist(path).map_err(|e| Error::io(path, "write", &e.error))?;
    Ok(())
}
