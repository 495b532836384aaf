//! Recordings that a rule is tested against.

use std::path::PathBuf;

use regex::Regex;

use super::rule::UserRule;
use crate::finding::{Evidence, Finding, Name};
use crate::text::significant;

/// A case: on this recording the rule fires, or it doesn't.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// The rule's name as findings have it.
    pub rule: String,
    /// The profile, as the file names it.
    pub profile: String,
    /// Which launches count; all where it is `None`.
    pub kernel: Option<Regex>,
    /// Whether the rule should fire.
    pub fires: bool,
    /// The least and the most that its estimate may be.
    pub factor: Option<[f64; 2]>,
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
}

/// What a case's launches came to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// The rule's findings.
    pub findings: Vec<Finding>,
    /// Launches that were looked at.
    pub launches: usize,
    /// What launches lack for the rule.
    pub missing: Vec<Name>,
    /// The figures of the rule's condition and what they are in the first launch.
    pub values: Vec<Evidence>,
}

impl Seen {
    /// The values that decided, behind a semicolon; nothing where there are none.
    fn in_words(&self) -> String {
        let value = |of: &Evidence| format!("{} = {}", of.metric, significant(of.value, 4));
        let values: Vec<String> = self.values.iter().map(value).collect();
        if values.is_empty() { String::new() } else { format!("; {}", values.join(", ")) }
    }
}

impl Case {
    /// What came out, in words.
    ///
    /// # Errors
    /// The same where it is not what the case says.
    pub(crate) fn judge(&self, seen: &Seen, rule: &UserRule) -> Result<String, String> {
        if seen.launches == 0 {
            return Err("no launch of the profile has such a kernel".to_owned());
        }
        if !seen.missing.is_empty() {
            return Err(format!(
                "the profile lacks {}",
                crate::text::listed(seen.missing.iter().cloned())
            ));
        }
        let largest = seen
            .findings
            .iter()
            .filter_map(|finding| finding.estimate.map(|one| one.factor))
            .reduce(f64::max);
        let outcome = match (seen.findings.is_empty(), largest) {
            (true, _) => "does not fire".to_owned(),
            (false, None) => "fires".to_owned(),
            (false, Some(factor)) => format!("fires, {factor:.2}×"),
        };
        if self.fires == seen.findings.is_empty() {
            let wanted = if self.fires { "it should fire" } else { "it should not" };
            return Err(format!("{outcome}, and {wanted}{}", seen.in_words()));
        }
        match (self.factor, largest) {
            (Some([low, high]), Some(factor)) if !(low..=high).contains(&factor) => {
                Err(format!("{outcome}, and it should promise {low} to {high}"))
            }
            (Some(_), None) if rule.rule.promises => {
                Err(format!("{outcome}, and the profile does not show how much it gains"))
            }
            _ => Ok(outcome),
        }
    }
}
