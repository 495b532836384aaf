//! A built-in ladder as a folder of files.

use std::path::{Path, PathBuf};

use super::manifest::FILE;
use super::{Ladder, source};
use crate::error::{Error, Result};
use crate::files::write_atomically;

impl Ladder {
    /// Writes a built-in ladder's manifest and sources to a folder that is empty or not there yet, and returns
    /// what was written. Sources of the ladder beside it come along.
    ///
    /// # Errors
    /// [`Error::Usage`] for an unknown name, [`Error::Input`] where the folder holds something or can't be written.
    pub fn copy_builtin(name: &str, to: &Path) -> Result<Vec<PathBuf>> {
        // An unknown name is refused, and the error says which there are.
        Self::builtin(name)?;
        if std::fs::read_dir(to).map_or(to.exists(), |mut entries| entries.next().is_some()) {
            return Err(Error::input(
                to,
                "is not empty and is not overwritten; name another folder",
            ));
        }
        let mut manifest = String::new();
        let mut written = Vec::new();
        for (path, text) in source::embedded(name) {
            let name = path.file_name().unwrap_or_default();
            if name == FILE {
                text.clone_into(&mut manifest);
                continue;
            }
            written.push(to.join(name));
            write_atomically(&to.join(name), text.as_bytes())?;
        }
        for file in beside(&manifest) {
            let name = file.rsplit('/').next().unwrap_or(&file).to_owned();
            let path = to.join(&name);
            if let (false, Some(text)) = (path.exists(), source::embedded_file(&file)) {
                write_atomically(&path, text.as_bytes())?;
                manifest = manifest.replace(&format!("\"../{file}\""), &format!("\"{name}\""));
                written.push(path);
            }
        }
        // Last: with it the folder is a ladder.
        written.push(to.join(FILE));
        write_atomically(&to.join(FILE), manifest.as_bytes())?;
        Ok(written)
    }
}

/// The files of other ladders that a manifest names: `reduce/r0.cu`.
fn beside(manifest: &str) -> Vec<String> {
    let mut files: Vec<String> = manifest
        .split("\"../")
        .skip(1)
        .filter_map(|rest| Some(rest.split_once('"')?.0.to_owned()))
        .collect();
    files.sort();
    files.dedup();
    files
}
