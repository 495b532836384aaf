//! The sets in which the planted faults came, with the figures of their first judgement.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Tally;
use crate::error::{Error, Result};

/// Where the sets are described.
const FILE: &str = "kernels/faults/sets.toml";
const TEXT: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/faults/sets.toml"));

/// A set of pairs that came together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultSet {
    /// Its number, as the manifests of its pairs have it.
    pub number: u32,
    /// How its pairs came about.
    pub came: String,
    /// True where rules and model were tuned on it after it was judged.
    pub tuning: bool,
    /// What was measured when it was first judged; `None` where rules were tuned on it from the start.
    pub judged: Option<FirstJudged>,
}

/// What was measured of a set when it was first judged; figures that were not kept are left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FirstJudged {
    /// The commit of the rules that judged it.
    pub rules: String,
    /// The commits that added its recordings.
    pub recordings: Vec<String>,
    /// As [`super::Figures::first`].
    pub first: Option<Tally>,
    /// As [`super::Figures::first_three`].
    pub first_three: Option<Tally>,
    /// As [`super::Figures::median_ratio`].
    pub median_ratio: Option<f64>,
    /// As [`super::Figures::worst_ratio`].
    pub worst_ratio: Option<f64>,
    /// As [`super::Figures::held`].
    pub held: Option<Tally>,
    /// As [`super::Figures::false_alarms`].
    pub false_alarms: Option<Tally>,
    /// As [`super::Figures::accused`].
    pub accused: Option<Tally>,
}

/// All sets, by number.
///
/// # Errors
/// [`Error::Input`] where the shipped file is damaged, which the tests exclude.
pub fn all() -> Result<Vec<FaultSet>> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        sets: Vec<FaultSet>,
    }
    let file: File = toml::from_str(TEXT).map_err(|error| Error::input(FILE, error.to_string()))?;
    Ok(file.sets)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::ladder::Ladder;

    #[test]
    fn every_pair_is_of_a_set_and_was_first_judged_with_it() {
        let sets = all().unwrap();
        let numbers: Vec<usize> = sets.iter().map(|set| set.number as usize).collect();
        assert_eq!(numbers, (0..sets.len()).collect::<Vec<_>>());
        let mut commits: Vec<BTreeSet<String>> = vec![BTreeSet::new(); sets.len()];
        for name in Ladder::builtin_names().into_iter().filter(|name| name.starts_with("fault-")) {
            let ladder = Ladder::builtin(name).unwrap();
            let set = ladder.set().unwrap_or_else(|| panic!("{name} is of no set")) as usize;
            assert!(set < sets.len(), "{name}: set {set} is not in {FILE}");
            commits[set].extend(ladder.first_judged().map(str::to_owned));
            assert_eq!(ladder.first_judged().is_some(), sets[set].judged.is_some(), "{name}");
        }
        for (set, commits) in sets.iter().zip(commits) {
            let recordings = set.judged.iter().flat_map(|judged| &judged.recordings).cloned();
            assert_eq!(commits, recordings.collect(), "set {}", set.number);
        }
    }
}
