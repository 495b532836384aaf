//! An ncu of this machine.

use std::path::PathBuf;

use super::version::Version;

/// An ncu that answered `--version`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ncu {
    /// The program.
    pub program: PathBuf,
    /// Its release.
    pub version: Version,
    /// The folder of NVIDIA's own section files, where it was found. ncu forgets it as soon as
    /// another folder is named, so it must be named too.
    pub stock_sections: Option<PathBuf>,
}
