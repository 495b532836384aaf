//! How much room texts take, cut to the room that there is.
//!
//! A page is laid out without knowing its reader's screen and font. What stands side by side has to fit on the
//! narrowest phone; where there is more room, texts only part.

use std::borrow::Cow;

use maud::{Markup, html};

/// Width of a chart on a phone of 360 pixels, the narrowest that is common, within the page's margins of 16.
pub(super) const NARROWEST: f64 = 328.0;
/// Width of a chart at most: of the only column of a page that is too narrow for two.
pub(super) const WIDEST: f64 = 900.0;
/// Sizes of letters, pixels: of `chart.css`. Bold ones are as wide as plain ones that are a pixel larger.
pub(super) const PLAIN: f64 = 13.0;
pub(super) const SMALL: f64 = 12.0;
pub(super) const SMALL_BOLD: f64 = 13.0;
pub(super) const TICK: f64 = 11.0;
pub(super) const TITLE: f64 = 16.0;
/// Pixels between two texts on one line.
pub(super) const GAP: f64 = 10.0;

/// A letter's width as a share of its size: of DejaVu Sans, the widest of the usual fonts, the widest of the letter's kind.
fn letter(letter: char) -> f64 {
    match letter {
        ' ' | '.' | ',' | ':' | ';' | '!' | '|' | '\'' | '(' | ')' | '[' | ']' | '-' | '/' => 0.4,
        'f' | 'i' | 'j' | 'l' | 'r' | 't' | 'I' | 'J' => 0.41,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' => 1.0,
        'a'..='z' | '0'..='9' | '_' | 'µ' => 0.64,
        // Capitals and signs; letters of other writings are squares.
        '\0'..='\u{10ff}' => 0.84,
        _ => 1.0,
    }
}

/// The width of a text at a size, pixels.
pub(super) fn width(text: &str, size: f64) -> f64 {
    size * text.chars().map(letter).sum::<f64>()
}

/// The text within so many pixels, its end replaced by `…` where it is longer.
pub(super) fn within(text: &str, room: f64, size: f64) -> Cow<'_, str> {
    if width(text, size) <= room {
        return Cow::Borrowed(text);
    }
    let mut end = size * letter('…');
    let fits = |one: &char| {
        end += size * letter(*one);
        end <= room
    };
    let kept: String = text.chars().take_while(fits).collect();
    Cow::Owned(kept + "…")
}

/// True where two texts have room on one line.
pub(super) fn fits_beside(left: &str, right: &str) -> bool {
    width(left, PLAIN) + GAP + width(right, PLAIN) <= NARROWEST
}

/// The text on the left of a line, cut to what the one on the right leaves of it.
pub(super) fn beside<'a>(left: &'a str, right: &str) -> Cow<'a, str> {
    within(left, NARROWEST - GAP - width(right, PLAIN), PLAIN)
}

/// What a row is called in full, for whoever points at it, where it is shown cut.
pub(super) fn in_full(name: &str, shown: &str) -> Markup {
    html! { @if shown != name { title { (name) } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_leaves_room_for_the_number_beside_it() {
        // A letter takes 0.64 × 13 = 8.32 pixels: of 328 five of them and the gap leave 276.4, of which `…` takes 13;
        // 31 fit into the 263.4.
        let name = "n".repeat(60);
        assert_eq!(beside(&name, "12345"), format!("{}…", "n".repeat(31)));
        assert_eq!(beside("v2", "12345"), "v2");
        assert_eq!(in_full("v2", "v2").into_string(), "");
        assert_eq!(in_full("a<b>", "a…").into_string(), "<title>a&lt;b&gt;</title>");
        // 38 letters and the gap are 326.2; 39 are 334.5.
        assert!(fits_beside(&name[..33], "12345") && !fits_beside(&name[..34], "12345"));
    }

    #[test]
    fn capitals_and_signs_are_wider_than_small_letters() {
        assert!(width("DRAM", 10.0) > 1.3 * width("dash", 10.0));
        assert_eq!(within("DRAM", 10.0, 10.0), "…");
    }
}
