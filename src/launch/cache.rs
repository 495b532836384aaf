//! Where compiled kernels and materialised sources are kept between runs.

use std::path::{Path, PathBuf};

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
