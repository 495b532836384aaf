//! What a sweep sets beside the problem's size: tunables, compiler flags, the block, the carve-out.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Ladder, Overrides, Step};
use crate::error::{Error, Result};
use crate::files;
use crate::text::nearest::hint;
use crate::text::{hex, printable};

/// Settings of a step beside its size. The default changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tuning {
    /// Values of the step's tunables that take the place of the manifest's.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tune: Overrides,
    /// Compiler flags after the step's own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// Threads of a block in x, for every launch of the step; the grid stays as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
    /// The share of an SM's L1 memory that is asked for as shared memory, percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub carveout_percent: Option<u32>,
}

impl Step {
    /// The step's tunables with their defaults, by name.
    #[must_use]
    pub fn tunables(&self) -> Overrides {
        // Checked when the ladder was read: whole numbers from 1.
        let tune = &self.manifest.tune;
        tune.iter()
            .map(|(name, value)| (name.get_ref().clone(), value.get_ref().unsigned_abs()))
            .collect()
    }

    /// The tunables with the values of a tuning in the place of their defaults.
    ///
    /// # Errors
    /// [`Error::Usage`] for a name that the step does not tune, and for 0.
    pub(super) fn tuned(&self, tuning: &Tuning) -> Result<Overrides> {
        let mut tunables = self.tunables();
        for (name, value) in &tuning.tune {
            if !tunables.contains_key(name) {
                let known: Vec<&str> = tunables.keys().map(String::as_str).collect();
                return Err(Error::Usage(format!(
                    "step `{}` has no tunable `{}`{}",
                    self.name(),
                    printable(name),
                    hint(name, &known)
                )));
            }
            if *value == 0 {
                return Err(Error::Usage(format!(
                    "{name} = 0 is not a value for a tunable: give 1 or more"
                )));
            }
            tunables.insert(name.clone(), *value);
        }
        Ok(tunables)
    }
}

