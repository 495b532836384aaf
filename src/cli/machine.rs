//! The commands about rules, this machine, and its settings.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::common::FactOutput;

/// `adoprof explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The rule to explain, or `numbers` for the thresholds that belong to no single rule; without it, list
    /// all rules.
    pub rule: Option<String>,
    /// Format of the result.
    #[command(flatten)]
    pub result: FactOutput,
}

/// `adoprof mcp`.
#[derive(Debug, Args)]
pub struct McpArgs {
    /// The folder that the agent may read, and run programs in; paths that leave it are refused.
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub root: PathBuf,
}

/// `adoprof doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Number of the device, from 0.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub device: usize,
    /// The ncu program to use.
    #[arg(long, env = "ADOPROF_NCU", value_name = "PATH")]
    pub ncu: Option<PathBuf>,
    /// Measure the device's rates and latencies (under a minute) and save them in your configuration.
    #[arg(long)]
    pub measure: bool,
    /// With --measure: print the measurements without saving them.
    #[arg(long, requires = "measure")]
    pub dry_run: bool,
    /// With --measure: write to this file instead.
    #[arg(short, long, requires = "measure", conflicts_with = "dry_run", value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Format of the result.
    #[command(flatten)]
    pub result: FactOutput,
    /// Also check this program's device code, without running it: whether the GPU can run it, line information,
    /// debug builds.
    #[arg(last = true, conflicts_with = "measure", value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// `adoprof config`.
#[derive(Debug, Args)]
pub struct ConfigArgs {
    /// Format of the result.
    #[command(flatten)]
    pub result: FactOutput,
}
