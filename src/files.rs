//! Files written whole or not at all.

use std::path::Path;

use crate::error::{Error, Result};

/// Writes a file whole or not at all: to a temporary file beside it, then renamed into place.
///
/// # Errors
/// [`Error::Input`] where the folder can't be created or written.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new("."));
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, "create this folder", &e))?;
    let mut file =
        tempfile::NamedTempFile::new_in(folder).map_err(|e| Error::io(folder, "write here", &e))?;
    std::io::Write::write_all(&mut file, bytes).map_err(|e| Error::io(path, "write", &e))?;
    file.persist(path).map_err(|e| Error::io(path, "write", &e.error))?;
    Ok(())
}
