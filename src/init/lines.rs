//! Lines of a manifest with their comments beside them.

use std::fmt::Write as _;

/// Columns at which a comment begins where its line is shorter.
const COMMENT_COLUMN: usize = 44;

/// A manifest as it grows.
#[derive(Debug, Default)]
pub(super) struct Lines {
    text: String,
    /// What stands before each line: nothing, or the sign of a comment.
    prefix: &'static str,
}

impl Lines {
    /// Lines from here on are comments, or no longer.
    pub(super) fn commented(&mut self, is_comment: bool) {
        self.prefix = if is_comment { "# " } else { "" };
    }

    /// An empty line.
    pub(super) fn gap(&mut self) {
        self.text.push('\n');
    }

    /// A line as it is.
    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(format!("{}{line}", self.prefix).trim_end());
        self.text.push('\n');
    }

    /// A comment of its own.
    pub(super) fn comment(&mut self, comment: &str) {
        for line in crate::text::layout::wrap(comment, 100) {
            let _ = writeln!(self.text, "# {line}");
        }
    }

    /// `key = value  # comment`.
    pub(super) fn entry(&mut self, key: &str, value: &str, comment: &str) {
        let line = format!("{key} = {value}");
        if comment.is_empty() {
            self.line(&line);
        } else {
            self.line(&format!("{line:<COMMENT_COLUMN$} # {comment}"));
        }
    }

    /// The manifest.
    pub(super) fn finish(self) -> String {
        self.text
    }
}
