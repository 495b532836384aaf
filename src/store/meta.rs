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
    /// Compiler flags of the step's own; `None` for programs, and in profiles that are older than that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flags: Option<Vec<String>>,
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
        if let Some(time) = meta.step.as_ref().and_then(impossible_time) {
            let problem =
                format!("is damaged (it has a time of {time} ns); collect the profile again");
            return Err(Error::input(path, problem));
        }
        Ok(meta)
    }

    /// The problem's size, empty for a program.
    #[must_use]
    pub fn size(&self) -> BTreeMap<String, u64> {
        self.step.as_ref().map(|step| step.size.clone()).unwrap_or_default()
    }
}

/// A time of a step that no clock gives, where it has one.
fn impossible_time(step: &StepInfo) -> Option<f64> {
    let timings = [Some(step.time_ns), step.warm_ns].into_iter().flatten();
    let times = timings.flat_map(|timing| [timing.low, timing.median, timing.high]);
    let others = step.cpu.iter().map(|cpu| cpu.ns).chain(step.library.as_ref().map(|it| it.ns));
    times.chain(step.total_ns).chain(others).find(|time| !time.is_finite() || *time < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_no_clock_gives_are_damage() {
        let meta = |time: &str| {
            let step = format!(
                r#"{{"ladder":"a","name":"s","size":{{}},"verified":true,"max_error":0,
                "time_ns":{{"median":{time},"low":1,"high":2,"n":3}},"bytes":1,"flops":1,
                "recorded":null}}"#
            );
            let meta = Meta { schema: META_SCHEMA.to_owned(), ..Meta::default() };
            let text = serde_json::to_string(&meta).unwrap();
            Meta::parse(&text.replace("\"step\":null", &format!("\"step\":{step}")), Path::new("p"))
        };
        assert_eq!(meta("1.5").unwrap().step.unwrap().time_ns.median.to_bits(), 1.5_f64.to_bits());
        let error = meta("-1.5").unwrap_err().to_string();
        assert!(error.contains("a time of -1.5 ns"), "{error}");
    }
}
