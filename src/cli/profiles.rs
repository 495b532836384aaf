//! The commands about programs and profiles.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;

use super::bench::Calibrate;
use super::common::Output;
use super::common::pattern;
use super::profiling::{ProfilingArgs, duration};
use super::slurm::OnArgs;
use super::survey::SurveyArgs;
use crate::ladder;

/// `adoprof profile`.
#[derive(Debug, Args)]
pub struct ProfileArgs {
    /// Only kernels whose name matches this regular expression.
    #[arg(short, long, value_name = "REGEX", value_parser = pattern())]
    pub kernel: Option<String>,
    /// Skip this many matching launches first.
    #[arg(long, value_name = "N")]
    pub launch_skip: Option<u64>,
    /// Profile at most this many launches (10 without a survey).
    #[arg(long, value_name = "N")]
    pub launch_count: Option<u64>,
    /// Only launches within this NVTX range, written as for ncu's --nvtx-include: `step/` is the range that a
    /// thread pushed as `step`. Skips the survey.
    #[arg(long, value_name = "RANGE", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub nvtx: Option<String>,
    /// Start the program so that `--pid` can survey it while it runs. Until then, this costs nothing.
    #[arg(
        long,
        conflicts_with_all = ["no_survey", "survey", "kernel", "launch_skip", "launch_count", "baseline", "nvtx", "on"]
    )]
    pub attachable: bool,
    /// Survey some seconds of this running process and its children, which --attachable started.
    #[arg(long, value_name = "PID", conflicts_with_all = [
        "program", "attachable", "no_survey", "phase", "kernel", "launch_skip", "launch_count", "baseline", "nvtx", "on",
        "dry_run", "output",
    ])]
    pub pid: Option<u32>,
    /// How long to survey it, such as 10s.
    #[arg(long = "for", default_value = "10s", value_parser = duration, value_name = "TIME", requires = "pid")]
    pub length: Duration,
    /// The survey.
    #[command(flatten)]
    pub survey: SurveyArgs,
    /// Compare with this step, saved profile, report or CSV export.
    #[arg(long, value_name = "BASE")]
    pub baseline: Option<String>,
    /// Profiling.
    #[command(flatten)]
    pub profiling: ProfilingArgs,
    /// Where the work is done.
    #[command(flatten)]
    pub on: OnArgs,
    /// Correction of estimates.
    #[command(flatten)]
    pub calibrate: Calibrate,
    /// Format of the result.
    #[command(flatten)]
    pub output: Output,
    /// The program and its arguments.
    #[arg(last = true, required_unless_present = "pid", value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// `adoprof analyze`.
#[derive(Debug, Args)]
pub struct AnalyzeArgs {
    /// Steps, saved profiles, .ncu-rep reports, CSV exports, pages that ncu printed, and folders with these in them or
    /// further below.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<String>,
    /// The ladder that bare step names belong to.
    #[arg(long, default_value = ladder::DEFAULT, value_name = "NAME|DIR")]
    pub ladder: String,
    /// Only kernels whose name matches this regular expression.
    #[arg(short, long, value_name = "REGEX", value_parser = pattern())]
    pub kernel: Option<String>,
    /// Compare with this step, saved profile, report or CSV export.
    #[arg(long, value_name = "BASE")]
    pub baseline: Option<String>,
    /// Correction of estimates.
    #[command(flatten)]
    pub calibrate: Calibrate,
    /// Format of the result.
    #[command(flatten)]
    pub output: Output,
}

/// `adoprof diff`.
#[derive(Debug, Args)]
pub struct DiffArgs {
    /// The baseline: a step, a saved profile, a report or an export.
    pub base: String,
    /// What to compare with it: a step, a saved profile, a report or an export.
    pub new: String,
    /// The ladder that bare step names belong to.
    #[arg(long, default_value = ladder::DEFAULT, value_name = "NAME|DIR")]
    pub ladder: String,
    /// Format of the result.
    #[command(flatten)]
    pub output: Output,
}
