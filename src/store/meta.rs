//! What a saved profile says of itself.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::timing::StepInfo;

/// The version of [`Meta`]'s shape.
pub const META_SCHEMA: &str = "adoprof-profile/1";

/// `profile.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// Always [`META_SCHEMA`].
    pub schema: String,
    /// The ladder's step; `None` for a program.
    pub step: Option<StepInfo>,
    /// Where and how it was collected.
    pub environment: Environment,
    /// Things noticed while collecting.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// Where and how a profile was collected. Nothing here names a machine or a person.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// The GPU's name.
    pub device: String,
    /// Compute capability, `9.0`.
    pub compute_capability: String,
    /// The CUDA version that the driver supports.
    pub cuda: String,
    /// NVRTC's version; empty for programs that were compiled elsewhere.
    #[serde(default)]
    pub nvrtc: String,
    /// ncu's version.
    pub ncu: String,
    /// ncu's clock control while profiling.
    pub clock_control: String,
    /// ncu's cache control while profiling.
    pub cache_control: String,
    /// What was collected: `auto`, `quick`, `standard`, `full` or `custom`.
    pub collected: String,
    /// Replay passes, over both runs where there were two.
    pub passes: Option<u32>,
    /// The command, without the paths of this machine.
    pub command: String,
    /// The date, `2026-11-20`.
    pub date: String,
    /// adoprof's version.
    pub adoprof: String,
}

impl Meta {
    /// Reads `profile.json`.
    ///
    /// # Errors
    /// [`Error::Input`] where it is damaged or of an unknown version.
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        let meta: Self = serde_json::from_str(text).map_err(|e| {
            Error::input(path, format!("is damaged ({e}); collect the profile again"))
        })?;
        if meta.schema != META_SCHEMA {
            return Err(Error::input(
                path,
                format!(
                    "has the format {:?}, and this adoprof reads {META_SCHEMA:?}; use the adoprof \
                     that wrote it",
                    meta.schema
                ),
            ));
        }
        Ok(meta)
    }

    /// The problem's size, empty for a program.
    #[must_use]
    pub fn size(&self) -> BTreeMap<String, u64> {
        self.step.as_ref().map(|step| step.size.clone()).unwrap_or_default()
    }
}
