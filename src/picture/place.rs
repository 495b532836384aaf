//! Lengths: pixels, or percent of what a chart or a part of it is wide and high.

use roxmltree::Node;

use super::style::number;
use super::unknown;
use crate::error::Result;

/// Where a part of the chart lies, pixels of the chart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    pub left: f32,
    pub top: f32,
    pub width: f32,
    pub height: f32,
}

impl Place {
    /// Nothing to take percent of: what is drawn for markers and patterns has lengths of its own.
    pub(super) const NONE: Self = Self { left: 0.0, top: 0.0, width: 0.0, height: 0.0 };

    /// The place of an `svg` within this one.
    pub(super) fn within(self, node: Node<'_, '_>) -> Result<Self> {
        Ok(Self {
            left: self.left + self.across(node, "x")?,
            top: self.top + self.down(node, "y")?,
            width: self.across(node, "width")?,
            height: self.down(node, "height")?,
        })
    }

    /// A length of an element to the right, 0 where it has none.
    pub(super) fn across(self, node: Node<'_, '_>, name: &str) -> Result<f32> {
        length(node, name, self.width)
    }

    /// A length of an element downwards, 0 where it has none.
    pub(super) fn down(self, node: Node<'_, '_>, name: &str) -> Result<f32> {
        length(node, name, self.height)
    }

    /// A point of an element, pixels of the chart.
    pub(super) fn point(self, node: Node<'_, '_>, x: &str, y: &str) -> Result<(f32, f32)> {
        Ok((self.left + self.across(node, x)?, self.top + self.down(node, y)?))
    }
}

fn length(node: Node<'_, '_>, name: &str, whole: f32) -> Result<f32> {
    let Some(text) = node.attribute(name) else { return Ok(0.0) };
    let found = match text.strip_suffix('%') {
        Some(percent) => number(percent).map(|percent| percent / 100.0 * whole),
        None => number(text),
    };
    found.ok_or_else(|| unknown(&format!("{name}=\"{text}\"")))
}

#[cfg(test)]
mod tests {
    use roxmltree::Document;

    use super::*;

    #[test]
    fn percent_are_of_the_part_that_an_element_lies_in() {
        let document = Document::parse(
            "<svg x='25%' y='7' width='50%' height='10'><line x1='50%' y1='50%' x2='3'/></svg>",
        )
        .unwrap();
        let whole = Place { left: 0.0, top: 0.0, width: 400.0, height: 100.0 };
        let part = whole.within(document.root_element()).unwrap();
        assert_eq!(part, Place { left: 100.0, top: 7.0, width: 200.0, height: 10.0 });
        let line = document.root_element().first_child().unwrap();
        assert_eq!(part.point(line, "x1", "y1").unwrap(), (200.0, 12.0));
        assert_eq!(part.point(line, "x2", "y2").unwrap(), (103.0, 7.0), "an absent length is none");
    }
}
