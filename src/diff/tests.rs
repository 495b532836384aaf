//! Comparisons of profiles made up for these tests.

use proptest::prelude::*;

use super::*;
use crate::document::{LaunchReport, MetricChange, ProgramGroup, RankedFinding};
use crate::export::{Export, LaunchRow, MetricRow};
use crate::finding::Bound;
use crate::timing::StepInfo;

/// A launch of a made-up profile: kernel, metrics, rules found.
type Made<'a> = (&'a str, &'a [(&'a str, f64)], &'a [&'a str]);

fn side(name: &str, launches: &[Made<'_>]) -> Side {
    let mut export = Export::default();
    let mut document = Document::default();
    for (id, (kernel, metrics, rules)) in (0..).zip(launches) {
        export.launches.push(LaunchRow {
            id,
            kernel: (*kernel).to_owned(),
            device: Some("NVIDIA H200".to_owned()),
            ..LaunchRow::default()
        });
        export.metrics.extend(metrics.iter().map(|(metric, value)| MetricRow {
            launch: id,
            metric: (*metric).into(),
            value: Some(*value),
            ..MetricRow::default()
        }));
        let duration = metrics.iter().find(|(metric, _)| *metric == DURATION);
        document.launches.push(report(kernel, duration.map(|(_, ns)| *ns), rules));
    }
    Side {
        name: name.to_owned(),
        document,
        frames: Frames::new(export).unwrap(),
        environment: BTreeMap::new(),
    }
}

fn report(kernel: &str, duration_ns: Option<f64>, rules: &[&str]) -> LaunchReport {
    LaunchReport {
        kernel: kernel.to_owned(),
        grid: [1; 3],
        block: [32, 1, 1],
        device: Some("NVIDIA H200".to_owned()),
        rank: None,
        duration_ns,
        time_share: 1.0,
        bound: Bound::None,
        bottleneck: String::new(),
        utilization: Vec::new(),
        findings: rules
            .iter()
            .map(|rule| RankedFinding {
                rank: 1,
                rule: (*rule).to_owned(),
                section: String::new(),
                estimated_speedup: None,
                message: String::new(),
                evidence: Vec::new(),
                locations: Vec::new(),
                hint: String::new(),
                explains: Vec::new(),
                symptoms: Vec::new(),
                answered_by: None,
                ncu: None,
            })
            .collect(),
        ranking: Vec::new(),
        skipped: Vec::new(),
        ncu_rules: Vec::new(),
        ncu_only: Vec::new(),
    }
}

const DURATION: &str = "gpu__time_duration.sum";
const SECTORS: &str = "lts__t_sectors.sum";
const HITS: &str = "l1tex__t_sector_hit_rate.pct";
const CLOCK: &str = "gpc__cycles_elapsed.avg.per_second";
const BARRIER: &str = "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio";

fn compared(base: &Side, new: &Side) -> Diff {
    compare(base, new).expect("frames of the documented shape")
}

fn found<'a>(diff: &'a Diff, metric: &str) -> Option<&'a MetricChange> {
    diff.metrics.iter().find(|change| change.metric == metric)
}

#[test]
fn what_moved_is_judged_and_the_rest_left_out() {
    let base = side(
        "v2",
        &[("k", &[(DURATION, 200.0), (SECTORS, 80.0), (HITS, 90.0), ("x", 5.0)], &["a", "b"])],
    );
    let new = side(
        "v3",
        &[("k", &[(DURATION, 100.0), (SECTORS, 80.5), (HITS, 50.0), ("x", 5.0)], &["b", "c"])],
    );
    let diff = compared(&base, &new);
    assert_eq!(diff.speedup, Some(2.0));
    let direction = |metric| found(&diff, metric).map(|change| change.direction.as_str());
    assert_eq!(direction(DURATION), Some("better"));
    assert_eq!(direction(SECTORS), Some("same"), "a key metric stands though it moved 0.6%");
    assert_eq!(direction(HITS), Some("neither"), "good or bad by its cause");
    assert_eq!(direction("x"), None);
    let order: Vec<&str> = diff.metrics.iter().map(|change| change.metric.as_str()).collect();
    assert_eq!(order, [DURATION, SECTORS, HITS], "key metrics first");
    assert_eq!(
        (diff.gone, diff.come, diff.kept),
        (vec!["a".into()], vec!["c".into()], vec!["b".into()])
    );
    assert_eq!(diff.warnings, Vec::<String>::new());
}

