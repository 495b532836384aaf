//! What users see: the document of any command as text, JSON, Markdown, CSV or SARIF.
//!
//! Every report is a pure function of its document and a [`Style`]. It writes to whatever it is
//! given, opens no file and knows no terminal. All text from outside passes through
//! [`crate::text::printable`] on its way: in the layout for people, cell by cell in CSV. What several
//! forms say in the same words stands in [`words`]; forms know nothing of one another but that
//! Markdown may quote the text.

mod content;
mod format;
mod style;
mod remarks;
pub(crate) mod words;

// The formats. The build reads these lines: they are the registry, and their order is that of `--help`.
// Each module has a `Form`, its `Renderer`.
mod text;
mod json;
mod markdown;
mod csv;
mod sarif;
mod junit;
mod github;

#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use crate::document::Document;

pub use content::Content;
pub use format::{Format, Renderer, TableFormat};
pub use style::Style;
pub use text::ladder;

include!(concat!(env!("OUT_DIR"), "/formats.rs"));

/// Writes a result.
/// Notices stay out of the forms that don't hold them ([`Format::holds_notices`]): they go to another
/// stream.
///
/// # Errors
/// Whatever writing to `out` gives.
pub fn render<'a>(
    content: impl Into<Content<'a>>,
    format: Format,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    format.0.one(content.into(), style, out)
}

/// Writes the documents of several profiles as one result, each with the profile's name; one alone is
/// written as [`render`] does. What there is to know of all of them together is in forms that hold notices.
///
/// # Errors
/// Whatever writing to `out` gives.
pub fn render_several(
    documents: &[(String, Document)],
    notices: &[String],
    format: Format,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    match documents {
        [(_, document)] if notices.is_empty() || !format.holds_notices() => {
            render(document, format, style, out)
        }
        [(_, document)] => {
            let mut document = document.clone();
            document.notices.extend_from_slice(notices);
            render(&document, format, style, out)
        }
        documents => format.0.several(documents, notices, style, out),
    }
}
