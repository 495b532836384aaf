//! Which adoprof wrote a document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A version of adoprof, this one by default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Version(String);

impl Default for Version {
    fn default() -> Self {
        Self(env!("CARGO_PKG_VERSION").to_owned())
    }
}
