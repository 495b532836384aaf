//! Reports as JSON: the whole document, for programs.

use std::io::{self, Write};

use serde::Serialize;

use super::format::Renderer;
use super::{Content, Style};
use crate::document::{Document, NamedDocument, SCHEMA, SeveralDocuments, Version};

/// The form.
pub(super) struct Form;

impl Renderer for Form {
    fn name(&self) -> &'static str {
        "json"
    }

    fn purpose(&self) -> &'static str {
        "The whole document, for programs"
    }

    fn holds_notices(&self) -> bool {
        true
    }

    fn holds_ranking(&self) -> bool {
        true
    }

    fn one(&self, content: Content<'_>, _: Style, out: &mut dyn Write) -> io::Result<()> {
        write(&content, out)
    }

    fn several(
        &self,
        documents: &[(String, Document)],
        notices: &[String],
        _: Style,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let profiles = documents
            .iter()
            .map(|(profile, document)| NamedDocument { profile, document })
            .collect();
        write(
            &SeveralDocuments {
                schema: SCHEMA.to_owned(),
                adoprof: Version::default(),
                profiles,
                notices,
            },
            out,
        )
    }
}

/// Writes a value in lines.
///
/// # Errors
/// Whatever writing to `out` gives.
pub(super) fn write(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    out.write_all(b"\n")
}
