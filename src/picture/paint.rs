//! Colours and lines as the rasterizer takes them.

use tiny_skia::{Paint, Shader, Stroke, StrokeDash};

use super::style::{Ink, Style};

/// A paint of a plain colour; `None` where nothing is to be seen, or a pattern.
pub(super) fn plain(ink: &Ink, opacity: f32, style: &Style) -> Option<Paint<'static>> {
    let Ink::Plain(color) = ink else { return None };
    let mut color = *color;
    color.apply_opacity(opacity);
    Some(Paint {
        shader: Shader::SolidColor(color),
        anti_alias: !style.is_crisp,
        ..Paint::default()
    })
}

/// The line that a style draws along an outline.
pub(super) fn line(style: &Style) -> Stroke {
    Stroke {
        width: style.stroke_width,
        line_cap: style.cap,
        line_join: style.join,
        dash: StrokeDash::new(style.dashes.clone(), 0.0),
        ..Stroke::default()
    }
}
