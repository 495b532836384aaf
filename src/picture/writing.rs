//! Texts: what they say, and where they stand.

use roxmltree::Node;
use tiny_skia::Path;

use super::font::Font;
use super::place::Place;
use super::style::{Anchor, Style};
use super::unknown;
use crate::error::Result;

/// Both weights of the letters.
pub(super) struct Writing {
    regular: Font,
    bold: Font,
}

impl Writing {
    pub(super) fn new() -> Result<Self> {
        Ok(Self { regular: Font::regular()?, bold: Font::bold()? })
    }

    /// The outline of a text element; `None` where it says nothing.
    pub(super) fn outline(
        &self,
        node: Node<'_, '_>,
        place: Place,
        style: &Style,
    ) -> Result<Option<Path>> {
        if let Some(child) = node.children().find(Node::is_element) {
            return Err(unknown(&format!("<{}> in a text", child.tag_name().name())));
        }
        let text: String =
            node.descendants().filter(Node::is_text).filter_map(|text| text.text()).collect();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let font = if style.is_bold { &self.bold } else { &self.regular };
        let (x, y) = place.point(node, "x", "y")?;
        let (right, down) = (place.across(node, "dx")?, place.down(node, "dy")?);
        let before = match style.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => font.width(&text, style.font_size) / 2.0,
            Anchor::End => font.width(&text, style.font_size),
        };
        Ok(font.outline(&text, style.font_size, x + right - before, y + down))
    }
}

#[cfg(test)]
mod tests {
    use roxmltree::Document;

    use super::*;

    #[test]
    fn a_text_stands_beside_its_point_by_its_anchor() {
        let document =
            Document::parse("<text x='50%' y='30' dx='-2'>one\n  <!-- --> two</text>").unwrap();
        let place = Place { left: 0.0, top: 0.0, width: 400.0, height: 100.0 };
        let writing = Writing::new().unwrap();
        let bounds = |anchor| {
            let style = Style { anchor, font_size: 20.0, ..Style::default() };
            let path = writing.outline(document.root_element(), place, &style).unwrap().unwrap();
            (path.bounds().left(), path.bounds().right())
        };
        let near = |a: f32, b: f32| assert!((a - b).abs() < 3.0, "{a} {b}");
        near(bounds(Anchor::Start).0, 198.0);
        near(bounds(Anchor::End).1, 198.0);
        let (left, right) = bounds(Anchor::Middle);
        near(f32::midpoint(left, right), 198.0);
        near(right - left, writing.regular.width("one two", 20.0));
    }
}
