//! One line of the ledger: a hint that was given, or what came of one.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::around;
use crate::finding::Estimate;
use crate::rules::{self, Kind, Rule};
use crate::text::assignments;

/// The version of the lines' shape; a line with another is foreign.
pub(super) const LEDGER_SCHEMA: &str = "adoprof-ledger/1";

/// A line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Line {
    /// A hint that a profile gave.
    Hint(Hint),
    /// What a later profile measured of a hint.
    Outcome(Outcome),
}

/// A hint that a profile gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hint {
    /// Always [`LEDGER_SCHEMA`].
    pub schema: String,
    /// What outcomes call it: see [`Hint::new_id`].
    pub id: String,
    /// When the profile was taken, `2026-11-20T10:00:00Z`; the date alone for recordings.
    pub date: String,
    /// What was profiled.
    pub subject: Subject,
    /// The GPU.
    pub device: String,
    /// The kernel whose finding it is, of several the longest; empty for what lies around a program's kernels.
    pub kernel: String,
    /// The share in the time of all launches of those that have the finding, 0 to 1.
    pub time_share: f64,
    /// The time that gains are measured of, ns: a step's without the profiler; a program's launch
    /// has only the one under it; what lies around kernels, the whole program's.
    pub time_ns: f64,
    /// The rule.
    pub rule: String,
    /// The rule's version: see [`version`].
    pub version: String,
    /// Its place among the findings, from 1.
    pub rank: usize,
    /// What was promised of the time that gains are measured of.
    pub estimate: Estimate,
}

/// What a later profile measured of a hint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// Always [`LEDGER_SCHEMA`].
    pub schema: String,
    /// The hint's id.
    pub of: String,
    /// When the later profile was taken.
    pub date: String,
    /// The later profile: `ado/v3`, or as the user names it.
    pub by: String,
    /// The time before over the time then.
    pub gain: f64,
    /// True where the finding went away.
    pub gone: bool,
    /// True where the gain is this fault's: the largest of those that went, or that the ladder's
    /// step is there to take away. Only such gains are held against estimates.
    pub counts: bool,
}

/// What was profiled.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Subject {
    /// The ladder, or the program.
    pub of: String,
    /// The ladder's step; `None` for a program.
    pub step: Option<String>,
    /// The problem's parameters.
    pub size: BTreeMap<String, u64>,
}

impl Subject {
    /// `ado/v2`, or the program.
    #[must_use]
    pub fn name(&self) -> String {
        self.step.as_ref().map_or_else(|| self.of.clone(), |step| format!("{}/{step}", self.of))
    }
}

impl Hint {
    /// The hint's id: a hash of everything that tells it from others, so that the same hint of the
    /// same profile is never taken for two.
    #[must_use]
    pub fn new_id(&self) -> String {
        hash(&[
            &self.date,
            &self.subject.name(),
            &assignments(&self.subject.size, ","),
            &self.device,
            &self.kernel,
            &self.rule,
        ])
    }

    /// What hints of the same fault of the same thing have alike, of which the later one stands for both.
    #[must_use]
    pub fn case(&self) -> (Subject, [String; 3]) {
        (self.subject.clone(), [&self.device, &self.kernel, &self.rule].map(String::clone))
    }
}

/// A rule's version: a hash of its name and its [revision](rules::revision), which follows the code of
/// the rule, the model and everything between. Estimates of another version say nothing of this one's.
#[must_use]
pub(super) fn version(rule: &Rule) -> String {
    hash(&[rule.name, &format!("{:016x}", rules::revision(rule))])
}

/// The version of the rule of that name, of a launch or of a whole program; `None` for a name that is no rule's, and
/// for a roof, which promises no gain.
#[must_use]
pub(super) fn version_of(name: &str) -> Option<String> {
    let of_launches = rules::find(name).filter(|rule| rule.kind != Kind::Roof).map(version);
    of_launches.or_else(|| {
        around::find(name).map(|rule| hash(&[rule.name, &format!("{:016x}", around::REVISION)]))
    })
}

/// The first 12 digits of a hash over parts; a separator that no part has keeps them apart.
fn hash(parts: &[&str]) -> String {
    let digest = Sha256::digest(parts.join("\0").as_bytes());
    let first = digest.iter().take(6).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    format!("{first:012x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::RULES;
    use std::collections::BTreeSet;

    #[test]
    fn each_rule_has_a_version_of_its_own() {
        let versions: BTreeSet<String> = RULES.iter().map(|rule| version(rule)).collect();
        assert_eq!(versions.len(), RULES.len());
        assert!(versions.iter().all(|version| version.len() == 12));
        assert!(RULES.iter().all(|rule| rules::revision(rule) != 0));
        let around: BTreeSet<String> =
            around::RULES.iter().filter_map(|rule| version_of(rule.name)).collect();
        assert_eq!(around.len(), around::RULES.len());
        assert!(around.is_disjoint(&versions));
        assert_eq!(version_of("no-such-rule"), None);
    }
}
