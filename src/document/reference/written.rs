//! What commands say that write files.

use schemars::JsonSchema;
use serde::Serialize;

use crate::document::{SCHEMA, Version};

/// What `init`, `capture`, `ladder copy`, and `rules new` print.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WrittenDocument {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// The version that wrote it.
    pub adoprof: Version,
    /// The files and folders that were written.
    pub written: Vec<String>,
    /// A command that goes on with them.
    pub next: String,
}

impl WrittenDocument {
    /// Of what was written, and a command that goes on with it.
    #[must_use]
    pub fn new(written: Vec<String>, next: String) -> Self {
        Self { schema: SCHEMA, adoprof: Version::default(), written, next }
    }
}
