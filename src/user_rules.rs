//! Rules that users write: TOML files with a condition over a launch's figures, a message, a hint, and what the model
//! should leave out for the estimate.
//!
//! A file holds data and no code. Expressions are trees of bounded size over figures of the launch; nothing in them
//! reaches a file, the network or another process.

pub(crate) mod cases;
mod file;
mod language;
mod places;
pub(crate) mod read;
mod rule;
mod sentence;
#[cfg(test)]
mod tests;
mod what_if;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::error::{Error, Result};
use crate::files::read_text;
use crate::rules;
use crate::settings::Settings;

pub(crate) use language::figure::{FIGURES, Figure, Origin};
pub(crate) use places::{FOLDER, Place, VARIABLE};
pub(crate) use rule::{PREFIX, UserRule};

/// The rules of this run.
static INSTALLED: OnceLock<Vec<UserRule>> = OnceLock::new();

/// The rules that hold in this run, besides those that ship.
#[must_use]
pub(crate) fn installed() -> &'static [UserRule] {
    INSTALLED.get().map_or(&[], Vec::as_slice)
}

/// The files of rules that hold in the present folder.
///
/// # Errors
/// [`Error::Input`] for a folder that can't be read or has too many files, or what a setting names and is not there.
pub(crate) fn files(settings: &Settings) -> Result<Vec<(PathBuf, Place)>> {
    places::files(settings)
}

/// The files of rules of these files and folders.
///
/// # Errors
/// As [`files`].
pub(crate) fn of_paths(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    places::of_paths(paths)
}

/// Reads the rules of all files, for the rest of this run.
///
/// # Errors
/// [`Error::Manifest`] for the first mistake of a file, and for two rules of one name; as [`files`].
pub(crate) fn install(settings: &Settings) -> Result<()> {
    let mut rules: Vec<UserRule> = Vec::new();
    for (path, _) in files(settings)? {
        for rule in read::usable(&path, &text(&path)?)? {
            if rules.iter().any(|known| known.rule.name == rule.rule.name) {
                let name = rule.rule.name;
                return Err(Error::input(
                    &path,
                    format!("the rule `{name}` is in another file too; rename one of them"),
                ));
            }
            rules.push(rule);
        }
    }
    rules::add(rules.iter().map(|rule| (rule.rule, rule.revision)).collect());
    let _ = INSTALLED.set(rules);
    Ok(())
}

/// A file's text.
///
/// # Errors
/// [`Error::Input`] where it can't be read.
pub(crate) fn text(path: &Path) -> Result<String> {
    read_text(path).map_err(|error| Error::io(path, "read", &error))
}
