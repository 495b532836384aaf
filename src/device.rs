//! What is known of devices: rates, ceilings, costs and limits, each with its source.
//!
//! The figures stand in `devices/*.toml`, which travel inside the binary, and in the user's
//! configuration. What no file says is unknown, and whoever asks for it must do without.

mod file;
mod library;
mod quantity;
mod remark;
pub(crate) mod residency;
mod written;

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use crate::error::Result;
use library::Library;

pub(crate) use library::user_folder;
pub(crate) use quantity::Quantity;
pub(crate) use written::{four_digits, text};

/// A known value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fact {
    /// In the quantity's unit.
    value: f64,
    /// Where it comes from, in words.
    from: String,
}

/// What is known of one device.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceFacts {
    values: [Option<Fact>; Quantity::COUNT],
}

impl Default for DeviceFacts {
    /// Nothing is known.
    fn default() -> Self {
        Self { values: [const { None }; Quantity::COUNT] }
    }
}

impl DeviceFacts {
    /// What is known of a device by the name that the driver gives it and by its compute capability;
    /// read once per process. A user's file with a mistake counts as absent here: [`check`] is what
    /// reports it.
    #[must_use]
    pub fn of(name: Option<&str>, compute_capability: Option<(u32, u32)>) -> Arc<Self> {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it =
            |(key, _): &&(Key, Arc<Self>)| key.0.as_deref() == name && key.1 == compute_capability;
        if let Some((_, facts)) = known.iter().find(is_it) {
            return facts.clone();
        }
        let facts = LIBRARY
            .facts(name, compute_capability)
            .or_else(|_| SHIPPED.facts(name, compute_capability))
            .unwrap_or_default();
        let facts = Arc::new(facts);
        known.push(((name.map(str::to_owned), compute_capability), facts.clone()));
        facts
    }

    /// What the shipped files say of a device, whatever the user's do.
    #[must_use]
    pub fn shipped(name: Option<&str>, compute_capability: Option<(u32, u32)>) -> Self {
        SHIPPED.facts(name, compute_capability).unwrap_or_default()
    }

    /// A value in its quantity's unit; `None` where it is not known.
    #[must_use]
    pub fn get(&self, quantity: Quantity) -> Option<f64> {
        self.values[quantity as usize].as_ref().map(|fact| fact.value)
    }

    /// Where a value comes from.
    #[must_use]
    pub fn source(&self, quantity: Quantity) -> Option<&str> {
        self.values[quantity as usize].as_ref().map(|fact| fact.from.as_str())
    }
}

/// A device's name and compute capability.
type Key = (Option<String>, Option<(u32, u32)>);

/// What was read so far: a profile has one device or two.
static KNOWN: Mutex<Vec<(Key, Arc<DeviceFacts>)>> = Mutex::new(Vec::new());

/// The shipped files and the user's; only the shipped ones in unit tests, whose answers must not depend
/// on who runs them.
static LIBRARY: LazyLock<Library> =
    LazyLock::new(|| Library { user: if cfg!(test) { None } else { user_folder() } });

/// The shipped files alone.
const SHIPPED: Library = Library { user: None };

/// The name of an architecture's file, without its ending, where there is one.
#[must_use]
pub(crate) fn architecture((major, minor): (u32, u32)) -> Option<String> {
    let stem = format!("sm_{major}{minor}");
    LIBRARY.has(&stem).then_some(stem)
}

/// The values of a device's file, each with its source, where it is there and right.
#[must_use]
pub(crate) fn written(path: &std::path::Path) -> Vec<(Quantity, f64, String)> {
    let file = library::read(path).map(|file| file.facts).unwrap_or_default();
    file.into_iter().map(|(quantity, fact)| (quantity, fact.value, fact.from)).collect()
}

/// Reads every file in the user's folder of devices' files.
///
/// # Errors
/// [`Error::Manifest`](crate::error::Error::Manifest) with the line of the first mistake.
pub(crate) fn check() -> Result<()> {
    LIBRARY.check()
}

/// The name of a device's file, without its ending: the driver's name in lower case, with `-` between
/// the words.
#[must_use]
pub(crate) fn slug(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_file_names() {
        assert_eq!(slug("NVIDIA H200"), "nvidia-h200");
        assert_eq!(slug("NVIDIA A100-SXM4-80GB"), "nvidia-a100-sxm4-80gb");
        assert_eq!(slug("../../Tesla (X)"), "tesla-x");
    }

    #[test]
    fn a_device_is_read_once() {
        let of = || DeviceFacts::of(Some("NVIDIA H200"), Some((9, 0)));
        assert!(Arc::ptr_eq(&of(), &of()));
        assert_eq!(of().get(Quantity::FmaShare), Some(0.986));
        assert!(of().source(Quantity::FmaShare).unwrap().starts_with("measured by adoprof"));
    }
}
