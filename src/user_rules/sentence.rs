//! Texts of rules as sentences, so that they stand beside the built-in ones in every format.

/// A text with a capital at its beginning, where a word stands there and no name of code, and a full stop.
pub(super) fn sentence(text: &str) -> String {
    let text = text.trim();
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_word =
        first.trim_end_matches([',', ';', ':']).bytes().all(|byte| byte.is_ascii_lowercase());
    let mut written = String::with_capacity(text.len() + 1);
    let mut letters = text.chars();
    if is_word {
        written.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
    }
    written.extend(letters);
    if !written.is_empty() && !written.ends_with(['.', '!', '?', '…']) {
        written.push('.');
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_get_a_capital_and_texts_a_full_stop() {
        for (text, written) in [
            ("use smaller blocks", "Use smaller blocks."),
            ("first, sort", "First, sort."),
            ("Sort them.", "Sort them."),
            ("__shfl_down_sync does it", "__shfl_down_sync does it."),
            ("cp.async does it!", "cp.async does it!"),
            ("12 of 20 are idle", "12 of 20 are idle."),
            (" \n", ""),
        ] {
            assert_eq!(sentence(text), written);
        }
    }
}
