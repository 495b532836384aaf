//! The rules: one fault, one file.
//!
//! A rule is a record with its documentation and a function. [`RULES`] is the registry, in the order
//! in which `explain` prints them; `explain`, the collection's metric list and the tests read it.

pub mod causes;
pub mod limits;
pub mod symptoms;
#[cfg(test)]
pub(crate) mod testing;

use crate::finding::{Bound, Evidence, Location};
use crate::frame::Launch;
use crate::model::Effect;

pub use crate::evidence::subject::Case;

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
    /// What is compared, in words; after `given: ` a constant of the estimate, which is no limit.
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

/// All rules: causes, symptoms, roofs.
pub const RULES: &[&Rule] = &[
    &causes::grid_too_small::RULE,
    &causes::partial_wave::RULE,
    &causes::block_size_not_warp_multiple::RULE,
    &causes::workload_imbalance::RULE,
    &causes::occupancy_limited_by_registers::RULE,
    &causes::occupancy_limited_by_shared_memory::RULE,
    &causes::occupancy_limited_by_block_size::RULE,
    &causes::achieved_occupancy_below_theoretical::RULE,
    &causes::uncoalesced_global_access::RULE,
    &causes::low_memory_parallelism::RULE,
    &causes::missing_data_reuse::RULE,
    &causes::shared_bank_conflicts::RULE,
    &causes::shared_memory_pressure::RULE,
    &causes::register_spilling::RULE,
    &causes::local_memory_array::RULE,
    &causes::narrow_global_access::RULE,
    &causes::global_atomic_contention::RULE,
    &causes::shared_atomic_contention::RULE,
    &causes::host_memory_access::RULE,
    &causes::peer_memory_access::RULE,
    &causes::constant_cache_divergence::RULE,
    &causes::low_instruction_parallelism::RULE,
    &causes::thread_divergence::RULE,
    &causes::idle_threads::RULE,
    &causes::unexpected_fp64::RULE,
    &causes::slow_math_functions::RULE,
    &causes::integer_arithmetic_bound::RULE,
    &causes::unfused_multiply_add::RULE,
    &causes::unpacked_half_precision::RULE,
    &causes::tensor_cores_unused::RULE,
    &causes::instruction_overhead::RULE,
    &causes::launch_overhead_bound::RULE,
    &symptoms::barrier_stalls::RULE,
    &symptoms::memory_fence_stalls::RULE,
    &symptoms::lg_throttle::RULE,
    &symptoms::mio_throttle::RULE,
    &symptoms::tex_throttle::RULE,
    &symptoms::long_scoreboard_stalls::RULE,
    &symptoms::short_scoreboard_stalls::RULE,
    &symptoms::fixed_latency_stalls::RULE,
    &symptoms::math_pipe_throttle::RULE,
    &symptoms::instruction_cache_misses::RULE,
    &symptoms::constant_cache_misses::RULE,
    &symptoms::store_drain_stalls::RULE,
    &symptoms::issue_slots_underused::RULE,
    &limits::at_memory_roof::RULE,
    &limits::at_compute_roof::RULE,
];

/// The rule of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.name == name).copied()
}

/// The rules that read the text of instructions, which only a source page with SASS has.
const READ_SASS: &[&str] = &[
    causes::constant_cache_divergence::RULE.name,
    causes::instruction_overhead::RULE.name,
    causes::integer_arithmetic_bound::RULE.name,
    causes::narrow_global_access::RULE.name,
    causes::slow_math_functions::RULE.name,
    causes::tensor_cores_unused::RULE.name,
    causes::unexpected_fp64::RULE.name,
    causes::unfused_multiply_add::RULE.name,
    causes::unpacked_half_precision::RULE.name,
];

/// What a profile without the text of its instructions lacks, as a skipped rule names it.
pub const SASS_PAGE: &str = "SASS of the source page";

/// What a launch lacks for a rule: metrics, or the text of its instructions. Empty where the rule
/// can be checked.
#[must_use]
pub fn missing(rule: &Rule, launch: &Launch) -> Vec<String> {
    let metrics = rule.needs.iter().filter(|name| launch.get(name).is_none());
    let mut missing: Vec<String> = metrics.map(|name| (*name).to_owned()).collect();
    let has_sass = || launch.instructions.iter().any(|row| !row.text.is_empty());
    // Spilling is counted on some architectures: then the rest of the local accesses are arrays'.
    let is_array = rule.name == causes::local_memory_array::RULE.name;
    let counted = is_array && launch.get(causes::local_memory_array::SPILLS).is_some();
    if (READ_SASS.contains(&rule.name) || is_array) && !counted && !has_sass() {
        missing.push(SASS_PAGE.to_owned());
    }
    missing
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
            for name in rule.needs {
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
