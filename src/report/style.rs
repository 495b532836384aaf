//! How a report for people looks.

/// What the command line and the terminal ask for.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command line of its own"
)]
pub struct Style {
    /// Columns that a line may take; saved paths alone may be longer, so that they can be copied.
    pub width: usize,
    /// True to colour with terminal escapes.
    pub colour: bool,
    /// Gives the address of a source file as the report names it; `None` where it has none. `None` as
    /// a whole where the terminal has no links.
    pub link: Option<fn(&str) -> Option<String>>,
    /// True to draw small pictures into tables: for people, not for files.
    pub pictures: bool,
    /// True where bars and lines are to be drawn by ASCII's signs, since the terminal has no others.
    pub ascii: bool,
    /// True to show evidence, all findings, skipped rules and ncu's own rules.
    pub verbose: bool,
    /// True to show why the findings stand in their order.
    pub explain_ranking: bool,
    /// True to show the verdict only.
    pub quiet: bool,
}

/// Columns of prose at most: longer lines are hard to read.
const LONGEST_PROSE: usize = 100;

impl Style {
    /// Columns that a line of prose may take; tables may take the whole width.
    #[must_use]
    pub fn prose(&self) -> usize {
        self.width.min(LONGEST_PROSE)
    }
}

impl Default for Style {
    fn default() -> Self {
        Self {
            width: 80,
            colour: false,
            link: None,
            pictures: false,
            ascii: false,
            verbose: false,
            explain_ranking: false,
            quiet: false,
        }
    }
}
