//! Several profiles of one call in one result: a program that reads it gets one value, one table,
//! one log.

use std::io::{self, Write};

use serde::Serialize;

use super::{Format, Style, csv, json, markdown, sarif, text};
use crate::document::{Document, SCHEMA};
use crate::text::printable;

/// What `analyze` prints of several profiles as JSON.
#[derive(Debug, Serialize)]
struct Several<'a> {
    schema: &'static str,
    profiles: Vec<Named<'a>>,
}

/// A document with the name of its profile.
#[derive(Debug, Serialize)]
struct Named<'a> {
    profile: &'a str,
    #[serde(flatten)]
    document: &'a Document,
}

/// Writes the documents of several profiles, each with the profile's name; one alone is written as
/// [`super::render_document`] does.
///
/// # Errors
/// Whatever writing to `out` gives.
pub fn render_documents(
    documents: &[(String, Document)],
    format: Format,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    if let [(_, document)] = documents {
        return super::render_document(document, format, style, out);
    }
    match format {
        Format::Text => documents.iter().enumerate().try_for_each(|(index, (name, document))| {
            let gap = if index > 0 { "\n" } else { "" };
            writeln!(out, "{gap}== {}", printable(name))?;
            text::document(document, style, out)
        }),
        Format::Json => {
            let profiles =
                documents.iter().map(|(profile, document)| Named { profile, document }).collect();
            json(&Several { schema: SCHEMA, profiles }, out)
        }
        Format::Markdown => documents.iter().enumerate().try_for_each(|(index, (_, document))| {
            if index > 0 {
                writeln!(out)?;
            }
            markdown::document(document, out)
        }),
        Format::Csv => csv::documents(documents, out),
        Format::Sarif => json(&sarif::documents(documents), out),
    }
}
