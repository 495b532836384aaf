//! How an element looks: what its style sheet and its attributes say, and what it has from the elements around it.

use roxmltree::Node;
use tiny_skia::{Color, LineCap, LineJoin};

use super::sheet::Sheet;
use super::unknown;
use crate::error::Result;

/// What fills a shape or draws its outline.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Ink {
    None,
    Plain(Color),
    /// The pattern of this id.
    Pattern(String),
}

/// Where a text stands beside its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// How an element looks. Every property here is one that elements within have too.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Style {
    pub fill: Ink,
    pub fill_opacity: f32,
    pub stroke: Ink,
    pub stroke_opacity: f32,
    pub stroke_width: f32,
    pub dashes: Vec<f32>,
    pub cap: LineCap,
    pub join: LineJoin,
    /// The outline is drawn first, and the filling over it.
    pub outline_first: bool,
    pub is_crisp: bool,
    pub anchor: Anchor,
    /// Pixels.
    pub font_size: f32,
    pub is_bold: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            fill: Ink::Plain(Color::BLACK),
            fill_opacity: 1.0,
            stroke: Ink::None,
            stroke_opacity: 1.0,
            stroke_width: 1.0,
            dashes: Vec::new(),
            cap: LineCap::Butt,
            join: LineJoin::Miter,
            outline_first: false,
            is_crisp: false,
            anchor: Anchor::Start,
            font_size: 16.0,
            is_bold: false,
        }
    }
}

impl Style {
    /// How an element looks where it stands.
    pub(super) fn of(node: Node<'_, '_>, sheet: &Sheet) -> Result<Self> {
        let mut style = match node.parent_element() {
            Some(parent) => Self::of(parent, sheet)?,
            None => Self::default(),
        };
        // A sheet outweighs attributes.
        if let Some(fill) = node.attribute("fill") {
            style.set("fill", fill)?;
        }
        for (name, value) in sheet.of(node) {
            style.set(name, value)?;
        }
        Ok(style)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        let known = match name {
            "fill" => ink(value).map(|ink| self.fill = ink),
            "stroke" => ink(value).map(|ink| self.stroke = ink),
            "fill-opacity" => number(value).map(|share| self.fill_opacity = share),
            "stroke-opacity" => number(value).map(|share| self.stroke_opacity = share),
            "stroke-width" => number(value).map(|width| self.stroke_width = width),
            "stroke-dasharray" => value
                .split_whitespace()
                .map(number)
                .collect::<Option<Vec<f32>>>()
                .map(|dashes| self.dashes = dashes),
            "stroke-linecap" => (value == "square").then(|| self.cap = LineCap::Square),
            "stroke-linejoin" => (value == "round").then(|| self.join = LineJoin::Round),
            "paint-order" => (value == "stroke").then(|| self.outline_first = true),
            "shape-rendering" => (value == "crispEdges").then(|| self.is_crisp = true),
            "text-anchor" => anchor(value).map(|anchor| self.anchor = anchor),
            "font-size" => number(value).map(|size| self.font_size = size),
            "font-weight" => number(value).map(|weight| self.is_bold = weight >= 600.0),
            // The size alone: the letters are those of the program's own font.
            "font" => value.split('/').next().and_then(number).map(|size| self.font_size = size),
            // Digits of our font have one width; nothing is cut off.
            "font-variant-numeric" | "overflow" => Some(()),
            _ => None,
        };
        known.ok_or_else(|| unknown(&format!("{name}: {value}")))
    }
}

fn ink(value: &str) -> Option<Ink> {
    if value == "none" {
        return Some(Ink::None);
    }
    if let Some(id) = value.strip_prefix("url(#").and_then(|rest| rest.strip_suffix(')')) {
        return Some(Ink::Pattern(id.to_owned()));
    }
    let digits = value.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    let part = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    Some(Ink::Plain(Color::from_rgba8(part(0)?, part(2)?, part(4)?, 255)))
}

/// A number, of pixels or of nothing.
pub(super) fn number(text: &str) -> Option<f32> {
    let text = text.trim();
    text.strip_suffix("px").unwrap_or(text).parse().ok().filter(|number: &f32| number.is_finite())
}

fn anchor(value: &str) -> Option<Anchor> {
    match value {
        "middle" => Some(Anchor::Middle),
        "end" => Some(Anchor::End),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use roxmltree::Document;

    use super::*;

    fn style(sheet: &str) -> Result<Style> {
        let document =
            Document::parse("<svg><g class='a'><text class='b' fill='url(#p)'/></g></svg>")
                .unwrap();
        let text = document.descendants().find(|node| node.has_tag_name("text")).unwrap();
        Style::of(text, &Sheet::parse(sheet).unwrap())
    }

    #[test]
    fn an_element_has_what_is_said_of_it_and_of_what_it_lies_in() {
        let found = style(
            ".a { stroke: #ff0080; stroke-dasharray: 1.5 3; font-weight: 600; } .b { font-size: 11px; text-anchor: end; }",
        )
        .unwrap();
        assert_eq!(found.stroke, Ink::Plain(Color::from_rgba8(255, 0, 128, 255)));
        assert_eq!(found.dashes, [1.5, 3.0]);
        assert!(found.is_bold && found.anchor == Anchor::End);
        assert!((found.font_size - 11.0).abs() < 1e-6);
        assert_eq!(found.fill, Ink::Pattern("p".to_owned()));
        assert_eq!(
            style(".b { fill: none }").unwrap().fill,
            Ink::None,
            "a sheet outweighs attributes"
        );
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        for said in [
            "filter: blur(2px)",
            "fill: var(--ink)",
            "fill: #12",
            "fill: #ä1234",
            "font-size: 1em",
            "stroke-width: nan",
        ] {
            assert!(style(&format!(".b {{ {said} }}")).is_err(), "{said}");
        }
    }
}
