//! The library that the driver loads into the program. `injection/` has its source.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// The library; empty where the system is not Linux.
static LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/adoprof_survey.so"));

/// True where adoprof was built with one.
pub(super) fn is_there() -> bool {
    !LIBRARY.is_empty()
}

/// Writes the library into a folder.
///
/// # Errors
/// [`Error::Environment`] where adoprof was built for a system without one, [`Error::Input`] where the
/// folder can't be written.
pub fn deploy(folder: &Path) -> Result<PathBuf> {
    if !is_there() {
        let text = "a survey needs Linux: CUDA's driver loads no library into programs elsewhere";
        return Err(Error::Environment(text.to_owned()));
    }
    let path = folder.join("libadoprof_survey.so");
    std::fs::write(&path, LIBRARY).map_err(|error| Error::io(&path, "write", &error))?;
    Ok(path)
}

/// How the name of a waiting library begins, among the files that a process has mapped.
pub(super) const WAITING: &str = "libadoprof_survey-";

/// Writes the library into a folder that outlives adoprof, once for each version: programs may be running with it.
///
/// # Errors
/// As [`deploy`].
pub(super) fn deploy_once(folder: &Path) -> Result<PathBuf> {
    let [a, b, c, d, ..] = <[u8; 32]>::from(Sha256::digest(LIBRARY));
    let version = u32::from_be_bytes([a, b, c, d]);
    let path = folder.join(format!("{WAITING}{version:08x}.so"));
    if !path.is_file() {
        let staging = tempfile::tempdir_in(folder);
        let staging = staging.map_err(|error| Error::io(folder, "make a folder in", &error))?;
        let written = deploy(staging.path())?;
        std::fs::rename(written, &path).map_err(|error| Error::io(&path, "write", &error))?;
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_small_and_can_not_panic() {
        assert!(LIBRARY.len() < 500_000, "{} bytes", LIBRARY.len());
        let has = |text: &[u8]| LIBRARY.windows(text.len()).any(|window| window == text);
        assert!(has(b"InitializeInjection"));
        // The panic handler names itself; it is left out where nothing can reach it.
        assert!(!has(b"adoprof_survey_panicked"));
    }
}