#[test]
fn a_metrics_old_name_meets_its_new_one() {
    // `issue_active.avg.per_cycle_active` is a ratio where the catalogue has percent.
    let base = side("a", &[("k", &[("smsp__issue_active.avg.per_cycle_active", 0.5)], &[])]);
    let new =
        side("b", &[("k", &[("smsp__issue_active.avg.pct_of_peak_sustained_active", 25.0)], &[])]);
    let diff = compared(&base, &new);
    let change = found(&diff, "smsp__issue_active.avg.pct_of_peak_sustained_active");
    assert_eq!(change.map(|change| (change.base, change.new)), Some((50.0, 25.0)));
}

#[test]
fn the_longest_stalls_are_key_metrics() {
    let stall =
        |word: &str| format!("smsp__average_warps_issue_stalled_{word}_per_issue_active.ratio");
    let names = ["barrier", "wait", "imc_miss", "membar", "long_scoreboard"].map(stall);
    let with = |name: &str, cycles: [f64; 5]| {
        let metrics: Vec<(&str, f64)> = names.iter().map(String::as_str).zip(cycles).collect();
        side(name, &[("k", &metrics, &[])])
    };
    // The longest on either side: barriers before, global memory after, then fixed latency.
    let base = with("a", [30.0, 9.0, 4.0, 3.0, 1.0]);
    let new = with("b", [2.0, 8.0, 5.0, 2.0, 20.0]);
    let diff = compared(&base, &new);
    let told = names.each_ref().map(|name| {
        let change = found(&diff, name).unwrap();
        (change.key, change.direction.clone())
    });
    let [better, worse] = ["better", "worse"].map(str::to_owned);
    assert_eq!(
        told,
        [
            (true, better.clone()),
            (true, better.clone()),
            (false, worse.clone()),
            (false, better),
            (true, worse)
        ]
    );
}

#[test]
fn another_gpu_is_not_judged() {
    let base = side("a", &[("k", &[(DURATION, 200.0), (SECTORS, 80.0)], &[])]);
    let mut new = side("b", &[("k", &[(DURATION, 100.0), (SECTORS, 40.0)], &[])]);
    new.document.launches[0].device = Some("NVIDIA L4".to_owned());
    let diff = compared(&base, &new);
    assert_eq!(diff.speedup, None);
    assert!(found(&diff, DURATION).is_none());
    assert_eq!(found(&diff, SECTORS).map(|change| change.direction.as_str()), Some("neither"));
    assert!(diff.warnings[0].contains("NVIDIA H200 against NVIDIA L4"), "{:?}", diff.warnings);
}

#[test]
fn clocks_and_versions_are_warned_about() {
    let mut base = side("a", &[("k", &[(DURATION, 200.0), (CLOCK, 2.00e9)], &[])]);
    let mut new = side("b", &[("k", &[(DURATION, 100.0), (CLOCK, 1.95e9)], &[])]);
    base.environment.insert("ncu".to_owned(), "2024.1.1".to_owned());
    new.environment.insert("ncu".to_owned(), "2025.3.1".to_owned());
    let diff = compared(&base, &new);
    assert_eq!(diff.speedup, Some(2.0), "both are said, and the times still compared");
    assert!(
        diff.warnings.iter().any(|text| text.contains("ncu differs: 2024.1.1 against 2025.3.1"))
    );
    assert!(
        diff.warnings.iter().any(|text| text.contains("2.00 GHz against 1.95 GHz")),
        "{:?}",
        diff.warnings
    );
}

