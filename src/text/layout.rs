//! Text that fits: widths in terminal columns, truncation, wrapping. Control characters end here,
//! so nothing that is laid out can move the cursor.

use tabled::grid::util::string::{get_char_width, get_string_width};

use crate::text::printable;

/// The terminal columns that a text takes.
pub(crate) fn columns(text: &str) -> usize {
    get_string_width(text)
}

/// The text in at most so many columns, its end replaced by `…` where it is longer.
pub(crate) fn fit(text: &str, most: usize) -> String {
    let text = printable(text);
    if columns(&text) <= most {
        return text;
    }
    let kept = prefix(&text, most.saturating_sub(1));
    if most == 0 { String::new() } else { format!("{kept}…") }
}

/// The text in at most so many columns, its beginning replaced by `…` where it is longer.
pub(crate) fn fit_end(text: &str, most: usize) -> String {
    let text = printable(text);
    if columns(&text) <= most || most == 0 {
        return fit(&text, most);
    }
    // From the end, so that a long text costs no more than a short one.
    let mut taken = 0;
    let fits = |&(_, c): &(usize, char)| {
        taken += get_char_width(c);
        taken < most
    };
    let start = text.char_indices().rev().take_while(fits).last().map_or(text.len(), |(at, _)| at);
    format!("…{}", &text[start..])
}

/// The text filled with spaces to so many columns; longer text is left alone.
pub(crate) fn pad(text: &str, least: usize) -> String {
    let missing = least.saturating_sub(columns(text));
    format!("{text}{}", " ".repeat(missing))
}

/// The text in lines of at most so many columns, broken at spaces, and inside a word only where the
/// word alone is too long for a line. Never empty: a blank text gives one empty line.
pub(crate) fn wrap(text: &str, most: usize) -> Vec<String> {
    let most = most.max(1);
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let word = printable(word);
        let line = lines.last().map_or(0, |line| columns(line));
        let space = usize::from(line > 0);
        if line + space + columns(&word) <= most {
            push(&mut lines, if space == 1 { " " } else { "" }, &word);
            continue;
        }
        if line > 0 {
            lines.push(String::new());
        }
        let mut rest = word.as_str();
        loop {
            // A character wider than the line would never fit: it gets a line of its own.
            let least = rest.chars().next().map_or(0, char::len_utf8);
            let (head, tail) = rest.split_at(prefix(rest, most).len().max(least));
            push(&mut lines, "", head);
            if tail.is_empty() {
                break;
            }
            lines.push(String::new());
            rest = tail;
        }
    }
    lines
}

fn push(lines: &mut [String], space: &str, word: &str) {
    if let Some(line) = lines.last_mut() {
        line.push_str(space);
        line.push_str(word);
    }
}

/// The longest start of the text that takes at most so many columns.
fn prefix(text: &str, most: usize) -> &str {
    let mut taken = 0;
    for (at, c) in text.char_indices() {
        taken += get_char_width(c);
        if taken > most {
            return &text[..at];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn long_names_end_in_an_ellipsis() {
        assert_eq!(fit("gpu_version2(const float *)", 12), "gpu_version…");
        assert_eq!(fit("short", 12), "short");
        assert_eq!(fit("anything", 0), "");
        assert_eq!(fit_end("a/long/path/ado_v2", 12), "…path/ado_v2");
        assert_eq!(fit_end("short", 12), "short");
        assert_eq!(fit_end("anything", 0), "");
    }

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(fit("核函数", 5), "核函…");
        assert_eq!(pad("核", 4), "核  ");
    }

    #[test]
    fn words_break_only_where_they_must() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("a/very/long/path.cu:7 x", 8), ["a/very/l", "ong/path", ".cu:7 x"]);
        assert_eq!(wrap("", 8), [""]);
    }

    #[test]
    fn newlines_and_escapes_cannot_leave_the_layout() {
        assert_eq!(wrap("a\nb\u{1b}[2J", 80), ["a b\u{fffd}[2J"]);
        assert_eq!(fit("a\nb", 80), "a\u{fffd}b");
    }

    /// A megabyte took over a minute where each line's rest was measured again.
    #[test]
    fn long_words_are_laid_out_in_one_go() {
        let word = "x".repeat(1 << 20);
        let lines = wrap(&word, 64);
        assert_eq!((lines.len(), lines[0].len()), (1 << 14, 64));
        assert_eq!(fit_end(&word, 9), "…xxxxxxxx");
    }

    proptest! {
        #[test]
        fn nothing_exceeds_the_width(text in "\\PC{0,60}", most in 2_usize..40) {
            prop_assert!(columns(&fit(&text, most)) <= most);
            prop_assert!(columns(&fit_end(&text, most)) <= most);
            for line in wrap(&text, most) {
                // A single character may be wider than a very narrow line.
                let alone = line.chars().count() == 1;
                prop_assert!(alone || columns(&line) <= most, "{line:?} in {most}");
            }
        }
    }
}
