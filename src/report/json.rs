//! Reports as JSON: the whole document, for programs.

use std::io::{self, Write};

use serde::Serialize;

use super::format::Renderer;
use super::{Content, Style};
use crate::document::{Document, SCHEMA, Version};

/// The form.
pub(super) struct Form;

/// What `analyze` prints of several profiles.
#[derive(Debug, Serialize)]
struct Several<'a> {
    schema: &'static str,
    adoprof: Version,
    profiles: Vec<Named<'a>>,
}

/// A document with the name of its profile.
#[derive(Debug, Serialize)]
struct Named<'a> {
    profile: &'a str,
    #[serde(flatten)]
    document: &'a Document,
}

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
        _: Style,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let profiles =
            documents.iter().map(|(profile, document)| Named { profile, document }).collect();
        write(&Several { schema: SCHEMA, adoprof: Version::default(), profiles }, out)
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
