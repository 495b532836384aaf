//! The forms of a report, as `--format` names them.

use std::fmt;
use std::io::{self, Write};
use std::sync::LazyLock;

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

    /// Writes the results of several profiles, each with its profile's name, and what there is to know of all of them.
    ///
    /// # Errors
    /// Whatever writing to `out` gives.
    fn several(
        &self,
        documents: &[(String, Document)],
        notices: &[String],
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
}

impl ValueEnum for Format {
    fn value_variants<'a>() -> &'a [Self] {
        FORMATS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(self.0.purpose()))
    }
}

/// One of [`FORMATS`] for a result that is a table and not findings. Those without a place for tables are not offered;
/// who asks for one all the same gets the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableFormat(Format);

/// All of them, as the command line reads them.
static OF_TABLES: LazyLock<Vec<TableFormat>> =
    LazyLock::new(|| FORMATS.iter().copied().map(TableFormat).collect());

impl TableFormat {
    /// For people at a terminal.
    pub const TEXT: Self = Self(Format::TEXT);

    /// The word after `--format`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// The form, where it has a place for the result that `what` names.
    ///
    /// # Errors
    /// [`Error::Usage`] with the forms that have one.
    pub fn for_table(self, what: &str) -> Result<Format> {
        let Some(why) = self.0.0.refuses_tables() else { return Ok(self.0) };
        let others = FORMATS.iter().filter(|format| format.0.refuses_tables().is_none());
        let others: Vec<&str> = others.map(|format| format.name()).collect();
        Err(Error::Usage(format!(
            "--format {}: {why}, and {what} has none; use {}",
            self.name(),
            others.join(", ")
        )))
    }
}

impl ValueEnum for TableFormat {
    fn value_variants<'a>() -> &'a [Self] {
        &OF_TABLES
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let is_refused = self.0.0.refuses_tables().is_some();
        Some(self.0.to_possible_value()?.hide(is_refused))
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
    fn a_form_without_tables_is_not_offered_and_says_which_forms_have_them() {
        let form = |name: &str| <TableFormat as ValueEnum>::from_str(name, false).expect("a form");
        let said = form("sarif").for_table("a sweep").expect_err("no findings").to_string();
        let (why, others) = said.split_once("; use ").expect("what else there is");
        assert_eq!(why, "--format sarif: SARIF holds findings, and a sweep has none");
        assert_eq!(others, "text, json, markdown, csv");
        assert_eq!(TableFormat::TEXT.for_table("a sweep").expect("a table"), Format::TEXT);
        let offered: Vec<String> = TableFormat::value_variants()
            .iter()
            .filter_map(ValueEnum::to_possible_value)
            .filter(|value| !value.is_hide_set())
            .map(|value| value.get_name().to_owned())
            .collect();
        assert_eq!(offered.join(", "), others);
    }
}
