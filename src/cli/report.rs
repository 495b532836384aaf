//! `adoprof report`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};

use super::common::pattern;
use crate::page::CHARTS;

/// `adoprof report`.
#[derive(Debug, Args)]
#[command(after_help = "\
Start with `adoprof report --ladder ado`, which shows the recorded steps of the built-in ladder and needs no GPU, or \
with `adoprof report PATH` for a profile of your own.")]
pub struct ReportArgs {
    /// Steps, saved profiles, .ncu-rep reports or CSV exports; if none are given, every step of --ladder.
    #[arg(value_name = "PATH")]
    pub paths: Vec<String>,
    /// The ladder that bare step names belong to.
    #[arg(long, value_name = "NAME|DIR")]
    pub ladder: Option<String>,
    /// Compare with this step, saved profile, report or CSV export.
    #[arg(long, value_name = "BASE")]
    pub baseline: Option<String>,
    /// Only kernels whose name matches this regular expression.
    #[arg(short, long, value_name = "REGEX", value_parser = pattern())]
    pub kernel: Option<String>,
    /// Where to write, `-` for standard output [default: report.html, or report.svg for a single chart].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The whole page, or a single chart.
    #[arg(long, value_enum, default_value_t = ReportFormat::Html)]
    pub format: ReportFormat,
    /// The chart that --format svg draws.
    #[arg(long, value_name = "CHART", value_parser = PossibleValuesParser::new(CHARTS))]
    pub chart: Option<String>,
    /// Open the page in the browser.
    #[arg(long)]
    pub open: bool,
    /// Leave out the accuracy of earlier estimates.
    #[arg(long)]
    pub no_ledger: bool,
}

/// What `report` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// One page that holds everything it shows.
    Html,
    /// A single chart, as --chart names it.
    Svg,
    /// Asked for often, and refused with what leads to it.
    #[value(hide = true)]
    Png,
}
