//! The ledger: what hints promised, and what came of them.
//!
//! Live runs add a line for each hint, and one for what a later profile measured of it, to
//! [`file::FILE`]. The shipped recordings are worked out as such lines each time, by the present
//! rules, and so are changes to other people's programs, whose profiles are not shipped, from a file of what
//! the rules say of them. All together say how right each rule is, and can correct its estimates.

mod apply;
mod calibration;
mod changed;
mod entry;
pub(crate) mod file;
mod hints;
mod shipped;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{SCHEMA, Version};

pub(crate) use apply::apply;
pub(crate) use calibration::{Calibration, LEAST_HINTS, Record, RuleRecord, by_rule, records};
pub(crate) use changed::lines as changed_lines;
pub(crate) use entry::{Hint, Line, Outcome};
pub(crate) use hints::{Origin, by_baseline, by_ladder, hints};
pub(crate) use shipped::lines as shipped_lines;

/// What `ledger` prints.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LedgerDocument {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The version that wrote it.
    #[serde(default)]
    pub adoprof: Version,
    /// Each rule that gave a hint.
    pub rules: Vec<RuleRecord>,
    /// Every hint, with what came of it.
    pub records: Vec<Record>,
    /// Things to know about this result, each one sentence.
    pub notices: Vec<String>,
}

impl LedgerDocument {
    /// The ledger of these records.
    #[must_use]
    pub fn new(records: Vec<Record>, notices: Vec<String>) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            adoprof: Version::default(),
            rules: by_rule(&records),
            records,
            notices,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
