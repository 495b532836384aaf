//! The outlines of rectangles, circles, lines, and paths.

use roxmltree::Node;
use tiny_skia::{Path, PathBuilder, Rect};

use super::place::Place;
use super::style::number;
use super::unknown;
use crate::error::Result;

/// An element's outline; `None` where it has no extent, and nothing is to be drawn.
pub(super) fn outline(node: Node<'_, '_>, place: Place) -> Result<Option<Path>> {
    match node.tag_name().name() {
        "rect" => rectangle(node, place),
        "circle" => {
            let (x, y) = place.point(node, "cx", "cy")?;
            let radius = place.down(node, "r")?;
            Ok(PathBuilder::from_circle(x, y, radius).filter(|_| radius > 0.0))
        }
        "line" => {
            let (from, to) = (place.point(node, "x1", "y1")?, place.point(node, "x2", "y2")?);
            let mut path = PathBuilder::new();
            path.move_to(from.0, from.1);
            path.line_to(to.0, to.1);
            Ok(path.finish())
        }
        "path" => {
            let text = node.attribute("d").unwrap_or_default();
            polygon(text).map(Some).ok_or_else(|| unknown(&format!("the path {text}")))
        }
        other => Err(unknown(&format!("<{other}>"))),
    }
}

fn rectangle(node: Node<'_, '_>, place: Place) -> Result<Option<Path>> {
    let (left, top) = place.point(node, "x", "y")?;
    let (width, height) = (place.across(node, "width")?, place.down(node, "height")?);
    let radius = place.down(node, "rx")?.min(width / 2.0).min(height / 2.0);
    let Some(rect) =
        Rect::from_xywh(left, top, width, height).filter(|_| width > 0.0 && height > 0.0)
    else {
        return Ok(None);
    };
    if radius <= 0.0 {
        return Ok(Some(PathBuilder::from_rect(rect)));
    }
    let (right, bottom) = (rect.right(), rect.bottom());
    // So far from its corner a cubic curve's handle lies, for a quarter of a circle.
    let handle = radius * 0.447_715;
    let mut path = PathBuilder::new();
    path.move_to(left + radius, top);
    path.line_to(right - radius, top);
    path.cubic_to(right - handle, top, right, top + handle, right, top + radius);
    path.line_to(right, bottom - radius);
    path.cubic_to(right, bottom - handle, right - handle, bottom, right - radius, bottom);
    path.line_to(left + radius, bottom);
    path.cubic_to(left + handle, bottom, left, bottom - handle, left, bottom - radius);
    path.line_to(left, top + radius);
    path.cubic_to(left, top + handle, left + handle, top, left + radius, top);
    path.close();
    Ok(path.finish())
}

/// Of `M`, `L`, and `z` alone, as arrows are: `M0 0L8 4L0 8z`.
fn polygon(text: &str) -> Option<Path> {
    let mut path = PathBuilder::new();
    for point in text.strip_prefix('M')?.strip_suffix('z')?.split('L') {
        let mut numbers = point.split_whitespace().map(number);
        let (x, y) = (numbers.next()??, numbers.next()??);
        if numbers.next().is_some() {
            return None;
        }
        if path.is_empty() { path.move_to(x, y) } else { path.line_to(x, y) }
    }
    path.close();
    path.finish()
}

#[cfg(test)]
mod tests {
    use roxmltree::Document;

    use super::*;

    const WHOLE: Place = Place { left: 10.0, top: 0.0, width: 200.0, height: 100.0 };

    /// Left, top, right, and bottom, to a hundredth of a pixel.
    fn bounds(element: &str) -> Option<[f32; 4]> {
        let document = Document::parse(element).unwrap();
        let path = outline(document.root_element(), WHOLE).unwrap()?;
        let found = path.bounds();
        let found = [found.left(), found.top(), found.right(), found.bottom()];
        Some(found.map(|side| (side * 100.0).round() / 100.0))
    }

    #[test]
    fn shapes_are_where_their_attributes_say() {
        assert_eq!(
            bounds("<rect x='10%' y='5' width='50%' height='20'/>"),
            Some([30.0, 5.0, 130.0, 25.0])
        );
        assert_eq!(
            bounds("<rect x='10%' y='5' width='50%' height='20' rx='4'/>"),
            Some([30.0, 5.0, 130.0, 25.0])
        );
        assert_eq!(bounds("<circle cx='50%' cy='50%' r='5'/>"), Some([105.0, 45.0, 115.0, 55.0]));
        assert_eq!(bounds("<line x1='0' x2='100%' y1='1' y2='3'/>"), Some([10.0, 1.0, 210.0, 3.0]));
        assert_eq!(bounds("<path d='M0 0L8 4L0 8z'/>"), Some([0.0, 0.0, 8.0, 8.0]));
    }

    #[test]
    fn what_has_no_extent_is_not_drawn() {
        assert_eq!(bounds("<rect width='0' height='20'/>"), None);
        assert_eq!(bounds("<circle cx='5' cy='5' r='0'/>"), None);
    }

    #[test]
    fn other_shapes_are_unknown() {
        for element in [
            "<ellipse/>",
            "<path d='M0 0C1 1 2 2 3 3z'/>",
            "<path d='M0 0L1z'/>",
            "<path d='L0 0L1 1z'/>",
        ] {
            let document = Document::parse(element).unwrap();
            assert!(outline(document.root_element(), WHOLE).is_err(), "{element}");
        }
    }
}
