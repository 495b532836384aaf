//! `adoprof report`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};

use super::common::pattern;
use crate::page::{self, CHARTS};

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
    /// Where to write, `-` for standard output [default: report.html, or report.svg and report.png for a single chart].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The whole page, or a single chart.
    #[arg(long, value_enum, default_value_t = ReportFormat::Html)]
    pub format: ReportFormat,
    /// The chart that --format svg or png draws.
    #[arg(long, value_name = "CHART", value_parser = PossibleValuesParser::new(CHARTS))]
    pub chart: Option<String>,
    /// The colours of a single chart; without it a PNG is light, and an SVG follows its reader's setting.
    #[arg(long, value_enum)]
    pub theme: Option<ChartTheme>,
    /// Pixels of a PNG per unit of the chart, which is 720 units wide [default: 2].
    #[arg(long, value_name = "1-8", value_parser = clap::value_parser!(u8).range(1..=8))]
    pub scale: Option<u8>,
    /// Open what was written in the browser.
    #[arg(long)]
    pub open: bool,
    /// Leave out the accuracy of earlier estimates.
    #[arg(long)]
    pub no_ledger: bool,
}

/// The colours of a single chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ChartTheme {
    /// Dark on white.
    Light,
    /// Light on black.
    Dark,
}

impl From<ChartTheme> for page::Theme {
    fn from(theme: ChartTheme) -> Self {
        match theme {
            ChartTheme::Light => Self::Light,
            ChartTheme::Dark => Self::Dark,
        }
    }
}

impl ReportFormat {
    /// How its files' names end.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Svg => "svg",
            Self::Png => "png",
        }
    }
}

/// What `report` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// One page that holds everything it shows.
    Html,
    /// A single chart as a drawing; --chart names it.
    Svg,
    /// A single chart as pixels; --chart names it.
    Png,
}
