//! The commands that adoprof runs itself.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::common::Problem;
use crate::ladder::Tuning;

/// Whom to look after; its standard input ends with them.
#[derive(Debug, Args)]
pub struct WatcherArgs {
    /// How the marks of its runs begin.
    pub mark: String,
}

/// One rank of several.
#[derive(Debug, Args)]
pub struct RankArgs {
    /// Where the ranks' files lie.
    pub folder: PathBuf,
    /// The program and its arguments.
    #[arg(last = true, required = true)]
    pub program: Vec<OsString>,
}

/// The hidden launcher.
#[derive(Debug, Args)]
pub struct LauncherArgs {
    /// Ladder and size.
    #[command(flatten)]
    pub problem: Problem,
    /// The step.
    #[arg(long)]
    pub kernel: String,
    /// Tunables, flags, block and carve-out, as JSON.
    #[arg(long, value_parser = tuning)]
    pub tuning: Option<Tuning>,
    /// Which device.
    #[arg(long, default_value_t = 0)]
    pub device: usize,
    /// A variant of it in its place.
    #[arg(long)]
    pub variant: Option<String>,
    /// The longest that one run may take, seconds.
    #[arg(long)]
    pub limit_s: u64,
}

/// A tuning as JSON.
pub(super) fn tuning(text: &str) -> Result<Tuning, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}
