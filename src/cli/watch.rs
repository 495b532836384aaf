//! The command line of `adoprof watch`.

use std::path::PathBuf;

use clap::Args;

use super::common::{Output, Problem};
use super::profiling::ProfilingArgs;

/// `adoprof watch`.
#[derive(Debug, Args)]
#[command(after_help = "\
The step runs at once, and again whenever one of its files changes: the manifest, its source and included \
headers, the step that it is checked against, files that a program's commands name. Each report shows the \
difference to the last good run. After an edit that does not compile or gives a wrong answer, watch shows the \
error and goes on; an edit during a run restarts the run. Ctrl-C ends the watch.

Profiles are saved as `adoprof step` saves them, and a line for each run in watch.jsonl beside them.")]
pub struct WatchArgs {
    /// The step, such as v3 or ./mine/fast.
    #[arg(long, value_name = "STEP")]
    pub kernel: String,
    /// Ladder and size.
    #[command(flatten)]
    pub problem: Problem,
    /// Compare with this step, saved profile, report or CSV export instead of the last good run.
    #[arg(long, value_name = "BASE")]
    pub baseline: Option<String>,
    /// Also run again when this file changes.
    #[arg(long, value_name = "FILE")]
    pub also: Vec<PathBuf>,
    /// Verify and time, but do not profile.
    #[arg(long)]
    pub time_only: bool,
    /// Profiling.
    #[command(flatten)]
    pub profiling: ProfilingArgs,
    /// Format of the result.
    #[command(flatten)]
    pub output: Output,
}
