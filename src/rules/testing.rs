//! Helpers of the rules' tests: the three outcomes of a rule, and the tests of rules that differ in
//! their words alone.

use super::Rule;
use crate::evidence::linked_memory::ASKED;
use crate::evidence::modeled_launch::{GRID, SMS};
use crate::evidence::occupancy::{BY_BLOCKS, BY_REGISTERS, BY_SHARED, BY_WARPS, THEORETICAL};
use crate::evidence::threshold::{ISSUE, LATENCY};
use crate::evidence::{Draft, ModeledLaunch};
use crate::frame::Launch;
use crate::metric::stall::StallReason;
use crate::model::Model;

pub(crate) use crate::evidence::testing::{Metrics, launch, line, samples, sass};

/// What a rule says of a launch that has all it needs.
pub(crate) fn check(rule: &Rule, launch: &Launch) -> Option<Draft> {
    for name in rule.needs {
        assert!(launch.get(name).is_some(), "the test forgot {name}");
    }
    (rule.check)(&ModeledLaunch { profile: launch, model: &Model::new(launch) })
}

/// Asserts that a rule fires on a launch, is quiet under each change, and is skipped without any
/// one of the metrics it needs. Returns what it found.
pub(crate) fn assert_sides(rule: &Rule, firing: &Launch, quiet: &[Metrics]) -> Draft {
    let draft = check(rule, firing).unwrap_or_else(|| panic!("{} must fire", rule.name));
    assert!(!draft.message.is_empty() && !draft.hint.is_empty() && !draft.evidence.is_empty());
    assert!(
        draft.evidence.iter().all(|evidence| evidence.value.is_finite()),
        "{}: evidence without a value",
        rule.name
    );
    for change in quiet {
        let mut launch = firing.clone();
        for (name, value) in *change {
            assert!(crate::metric::canonical(name).is_some(), "{name} is not in the catalogue");
            launch.set(name, Some(*value));
        }
        assert!(check(rule, &launch).is_none(), "{} must be quiet with {change:?}", rule.name);
    }
    for name in rule.needs {
        let mut launch = firing.clone();
        launch.set(name, None);
        let diagnosis = crate::diagnose::diagnose(&launch);
        assert!(
            diagnosis.skipped.iter().any(|skipped| skipped.rule == rule.name),
            "{} must be skipped without {name}",
            rule.name
        );
    }
    draft
}

/// A launch for tests: the reason takes 40 of 100 cycles, schedulers issue half of the time.
pub(crate) fn stalled(reason: StallReason) -> Launch {
    let metric = reason.ratio_metric();
    launch(&[(&metric, 40.0), (LATENCY, 100.0), (ISSUE, 50.0)])
}

/// Tests a stall rule on both sides of its limits. Hand-worked: 30 of 100 cycles are the 30% of the
/// limit, 29.9 are not.
pub(crate) fn assert_stall_rule(rule: &Rule, reason: StallReason) {
    let metric = reason.ratio_metric();
    let mut launch = stalled(reason);
    launch.set(&metric, Some(30.0));
    let draft = assert_sides(
        rule,
        &launch,
        &[&[(&metric, 29.9)], &[(ISSUE, 80.0)], &[(LATENCY, 0.0), (&metric, 0.0)]],
    );
    assert!(draft.message.contains("30.0 of 100.0 cycles"), "{}", draft.message);
    assert!(!draft.hint.contains('{'), "{}", draft.hint);
    launch.lines = vec![line(7, "x", samples(&[(reason, 3.0)]))];
    let draft = check(rule, &launch).expect("fires with lines too");
    assert_eq!(draft.locations[0].line, 7);
}

/// Tests one rule: `limit` is the smallest at 2 blocks of 25% each, the others allow 4.
pub(crate) fn assert_occupancy_rule(rule: &Rule, limit: &str, own: &[&str]) {
    let mut launch = launch(&[
        (THEORETICAL, 50.0),
        (BY_REGISTERS, 4.0),
        (BY_SHARED, 4.0),
        (BY_BLOCKS, 4.0),
        (BY_WARPS, 4.0),
        (ISSUE, 30.0),
    ]);
    launch.set(limit, Some(2.0));
    launch.row.block = [64, 2, 1];
    let lsu = "l1tex__lsuin_requests.avg.pct_of_peak_sustained_elapsed";
    let not_smallest: Vec<(&str, f64)> = own.iter().map(|name| (*name, 5.0)).collect();
    let draft = assert_sides(
        rule,
        &launch,
        &[&[(THEORETICAL, 80.0)], &[(ISSUE, 60.0)], &not_smallest, &[(lsu, 91.0)]],
    );
    assert!((draft.effect.hidden - 0.5).abs() < 1e-12, "twice the warps cover half of the latency");
    // Blocks become larger, and half as many, where their number is the limit: of 256 threads in place of 128.
    let larger = if limit == BY_BLOCKS { 0.5 } else { 0.0 };
    let started = draft.effect.share_of(crate::term::Term::BlockScheduler);
    assert!((started - larger).abs() < 1e-12, "{started}");
    assert!(!draft.hint.contains('{'), "{}", draft.hint);
    // A grid of as many blocks as fit leaves room for no more of them; but these may have more threads, where their number is the
    // limit, and where they share memory and warps are few.
    launch.set(SMS, Some(100.0));
    launch.set(GRID, Some(200.0));
    assert_eq!(check(rule, &launch).is_some(), limit == BY_BLOCKS);
    launch.row.block = [64, 1, 1];
    assert_eq!(check(rule, &launch).is_some(), [BY_BLOCKS, BY_SHARED].contains(&limit));
    launch.set(GRID, Some(199.0));
    assert_eq!(check(rule, &launch), None);
}

/// A launch for tests: 5 of 100 sectors come from there, in 1 ms.
pub(crate) fn assert_remote_rule(rule: &Rule, sectors: &str) {
    let launch = launch(&[
        (sectors, 5.0e6),
        (ASKED, 1.0e8),
        ("gpu__time_duration.sum", 1e6),
        ("dram__cycles_active.avg.pct_of_peak_sustained_elapsed", 1.0),
    ]);
    let draft = assert_sides(rule, &launch, &[&[(sectors, 4.9e6)], &[(sectors, 0.0)]]);
    // 160 MB in 1 ms.
    assert!(draft.message.contains("160 GB/s"), "{}", draft.message);
    assert!(!draft.hint.contains('{'), "{}", draft.hint);
}
