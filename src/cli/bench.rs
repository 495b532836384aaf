//! The command lines of `bench` and `ledger`.

use std::time::Duration;

use clap::{Args, ValueEnum};

use super::profiling::duration;
use crate::report::TableFormat;

/// `adoprof bench`. Without options all parts are judged.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line of its own"
)]
pub struct BenchArgs {
    /// Judge only the kernels with planted faults.
    #[arg(long)]
    pub faults: bool,
    /// Judge only the transitions between steps of the ordinary ladders.
    #[arg(long)]
    pub ladders: bool,
    /// Judge changes to other people's programs, whose profiles you supply with --profiles.
    #[arg(long, conflicts_with_all = ["faults", "ladders", "set"])]
    pub programs: bool,
    /// Instead, measure the gate of `adoprof check` on this device: how often it fails identical kernels, and
    /// how often it catches slow-downs of 2%, 5% and 10%.
    #[arg(long, conflicts_with_all = ["faults", "ladders", "set", "programs", "profiles"])]
    pub gate: bool,
    /// With --gate: number of the device, from 0.
    #[arg(long, default_value_t = 0, value_name = "N", requires = "gate")]
    pub device: usize,
    /// With --gate: only this part of the comparisons, such as 1/2 and 2/2 on two devices.
    #[arg(long, default_value = "1/1", value_name = "K/N", requires = "gate", value_parser = part)]
    pub part: (u32, u32),
    /// With --gate: the longest time for one comparison.
    #[arg(long, default_value = "3s", value_parser = duration, requires = "gate")]
    pub max_time: Duration,
    /// For --programs: the folder with their profiles, which holds a folder of ncu's CSV pages per program.
    #[arg(long, value_name = "DIR", env = "ADOPROF_PROGRAMS")]
    pub profiles: Option<std::path::PathBuf>,
    /// Only this set of planted faults, from 0; may be given several times.
    #[arg(long, value_name = "N", conflicts_with = "ladders")]
    pub set: Vec<u32>,
    /// Format of the result.
    #[arg(long, value_enum, default_value_t = TableFormat::TEXT)]
    pub format: TableFormat,
}

/// One part of several: `2/3`.
fn part(text: &str) -> Result<(u32, u32), String> {
    let numbers =
        text.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
    numbers
        .filter(|(part, of)| (1..=*of).contains(part))
        .ok_or_else(|| "expected a part and how many there are, such as 1/2".to_owned())
}

/// `adoprof ledger`.
#[derive(Debug, Args)]
pub struct LedgerArgs {
    /// Which hints: those of the shipped recordings, those of your own runs, or both.
    #[arg(long, value_enum, default_value_t = LedgerSource::All)]
    pub source: LedgerSource,
    /// Format of the result; -v lists every hint in the text form.
    #[arg(long, value_enum, default_value_t = TableFormat::TEXT)]
    pub format: TableFormat,
}

/// Where hints come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LedgerSource {
    /// The recordings that ship with adoprof, and the what-if variants timed for them.
    Shipped,
    /// Your own runs, which write .adoprof/ledger.jsonl.
    Local,
    /// Both.
    All,
}

/// Whether estimates are corrected by the ledger.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct Calibrate {
    /// Correct estimates by what earlier changes really gained (see `adoprof ledger`); a rule with fewer than
    /// 5 measured hints keeps its estimates.
    #[arg(long)]
    pub apply: bool,
}
