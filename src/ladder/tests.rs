//! What tests of ladders share: a ladder of a user's, whole and with a mistake.

mod builtin;
mod mistakes;
mod users;

use std::path::Path;

use super::{Ladder, Overrides, parse_overrides};
use crate::error::Error;

pub(in crate::ladder) fn size(text: &str) -> Overrides {
    parse_overrides(text).unwrap()
}

/// A ladder of a user's: two steps, the first of which is the reference.
pub(in crate::ladder) fn user() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/ladder/scan")
}

/// Replaces `old` in the user's manifest and loads it.
pub(in crate::ladder) fn broken(old: &str, new: &str) -> Result<Ladder, Error> {
    let dir = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(user().join("ladder.toml")).unwrap();
    assert!(text.contains(old), "the fixture has no {old:?}");
    std::fs::write(dir.path().join("ladder.toml"), text.replacen(old, new, 1)).unwrap();
    std::fs::copy(user().join("scan.cu"), dir.path().join("scan.cu")).unwrap();
    Ladder::load(dir.path())
}
