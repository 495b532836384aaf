//! The command line of a first manifest.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::common::FactOutput;
use super::profiling::duration;

/// `adoprof init`.
#[derive(Debug, Args)]
#[command(
    override_usage = "adoprof init [OPTIONS] <FILE.cu>\n       adoprof init [OPTIONS] -- <PROGRAM>..."
)]
#[command(after_help = "\
The manifest, ladder.toml, goes into the source's folder or, for a program, into the folder that -o names. It \
holds what can be read: signatures, types and launch bounds, or the kernels that a survey of the program sees. \
The rest is guessed and marked GUESS for you to correct; `adoprof ladder check DIR` then lists what is still \
wrong.")]
pub struct InitArgs {
    /// A CUDA source: its kernels become steps, or, if it has a main(), it becomes a program to build.
    #[arg(value_name = "FILE.cu", required_unless_present = "program", conflicts_with = "program")]
    pub file: Option<PathBuf>,
    /// The folder for a program's ladder, in which its commands run.
    #[arg(short, long, value_name = "DIR", default_value = ".", conflicts_with = "file")]
    pub output: PathBuf,
    /// Overwrite an existing ladder.toml.
    #[arg(long)]
    pub force: bool,
    /// Give up on surveying a program after this time, such as 90s or 10m.
    #[arg(long, default_value = "10m", value_parser = duration)]
    pub timeout: Duration,
    /// Format of the result.
    #[command(flatten)]
    pub result: FactOutput,
    /// A program and its arguments, which adoprof runs once.
    #[arg(last = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}
