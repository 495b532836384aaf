//! Packs the table of instruction encodings that travels inside the binary.

use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;

const FILE: &str = "src/isa/instructions.table";

/// Writes the table into the build's folder, packed, where `src/isa/table.rs` includes it.
pub(crate) fn pack() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={FILE}");
    let packed = zstd::bulk::compress(&fs::read(FILE)?, crate::kernels::LEVEL)?;
    let to = Path::new(&env::var("OUT_DIR")?).join("instructions.table.zst");
    Ok(fs::write(to, packed)?)
}
