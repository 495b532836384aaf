//! What is printed to a terminal that has ASCII's letters alone.

use std::borrow::Cow;

/// The text with its bars, lines and points drawn by ASCII's signs, and other signs written with its letters. Those of
/// tables stay as wide as they were. Letters of other languages, which stand in names and sources, stay as they are.
pub(crate) fn drawn(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut drawn = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter == '…' {
            cut_end(&mut drawn, &mut letters);
            continue;
        }
        match (sign(letter), spelled(letter)) {
            (Some(sign), _) => drawn.push(sign),
            (None, Some(spelled)) => drawn.push_str(spelled),
            (None, None) => drawn.push(letter),
        }
    }
    Cow::Owned(drawn)
}

/// Three points for one that stands for three. In a table, the two more columns come out of the space behind or of the
/// cut name before.
fn cut_end(drawn: &mut String, rest: &mut std::str::Chars<'_>) {
    /// Spaces between two columns.
    const GAP: usize = 2;
    let spaces = rest.as_str().bytes().take_while(|byte| *byte == b' ').count();
    if spaces >= 2 * GAP {
        rest.nth(GAP - 1);
    } else if spaces >= GAP {
        for _ in 0..GAP {
            if drawn.ends_with(|c: char| c.is_ascii_graphic()) {
                drawn.pop();
            }
        }
    }
    drawn.push_str("...");
}

/// Letters with the sign that stands for them: of bars, whose ends are rounded to whole columns, and their parts;
/// heights from the lowest; axes, frames, and points; factors, differences, units, gaps, and ends that were cut.
const SIGNS: [(&str, char); 19] = [
    ("█▉▊▋▌", '#'),
    ("▍▎▏", ' '),
    ("▁", '_'),
    ("░▂·", '.'),
    ("▃─−–—", '-'),
    ("▓▄", '='),
    ("▅┌┐└┘├┤┬┴┼", '+'),
    ("▆", '*'),
    ("▇", '%'),
    ("│", '|'),
    ("●", 'o'),
    ("▲", '^'),
    ("▼", 'v'),
    ("×", 'x'),
    ("≈", '~'),
    ("µμ", 'u'),
    ("’‘", '\''),
    ("“”", '"'),
    ("\u{a0}\u{202f}", ' '),
];

/// Signs of sentences that take more than one letter.
const SPELLED: [(char, &str); 8] = [
    ('→', "->"),
    ('±', "+-"),
    ('≤', "<="),
    ('≥', ">="),
    ('²', "^2"),
    ('³', "^3"),
    ('√', "sqrt "),
    ('∞', "inf"),
];

/// The sign that stands for a letter; `None` for all others.
fn sign(letter: char) -> Option<char> {
    let stands = |(letters, _): &&(&str, char)| letters.contains(letter);
    SIGNS.iter().find(stands).map(|(_, sign)| *sign)
}

/// The letters that stand for a sign; `None` for all others.
fn spelled(letter: char) -> Option<&'static str> {
    SPELLED.iter().find(|(sign, _)| *sign == letter).map(|(_, spelled)| *spelled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_heights_and_frames_keep_their_widths() {
        assert_eq!(drawn("L2  ███▌   31% µs"), "L2  ####   31% us");
        assert_eq!(drawn("█▓▓░ ▎"), "#==.  ");
        assert_eq!(drawn(" ▁▂▃▄▅▆▇█"), " _.-=+*%#");
        assert_eq!(drawn("┌─┬─┐\n│ ● │\n└─┴─┘ ▲"), "+-+-+\n| o |\n+-+-+ ^");
        assert_eq!(
            drawn("DRAM  −0.1%  ≈  2.11×  grid-too-sm…"),
            "DRAM  -0.1%  ~  2.11x  grid-too-sm..."
        );
        // Columns stay where they were.
        assert_eq!(drawn("shared-memory-…  1.5×"), "shared-memor...  1.5x");
        assert_eq!(drawn("grid-too-…     1.5×"), "grid-too-...   1.5x");
        assert_eq!(drawn("what to do… at …/k.cu"), "what to do... at .../k.cu");
    }

    #[test]
    fn sentences_are_spelled_and_names_stay() {
        assert_eq!(drawn("ado/v3 → ado/v4: ±0.50%, ≤ 2²"), "ado/v3 -> ado/v4: +-0.50%, <= 2^2");
        assert_eq!(drawn("核函数 <int>"), "核函数 <int>");
        assert!(matches!(drawn("plain text"), Cow::Borrowed("plain text")));
    }
}
