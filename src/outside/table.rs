//! What changes to other people's kernels gained: a table in the repository, in our own words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::finding::Estimate;

/// Where the table stands.
const FILE: &str = "src/outside/programs.toml";
const TEXT: &str = include_str!("programs.toml");

/// A public program.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublicProgram {
    /// Its name, and that of the folder with its profile.
    pub name: String,
    /// Where its code is.
    pub repository: String,
    /// Which version was measured.
    pub commit: String,
    /// Its folder there.
    pub path: String,
    /// True where nothing was tuned by it.
    #[serde(default)]
    pub kept_back: bool,
    /// The kernels of which changes were measured.
    pub kernels: Vec<ChangedKernel>,
}

/// A kernel of which changes were measured.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangedKernel {
    /// A part of its name that no other kernel of the program has.
    pub kernel: String,
    /// What was tried.
    pub changes: Vec<Change>,
}

/// A change that was made and measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// The rule whose finding asked for it; `None` for the best change that could be found.
    #[serde(default)]
    pub rule: Option<String>,
    /// Where that finding stood when it was followed.
    #[serde(default)]
    pub rank: Option<usize>,
    /// What it promised then.
    #[serde(default)]
    pub promised: Option<Estimate>,
    /// The rules whose fault a best change takes away too.
    #[serde(default)]
    pub answers: Vec<String>,
    /// Time before over time after.
    pub gained: f64,
    /// The change in our words; `None` where it is what the finding asks for, or is not known.
    #[serde(default)]
    pub what: Option<String>,
}

impl ChangedKernel {
    /// What the change gained that was made because a rule asked for it.
    #[must_use]
    pub fn asked(&self, rule: &str) -> Option<f64> {
        let asked = self.changes.iter().find(|change| change.rule.as_deref() == Some(rule));
        asked.map(|change| change.gained)
    }

    /// What the change that a rule asks for gained, or one that takes its fault away too; `None` where
    /// nobody made one.
    #[must_use]
    pub fn gain_of(&self, rule: &str) -> Option<f64> {
        let other = || self.changes.iter().find(|change| change.is_for(rule));
        self.asked(rule).or_else(|| other().map(|change| change.gained))
    }

    /// The most that any change for a rule gained.
    #[must_use]
    pub fn most_of(&self, rule: &str) -> Option<f64> {
        let theirs = self.changes.iter().filter(|change| change.is_for(rule));
        theirs.map(|change| change.gained).reduce(f64::max)
    }
}

impl Change {
    fn is_for(&self, rule: &str) -> bool {
        self.rule.as_deref() == Some(rule) || self.answers.iter().any(|answered| answered == rule)
    }
}

/// All programs.
///
/// # Errors
/// [`Error::Input`] where the shipped file is damaged, which the tests exclude.
pub fn all() -> Result<Vec<PublicProgram>> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        programs: Vec<PublicProgram>,
    }
    let file: File = toml::from_str(TEXT).map_err(|error| Error::input(FILE, error.to_string()))?;
    Ok(file.programs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules;

    #[test]
    fn every_program_says_where_it_is_and_every_rule_exists() {
        let programs = all().unwrap();
        for program in &programs {
            assert!(program.repository.starts_with("https://"), "{}", program.name);
            assert!(!program.commit.is_empty() && !program.path.is_empty(), "{}", program.name);
        }
        let kernels = || programs.iter().flat_map(|program| &program.kernels);
        for change in kernels().flat_map(|kernel| &kernel.changes) {
            assert!(change.gained > 0.0 && change.rule.is_some() == change.rank.is_some());
            for rule in change.rule.iter().chain(&change.answers) {
                assert!(rules::find(rule).is_some(), "{rule} is no rule");
            }
        }
    }

    #[test]
    fn a_rules_own_change_counts_before_one_that_answers_it_too() {
        let change = |rule: Option<&str>, answers: &[&str], gained: f64| Change {
            rule: rule.map(str::to_owned),
            rank: None,
            promised: None,
            answers: answers.iter().map(|&rule| rule.to_owned()).collect(),
            gained,
            what: None,
        };
        let kernel = ChangedKernel {
            kernel: "k".to_owned(),
            changes: vec![change(None, &["a", "b"], 7.0), change(Some("a"), &[], 4.0)],
        };
        assert_eq!(kernel.gain_of("a"), Some(4.0));
        assert_eq!(kernel.most_of("a"), Some(7.0));
        assert_eq!(kernel.gain_of("b"), Some(7.0));
        assert_eq!(kernel.gain_of("c"), None);
    }
}
