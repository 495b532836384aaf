//! The command line of profiling: what is collected, with which ncu, for how long.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::ncu::{Level, Via};

/// How long a run may take unless `--timeout` says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);

/// How profiling is done.
#[derive(Debug, Clone, Args)]
pub struct ProfilingArgs {
    /// Number of the device, from 0.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub device: usize,
    /// The ncu program to use.
    #[arg(long, env = "ADOPROF_NCU", value_name = "PATH")]
    pub ncu: Option<PathBuf>,
    /// Extra arguments for ncu, split into words as a shell would.
    #[arg(long, value_name = "'…'", allow_hyphen_values = true)]
    pub ncu_args: Option<String>,
    /// How much to collect.
    #[arg(long, value_enum, default_value_t = Level::Auto)]
    pub collect: Level,
    /// Collect these sections only, instead of what --collect says.
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub section: Vec<String>,
    /// Collect these metrics only, instead of what --collect says.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub metrics: Vec<String>,
    /// How to read ncu's report.
    #[arg(long, value_enum, default_value_t = Via::Report)]
    pub via: Via,
    /// Give up after this time, such as 90s or 10m; the limit covers a program's survey and its runs under ncu
    /// together.
    #[arg(long, default_value = "10m", value_parser = duration)]
    pub timeout: Duration,
    /// Print ncu's command lines and run nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Where to save the profile, instead of a new folder under .adoprof.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

/// A duration such as `90s`, `10m`, `1h` or a plain number of seconds.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit_s) = match text.as_bytes().last() {
        Some(b's') => (&text[..text.len() - 1], 1.0),
        Some(b'm') => (&text[..text.len() - 1], 60.0),
        Some(b'h') => (&text[..text.len() - 1], 3600.0),
        _ => (text, 1.0),
    };
    number
        .parse::<f64>()
        .ok()
        .map(|value| value * unit_s)
        .filter(|seconds| *seconds > 0.0 && *seconds < 1e7)
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "expected a time such as 90s, 10m or 1h".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("7"), Ok(Duration::from_secs(7)));
        assert_eq!(duration("10m"), Ok(DEFAULT_TIMEOUT), "what --timeout has by default");
        assert!(duration("").is_err() && duration("-3s").is_err() && duration("1e99h").is_err());
    }
}
