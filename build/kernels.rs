//! Packs the kernels and manifests that travel inside the binary: as text they would be a megabyte of it.

use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;

/// As tight as zstd packs without taking more memory to unpack.
pub(crate) const LEVEL: i32 = 19;

/// Writes `kernels/` into the build's folder, each file packed on its own under its own name. Pages (`.md`) are left out: they
/// are for readers of the repository.
pub(crate) fn pack() -> Result<(), Box<dyn Error>> {
    let to = Path::new(&env::var("OUT_DIR")?).join("kernels");
    if to.exists() {
        fs::remove_dir_all(&to)?;
    }
    pack_folder(Path::new("kernels"), &to)
}

fn pack_folder(from: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, packed) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            pack_folder(&path, &packed)?;
        } else if path.extension().is_none_or(|end| end != "md") {
            fs::write(packed, zstd::bulk::compress(&fs::read(path)?, LEVEL)?)?;
        }
    }
    Ok(())
}