#[test]
fn launches_meet_by_name_then_by_order() {
    let one: &[(&str, f64)] = &[(SECTORS, 10.0)];
    let two: &[(&str, f64)] = &[(SECTORS, 20.0)];
    let base = side("a", &[("k", one, &[]), ("old", one, &[]), ("k", one, &[])]);
    let new = side("b", &[("new", two, &[]), ("k", one, &[]), ("k", two, &[])]);
    let diff = compared(&base, &new);
    let moved: Vec<(&str, f64)> =
        diff.metrics.iter().map(|change| (change.kernel.as_str(), change.new)).collect();
    assert_eq!(moved, [("k #1", 10.0), ("old → new", 20.0), ("k #2", 20.0)]);
    assert!(diff.warnings.iter().any(|text| text.contains("old is compared with new")));
}

#[test]
fn launches_without_a_partner_are_warned_about() {
    let base = side("a", &[("k", &[(SECTORS, 10.0)], &[]), ("only here", &[], &[])]);
    let new = side("b", &[("k", &[(SECTORS, 10.0)], &[])]);
    let diff = compared(&base, &new);
    assert!(
        diff.warnings[0].contains("2 launches, the new profile 1; 1 is compared"),
        "{:?}",
        diff.warnings
    );
}

#[test]
fn times_of_launches_without_a_partner_are_left_out() {
    let launch = |ns| [(DURATION, ns)];
    let (fast, slow, other) = (launch(10.0), launch(30.0), launch(500.0));
    let base = side("a", &[("k", &slow, &[]), ("k", &fast, &[]), ("only here", &other, &[])]);
    let new = side("b", &[("k", &fast, &[]), ("k", &fast, &[])]);
    let diff = compared(&base, &new);
    // 30 + 10 ns against 10 + 10 ns; all 540 ns would be 27 times as much.
    assert_eq!((diff.speedup, diff.launches_compared), (Some(2.0), 2));
    assert_eq!(diff.speedup_of, Some(TimeOf::PairedLaunches));
    let whole = compared(&new, &new);
    assert_eq!((whole.speedup, whole.speedup_of), (Some(1.0), Some(TimeOf::Launches)));
}

#[test]
fn programs_with_unequal_numbers_of_launches_say_so() {
    let with = |launches: u64, total_ns: f64| {
        let mut side = side("a", &[("k", &[(DURATION, 10.0)], &[])]);
        let group =
            ProgramGroup { kernel: "k".to_owned(), launches, total_ns, ..ProgramGroup::default() };
        side.document.program = Some(Program { groups: vec![group], ..Program::default() });
        side
    };
    // 100 launches of 10 ns against 50 of 8 ns: each is a quarter faster, and the totals are 2.5 times apart.
    let diff = compared(&with(100, 1000.0), &with(50, 400.0));
    assert_eq!((diff.speedup, diff.speedup_of), (Some(1.25), Some(TimeOf::Launch)));
    assert!(diff.warnings[0].contains("launch 100 and 50 kernels"), "{:?}", diff.warnings);
    let diff = compared(&with(100, 1000.0), &with(100, 800.0));
    assert_eq!((diff.speedup, diff.speedup_of), (Some(1.25), Some(TimeOf::Kernels)));
    assert_eq!(diff.warnings, Vec::<String>::new());
}

#[test]
fn unlike_kernels_are_named_and_nothing_is_compared() {
    let values: &[(&str, f64)] = &[(DURATION, 10.0), (SECTORS, 10.0)];
    let base = side("a", &[("transpose", values, &[])]);
    let new = side("b", &[("scan", values, &[]), ("sum", values, &[])]);
    let diff = compared(&base, &new);
    assert_eq!((diff.metrics_compared, diff.speedup), (0, None), "times of unlike programs");
    let said = diff.warnings.join("\n");
    assert!(said.contains("has 1 launch, the new profile 2; none is compared"), "{said}");
    assert!(said.contains("transpose against scan, sum"), "{said}");
}

#[test]
fn another_grid_is_named() {
    let values: &[(&str, f64)] = &[(SECTORS, 10.0)];
    let mut base = side("a", &[("k", values, &[])]);
    let mut new = side("b", &[("k", values, &[])]);
    assert_eq!(compared(&base, &new).warnings, Vec::<String>::new());
    let shaped = |side: &mut Side, grid, block| {
        let launch = LaunchRow { kernel: "k".to_owned(), grid, block, ..LaunchRow::default() };
        let export = Export { launches: vec![launch], ..Export::default() };
        side.frames.launches = Frames::new(export).unwrap().launches;
    };
    shaped(&mut base, [64, 2, 1], [256, 1, 1]);
    shaped(&mut new, [8, 1, 1], [32, 1, 2]);
    let said = compared(&base, &new).warnings.join("\n");
    assert_eq!(said, "the launches of k differ: grid 64×2 against 8, block 256 against 32×1×2");
}

