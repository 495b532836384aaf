//! What lies around the kernels of a program, from its survey: one fault, one file, as for launches.
//!
//! Each estimate is of the whole program's time, and each hour of the idle device has one cause only
//! ([`run::Cause`]), so that findings of different causes do not promise the same time twice.

mod allocation_in_loop;
mod blame;
mod compiled_at_start_up;
mod copies_not_overlapped;
mod gpu_idle_between_launches;
mod kernels_not_concurrent;
mod kernels_not_fused;
pub(crate) mod lanes;
mod many_short_launches;
mod pageable_host_memory;
pub(crate) mod pauses;
pub(crate) mod run;
mod small_copies;
mod synchronization_in_loop;
#[cfg(test)]
mod testing;
mod unified_memory_migration;

use crate::finding::{Estimate, Evidence};
use crate::survey::Survey;

use blame::Blamed;
pub(crate) use blame::Callers;
use run::Run;

/// A fault of a program as a whole.
pub(crate) struct Rule {
    /// Its name, part of the contract.
    pub name: &'static str,
    /// The fault in a few words.
    pub summary: &'static str,
    /// What is checked and why it costs time, for people.
    pub checks: &'static str,
    /// What to change.
    pub hint: &'static str,
    /// Looks for the fault in a run.
    check: fn(&Run) -> Option<Found>,
}

/// What a rule saw.
struct Found {
    /// Time that goes with the fault, ns: likely, at least, at most.
    saved_ns: [f64; 3],
    /// What was seen, with numbers.
    message: String,
    /// The figures behind it.
    evidence: Vec<Evidence>,
    /// The calls that cause it.
    blamed: Blamed,
    /// What to change, where more is known of it than what the rule's own hint says.
    hint: Option<&'static str>,
}

/// A finding about a program.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finding {
    /// The rule.
    pub rule: &'static str,
    /// What taking the fault away gives of the whole program's time.
    pub estimate: Estimate,
    /// What was seen.
    pub message: String,
    /// The figures behind it.
    pub evidence: Vec<Evidence>,
    /// What to change.
    pub hint: &'static str,
    /// From where the calls were made that cause it.
    pub callers: Callers,
}

/// All rules.
pub(crate) const RULES: [&Rule; 11] = [
    &gpu_idle_between_launches::RULE,
    &many_short_launches::RULE,
    &copies_not_overlapped::RULE,
    &pageable_host_memory::RULE,
    &small_copies::RULE,
    &synchronization_in_loop::RULE,
    &allocation_in_loop::RULE,
    &unified_memory_migration::RULE,
    &kernels_not_concurrent::RULE,
    &kernels_not_fused::RULE,
    &compiled_at_start_up::RULE,
];

/// Less of a program's time than this is no finding: to remove it wholly gains less than timings of whole
/// programs scatter.
const LEAST_SAVED: f64 = 0.02;

/// The most of a program's time that a fault is ever said to take: the program's own work stays.
const MOST_SAVED: f64 = 0.98;

/// Changes when the code of these rules does, and with it an estimate may.
pub(crate) const REVISION: u64 = include!(concat!(env!("OUT_DIR"), "/around_revision.rs"));

/// The rule of that name.
pub(crate) fn find(name: &str) -> Option<&'static Rule> {
    RULES.into_iter().find(|rule| rule.name == name)
}

/// The findings about a program, the one with the largest gain first.
#[must_use]
pub(crate) fn findings(survey: &Survey) -> Vec<Finding> {
    let Some(run) = Run::new(survey) else { return Vec::new() };
    let mut findings: Vec<Finding> = RULES.iter().filter_map(|rule| found(rule, &run)).collect();
    findings.sort_by(|a, b| b.estimate.factor.total_cmp(&a.estimate.factor));
    findings
}

fn found(rule: &Rule, run: &Run) -> Option<Finding> {
    let found = (rule.check)(run)?;
    let [likely, least, most] = found.saved_ns.map(|ns| (ns / run.wall_ns).clamp(0.0, MOST_SAVED));
    if likely < LEAST_SAVED {
        return None;
    }
    let factor = |saved: f64| 1.0 / (1.0 - saved);
    Some(Finding {
        rule: rule.name,
        estimate: Estimate { factor: factor(likely), low: factor(least), high: factor(most) },
        message: found.message,
        evidence: found.evidence,
        hint: found.hint.unwrap_or(rule.hint),
        callers: found.blamed.callers(run.process),
    })
}

#[cfg(test)]
mod tests {
    use super::RULES;
    use crate::around::testing::{Made, US, saved};
    use crate::survey::record::{Compilation, Span};
    use crate::survey::samples::shape;

    #[test]
    fn a_busy_device_is_no_finding() {
        let mut made = Made::new(vec![shape("a", 1000)]);
        for _ in 0..500 {
            made.launch(0, 100 * US);
        }
        made.wait();
        assert_eq!(made.found(60_000 * US), []);
    }

    #[test]
    fn rules_are_named_and_documented() {
        let mut names: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), RULES.len());
        for rule in RULES {
            assert!(rule.checks.ends_with('.') && !rule.hint.ends_with('.'), "{}", rule.name);
        }
    }

    #[test]
    fn a_fault_takes_no_more_than_all_but_a_fiftieth_of_a_program() {
        let mut made = Made::new(vec![shape("a", 1000)]);
        made.launch(0, 1000 * US);
        made.process.compilations =
            vec![Compilation { span: Span { start: 0, end: 990 * US }, operation: 3 }];
        let found = made.found(1000 * US);
        assert!((saved(found[0].estimate.factor) - 0.98).abs() < 1e-9, "{:?}", found[0]);
    }

    #[test]
    fn less_than_a_fiftieth_of_a_program_is_no_finding() {
        let found = |compiling_us: u64| {
            let mut made = Made::new(vec![shape("a", 1000)]);
            made.launch(0, 1000 * US);
            made.process.compilations =
                vec![Compilation { span: Span { start: 0, end: compiling_us * US }, operation: 3 }];
            !made.found(10_000 * US).is_empty()
        };
        assert!(found(200) && !found(199));
    }
}
