//! What the rules say today of the kernels that were changed. The profiles are not in the repository, so
//! this is a file of its own, written by a test that needs them.

use serde::Deserialize;

use super::table;
use crate::error::{Error, Result};
use crate::finding::Estimate;

/// Where it stands.
const FILE: &str = "src/outside/said.toml";
const TEXT: &str = include_str!("said.toml");

/// What a rule promises of a change, and what that gained.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// The program.
    pub program: String,
    /// A part of the kernel's name.
    pub kernel: String,
    /// The rule that asked for the change.
    pub rule: String,
    /// The finding's place among the kernel's.
    pub rank: usize,
    /// What it promises.
    pub estimate: Estimate,
    /// Time before over time after.
    pub gained: f64,
    /// The kernel's time in the profile, ns.
    pub time_ns: f64,
}

/// One entry of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    program: String,
    kernel: String,
    rule: String,
    rank: usize,
    estimate: Estimate,
    time_ns: f64,
}

/// Everything that is said today of changes that were made, of programs that were not kept back.
///
/// # Errors
/// [`Error::Input`] where a shipped file is damaged, which the tests exclude.
pub fn said() -> Result<Vec<Said>> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        #[serde(default)]
        said: Vec<Row>,
    }
    let file: File = toml::from_str(TEXT).map_err(|error| Error::input(FILE, error.to_string()))?;
    let programs = table::all()?;
    let gain = |row: &Row| {
        let program = programs.iter().find(|one| !one.kept_back && one.name == row.program)?;
        let kernel = program.kernels.iter().find(|kernel| kernel.kernel == row.kernel)?;
        kernel.asked(&row.rule)
    };
    let joined = file.said.into_iter().map(|row| {
        let gained = gain(&row).ok_or_else(|| {
            let Row { program, kernel, rule, .. } = &row;
            Error::input(FILE, format!("{program}, {kernel}: no change for {rule} was measured"))
        })?;
        let Row { program, kernel, rule, rank, estimate, time_ns } = row;
        Ok(Said { program, kernel, rule, rank, estimate, gained, time_ns })
    });
    joined.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_of_changes_that_were_made() {
        let said = said().unwrap();
        assert!(said.len() >= 40);
        for one in said {
            assert!(one.estimate.low <= one.estimate.factor, "{one:?}");
            assert!(one.estimate.factor <= one.estimate.high && one.time_ns > 0.0, "{one:?}");
        }
    }
}
