//! The step that a command line names.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use crate::cli::Origin;
use crate::ladder::{Ladder, Overrides, Step};
use crate::launch::Device;
use crate::text::assignments;

/// A step of a ladder, at a size.
#[derive(Clone, Copy)]
pub struct ChosenStep<'a> {
    /// The ladder.
    pub ladder: &'a Ladder,
    /// The ladder as `--ladder` names it.
    pub ladder_argument: &'a str,
    /// The step.
    pub step: &'a Step,
    /// `--size`.
    pub size: &'a Overrides,
}

impl ChosenStep<'_> {
    /// The arguments with which this program launches the step once inside the profiler's range.
    pub fn launcher_arguments(&self, device: usize, limit: Duration) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec![
            "__launch".into(),
            "--ladder".into(),
            self.ladder_argument.into(),
            "--kernel".into(),
            self.step.name().into(),
            "--device".into(),
            device.to_string().into(),
            "--limit-s".into(),
            limit.as_secs().max(1).to_string().into(),
        ];
        if let Some(size) = size_argument(self.size) {
            words.extend(["--size".into(), size.into()]);
        }
        words
    }
}

/// `--size` as it would be typed; `None` for no override.
pub fn size_argument(size: &BTreeMap<String, u64>) -> Option<String> {
    (!size.is_empty()).then(|| assignments(size, ","))
}

/// `v2` or `ado/v2`: the ladder that a step's name carries goes before `--ladder`.
pub fn split<'a>(kernel: &'a str, ladder: &'a str) -> (&'a str, &'a str) {
    match kernel.rsplit_once('/') {
        Some((ladder, step)) if !ladder.is_empty() => (ladder, step),
        _ => (ladder, kernel),
    }
}

/// Live where the user insists, or where there is a device and nobody insists on the recording.
pub fn is_live(origin: &Origin) -> bool {
    origin.live || !origin.recorded && Device::is_present()
}
