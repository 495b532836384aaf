//! Why a finding stands before one that promises more.

use crate::diagnose::thresholds::ABOUT_AS_MUCH;
use crate::document::{LaunchReport, RankedFinding, asks_for_rebuild, is_roof};
use crate::report::words::number::factor;
use crate::rules::{Cure, find};

/// A sentence for each reason: one names the first two findings that it puts in this order.
pub(crate) fn reasons(launch: &LaunchReport) -> Vec<String> {
    let mut told: Vec<(Reason, String)> = Vec::new();
    for (at, first) in launch.findings.iter().enumerate() {
        for later in launch.findings[at + 1..].iter().filter(|later| promises_more(later, first)) {
            let reason = Reason::of(first, later);
            if told.iter().all(|(known, _)| *known != reason) {
                told.push((reason, reason.sentence(&first.rule, &later.rule)));
            }
        }
    }
    told.into_iter().map(|(_, sentence)| sentence).collect()
}

/// True where the later of two findings is seen to promise more.
fn promises_more(later: &RankedFinding, first: &RankedFinding) -> bool {
    match (later.estimated_speedup, first.estimated_speedup) {
        (Some(later), Some(first)) => {
            later.factor > first.factor && factor(later.factor) != factor(first.factor)
        }
        _ => false,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// A limit of the hardware.
    Roof,
    /// A debug build.
    Rebuild,
    /// Warps are missing, not loads.
    Warps,
    /// Work that goes is surer than waits that are hidden.
    Work,
}

impl Reason {
    fn of(first: &RankedFinding, later: &RankedFinding) -> Self {
        let cure = |finding: &RankedFinding| find(&finding.rule).map(|rule| rule.cure);
        let brings_warps = |finding: &RankedFinding| {
            matches!(cure(finding), Some(Cure::MoreWarps | Cure::MoreBlocks))
        };
        if is_roof(&first.rule) {
            Self::Roof
        } else if asks_for_rebuild(&first.rule) {
            Self::Rebuild
        } else if brings_warps(first) && !brings_warps(later) {
            Self::Warps
        } else {
            Self::Work
        }
    }

    fn sentence(self, first: &str, later: &str) -> String {
        let before = format!("{first} stands before {later}, which promises more");
        match self {
            Self::Roof => format!(
                "{before}, because a unit at its limit leaves little that any other change could gain."
            ),
            Self::Rebuild => {
                format!("{before}, because all other promises are about code without optimization.")
            }
            Self::Warps => format!(
                "{before}, because more warps and more loads per warp cure the same waits, and where at least twice \
                 as many warps would fit, it is warps that are missing."
            ),
            Self::Work => format!(
                "{before}, because work that goes is a surer gain than waits that are only hidden: these come first \
                 from {} times the gain on.",
                ABOUT_AS_MUCH.value
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    fn said(findings: &[(&str, f64)]) -> Vec<String> {
        let finding =
            |(at, (rule, factor)): (usize, &(&str, f64))| samples::finding(at + 1, rule, *factor);
        let findings = findings.iter().enumerate().map(finding).collect();
        reasons(&samples::launch("k", 1.0, 1.0, findings))
    }

    #[test]
    fn the_order_of_promises_needs_no_reason() {
        assert!(said(&[("partial-wave", 2.0), ("barrier-stalls", 1.5)]).is_empty());
        // Both are shown as 1.50×.
        assert!(said(&[("partial-wave", 1.5), ("barrier-stalls", 1.5001)]).is_empty());
    }

    #[test]
    fn each_reason_is_given_once() {
        let warps = said(&[
            ("occupancy-limited-by-shared-memory", 1.64),
            ("low-memory-parallelism", 2.95),
            ("narrow-global-access", 1.80),
        ]);
        let [sentence] = &warps[..] else { panic!("{warps:?}") };
        let begins =
            "occupancy-limited-by-shared-memory stands before low-memory-parallelism, which";
        assert!(sentence.starts_with(begins) && sentence.contains("twice as many"), "{sentence}");
        let work = said(&[("unexpected-fp64", 1.40), ("low-instruction-parallelism", 1.45)]);
        assert!(work.len() == 1 && work[0].contains("1.2 times the gain"), "{work:?}");
        let roof = said(&[("at-memory-roof", 1.0), ("partial-wave", 1.1)]);
        assert!(roof.len() == 1 && roof[0].contains("at its limit"), "{roof:?}");
        let build = said(&[("debug-build", 1.0), ("partial-wave", 1.1)]);
        assert!(build.len() == 1 && build[0].contains("without optimization"), "{build:?}");
    }
}
