//! Lines of explanations.

use crate::text::layout::wrap;

/// Columns that explanations take at most: they are read like a manual page.
pub(super) const WIDEST: usize = 80;

/// The text with its first letter large.
pub(super) fn capital(text: &str) -> String {
    // A name from code stays as it is.
    let first = text.split([' ', ',']).next().unwrap_or_default();
    if first.contains(['.', '_', '=']) {
        return text.to_owned();
    }
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

pub(super) fn item(text: &str, width: usize) -> Vec<String> {
    let mut lead = "  - ";
    wrap(text, width.saturating_sub(4))
        .into_iter()
        .map(|line| format!("{}{line}", std::mem::replace(&mut lead, "    ")))
        .collect()
}

pub(super) fn lines(lines: Vec<String>) -> String {
    lines.into_iter().map(|line| line + "\n").collect()
}
