//! All rules on one launch, several at once where its code is long.
//!
//! Rules know nothing of each other: what they share is worked out by whichever asks first, and kept with the launch.

use super::several;
use crate::evidence::{Draft, ModeledLaunch};
use crate::finding::{Name, Skipped};
use crate::rules::{RULES, Rule};
use crate::side_by_side::{self, LONG_CODE};
use crate::user_rules::UserRule;

/// What became of one rule.
enum Outcome {
    Found(&'static Rule, Box<Draft>),
    Nothing,
    Skipped(Skipped),
}

impl Outcome {
    /// That of a rule which misses something, or is checked.
    fn new(rule: &'static Rule, missing: Vec<Name>, check: impl FnOnce() -> Option<Draft>) -> Self {
        if !missing.is_empty() {
            return Self::Skipped(Skipped { rule: rule.name.into(), missing });
        }
        check().map_or(Self::Nothing, |draft| Self::Found(rule, Box::new(draft)))
    }
}

/// What the rules found, and those that could not be checked, both in the order of the rules; users' come last.
pub(super) fn check_all(
    case: &ModeledLaunch<'_>,
    added: &[UserRule],
) -> (Vec<(&'static Rule, Draft)>, Vec<Skipped>) {
    let launch = case.profile;
    let pays = launch.instructions.len() >= LONG_CODE;
    let mut outcomes = side_by_side::map(RULES.to_vec(), pays, |rule| {
        Outcome::new(rule, several::missing(rule, launch), || (rule.check)(case))
    });
    let of_user = |one: &UserRule| Outcome::new(one.rule, one.missing(case), || one.check(case));
    outcomes.extend(added.iter().filter(|rule| rule.is_about(launch)).map(of_user));
    let (mut drafts, mut skipped) = (Vec::new(), Vec::new());
    for outcome in outcomes {
        match outcome {
            Outcome::Found(rule, draft) => drafts.push((rule, *draft)),
            Outcome::Skipped(one) => skipped.push(one),
            Outcome::Nothing => {}
        }
    }
    (drafts, skipped)
}
