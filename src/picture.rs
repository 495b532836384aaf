//! A chart as a PNG: the elements and styles of SVG that our charts consist of, drawn into pixels.
//!
//! A complete SVG renderer (resvg, with text) would add 2.8 MB to the program; this and its crates add 0.7 MB. If a
//! chart uses something that is not drawn here, that is an error rather than a gap in the picture; a test draws all charts.

mod canvas;
mod encode;
mod font;
mod paint;
mod place;
mod selector;
mod shape;
mod sheet;
mod style;
mod writing;

use roxmltree::Document;

use crate::error::{Error, Result};
use canvas::Canvas;

/// Pixels that a picture has at most: 400 MB of memory while it is drawn.
const MOST_PIXELS: u64 = 100_000_000;

/// A chart's SVG as a PNG with `scale` pixels for each of its own.
///
/// # Errors
/// [`Error::Usage`] if the picture would have too many pixels, and [`Error::Environment`] where the chart has an
/// element that this does not draw.
pub(crate) fn png(svg: &str, scale: u8) -> Result<Vec<u8>> {
    let document = Document::parse(svg).map_err(|error| unknown(&error.to_string()))?;
    let root = document.root_element();
    let side = |name| root.attribute(name).and_then(|text| text.parse::<u32>().ok());
    let (Some(width), Some(height)) = (side("width"), side("height")) else {
        return Err(unknown("it has no size"));
    };
    let pixels = |side: u32| side.saturating_mul(u32::from(scale));
    let count = u64::from(pixels(width)) * u64::from(pixels(height));
    if count > MOST_PIXELS {
        return Err(Error::Usage(format!(
            "--scale {scale} would make a picture of {} million pixels; a smaller one makes fewer, --format svg none",
            count / 1_000_000
        )));
    }
    let drawn = Canvas::new(&document, f32::from(scale))?.drawn()?;
    let text = |name| {
        root.children()
            .find(|child| child.has_tag_name(("http://www.w3.org/2000/svg", name)))?
            .text()
    };
    encode::encode(&drawn, text("title"), text("desc"))
}

/// The error of a chart that holds something unknown.
fn unknown(what: &str) -> Error {
    Error::Environment(format!("adoprof can't draw this chart as a PNG ({what}); --format svg can"))
}

#[cfg(test)]
mod tests;
