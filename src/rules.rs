//! The rules: one fault, one file.
//!
//! A rule is a record with its documentation and a function. [`RULES`] is the registry, in the order
//! in which `explain` prints them; `explain`, the collection's metric list and the tests read it.

pub mod uncoalesced_global_access;

use crate::export::stall::StallReason;
use crate::finding::{Bound, Evidence, Location};
use crate::frame::Launch;
use crate::model::{Effect, Model};

/// What kind of statement a rule makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A fault that can be taken away.
    Cause,
    /// Something that is seen because of a fault: it stands alone only where no cause explains it.
    Symptom,
    /// The hardware limit is reached: there is no fault to take away.
    Roof,
}

/// A limit that a rule compares with, and where the limit comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// What is compared, in words.
    pub what: &'static str,
    /// The limit.
    pub value: f64,
    /// Its unit, empty for ratios.
    pub unit: &'static str,
    /// Where the number comes from: a derivation or a source.
    pub source: &'static str,
}

/// One rule.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// The fault's name.
    pub name: &'static str,
    /// Cause, symptom or roof.
    pub kind: Kind,
    /// The fault in one line.
    pub summary: &'static str,
    /// What is checked, why it matters, what to do: a few sentences for `explain`.
    pub explanation: &'static str,
    /// The section of the profile where a person would look (an ncu section identifier).
    pub section: &'static str,
    /// Limits, each with its source.
    pub thresholds: &'static [Threshold],
    /// Catalogue metrics without which the rule can't be checked.
    pub needs: &'static [&'static str],
    /// The symptoms that this fault shows as, by rule name: fired ones are listed under it.
    pub explains: &'static [&'static str],
    /// Looks at a launch whose needed metrics are all there.
    pub check: fn(&Case) -> Option<Draft>,
}

/// What a rule looks at.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The launch.
    pub launch: &'a Launch,
    /// Its time model.
    pub model: &'a Model,
}

impl Case<'_> {
    /// A metric that stands in the rule's `needs`; NaN, which no comparison passes, if it is absent.
    #[must_use]
    pub fn need(&self, name: &str) -> f64 {
        self.launch.get(name).unwrap_or(f64::NAN)
    }

    /// Stall cycles per issued instruction, 0 where the reason was not collected.
    #[must_use]
    pub fn stall(&self, reason: StallReason) -> f64 {
        self.launch.stall(reason).unwrap_or(0.0)
    }
}

/// What a rule found, before the gain is worked out and the findings are ranked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Draft {
    /// What was seen, in numbers, and why it matters.
    pub message: String,
    /// The metrics behind the message.
    pub evidence: Vec<Evidence>,
    /// The lines that cause it, largest share first.
    pub locations: Vec<Location>,
    /// What to change, for this kernel.
    pub hint: String,
    /// What taking the fault away does to the model's terms.
    pub effect: Effect,
}

/// All rules.
pub const RULES: &[&Rule] = &[&uncoalesced_global_access::RULE];

/// The rule of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.name == name).copied()
}

/// What a launch is bound by when this rule is its first finding; `None` where the model's largest
/// term tells.
#[must_use]
pub fn bound_of(rule: &str) -> Option<Bound> {
    match rule {
        "grid-too-small" | "launch-overhead-bound" => Some(Bound::Launch),
        "at-memory-roof" => Some(Bound::Memory),
        "at-compute-roof" => Some(Bound::Compute),
        _ => None,
    }
}
