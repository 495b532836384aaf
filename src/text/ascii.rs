//! Pictures of a terminal that has letters alone.

use std::borrow::Cow;

/// The text with its bars, lines and points drawn by ASCII's signs, each as wide as it was.
pub(crate) fn drawn(text: &str) -> Cow<'_, str> {
    if text.chars().all(|letter| sign(letter).is_none()) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|letter| sign(letter).unwrap_or(letter)).collect())
}

/// Letters of pictures with the sign that stands for them: bars, whose ends are rounded to whole columns, and their parts;
/// heights from the lowest; axes, frames, and points.
const SIGNS: [(&str, char); 13] = [
    ("█▉▊▋▌", '#'),
    ("▍▎▏", ' '),
    ("▁", '_'),
    ("░▂", '.'),
    ("▃─", '-'),
    ("▓▄", '='),
    ("▅┌┐└┘├┤┬┴┼", '+'),
    ("▆", '*'),
    ("▇", '%'),
    ("│", '|'),
    ("●", 'o'),
    ("▲", '^'),
    ("▼", 'v'),
];

/// The sign that stands for a letter of pictures; `None` for all others.
fn sign(letter: char) -> Option<char> {
    let stands = |(letters, _): &&(&str, char)| letters.contains(letter);
    SIGNS.iter().find(stands).map(|(_, sign)| *sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_heights_and_frames_keep_their_widths() {
        assert_eq!(drawn("L2  ███▌   31% µs"), "L2  ####   31% µs");
        assert_eq!(drawn("█▓▓░ ▎"), "#==.  ");
        assert_eq!(drawn(" ▁▂▃▄▅▆▇█"), " _.-=+*%#");
        assert_eq!(drawn("┌─┬─┐\n│ ● │\n└─┴─┘ ▲"), "+-+-+\n| o |\n+-+-+ ^");
        assert!(matches!(drawn("plain × text"), Cow::Borrowed("plain × text")));
    }
}
