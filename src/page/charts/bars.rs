//! Rows of a label, a number and a bar below them: the form of several charts.

use maud::{Markup, html};

use crate::page::figure::{pct, px};
use crate::page::lettering::{NARROWEST, PLAIN, fits_beside, in_full, within};

/// Height of a row, pixels, and of its number's line where the number has no room beside the label.
const ROW: f64 = 36.0;
const LINE: f64 = 16.0;
const THICK: f64 = 8.0;

/// A row.
pub(in crate::page) struct Bar {
    /// What it shows.
    pub label: String,
    /// Its number in words.
    pub said: String,
    /// Its number.
    pub value: f64,
    /// Parts of the bar: shares of the width, each with its class.
    pub parts: Vec<(f64, &'static str)>,
    /// Where a line crosses the bar, as a share.
    pub mark: Option<f64>,
}

impl Bar {
    /// A bar of one part.
    pub(in crate::page) fn new(label: String, said: String, value: f64, share: f64) -> Self {
        Self { label, said, value, parts: vec![(share, "accent")], mark: None }
    }

    /// Pixels between the label's line and the number's.
    fn lowered(&self) -> f64 {
        if fits_beside(&self.label, &self.said) { 0.0 } else { LINE }
    }
}

/// Height of the rows, pixels.
pub(in crate::page) fn height(bars: &[Bar]) -> f64 {
    bars.iter().map(|bar| ROW + bar.lowered()).sum()
}

/// Draws the rows from a height on.
pub(in crate::page) fn rows(bars: &[Bar], top: f64) -> Markup {
    html! {
        @for (at, bar) in bars.iter().enumerate() {
            @let above = top + height(&bars[..at]);
            @let y = above + bar.lowered();
            @let label = within(&bar.label, NARROWEST, PLAIN);
            g class="bar" data-label=(bar.label) data-value=(bar.value) {
                (in_full(&bar.label, &label))
                text class="ink" x="0" y=(px(above + 14.0)) { (label) }
                text class="num" x="100%" y=(px(y + 14.0)) { (bar.said) }
                rect class="track" x="0" y=(px(y + 20.0)) width="100%" height=(px(THICK)) rx="2" {}
                @for (x, width, class) in placed(&bar.parts) {
                    rect class=(class) x=(pct(x)) y=(px(y + 20.0)) width=(pct(width)) height=(px(THICK)) rx="2" {}
                }
                @if let Some(mark) = bar.mark {
                    line class="mark" x1=(pct(mark)) x2=(pct(mark)) y1=(px(y + 17.0)) y2=(px(y + 31.0)) {}
                }
            }
        }
    }
}

/// The parts one behind the other, none beyond the end.
fn placed(parts: &[(f64, &'static str)]) -> Vec<(f64, f64, &'static str)> {
    let mut end = 0.0;
    let place = |&(share, class): &(f64, &'static str)| {
        let start: f64 = end;
        end = if share.is_finite() { (start + share.max(0.0)).min(1.0) } else { start };
        (start, end - start, class)
    };
    parts.iter().map(place).filter(|(_, width, _)| *width > 0.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_without_room_beside_its_label_has_a_line_of_its_own() {
        let bar =
            |label: &str| Bar::new(label.to_owned(), "47%, L1 data pipe".to_owned(), 0.5, 0.5);
        let bars = [bar("now"), bar("without occupancy-limited-by-shared-memory"), bar("now")];
        // 36 each, and 16 for the line.
        assert!((height(&bars) - 124.0).abs() < 1e-9);
        let drawn = rows(&bars, 0.0).into_string();
        for line in [
            r#"y="14">now<"#,
            r#"y="50">without occupancy-limited-by-shared-memory<"#,
            r#"class="num" x="100%" y="66">47%"#,
            r#"y="102">now<"#,
        ] {
            assert!(drawn.contains(line), "{line} in {drawn}");
        }
    }

    #[test]
    fn parts_stand_behind_one_another_and_end_with_the_bar() {
        let parts = placed(&[(0.25, "a"), (f64::NAN, "b"), (0.5, "c"), (0.5, "d"), (0.1, "e")]);
        assert_eq!(parts, [(0.0, 0.25, "a"), (0.25, 0.5, "c"), (0.75, 0.25, "d")]);
    }
}
