//! What holds no findings, as text or as JSON.

use serde::Serialize;

use super::printer::Printer;
use crate::cli::{FactFormat, FactOutput};
use crate::error::Result;

/// Prints a text, or the same as a document.
///
/// # Errors
/// As [`Printer::result`].
pub(crate) fn show(
    output: FactOutput,
    printer: &Printer,
    text: impl FnOnce() -> String,
    document: &impl Serialize,
) -> Result<()> {
    match output.format {
        FactFormat::Text => printer.text(&text()),
        FactFormat::Json => printer.result(|_, out| {
            serde_json::to_writer_pretty(&mut *out, document)?;
            writeln!(out)
        }),
    }
}
