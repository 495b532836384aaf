//! The command line of `check`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::common::{Origin, Output, Problem};
use super::profiling::duration;
use super::slurm::OnArgs;
use crate::gate::FailOn;

/// `adoprof check`.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes: 0 passed, 1 slower or a gate of --fail-on failed, 2 bad usage, 3 the machine lacks something, 4 a kernel \
failed, 5 undecided in the time given, or the two can't be compared.

Examples:
  adoprof check --baseline v2 v3                             two steps, run in turn
  adoprof check --baseline v3 --baseline-ladder ../main/kernels --ladder ./kernels v3
  adoprof check --recorded --baseline v3 v4                  from recordings, no GPU
  adoprof check --baseline base/ new/ --fail-on 'metric:dram__bytes.sum>+10%'
  adoprof check --baseline-program './old 1024' -- ./new 1024")]
pub struct CheckArgs {
    /// The baseline: a step, a saved profile, a report or an export.
    #[arg(long, value_name = "BASE", required_unless_present = "baseline_program")]
    pub baseline: Option<String>,
    /// The candidate: a step, a saved profile, a report or an export.
    #[arg(required_unless_present = "program", conflicts_with = "program")]
    pub new: Option<String>,
    /// The baseline's ladder, if it is another version of the candidate's.
    #[arg(long, value_name = "NAME|DIR", requires = "baseline")]
    pub baseline_ladder: Option<String>,
    /// The baseline as a program with its arguments, split into words as a shell would; the candidate follows
    /// `--`.
    #[arg(long, value_name = "'PROGRAM ARGS…'", conflicts_with = "baseline", requires = "program")]
    pub baseline_program: Option<String>,
    /// Where the work is done.
    #[command(flatten)]
    pub on: OnArgs,
    /// Ladder and size.
    #[command(flatten)]
    pub problem: Problem,
    /// Live or recorded.
    #[command(flatten)]
    pub origin: Origin,
    /// The largest slow-down that passes, relative to the baseline's time.
    #[arg(long, default_value = "0.5%", value_name = "SHARE", value_parser = slowdown, allow_hyphen_values = true)]
    pub max_slowdown: f64,
    /// The longest time to spend on timing both [default: 5s for kernels, 60s for programs].
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub max_time: Option<Duration>,
    /// Also fail if this is true of the candidate: rule:NAME, rule:NAME>FACTOR, metric:NAME>+10% (10% above
    /// the baseline), metric:NAME>VALUE; metrics also take <. May be given several times.
    #[arg(long, value_name = "GATE")]
    pub fail_on: Vec<FailOn>,
    /// Judge by --fail-on alone, without comparing times.
    #[arg(long)]
    pub no_time: bool,
    /// Compare even where devices, sizes or launches differ.
    #[arg(long)]
    pub force: bool,
    /// Do not profile to show what changed. --fail-on with metrics or rules needs profiles.
    #[arg(long, conflicts_with = "fail_on")]
    pub no_profile: bool,
    /// Number of the device, from 0.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub device: usize,
    /// The ncu program to use.
    #[arg(long, env = "ADOPROF_NCU", value_name = "PATH")]
    pub ncu: Option<PathBuf>,
    /// More arguments for ncu, split into words as a shell would.
    #[arg(long, value_name = "'…'", allow_hyphen_values = true)]
    pub ncu_args: Option<String>,
    /// Give up on a single run after this time, such as 90s or 10m.
    #[arg(long, default_value = "10m", value_parser = duration)]
    pub timeout: Duration,
    /// Format of the result.
    #[command(flatten)]
    pub output: Output,
    /// The candidate as a program, and its arguments.
    #[arg(last = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// A share of the baseline's time that the candidate may take longer.
pub(super) fn slowdown(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    if number.starts_with('-') && number.parse::<f64>().is_ok() {
        return Err("a slow-down that passes can't be negative; 0% is the strictest".to_owned());
    }
    share(text)
}

/// A share such as `0.5%` or `0.005`. A bare number from 1 on is rather meant as a percentage.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.trim().strip_suffix('%') {
        Some(number) => (number, 0.01),
        None => (text, 1.0),
    };
    let number = number.trim().parse::<f64>().ok();
    if let Some(bare) = number.filter(|bare| unit >= 1.0 && (1.0..f64::INFINITY).contains(bare)) {
        let percentage = 100.0 * bare;
        return Err(format!(
            "a number without % is a share, so this would be {percentage}%: write {bare}% or {}",
            bare / 100.0
        ));
    }
    let share = number.map(|number| number * unit);
    share
        .filter(|share| (0.0..10.0).contains(share))
        .ok_or_else(|| "expected a share such as 0.5% or 0.005".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percentages_or_plain() {
        assert_eq!(share("0.5%"), Ok(0.005));
        assert_eq!(share("0.02"), Ok(0.02));
        assert_eq!(share("0"), Ok(0.0));
        assert_eq!(share("112%"), Ok(1.12));
        for (bare, meant) in [("5", "write 5% or 0.05"), ("1", "write 1% or 0.01"), ("2.5", "250%")]
        {
            assert!(share(bare).unwrap_err().contains(meant), "{bare}");
        }
        assert!(share("inf").is_err() && share("NaN").is_err() && share("1e400").is_err());
        assert!(share("-1%").is_err() && share("much").is_err() && share("2000%").is_err());
        assert_eq!((slowdown("0%"), slowdown("2%")), (Ok(0.0), Ok(0.02)));
        for negative in ["-1%", "-0.5", "-2 %"] {
            assert!(slowdown(negative).unwrap_err().contains("can't be negative"), "{negative}");
        }
        assert!(slowdown("--no-time").unwrap_err().contains("a share such as"));
    }
}
