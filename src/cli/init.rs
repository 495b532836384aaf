//! The command line of a first manifest.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::profiling::duration;

/// `adoprof init`.
#[derive(Debug, Args)]
#[command(
    override_usage = "adoprof init [OPTIONS] <FILE.cu>\n       adoprof init [OPTIONS] -- <PROGRAM>..."
)]
#[command(after_help = "\
The manifest, ladder.toml, is written into the source's folder, or, for a program, into the folder that -o names. \
What can be read is filled in: signatures, types, launch bounds; of a program its kernels as a survey sees them. What \
can't is guessed and marked GUESS, for you to correct. `adoprof ladder check DIR` then finds what does not fit.")]
pub struct InitArgs {
    /// A CUDA source: its kernels become steps, or, where it has a main, it becomes a program to build.
    #[arg(value_name = "FILE.cu", required_unless_present = "program", conflicts_with = "program")]
    pub file: Option<PathBuf>,
    /// The folder of the ladder of a program; commands run in it.
    #[arg(short, long, value_name = "DIR", default_value = ".", conflicts_with = "file")]
    pub output: PathBuf,
    /// Overwrite a ladder.toml that is there.
    #[arg(long)]
    pub force: bool,
    /// Give the survey of a program up after this time, such as 90s or 10m.
    #[arg(long, default_value = "10m", value_parser = duration)]
    pub timeout: Duration,
    /// A program and its arguments, which are run once.
    #[arg(last = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}
