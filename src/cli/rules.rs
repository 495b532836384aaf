//! The command about rules of one's own.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::common::FactOutput;
use crate::ladder;

/// `adoprof rules`.
#[derive(Debug, Args)]
pub struct RulesArgs {
    /// What to do; without one, the rules that hold here are listed.
    #[command(subcommand)]
    pub command: Option<RulesCommand>,
    /// Format of the result.
    #[command(flatten)]
    pub result: FactOutput,
}

/// What to do with rules of one's own.
#[derive(Debug, Subcommand)]
pub enum RulesCommand {
    /// List the rules of your own that apply in this folder, and the files that they come from.
    List,
    /// Report every mistake in files of rules, and test the rules on the recordings that they name.
    ///
    /// Ends with 0 where all is well, with 1 where a test fails, and with 2 where a file has a mistake.
    Check {
        /// Files or folders of rules; without any, those that hold here.
        files: Vec<PathBuf>,
        /// The ladder that bare names of profiles belong to.
        #[arg(long, default_value = ladder::DEFAULT, value_name = "NAME|DIR")]
        ladder: String,
    },
    /// Write a commented first rule, to be changed.
    New {
        /// The rule's name: small letters, digits and hyphens.
        name: String,
        /// The file to write; without one, NAME.toml in the project's folder adoprof-rules.
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// List every figure that a rule can name, with its unit and, with --of, its value in a profile.
    Metrics {
        /// Only figures whose name or description has this in it.
        filter: Option<String>,
        /// Show the values of this profile's longest launch.
        #[arg(long, value_name = "PATH")]
        of: Option<String>,
        /// The ladder that a bare name of a profile belongs to.
        #[arg(long, default_value = ladder::DEFAULT, value_name = "NAME|DIR")]
        ladder: String,
    },
}
