//! The forms of a report, as `--format` names them.

use std::fmt;
use std::io::{self, Write};

use clap::ValueEnum;
use clap::builder::PossibleValue;

use super::{Content, FORMATS, Style};
use crate::document::Document;
use crate::error::{Error, Result};

/// A form that documents are written in.
pub trait Renderer: Sync {
    /// The word after `--format`.
    fn name(&self) -> &'static str;

    /// What the form is for, in a few words: its line in `--help`.
    fn purpose(&self) -> &'static str;

    /// What a result that is a table and not findings lacks in this form; `None` where it has a
    /// place for tables.
    fn refuses_tables(&self) -> Option<&'static str> {
        None
    }

    /// True where the form holds a document's notices itself.
    fn holds_notices(&self) -> bool {
        false
    }

    /// True where the form holds the order in which faults limit a kernel.
    fn holds_ranking(&self) -> bool {
        false
    }

    /// True where each line is a command to the CI that reads it, made here and escaped here.
    fn is_commands(&self) -> bool {
        false
    }

    /// Writes one result.
    ///
    /// # Errors
    /// Whatever writing to `out` gives.
    fn one(&self, content: Content<'_>, style: Style, out: &mut dyn Write) -> io::Result<()>;

    /// Writes the results of several profiles, each with its profile's name.
    ///
    /// # Errors
    /// Whatever writing to `out` gives.
    fn several(
        &self,
        documents: &[(String, Document)],
        style: Style,
        out: &mut dyn Write,
    ) -> io::Result<()>;
}

/// One of [`FORMATS`].
#[derive(Clone, Copy)]
pub struct Format(pub(super) &'static dyn Renderer);

impl Format {
    /// For people at a terminal: the form where none is asked for.
    pub const TEXT: Self = FORMATS[0];

    /// The word after `--format`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// True where the form holds a document's notices itself; others leave them to another stream.
    #[must_use]
    pub fn holds_notices(self) -> bool {
        self.0.holds_notices()
    }

    /// True where the form holds the order in which faults limit a kernel.
    #[must_use]
    pub fn holds_ranking(self) -> bool {
        self.0.holds_ranking()
    }

    /// True where each line is a command to the CI that reads it; the lines of all others are none.
    #[must_use]
    pub fn is_commands(self) -> bool {
        self.0.is_commands()
    }

    /// The same form where it has a place for a result that is a table and not findings: `what` names
    /// the result.
    ///
    /// # Errors
    /// [`Error::Usage`] with the forms that have one.
    pub fn for_table(self, what: &str) -> Result<Self> {
        let Some(why) = self.0.refuses_tables() else { return Ok(self) };
        let others: Vec<&str> = FORMATS
            .iter()
            .filter(|format| format.0.refuses_tables().is_none())
            .map(|format| format.name())
            .collect();
        Err(Error::Usage(format!(
            "--format {}: {why}, and {what} has none; use {}",
            self.name(),
            others.join(", ")
        )))
    }
}

impl ValueEnum for Format {
    fn value_variants<'a>() -> &'a [Self] {
        FORMATS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(self.0.purpose()))
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Format {}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart_and_the_first_form_is_text() {
        let mut names: Vec<&str> = FORMATS.iter().map(|format| format.name()).collect();
        assert_eq!(names[0], Format::TEXT.name());
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), FORMATS.len());
    }

    #[test]
    fn a_form_without_tables_says_which_forms_have_them() {
        let sarif = <Format as ValueEnum>::from_str("sarif", false).expect("a form");
        let said = sarif.for_table("a sweep").expect_err("no findings").to_string();
        let (why, others) = said.split_once("; use ").expect("what else there is");
        assert_eq!(why, "--format sarif: SARIF holds findings, and a sweep has none");
        assert!(others.contains("text") && !others.contains("sarif"), "{others}");
        assert_eq!(Format::TEXT.for_table("a sweep").expect("a table"), Format::TEXT);
    }
}
