//! The documents of several profiles as one result, as data.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Document, Version};

/// What `analyze` prints of several profiles.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SeveralDocuments<'a> {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The version that wrote it.
    pub adoprof: Version,
    /// Each profile's document.
    pub profiles: Vec<NamedDocument<'a>>,
    /// What was left out, each one sentence.
    pub notices: &'a [String],
}

/// A document with the name of its profile.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NamedDocument<'a> {
    /// The profile as the command line named it.
    pub profile: &'a str,
    /// Its document.
    #[serde(flatten)]
    pub document: &'a Document,
}
