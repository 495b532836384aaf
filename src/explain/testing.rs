//! What tests of explanations share.

/// The text with every gap a single space.
pub(super) fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
