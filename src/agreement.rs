//! What ncu's own rules and our findings say of the same launch: where they agree, and why what only
//! ncu promises would not hold.

mod reason;
mod said;
mod table;

use crate::export::{NcuRuleKind, NcuRuleRow};
use crate::finding::{Finding, Skipped};
use crate::frame::Launch;
use crate::model::Model;

pub use said::{NcuAgreement, NcuOnly};
pub(crate) use table::{Meaning, meaning};

/// A smaller promise of ncu's is within what its own figures scatter, and not worth an answer,
/// percent.
const LEAST_PROMISE: f64 = 5.0;

/// True where ncu advises something: what only informs or could not run is no statement.
#[must_use]
fn is_advice(row: &NcuRuleRow) -> bool {
    matches!(row.kind, NcuRuleKind::Optimization | NcuRuleKind::Warning)
}

/// The faults that a row of ncu's names; none where it advises nothing or is not known.
#[must_use]
pub(crate) fn named(row: &NcuRuleRow) -> Vec<&'static str> {
    let meaning = is_advice(row).then(|| meaning(&row.rule, &row.message)).flatten();
    meaning.map_or_else(Vec::new, |meaning| meaning.faults().to_vec())
}

/// What ncu's rules say of a fault: of several that name it, an estimate of the whole kernel goes
/// before one of a unit's efficiency, and the larger before the smaller.
#[must_use]
pub(crate) fn on_fault(rows: &[NcuRuleRow], fault: &str) -> Option<NcuAgreement> {
    rows.iter()
        .filter(|row| named(row).contains(&fault))
        .max_by(|a, b| weight(a).partial_cmp(&weight(b)).unwrap_or(std::cmp::Ordering::Equal))
        .map(|row| NcuAgreement {
            rule: row.rule.clone(),
            estimate_percent: row.estimate_percent,
            global: row.global,
        })
}

fn weight(row: &NcuRuleRow) -> (bool, f64) {
    (row.global, row.estimate_percent.unwrap_or(-1.0))
}

