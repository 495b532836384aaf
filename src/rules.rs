//! The rules: one fault, one file.
//!
//! A rule is a record that holds every fact of its fault, and a function. Its file and one line
//! (`pub mod name;` in [`causes`], [`symptoms`] or [`limits`]) are all that a rule is: `build.rs` reads
//! those lines and writes [`RULES`], the registry, in their order. `explain`, the collection's metrics,
//! the ranking, the comparison with ncu's rules and the ladders' checks all go by the registry.

mod added;
pub mod causes;
pub mod limits;
#[cfg(test)]
mod reads;
pub mod said_by_ncu;
pub mod symptoms;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod worked;

use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::{Bound, Name};
use crate::frame::{Launch, Reads};
use crate::model::Model;
use said_by_ncu::SaidByNcu;

pub(crate) use added::{add, added};

include!(concat!(env!("OUT_DIR"), "/registry.rs"));

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

/// What a rule reads of the source page: lines and instructions with their counters.
#[derive(Debug, Clone, Copy)]
pub enum SourcePage {
    /// At most what makes the finding sharper, such as its lines: the rule is checked without it too.
    Optional,
    /// The text of the instructions (SASS), without which the rule can't be checked.
    Needed,
    /// The same, unless this metric was collected, which tells nearly as much.
    NeededWithout(&'static str),
    /// The same, unless the launch shows the fault without it.
    NeededUnless(fn(&Launch) -> bool),
}

/// What kind of change takes a fault away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cure {
    /// More warps resident on each SM.
    MoreWarps,
    /// More blocks, where the device has room for them beside the present ones.
    MoreBlocks,
    /// More loads in flight of each warp.
    MoreLoads,
    /// More instructions of each warp that need not wait for one another.
    MoreIndependence,
    /// The same code, compiled anew: until then all other findings are about code that nobody means to run.
    Rebuild,
    /// A change of another kind.
    Other,
}

/// A change that needs no new code, which `step --try` makes and times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trial {
    /// Compile with `--use_fast_math`.
    FastMath,
    /// Compile with `-fmad=true`, after a flag that forbids it.
    FusedMultiplyAdd,
    /// Cap the registers so that one more block fits onto each SM.
    RegistersForAnotherBlock,
    /// Lift a cap that the step's flags set.
    AllRegisters,
    /// Ask for this share of an SM's L1 memory as shared memory, percent.
    Carveout(u32),
    /// Let loads from global memory be cached so: a cache operator of ptxas.
    LoadCaching(&'static str),
    /// Halve and double each tunable that the step declares.
    Tunables,
}

impl Trial {
    /// What is done, for `explain`.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::FastMath => "compile with --use_fast_math".to_owned(),
            Self::FusedMultiplyAdd => "compile with -fmad=true".to_owned(),
            Self::RegistersForAnotherBlock => {
                "cap the registers so that one more block fits onto each SM".to_owned()
            }
            Self::AllRegisters => "lift the cap on registers".to_owned(),
            Self::Carveout(percent) => {
                format!("give shared memory {percent}% of the L1 that can be divided")
            }
            Self::LoadCaching(operator) => format!("compile with -dlcm={operator} for ptxas"),
            Self::Tunables => "halve and double each tunable that the step declares".to_owned(),
        }
    }
}

/// A fault in a few lines of CUDA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Example {
    /// The code with the fault.
    pub fault: &'static str,
    /// The same without it.
    pub repair: &'static str,
    /// What the repair does and costs, in a sentence or two.
    pub note: &'static str,
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
    /// The fault in a few lines of CUDA, and its repair.
    pub examples: &'static [Example],
    /// The section of the profile where a person would look (an ncu section identifier).
    pub section: &'static str,
    /// Limits, each with its source.
    pub thresholds: &'static [Threshold],
    /// Catalogue metrics without which the rule can't be checked.
    pub needs: &'static [&'static str],
    /// Metrics that it reads where they are there, and without which it may judge otherwise.
    pub sharpened_by: &'static [Reads],
    /// What it reads of the source page.
    pub source_page: SourcePage,
    /// What a launch is bound by when this rule is its first finding; `None` where the model's largest
    /// term tells.
    pub bound: Option<Bound>,
    /// What kind of change takes the fault away.
    pub cure: Cure,
    /// Changes without new code that may take the fault away.
    pub trials: &'static [Trial],
    /// The change in the words of Triton, for kernels that are written in it; empty where it is no other.
    pub in_triton: &'static str,
    /// The messages of ncu's own rules that mean the same fault.
    pub said_by_ncu: &'static [SaidByNcu],
    /// The symptoms that this fault shows as, by rule name: fired ones are listed under it.
    pub explains: &'static [&'static str],
    /// For a symptom: true where it has another origin than what makes all warps slow, so that
    /// only a cause that takes the same stall away explains it.
    pub has_own_cause: fn(&Model) -> bool,
    /// Why no recording shows the fault, as `needs two devices behind one switch`; `None` for a rule
    /// that the tests hold against recordings with and without its fault.
    pub unrecorded: Option<&'static str>,
    /// True where it says what taking the fault away gives, which a user's rule need not.
    pub promises: bool,
    /// Looks at a launch whose needed metrics are all there.
    pub check: fn(&ModeledLaunch) -> Option<Draft>,
}

