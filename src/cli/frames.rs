//! The command line of `adoprof frames`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

use super::common::pattern;
use crate::ladder;
use crate::tables::{Form, Table};

/// `adoprof frames`.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("what").args(["table", "output"]).required(true).multiple(true)))]
#[command(after_help = "\
Examples:
  adoprof frames v2 -o tables                                 # a file per table
  adoprof frames app.ncu-rep --format parquet -o tables       # the same for pandas, polars, DuckDB
  adoprof frames v1 v2 v3 --table metrics > metrics.csv       # one table to stdout")]
pub struct FramesArgs {
    /// Steps, saved profiles, .ncu-rep reports, CSV exports.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<String>,
    /// The ladder that bare step names belong to.
    #[arg(long, default_value = ladder::DEFAULT, value_name = "NAME|DIR")]
    pub ladder: String,
    /// Only kernels whose name matches this regular expression.
    #[arg(short, long, value_name = "REGEX", value_parser = pattern())]
    pub kernel: Option<String>,
    /// Write only this table, to stdout unless -o is given.
    #[arg(long, value_enum)]
    pub table: Option<Table>,
    /// Write one file per table into this folder.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Format of the tables.
    #[arg(long, value_enum, default_value_t = Form::Csv)]
    pub format: Form,
}
