//! Rules beside those that ship, which a user wrote.

use std::sync::OnceLock;

use super::Rule;

/// Each with its revision.
static ADDED: OnceLock<Vec<(&'static Rule, u64)>> = OnceLock::new();

/// Makes rules known by their names, once for a run: later calls change nothing.
pub(crate) fn add(rules: Vec<(&'static Rule, u64)>) {
    let _ = ADDED.set(rules);
}

/// The rules that were added, each with its revision.
#[must_use]
pub(crate) fn added() -> &'static [(&'static Rule, u64)] {
    ADDED.get().map_or(&[], Vec::as_slice)
}
