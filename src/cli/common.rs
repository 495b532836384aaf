//! Options that several commands share.

use clap::builder::{StringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};

use crate::ladder;
use crate::report::Format;

/// Where a step comes from and how large it is.
#[derive(Debug, Clone, Args)]
pub struct Problem {
    /// A built-in ladder, or a directory with a ladder.toml (write ./NAME for a directory).
    #[arg(long, default_value = ladder::DEFAULT, value_name = "NAME|DIR")]
    pub ladder: String,
    /// Problem parameters, such as N=512,M=512,L=512.
    #[arg(long, value_name = "P=VALUE,…", value_delimiter = None)]
    pub size: Option<String>,
}

/// Live or recorded.
#[derive(Debug, Clone, Args)]
pub struct Origin {
    /// Run on the device, and fail if there is none.
    #[arg(long, conflicts_with = "recorded")]
    pub live: bool,
    /// Show the recording that ships with adoprof, even if there is a device.
    #[arg(long)]
    pub recorded: bool,
}

/// How results are printed.
#[derive(Debug, Clone, Args)]
pub struct Output {
    /// Format of the result.
    #[arg(long, value_enum, default_value_t = Format::TEXT)]
    pub format: Format,
    /// Also say what would limit the kernel once each fault is gone.
    #[arg(long)]
    pub explain_ranking: bool,
}

/// How commands print what holds no findings: rules, ladders, settings, files that were written.
#[derive(Debug, Clone, Copy, Args)]
pub struct FactOutput {
    /// Format of the result.
    #[arg(long, value_enum, default_value_t, global = true)]
    pub format: FactFormat,
}

/// The forms of what holds no findings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum FactFormat {
    /// For people at a terminal.
    #[default]
    Text,
    /// The whole document, for programs.
    Json,
}

/// A `-k` pattern, also as ncu takes it: with `regex:` before it.
pub(super) fn pattern() -> impl TypedValueParser<Value = String> {
    StringValueParser::new().map(|text| text.strip_prefix("regex:").unwrap_or(&text).to_owned())
}
