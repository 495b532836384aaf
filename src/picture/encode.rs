//! Pixels as the bytes of a PNG.

use tiny_skia::Pixmap;

use super::unknown;
use crate::error::{Error, Result};

/// Opaque pixels as a PNG that says in its texts what it shows.
pub(super) fn encode(pixels: &Pixmap, title: Option<&str>, said: Option<&str>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    write(pixels, title, said, &mut bytes).map_err(|error| wrong(&error))?;
    Ok(bytes)
}

fn wrong(error: &png::EncodingError) -> Error {
    unknown(&error.to_string())
}

fn write(
    pixels: &Pixmap,
    title: Option<&str>,
    said: Option<&str>,
    bytes: &mut Vec<u8>,
) -> std::result::Result<(), png::EncodingError> {
    let mut encoder = png::Encoder::new(bytes, pixels.width(), pixels.height());
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::High);
    for (name, text) in [("Title", title), ("Description", said)] {
        if let Some(text) = text {
            encoder.add_itxt_chunk(name.to_owned(), text.to_owned())?;
        }
    }
    let opaque: Vec<u8> =
        pixels.data().chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&opaque)?;
    writer.finish()
}