#[test]
fn many_unlike_launches_are_counted() {
    let values: &[(&str, f64)] = &[(SECTORS, 10.0)];
    let launches = |names: [&'static str; 5]| names.map(|name| (name, values, &[][..]));
    let base = side("a", &launches(["a", "b", "c", "d", "e"]));
    let new = side("b", &launches(["f", "g", "h", "i", "j"]));
    let warnings = compared(&base, &new).warnings;
    assert_eq!(warnings.len(), 4, "{warnings:?}");
    assert_eq!(warnings[3], "2 more kernels with such a difference");
}

#[test]
fn endless_names_are_cut() {
    let values: &[(&str, f64)] = &[(SECTORS, 10.0)];
    let long = "k".repeat(5000);
    let diff = compared(&side("a", &[(&long, values, &[])]), &side("b", &[("f", values, &[])]));
    let said = &diff.warnings[0];
    assert!(said.contains("kkk… is compared with f") && said.chars().count() < 200, "{said}");
}

#[test]
fn profiles_without_a_common_metric_say_so() {
    let base = side("a", &[("k", &[(SECTORS, 10.0)], &[])]);
    let new = side("b", &[("k", &[(HITS, 10.0)], &[])]);
    let diff = compared(&base, &new);
    assert_eq!(diff.warnings, ["the profiles have no metric in common"]);
    assert_eq!(diff.metrics_compared, 0);
}

#[test]
fn steps_of_different_ladders_are_not_judged() {
    let values: &[(&str, f64)] = &[(DURATION, 10.0)];
    let mut base = side("a", &[("k", values, &[])]);
    let mut new = side("b", &[("k", values, &[])]);
    let step = crate::report::samples::step("s", 64, 1.0, 1.0);
    new.document.step = Some(StepInfo { ladder: "other".to_owned(), ..step.clone() });
    base.document.step = Some(step);
    let diff = compared(&base, &new);
    assert_eq!(diff.speedup, None);
    assert!(diff.warnings[0].contains("ladder ado against other"), "{:?}", diff.warnings);
}

fn values() -> impl Strategy<Value = Vec<f64>> {
    proptest::collection::vec(0.0_f64..1e6, 4)
}

proptest! {
    /// Swapping the sides turns better into worse, gone into come, and inverts the speed-up.
    #[test]
    fn a_swap_flips_everything(
        before in values(),
        after in values(),
        old in proptest::sample::subsequence(vec!["a", "b", "c"], 0..=3),
        young in proptest::sample::subsequence(vec!["a", "b", "c"], 0..=3),
    ) {
        let names = [DURATION, SECTORS, HITS, BARRIER];
        let named = |values: &[f64]| names.iter().copied().zip(values.iter().copied()).collect::<Vec<_>>();
        let (metrics, others) = (named(&before), named(&after));
        let base = side("a", &[("k", &metrics, &old)]);
        let new = side("b", &[("k", &others, &young)]);
        let (there, back) = (compared(&base, &new), compared(&new, &base));
        prop_assert_eq!(there.metrics.len(), back.metrics.len());
        for change in &there.metrics {
            let other = found(&back, &change.metric).expect("the same metrics move");
            prop_assert_eq!((change.base, change.new, change.key), (other.new, other.base, other.key));
            let flipped = match change.direction.as_str() {
                "better" => "worse",
                "worse" => "better",
                same => same,
            };
            prop_assert_eq!(&other.direction, flipped);
        }
        prop_assert_eq!(&there.gone, &back.come);
        prop_assert_eq!(&there.come, &back.gone);
        prop_assert_eq!(&there.kept, &back.kept);
        match (there.speedup, back.speedup) {
            (Some(there), Some(back)) => prop_assert!((there * back - 1.0).abs() < 1e-9),
            (there, back) => prop_assert_eq!(there, back),
        }
    }
}
