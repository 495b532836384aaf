//! The settings in force.

use schemars::JsonSchema;
use serde::Serialize;

use crate::document::Version;

/// What `config` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConfigDocument {
    /// Always [`SCHEMA`](crate::document::SCHEMA).
    pub schema: &'static str,
    /// The version that wrote it.
    pub adoprof: Version,
    /// The files that were read, the project's first.
    pub files: Vec<String>,
    /// Every setting.
    pub settings: Vec<Setting>,
}

/// One setting.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Setting {
    /// Its name in adoprof.toml, with its table.
    pub key: &'static str,
    /// What is in force; several values are separated by commas.
    pub value: String,
    /// `built in`, an environment variable, or a file with its line.
    pub from: String,
    /// What it is, in a few words.
    pub purpose: &'static str,
}
