//! From a file's text to its rules, each checked as far as it can be without a launch.

mod cases;
mod reader;
mod record;
mod rule;
mod what_if;

use std::collections::BTreeSet;
use std::path::Path;

use super::cases::Case;
use super::file::Origin;
use super::rule::UserRule;
use crate::error::{Error, Result};
use crate::text::printable;
use reader::Reader;

/// The most rules of one file.
const MOST_RULES: usize = 200;

/// What a file holds.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// The rules that can be checked.
    pub rules: Vec<UserRule>,
    /// The cases of all rules, in the file's order.
    pub cases: Vec<Case>,
    /// What makes the file unusable.
    pub mistakes: Vec<Error>,
    /// What is surely not meant, with which the rules run all the same: unlike units, conditions that never hold.
    pub doubts: Vec<Error>,
    /// The names of rules with such doubts: what their tests came to would say nothing.
    pub doubtful: BTreeSet<&'static str>,
}

/// Reads the text of a file.
pub(crate) fn read(path: &Path, text: &str) -> Contents {
    let origin = Origin { path, text };
    let mut contents = Contents::default();
    let file = match origin.parse() {
        Ok(file) => file,
        Err(error) => {
            contents.mistakes.push(error);
            return contents;
        }
    };
    if file.rules.len() > MOST_RULES {
        let problem = format!(
            "the file has {} rules, and at most {MOST_RULES} are allowed",
            file.rules.len()
        );
        contents.mistakes.push(origin.error(0, problem));
        return contents;
    }
    let names: BTreeSet<String> =
        file.rules.iter().map(|rule| rule.name.get_ref().clone()).collect();
    let mut seen = BTreeSet::new();
    for declared in &file.rules {
        let mut reader =
            Reader { origin: &origin, names: &names, mistakes: Vec::new(), doubts: Vec::new() };
        if !seen.insert(declared.name.get_ref().clone()) {
            reader.mistake(
                declared.name.span().start,
                format!("there are two rules `{}`", printable(declared.name.get_ref())),
            );
        }
        let rule = reader.rule(declared);
        let cases = reader.cases(declared);
        let is_sound = reader.mistakes.is_empty();
        if let Some(rule) = rule.as_ref().filter(|_| !reader.doubts.is_empty()) {
            contents.doubtful.insert(rule.rule.name);
        }
        contents.mistakes.append(&mut reader.mistakes);
        contents.doubts.append(&mut reader.doubts);
        contents.cases.extend(cases);
        contents.rules.extend(rule.filter(|_| is_sound));
    }
    contents
}

/// The rules of a text, or its first mistake.
///
/// # Errors
/// [`Error::Manifest`] with the line.
pub(super) fn usable(path: &Path, text: &str) -> Result<Vec<UserRule>> {
    let mut contents = read(path, text);
    if contents.mistakes.is_empty() {
        Ok(contents.rules)
    } else {
        Err(contents.mistakes.swap_remove(0))
    }
}
