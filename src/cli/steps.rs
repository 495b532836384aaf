//! The commands about ladders and their steps.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::bench::Calibrate;
use super::common::{FactOutput, Origin, Output, Problem};
use super::profiling::{ProfilingArgs, duration};
use super::slurm::OnArgs;
use super::sweep::{ChosenDevices, devices};
use crate::report::TableFormat;

/// `adoprof step`.
#[derive(Debug, Args)]
pub struct StepArgs {
    /// The step, such as v2 or ado/v2.
    #[arg(long, value_name = "STEP")]
    pub kernel: String,
    /// Ladder and size.
    #[command(flatten)]
    pub problem: Problem,
    /// Live or recorded.
    #[command(flatten)]
    pub origin: Origin,
    /// Compare with this step, saved profile, report or CSV export.
    #[arg(long, value_name = "BASE")]
    pub baseline: Option<String>,
    /// Also time the CPU references, with one thread and with all.
    #[arg(long)]
    pub cpu: bool,
    /// Verify and time, but do not profile.
    #[arg(long)]
    pub time_only: bool,
    /// Also try changes that need no new code and suit the findings, and time each: compiler flags, a
    /// register cap, the carve-out, the step's tunables halved and doubled.
    #[arg(long = "try", conflicts_with = "time_only")]
    pub tries: bool,
    /// Profiling.
    #[command(flatten)]
    pub profiling: ProfilingArgs,
    /// Correction of estimates.
    #[command(flatten)]
    pub calibrate: Calibrate,
    /// Format of the result.
    #[command(flatten)]
    pub output: Output,
}

/// `adoprof run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Ladder and size.
    #[command(flatten)]
    pub problem: Problem,
    /// Live or recorded.
    #[command(flatten)]
    pub origin: Origin,
    /// Leave out the side steps, each of which removes a single fault.
    #[arg(long)]
    pub main_only: bool,
    /// Also time the CPU references, with one thread and with all.
    #[arg(long)]
    pub cpu: bool,
    /// Spread the steps over these devices: all, or their numbers such as 0,1.
    #[arg(
        long,
        value_name = "LIST|all",
        value_parser = devices,
        conflicts_with_all = ["device", "recorded"]
    )]
    pub devices: Option<ChosenDevices>,
    /// Where the work is done.
    #[command(flatten)]
    pub on: OnArgs,
    /// Profiling.
    #[command(flatten)]
    pub profiling: ProfilingArgs,
    /// Correction of estimates.
    #[command(flatten)]
    pub calibrate: Calibrate,
    /// Format of the result.
    #[command(flatten)]
    pub output: Output,
}

/// `adoprof ladder`.
#[derive(Debug, Args)]
pub struct LadderArgs {
    /// What to show; by default the list of ladders.
    #[command(subcommand)]
    pub command: Option<LadderCommand>,
    /// Format of the result.
    #[command(flatten)]
    pub result: FactOutput,
}

/// What to say of ladders.
#[derive(Debug, Subcommand)]
pub enum LadderCommand {
    /// The built-in ladders.
    List {
        /// The kernels with planted faults instead, which `adoprof bench` judges.
        #[arg(long)]
        faults: bool,
    },
    /// One ladder: its problem, its steps, what each changes, published figures.
    Show {
        /// A built-in ladder, or a directory with a ladder.toml.
        name: String,
    },
    /// Write a built-in ladder's manifest and kernels to a folder, to change and run them there.
    Copy {
        /// A built-in ladder.
        name: String,
        /// The folder to write to: a new or empty one.
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
    /// Report every mistake in your own manifest at once; with NVRTC, also what does not match its kernels.
    /// Launches nothing and runs no command of a program. Exits with 0 if nothing is wrong, 2 if the manifest
    /// has a mistake, and 4 if only a source does not compile.
    Check {
        /// The directory with the ladder.toml.
        #[arg(value_name = "DIR")]
        directory: PathBuf,
        /// Problem parameters to check it at, such as N=512,M=512,L=512.
        #[arg(long, value_name = "P=VALUE,…")]
        size: Option<String>,
    },
}

/// `adoprof limiter`.
#[derive(Debug, Args)]
pub struct LimiterArgs {
    /// The step, such as v2 or ado/v2.
    #[arg(long, value_name = "STEP")]
    pub kernel: String,
    /// Ladder and size.
    #[command(flatten)]
    pub problem: Problem,
    /// Live or recorded.
    #[command(flatten)]
    pub origin: Origin,
    /// Number of the device, from 0.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub device: usize,
    /// Count each variant's global loads and stores with ncu and compare them with the step's.
    #[arg(long)]
    pub check_counts: bool,
    /// The ncu program to use with --check-counts.
    #[arg(long, env = "ADOPROF_NCU", value_name = "PATH")]
    pub ncu: Option<PathBuf>,
    /// Give up after this time, such as 90s or 10m.
    #[arg(long, default_value = "10m", value_parser = duration)]
    pub timeout: Duration,
    /// Also save the result as JSON.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Format of the result.
    #[arg(long, value_enum, default_value_t = TableFormat::TEXT)]
    pub format: TableFormat,
}
