//! The command line of sweeps.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::common::Problem;
use super::helpers::tuning;
use super::profiling::duration;
use super::slurm::OnArgs;
use crate::ladder::Tuning;
use crate::ncu::Level;
use crate::report::TableFormat;

/// `adoprof sweep`.
#[derive(Debug, Args)]
#[command(after_help = "\
What --over takes (give it several times to run every combination):
  N=256,512,1024            a parameter of the ladder (`adoprof ladder show NAME` lists them)
  BLOCK=64,128              a tunable that the step declares, such as `tune = { BLOCK = 128 }`:
                            grid, block and shared may use it; the compiler gets -DBLOCK=64
  block=64,128,256          threads per block in x; the grid stays as it is, so the kernel must
                            give the right answer with any block
  'flags=-ftz=true|-DA=1|'  compiler flags, alternatives separated by bars; empty means no flags
  maxrregcount=default,32   registers per thread, at most
  dlcm=default,ca,cg        where loads from global memory are cached (ptxas -dlcm)
  ftz=true,false            arithmetic; also prec-div, prec-sqrt, fast-math
  carveout=0,50,100         percentage of L1 to request as shared memory
`default` leaves the choice to the manifest and the compiler.

Examples:
  adoprof sweep --kernel increment/i5 --over BLOCK=64,128,256,512
  adoprof sweep --kernel v4 --over maxrregcount=default,32,40 --over dlcm=default,cg
  adoprof sweep --kernel v4 --over N=256,512,1024 --profile --collect standard
  adoprof sweep --kernel v5 --over 'flags=|--use_fast_math' --format markdown

Finished points are kept in a file, so the same command continues after an interruption.")]
pub struct SweepArgs {
    /// The step, such as v4 or increment/i5.
    #[arg(long, value_name = "STEP")]
    pub kernel: String,
    /// Ladder and size.
    #[command(flatten)]
    pub problem: Problem,
    /// What to vary, and its values (listed below).
    #[arg(long, value_name = "NAME=V1,V2,…", required = true, allow_hyphen_values = true)]
    pub over: Vec<String>,
    /// Also profile each point, and name the metrics that move with the time.
    #[arg(long)]
    pub profile: bool,
    /// How much to collect with --profile; quick is enough to show what moves.
    #[arg(long, value_enum, default_value_t = Level::Quick, requires = "profile")]
    pub collect: Level,
    /// Run every point again, including those already in the file.
    #[arg(long)]
    pub fresh: bool,
    /// The file to keep the points in [default: .adoprof/<ladder>/<step>/sweep-<hash of the axes>.jsonl].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Number of the device, from 0.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub device: usize,
    /// Spread the points over these devices of one model: all, or their numbers such as 0,1.
    #[arg(long, value_name = "LIST|all", value_parser = devices, conflicts_with = "device")]
    pub devices: Option<ChosenDevices>,
    /// The ncu program to use with --profile.
    #[arg(long, env = "ADOPROF_NCU", value_name = "PATH")]
    pub ncu: Option<PathBuf>,
    /// Extra arguments for ncu with --profile, split into words as a shell would.
    #[arg(long, value_name = "'…'", allow_hyphen_values = true, requires = "profile")]
    pub ncu_args: Option<String>,
    /// Give up on a point after this time, such as 90s or 10m.
    #[arg(long, default_value = "10m", value_parser = duration)]
    pub timeout: Duration,
    /// Where the work is done.
    #[command(flatten)]
    pub on: OnArgs,
    /// Format of the result.
    #[arg(long, value_enum, default_value_t = TableFormat::TEXT)]
    pub format: TableFormat,
}

/// Several devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChosenDevices {
    /// Every one.
    All,
    /// These, by number.
    Numbered(Vec<usize>),
}

/// `all`, or numbers of devices.
pub(super) fn devices(text: &str) -> Result<ChosenDevices, String> {
    if text == "all" {
        return Ok(ChosenDevices::All);
    }
    let numbers: Result<Vec<usize>, _> = text.split(',').map(|word| word.trim().parse()).collect();
    let mut numbers =
        numbers.map_err(|_| "expected `all`, or numbers of devices such as 0,1".to_owned())?;
    numbers.sort_unstable();
    numbers.dedup();
    Ok(ChosenDevices::Numbered(numbers))
}

/// One point of a sweep, in a process of its own.
#[derive(Debug, Args)]
pub struct PointArgs {
    /// Ladder and size.
    #[command(flatten)]
    pub problem: Problem,
    /// The step.
    #[arg(long)]
    pub kernel: String,
    /// Tunables, flags, block and carve-out, as JSON.
    #[arg(long, value_parser = tuning)]
    pub tuning: Tuning,
    /// Which device.
    #[arg(long, default_value_t = 0)]
    pub device: usize,
    /// The longest that one run may take, seconds.
    #[arg(long)]
    pub limit_s: u64,
    /// Profile too, and save the profile there.
    #[arg(long)]
    pub profile: Option<PathBuf>,
    /// The ncu program.
    #[arg(long, env = "ADOPROF_NCU")]
    pub ncu: Option<PathBuf>,
    /// More arguments for ncu.
    #[arg(long, allow_hyphen_values = true)]
    pub ncu_args: Option<String>,
    /// How much to collect.
    #[arg(long, value_enum, default_value_t = Level::Quick)]
    pub collect: Level,
}
