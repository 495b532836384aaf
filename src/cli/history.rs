//! The command line of `adoprof history`.

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::builder::PossibleValue;
use clap::{Args, Subcommand, ValueEnum};

use super::common::pattern;
use crate::history::{LEAST_CHANGE, Place, Quantity};
use crate::ladder;
use crate::report::TableFormat;

/// `adoprof history`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  adoprof history add .adoprof/ado/v2/2026-11-20_10-00-00      # keep a profile, as of git's HEAD
  adoprof history add nightly.ncu-rep --commit 1a2b3c4         # a report, as of that commit
  adoprof history                                              # times over commits, and what jumped
  adoprof history -k gemm --metric dram__bytes_read.sum        # a metric of some kernels
  adoprof history --format svg                                 # the chart as history.svg

A jump is reported if noise alone would show one in at most one series of a hundred; docs/history.md has the \
method.")]
pub struct HistoryArgs {
    /// What to do; without one, values over commits are shown.
    #[command(subcommand)]
    pub command: Option<HistoryCommand>,
    /// The folder of the store, or a place in a bucket: s3://BUCKET/FOLDER.
    #[arg(long, global = true, value_name = "STORE", default_value = Place::DEFAULT, env = "ADOPROF_STORE")]
    pub store: String,
    /// Which values are shown.
    #[command(flatten)]
    pub show: ShowArgs,
}

/// Which values are shown, and how.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// What to show: `time`, or a metric by its name or title.
    #[arg(long, value_name = "NAME", default_value = Quantity::TIME)]
    pub metric: String,
    /// Only kernels whose name matches this regular expression; times are then those under the profiler.
    #[arg(short, long, value_name = "REGEX", value_parser = pattern())]
    pub kernel: Option<String>,
    /// Only this program, or step of a ladder (ado/v2).
    #[arg(long, value_name = "NAME")]
    pub program: Option<String>,
    /// Only this GPU.
    #[arg(long, value_name = "NAME")]
    pub gpu: Option<String>,
    /// The smallest jump to report, in percent or as a share.
    #[arg(long, value_name = "SHARE", default_value_t = LEAST_CHANGE, value_parser = super::check::share)]
    pub min_jump: f64,
    /// Format of the result; -v draws every series in the text form.
    #[arg(long, value_enum, default_value_t = HistoryFormat::Table(TableFormat::TEXT))]
    pub format: HistoryFormat,
    /// Where to write the chart of --format svg or png, `-` for standard output [default: history.svg or history.png].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// What `history` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryFormat {
    /// The values.
    Table(TableFormat),
    /// The series that jumped most as a drawing.
    Svg,
    /// The same as pixels.
    Png,
}

/// All of them, as the command line reads them.
static FORMATS: LazyLock<Vec<HistoryFormat>> = LazyLock::new(|| {
    let tables = TableFormat::value_variants().iter().copied().map(HistoryFormat::Table);
    tables.chain([HistoryFormat::Svg, HistoryFormat::Png]).collect()
});

impl ValueEnum for HistoryFormat {
    fn value_variants<'a>() -> &'a [Self] {
        &FORMATS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Table(format) => format.to_possible_value(),
            Self::Svg => Some(PossibleValue::new("svg").help("The chart as a drawing")),
            Self::Png => Some(PossibleValue::new("png").help("The chart as pixels")),
        }
    }
}

/// What to do with a store.
#[derive(Debug, Subcommand)]
pub enum HistoryCommand {
    /// Add profiles to the store; adding one again changes nothing.
    Add {
        /// Steps, saved profiles, .ncu-rep reports, CSV exports.
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<String>,
        /// The commit that was profiled, as git knows it, or a label; without it, the one that is checked out in this
        /// folder. A profile that was kept without a commit gets it.
        #[arg(long, value_name = "COMMIT")]
        commit: Option<String>,
        /// What to call the program; without it, as the profile does, or the report's file.
        #[arg(long, value_name = "NAME")]
        program: Option<String>,
        /// The ladder that bare step names belong to.
        #[arg(long, default_value = ladder::DEFAULT, value_name = "NAME|DIR")]
        ladder: String,
    },
    /// Rewrite files of earlier store versions in the present one, for other tools; adoprof reads them all.
    Migrate,
}
