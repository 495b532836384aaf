//! The elements of a chart, drawn one over the other.

use roxmltree::{Document, Node};
use tiny_skia::{
    Color, FillRule, FilterQuality, Paint, Path, Pattern, Pixmap, SpreadMode, Transform,
};

use super::paint::{line, plain};
use super::place::Place;
use super::shape::outline;
use super::sheet::Sheet;
use super::style::{Ink, Style, number};
use super::unknown;
use super::writing::Writing;
use crate::error::Result;

/// Pixels of a pattern's tile for each of the picture's: it is turned, and would blur.
const FINER: f32 = 4.0;

/// What is needed to draw a chart.
pub(super) struct Canvas<'a> {
    document: &'a Document<'a>,
    sheet: Sheet,
    writing: Writing,
    scale: f32,
}

impl<'a> Canvas<'a> {
    /// For a chart, with so many pixels for each of its own.
    pub(super) fn new(document: &'a Document<'a>, scale: f32) -> Result<Self> {
        let sheet =
            document.root_element().children().find(|node| node.tag_name().name() == "style");
        let sheet = Sheet::parse(sheet.and_then(|sheet| sheet.text()).unwrap_or_default())?;
        Ok(Self { document, sheet, writing: Writing::new()?, scale })
    }

    /// The chart on white paper.
    pub(super) fn drawn(&self) -> Result<Pixmap> {
        let root = self.document.root_element();
        let whole = Place::NONE.within(root)?;
        let mut pixels = pixels(whole, self.scale)?;
        pixels.fill(Color::WHITE);
        let scale = Transform::from_scale(self.scale, self.scale);
        self.element(root, Place::NONE, scale, &mut pixels)?;
        Ok(pixels)
    }

    fn element(
        &self,
        node: Node<'_, '_>,
        place: Place,
        to: Transform,
        pixels: &mut Pixmap,
    ) -> Result<()> {
        match node.tag_name().name() {
            "svg" => self.children(node, place.within(node)?, to, pixels),
            "g" => self.children(node, place, to, pixels),
            "title" | "desc" | "style" | "defs" => Ok(()),
            name => {
                let style = Style::of(node, &self.sheet)?;
                let path = match name {
                    "text" => self.writing.outline(node, place, &style)?,
                    _ => outline(node, place)?,
                };
                let Some(path) = path else { return Ok(()) };
                let has_inside = name != "line";
                if style.outline_first {
                    stroke(&path, &style, to, pixels);
                    self.fill(&path, &style, to, pixels)?;
                } else {
                    if has_inside {
                        self.fill(&path, &style, to, pixels)?;
                    }
                    stroke(&path, &style, to, pixels);
                }
                match node.attribute("marker-end") {
                    Some(of) => self.arrow(node, of, place, style.stroke_width, to, pixels),
                    None => Ok(()),
                }
            }
        }
    }

    fn children(
        &self,
        node: Node<'_, '_>,
        place: Place,
        to: Transform,
        pixels: &mut Pixmap,
    ) -> Result<()> {
        node.children()
            .filter(Node::is_element)
            .try_for_each(|child| self.element(child, place, to, pixels))
    }

    fn fill(&self, path: &Path, style: &Style, to: Transform, pixels: &mut Pixmap) -> Result<()> {
        if let Ink::Pattern(id) = &style.fill {
            let (tile, turned) = self.tile(id)?;
            let shader = Pattern::new(
                tile.as_ref(),
                SpreadMode::Repeat,
                FilterQuality::Bilinear,
                style.fill_opacity,
                turned,
            );
            let paint = Paint { shader, ..Paint::default() };
            pixels.fill_path(path, &paint, FillRule::Winding, to, None);
        } else if let Some(paint) = plain(&style.fill, style.fill_opacity, style) {
            pixels.fill_path(path, &paint, FillRule::Winding, to, None);
        }
        Ok(())
    }

    /// A pattern's tile in pixels, and how they lie on the chart.
    fn tile(&self, id: &str) -> Result<(Pixmap, Transform)> {
        let pattern = self.by_id(id)?;
        let place = Place::NONE.within(pattern)?;
        let finer = FINER * self.scale;
        let mut tile = pixels(place, finer)?;
        self.children(pattern, place, Transform::from_scale(finer, finer), &mut tile)?;
        let degrees = match pattern.attribute("patternTransform") {
            None => Some(0.0),
            Some(text) => {
                text.strip_prefix("rotate(").and_then(|rest| number(rest.strip_suffix(')')?))
            }
        };
        let degrees = degrees.ok_or_else(|| unknown("how a pattern is turned"))?;
        Ok((tile, Transform::from_rotate(degrees).pre_scale(1.0 / finer, 1.0 / finer)))
    }

    /// The marker at the end of a line, in its direction.
    fn arrow(
        &self,
        node: Node<'_, '_>,
        of: &str,
        place: Place,
        thick: f32,
        to: Transform,
        pixels: &mut Pixmap,
    ) -> Result<()> {
        let id = of.strip_prefix("url(#").and_then(|rest| rest.strip_suffix(')'));
        let marker = self.by_id(id.unwrap_or(of))?;
        let (from, end) = (place.point(node, "x1", "y1")?, place.point(node, "x2", "y2")?);
        let degrees = (end.1 - from.1).atan2(end.0 - from.0).to_degrees();
        let view: Vec<f32> =
            marker.attribute("viewBox").unwrap_or_default().split(' ').filter_map(number).collect();
        let &[_, _, width, _] = view.as_slice() else {
            return Err(unknown("a marker without a viewBox"));
        };
        let own = |name| Place::NONE.across(marker, name);
        let scale = own("markerWidth")? * thick / width;
        let to = to
            .pre_translate(end.0, end.1)
            .pre_concat(Transform::from_rotate(degrees))
            .pre_scale(scale, scale)
            .pre_translate(-own("refX")?, -own("refY")?);
        self.children(marker, Place::NONE, to, pixels)
    }

    fn by_id(&self, id: &str) -> Result<Node<'_, '_>> {
        let mut all = self.document.descendants();
        all.find(|node| node.attribute("id") == Some(id))
            .ok_or_else(|| unknown(&format!("no #{id}")))
    }
}

fn stroke(path: &Path, style: &Style, to: Transform, pixels: &mut Pixmap) {
    if let Some(paint) = plain(&style.stroke, style.stroke_opacity, style) {
        pixels.stroke_path(path, &paint, &line(style), to, None);
    }
}

fn pixels(place: Place, scale: f32) -> Result<Pixmap> {
    Pixmap::new((place.width * scale) as u32, (place.height * scale) as u32)
        .ok_or_else(|| unknown("a part without a size"))
}