/// What ncu promises of a launch and our findings do not, each with the reason, the largest promise
/// first. Of several promises that mean the same only the largest stands here.
#[must_use]
pub(crate) fn ncu_only(
    launch: &Launch,
    model: &Model,
    findings: &[Finding],
    skipped: &[Skipped],
) -> Vec<NcuOnly> {
    let mut only: Vec<NcuOnly> = Vec::new();
    for row in launch.ncu_rules.iter().filter(|row| is_advice(row)) {
        let Some(percent) = row.estimate_percent.filter(|&percent| percent >= LEAST_PROMISE) else {
            continue;
        };
        let meaning = meaning(&row.rule, &row.message);
        let Some(reason) = reason::against(meaning.as_ref(), model, findings, skipped) else {
            continue;
        };
        let faults: Vec<String> =
            meaning.iter().flat_map(Meaning::faults).map(|&fault| fault.to_owned()).collect();
        let said = NcuOnly {
            rule: row.rule.clone(),
            estimate_percent: percent,
            global: row.global,
            faults,
            reason,
        };
        let same =
            only.iter_mut().find(|other| other.rule == said.rule && other.reason == said.reason);
        match same {
            Some(other) if other.estimate_percent >= percent => {}
            Some(other) => *other = said,
            None => only.push(said),
        }
    }
    only.sort_by(|a, b| {
        b.global.cmp(&a.global).then(b.estimate_percent.total_cmp(&a.estimate_percent))
    });
    only
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Estimate;

    fn row(rule: &str, message: &str, percent: f64, global: bool) -> NcuRuleRow {
        NcuRuleRow {
            launch: 0,
            section: "SourceCounters".to_owned(),
            rule: rule.to_owned(),
            kind: NcuRuleKind::Optimization,
            message: message.to_owned(),
            estimate_percent: Some(percent),
            global,
        }
    }

    fn finding(rule: &str, factor: f64) -> Finding {
        Finding {
            rule: rule.to_owned(),
            section: String::new(),
            estimate: Some(Estimate { factor, low: 1.0, high: factor }),
            message: String::new(),
            evidence: Vec::new(),
            locations: Vec::new(),
            hint: String::new(),
            explains: Vec::new(),
            symptoms: Vec::new(),
        }
    }

    /// The L1 data pipe 60% busy, FMA 9%, SMs active 98% of the time.
    fn launch(rules: Vec<NcuRuleRow>) -> Launch {
        let mut launch = Launch::default();
        launch.ncu_rules = rules;
        for (name, value) in [
            ("l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed", 60.0),
            ("sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed", 9.0),
            ("sm__issue_active.avg.pct_of_peak_sustained_elapsed", 20.0),
            ("sm__cycles_active.avg", 980.0),
            ("gpc__cycles_elapsed.max", 1000.0),
        ] {
            launch.set(name, Some(value));
        }
        launch
    }

    fn only(launch: &Launch, findings: &[Finding], skipped: &[Skipped]) -> Vec<NcuOnly> {
        ncu_only(launch, &Model::new(launch), findings, skipped)
    }

    #[test]
    fn the_largest_whole_kernel_estimate_speaks_for_a_fault() {
        let rows = [
            row("MemoryCacheAccessPattern", "for global loads", 90.0, false),
            row("UncoalescedGlobalAccess", "", 40.0, true),
            row("MemoryCacheAccessPattern", "for global stores", 68.0, true),
            row("ThreadDivergence", "", 99.0, true),
        ];
        let said = on_fault(&rows, "uncoalesced-global-access").unwrap();
        assert_eq!((said.estimate_percent, said.global), (Some(68.0), true));
        assert_eq!(on_fault(&rows, "partial-wave"), None);
    }

    #[test]
    fn information_is_no_statement() {
        let mut info = row("UncoalescedGlobalAccess", "", 40.0, true);
        info.kind = NcuRuleKind::Info;
        assert_eq!(on_fault(&[info.clone()], "uncoalesced-global-access"), None);
        assert!(only(&launch(vec![info]), &[], &[]).is_empty());
    }

    #[test]
    fn what_a_finding_promises_too_needs_no_reason() {
        let launch = launch(vec![row("UncoalescedGlobalAccess", "", 40.0, true)]);
        assert!(only(&launch, &[finding("uncoalesced-global-access", 1.3)], &[]).is_empty());
        let denied = only(&launch, &[finding("uncoalesced-global-access", 1.02)], &[]);
        // 1/1.02 is 98%.
        assert!(denied[0].reason.contains("98% of the time"), "{}", denied[0].reason);
    }

    #[test]
    fn a_symptom_under_its_cause_is_found_too() {
        let launch = launch(vec![row("CPIStall", "at a CTA barrier", 30.0, true)]);
        let mut cause = finding("workload-imbalance", 1.3);
        cause.explains = vec!["barrier-stalls".to_owned()];
        assert!(only(&launch, &[cause], &[]).is_empty());
    }

    #[test]
    fn a_unit_that_is_little_busy_denies_the_promise() {
        let launch = launch(vec![row("FPInstructions", "FP32", 44.0, true)]);
        let said = &only(&launch, &[], &[])[0].reason;
        // Without FMA and issue the L1 data pipe still takes 60%, and the rest waits.
        assert!(said.contains("issue slots are busy 20% of the time"), "{said}");
        assert!(said.contains("L1 data pipe"), "{said}");
    }

    #[test]
    fn idle_sms_are_measured() {
        let launch = launch(vec![row("LaunchConfiguration", "a partial wave", 25.0, true)]);
        let said = &only(&launch, &[], &[])[0].reason;
        assert!(said.contains("no work for 2% of the time"), "{said}");
    }

    #[test]
    fn what_was_not_checked_says_so() {
        let launch = launch(vec![row("SharedMemoryConflicts", "", 30.0, true)]);
        let skipped =
            Skipped { rule: "shared-bank-conflicts".into(), missing: vec!["the_metric".into()] };
        let said = &only(&launch, &[], &[skipped])[0].reason;
        assert!(said.contains("not checked") && said.contains("the_metric"), "{said}");
        let said = &only(&launch, &[], &[])[0].reason;
        assert!(said.contains("shared-bank-conflicts was checked"), "{said}");
    }

    #[test]
    fn small_promises_and_unknown_rules() {
        let small = launch(vec![row("ThreadDivergence", "", 4.9, true)]);
        assert!(only(&small, &[], &[]).is_empty());
        let enough = launch(vec![row("ThreadDivergence", "", 5.0, true)]);
        assert_eq!(only(&enough, &[], &[]).len(), 1);
        let unknown = launch(vec![row("ARuleOfTheFuture", "", 50.0, true)]);
        assert!(only(&unknown, &[], &[])[0].reason.contains("unknown"));
    }

    #[test]
    fn the_same_reason_stands_once_with_the_largest_promise() {
        let launch = launch(vec![
            row("MemoryCacheAccessPattern", "for global loads", 10.0, true),
            row("MemoryCacheAccessPattern", "for global stores", 30.0, true),
            row("HighPipeUtilization", "under-utilized", 99.0, false),
        ]);
        let said = only(&launch, &[], &[]);
        let percents: Vec<f64> = said.iter().map(|only| only.estimate_percent).collect();
        assert_eq!(percents, [30.0, 99.0], "the whole kernel's estimate first");
    }
}