impl Rule {
    /// What a rule holds that says nothing else.
    pub const DEFAULT: Self = Self {
        name: "",
        kind: Kind::Cause,
        summary: "",
        explanation: "",
        examples: &[],
        section: "",
        thresholds: &[],
        needs: &[],
        sharpened_by: &[],
        source_page: SourcePage::Optional,
        bound: None,
        cure: Cure::Other,
        trials: &[],
        in_triton: "",
        said_by_ncu: &[],
        explains: &[],
        has_own_cause: |_| false,
        unrecorded: None,
        promises: true,
        check: |_| None,
    };

    /// What a launch lacks for this rule: metrics, or the text of its instructions. Empty where the
    /// rule can be checked.
    #[must_use]
    pub fn missing(&self, launch: &Launch) -> Vec<Name> {
        let metrics = self.needs.iter().filter(|&&name| launch.get(name).is_none());
        let mut missing: Vec<Name> = metrics.map(|&name| name.into()).collect();
        let needs_sass = match self.source_page {
            SourcePage::Needed => true,
            SourcePage::NeededWithout(metric) => launch.get(metric).is_none(),
            SourcePage::NeededUnless(shows) => !shows(launch),
            SourcePage::Optional => false,
        };
        let has_sass = || launch.instructions.iter().any(|row| !row.text.is_empty());
        if needs_sass && !has_sass() {
            missing.push(SASS_PAGE.into());
        }
        missing
    }
}

/// The rule of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Rule> {
    let ours = RULES.iter().find(|rule| rule.name == name).copied();
    ours.or_else(|| added().iter().map(|(rule, _)| *rule).find(|rule| rule.name == name))
}

/// The revision of a rule: it changes when its code does, or code that all rules share, and with it an
/// estimate may; a user's rule has that of its text. Of a rule that is not known it is 0.
#[must_use]
pub fn revision(rule: &Rule) -> u64 {
    let place = RULES.iter().position(|known| known.name == rule.name);
    let ours = place.and_then(|place| REVISIONS.get(place)).copied();
    let of_user =
        || added().iter().find(|(known, _)| known.name == rule.name).map(|(_, revision)| *revision);
    ours.or_else(of_user).unwrap_or_default()
}

/// True for the name of a roof, which is no fault: nothing can take it away.
#[must_use]
pub fn is_roof(name: &str) -> bool {
    find(name).is_some_and(|rule| rule.kind == Kind::Roof)
}

/// True for the name of a fault that only a new build of the same code takes away: until then, everything else
/// that is found is about code that nobody means to run.
#[must_use]
pub fn asks_for_rebuild(name: &str) -> bool {
    find(name).is_some_and(|rule| rule.cure == Cure::Rebuild)
}

/// What a profile without the text of its instructions lacks, as a skipped rule names it.
pub const SASS_PAGE: &str = "SASS of the source page";

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::metric::canonical;

    #[test]
    fn names_are_unique_and_say_what_their_module_does() {
        let mut seen = HashSet::new();
        for rule in RULES {
            assert!(seen.insert(rule.name), "{} stands twice", rule.name);
            let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(rule.name.chars().all(is_name), "{}", rule.name);
            assert_eq!(find(rule.name).map(|found| found.name), Some(rule.name));
        }
    }

    #[test]
    fn names_are_those_of_the_modules() {
        let names: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
        assert_eq!(names, crate::ladder::rule_names::RULE_NAMES);
        assert_eq!(REVISIONS.len(), RULES.len());
    }

    #[test]
    fn kinds_come_in_order() {
        let order: Vec<u8> = RULES
            .iter()
            .map(|rule| match rule.kind {
                Kind::Cause => 0,
                Kind::Symptom => 1,
                Kind::Roof => 2,
            })
            .collect();
        assert!(order.is_sorted());
    }

    #[test]
    fn every_rule_is_documented_and_every_limit_has_a_source() {
        for rule in RULES {
            assert!(!rule.summary.is_empty() && !rule.section.is_empty(), "{}", rule.name);
            assert!(rule.explanation.len() > 100, "{} explains too little", rule.name);
            assert!(!rule.thresholds.is_empty(), "{} has no limit", rule.name);
            assert!(!rule.examples.is_empty(), "{} has no example", rule.name);
            for example in rule.examples {
                for code in [example.fault, example.repair] {
                    assert!((1..=12).contains(&code.lines().count()), "{}: {code}", rule.name);
                    assert!(code.lines().all(|line| line.len() <= 76), "{}: {code}", rule.name);
                }
                assert_ne!(example.fault, example.repair, "{}", rule.name);
            }
            for threshold in rule.thresholds {
                assert!(threshold.source.len() > 15, "{}: {}", rule.name, threshold.what);
                assert!(threshold.value.is_finite() && !threshold.what.is_empty());
            }
        }
    }

    #[test]
    fn needs_are_canonical_names_of_the_catalogue() {
        for rule in RULES {
            assert!(!rule.needs.is_empty(), "{} needs nothing", rule.name);
            let sharper = rule.sharpened_by.iter().flat_map(|reads| reads.metrics);
            for name in rule.needs.iter().chain(sharper) {
                let known = canonical(name).map(|(metric, _)| metric.name);
                assert_eq!(known, Some(*name), "{}", rule.name);
            }
        }
    }

    #[test]
    fn symptoms_explain_nothing_and_causes_explain_symptoms() {
        for rule in RULES {
            assert!(rule.kind != Kind::Symptom || rule.explains.is_empty(), "{}", rule.name);
            for name in rule.explains {
                let symptom = find(name).unwrap_or_else(|| panic!("{}: no {name}", rule.name));
                assert_eq!(symptom.kind, Kind::Symptom, "{}", rule.name);
            }
        }
    }
}
