//! The letters of pictures: Roboto, cut down to what charts say by `scripts/make-font`.

use tiny_skia::{Path, PathBuilder};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

use super::unknown;
use crate::error::Result;

const REGULAR: &[u8] = include_bytes!("font/Roboto-Regular.ttf");
const BOLD: &[u8] = include_bytes!("font/Roboto-Bold.ttf");

/// Letters of one weight.
pub(super) struct Font(Face<'static>);

impl Font {
    pub(super) fn regular() -> Result<Self> {
        Self::open(REGULAR)
    }

    pub(super) fn bold() -> Result<Self> {
        Self::open(BOLD)
    }

    fn open(bytes: &'static [u8]) -> Result<Self> {
        Face::parse(bytes, 0).map(Self).map_err(|error| unknown(&format!("its font: {error}")))
    }

    /// The width of a line at a size, pixels.
    pub(super) fn width(&self, text: &str, size: f32) -> f32 {
        self.scale(size) * text.chars().map(|letter| self.advance(self.glyph(letter))).sum::<f32>()
    }

    /// The outline of a line that begins at a point of its base line; `None` where it has none, as blanks have not.
    pub(super) fn outline(&self, text: &str, size: f32, x: f32, y: f32) -> Option<Path> {
        let mut pen = Pen { path: PathBuilder::new(), x, y, scale: self.scale(size) };
        for letter in text.chars() {
            let glyph = self.glyph(letter);
            self.0.outline_glyph(glyph, &mut pen);
            pen.x += pen.scale * self.advance(glyph);
        }
        pen.path.finish()
    }

    /// The letter's, or the box that stands for letters that the font lacks.
    fn glyph(&self, letter: char) -> GlyphId {
        self.0.glyph_index(letter).unwrap_or_default()
    }

    fn advance(&self, glyph: GlyphId) -> f32 {
        f32::from(self.0.glyph_hor_advance(glyph).unwrap_or_default())
    }

    fn scale(&self, size: f32) -> f32 {
        size / f32::from(self.0.units_per_em())
    }
}

/// Draws a glyph, whose y points upwards, where its letter stands.
struct Pen {
    path: PathBuilder,
    x: f32,
    y: f32,
    scale: f32,
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + self.scale * x, self.y - self.scale * y)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (handle, end) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(handle.0, handle.1, end.0, end.1);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (first, second, end) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(first.0, first.1, second.0, second.1, end.0, end.1);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_fonts_have_what_charts_say() {
        for font in [Font::regular().unwrap(), Font::bold().unwrap()] {
            let said = (' '..='~').chain("×µμ−–…≤≥≈·²°√äöüßéñΔσ".chars());
            for letter in said {
                assert!(font.0.glyph_index(letter).is_some(), "{letter}");
            }
            let digits: Vec<f32> =
                ('0'..='9').map(|digit| font.advance(font.glyph(digit))).collect();
            assert!(
                digits.iter().all(|width| (width - digits[0]).abs() < 0.5),
                "digits have one width"
            );
        }
    }

    #[test]
    fn a_line_begins_at_its_point_and_stands_on_its_base_line() {
        let font = Font::regular().unwrap();
        let bounds = font.outline("HH", 20.0, 100.0, 50.0).unwrap().bounds();
        assert!((bounds.bottom() - 50.0).abs() < 0.01, "{bounds:?}");
        // Capitals of most fonts are about 0.7 of the size high.
        assert!((13.0..16.0).contains(&bounds.height()), "{bounds:?}");
        assert!(bounds.left() > 100.0 && bounds.right() < 100.0 + font.width("HH", 20.0));
        assert!((font.width("HH", 20.0) - 2.0 * font.width("H", 20.0)).abs() < 1e-3);
        assert!(font.outline("  ", 20.0, 0.0, 0.0).is_none());
    }

    #[test]
    fn a_letter_that_the_font_lacks_is_a_box() {
        let font = Font::regular().unwrap();
        assert!(font.outline("\u{6838}", 20.0, 0.0, 0.0).is_some());
    }
}