impl Ladder {
    /// What a measurement of a step depends on beside size and tuning: the manifest and the sources
    /// of the step and of the step that it is checked against, with their headers, as 16 hexadecimal digits of
    /// SHA-256.
    #[must_use]
    pub fn fingerprint(&self, step: &Step) -> String {
        let mut hash = Sha256::new();
        hash.update(&self.text);
        let steps = [Some(step), self.checked_against(step)];
        for step in steps.into_iter().flatten() {
            hash.update([0]);
            hash.update(step.source().map_or("", |source| &source.text));
        }
        for file in self.sources(step) {
            if let Ok(bytes) = files::read(&file, files::MOST_TEXT) {
                hash.update([0]);
                hash.update(bytes);
            }
        }
        hex(&hash.finalize()[..8])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::parse_overrides;
    use crate::plan::Check;

    const MANIFEST: &str = r#"
name = "t"
title = "t"
reference = "a"
tolerance = { relative = 0.0 }
bytes = "4 * N"
flops = "N"
metric = { unit = "GB/s", work = "4 * N" }
[parameters]
N = 1000
[[buffers]]
name = "out"
dtype = "f32"
shape = ["N"]
role = "output"
[[steps]]
name = "a"
title = "a"
file = "a.cu"
flags = ["-DX=1"]
tune = { BLOCK = 128, EACH = 2 }
[[steps.launches]]
kernel = "k"
grid = ["ceil(N / (BLOCK * EACH))"]
block = ["BLOCK", 2]
shared = "4 * BLOCK"
args = ["out"]
"#;

    fn load(text: &str) -> Result<Ladder> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("ladder.toml"), text).unwrap();
        std::fs::write(dir.path().join("a.cu"), "// k").unwrap();
        Ladder::load(dir.path())
    }

    #[test]
    fn tunables_shape_the_launch_and_reach_the_compiler() {
        let ladder = load(MANIFEST).unwrap();
        let plan = ladder.plan("a", &Overrides::new(), 1).unwrap();
        // 1000 elements in blocks of 128 x 2 elements: 3.9.
        assert_eq!((plan.launches[0].grid, plan.launches[0].block), ([4, 1, 1], [128, 2, 1]));
        assert_eq!(plan.flags, ["-DX=1", "-DBLOCK=128", "-DEACH=2"]);
        let tuning = Tuning {
            tune: parse_overrides("BLOCK=64").unwrap(),
            flags: vec!["-ftz=true".to_owned()],
            carveout_percent: Some(50),
            block: None,
        };
        let plan = ladder.plan_tuned("a", &Overrides::new(), &tuning, 1).unwrap();
        // Blocks of 64 x 2 elements: 7.8; shared memory 4 x 64.
        assert_eq!((plan.launches[0].grid, plan.launches[0].block), ([8, 1, 1], [64, 2, 1]));
        assert_eq!(plan.launches[0].shared_bytes, 256);
        assert_eq!(plan.flags, ["-DX=1", "-DBLOCK=64", "-DEACH=2", "-ftz=true"]);
        assert_eq!(plan.carveout_percent, Some(50));
        // Step a is the reference: tuned, it is compared with itself untuned.
        let Check::Step { plan: untuned, .. } = &plan.check else { panic!("{:?}", plan.check) };
        assert_eq!((untuned.launches[0].grid, untuned.carveout_percent), ([4, 1, 1], None));
        assert_eq!(plan.size.keys().collect::<Vec<_>>(), ["N"], "tunables are no problem size");
    }

    #[test]
    fn a_block_takes_the_place_of_x_alone() {
        let ladder = load(MANIFEST).unwrap();
        let with = |block| Tuning { block: Some(block), ..Tuning::default() };
        let plan = ladder.plan_tuned("a", &Overrides::new(), &with(32), 1).unwrap();
        assert_eq!((plan.launches[0].grid, plan.launches[0].block), ([4, 1, 1], [32, 2, 1]));
        let error = ladder.plan_tuned("a", &Overrides::new(), &with(513), 1).unwrap_err();
        assert!(error.to_string().contains("blocks of 1026 threads"), "{error}");
        let error = ladder.plan_tuned("a", &Overrides::new(), &with(0), 1).unwrap_err();
        assert!(matches!(error, Error::Usage(_)), "{error}");
    }

    #[test]
    fn mistakes_are_named() {
        let ladder = load(MANIFEST).unwrap();
        let tuning = Tuning { tune: parse_overrides("BLOK=64").unwrap(), ..Tuning::default() };
        let error = ladder.plan_tuned("a", &Overrides::new(), &tuning, 1).unwrap_err().to_string();
        assert!(error.contains("no tunable `BLOK`; did you mean `BLOCK`?"), "{error}");
        for (old, new, words) in [
            ("BLOCK = 128", "N = 128", "is a parameter of the ladder"),
            ("BLOCK = 128", "min = 128", "has a meaning of its own"),
            ("BLOCK = 128", "BLOCK = 0", "a whole number from 1"),
            ("BLOCK = 128, ", "", "uses `BLOCK`, which is not a parameter"),
            ("bytes = \"4 * N\"", "bytes = \"BLOCK\"", "uses `BLOCK`, which is not a parameter"),
            ("{ BLOCK = 128", "{ \"a b\" = 128", "can't be a tunable"),
        ] {
            let error = load(&MANIFEST.replacen(old, new, 1)).unwrap_err().to_string();
            assert!(error.contains(words), "{new}: {error}");
        }
    }

    #[test]
    fn a_fingerprint_follows_the_source() {
        let ladder = load(MANIFEST).unwrap();
        let again = load(MANIFEST).unwrap();
        let step = ladder.step("a").unwrap();
        assert_eq!(ladder.fingerprint(step), again.fingerprint(again.step("a").unwrap()));
        let other = load(&MANIFEST.replace("N = 1000", "N = 1001")).unwrap();
        assert_ne!(ladder.fingerprint(step), other.fingerprint(other.step("a").unwrap()));
        assert_eq!(ladder.fingerprint(step).len(), 16);
    }

    #[test]
    fn a_tuning_survives_the_command_line() {
        let tuning =
            Tuning { block: Some(64), flags: vec!["-a b".to_owned()], ..Tuning::default() };
        let text = serde_json::to_string(&tuning).unwrap();
        assert_eq!(text, r#"{"flags":["-a b"],"block":64}"#);
        assert_eq!(serde_json::from_str::<Tuning>(&text).unwrap(), tuning);
    }
}
