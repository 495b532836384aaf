//! Tests on constructed profiles: numbers that published reports quote, set by hand, since their
//! exports are not to be had. They carry no duration and few metrics; the guidance must be there all
//! the same.

use super::{bottleneck_sentence, diagnose};
use crate::export::{SourceCounters, SourceRow};
use crate::finding::{Bound, Finding};
use crate::frame::Launch;
use crate::model::Model;

const ISSUE: &str = "smsp__issue_active.avg.per_cycle_active";
const ACTIVE: &str = "smsp__warps_active.avg.per_cycle_active";
const ELIGIBLE: &str = "smsp__warps_eligible.avg.per_cycle_active";
const MOST: &str = "smsp__warps_active.avg.peak_sustained";
const LATENCY: &str = "smsp__average_warp_latency_per_inst_issued.ratio";
const LG: &str = "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio";
const WAIT: &str = "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio";
/// The names of 2020.
const SECTORS: &str = "memory_l2_transactions_global";
const IDEAL: &str = "memory_ideal_l2_transactions_global";
const SM: &str = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
const MEMORY: &str = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
const DRAM: &str = "dram__cycles_active.avg.pct_of_peak_sustained_elapsed";
const LONG: &str = "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio";

fn launch(metrics: &[(&str, f64)]) -> Launch {
    let mut launch = Launch::default();
    for (name, value) in metrics {
        assert!(crate::metric::canonical(name).is_some(), "{name} is not in the catalogue");
        launch.set(name, Some(*value));
    }
    launch
}

/// The same with machine code that can be read.
fn with_code(metrics: &[(&str, f64)]) -> Launch {
    let mut launch = launch(metrics);
    launch.instructions = vec![crate::evidence::testing::nop()];
    launch
}

fn line(number: u32, text: &str, counters: SourceCounters) -> SourceRow {
    SourceRow {
        file: Some("t5.cu".into()),
        line: Some(number),
        text: text.to_owned(),
        counters,
        ..SourceRow::default()
    }
}

fn find<'a>(findings: &'a [Finding], rule: &str) -> Option<(usize, &'a Finding)> {
    findings.iter().enumerate().find(|(_, finding)| finding.rule == rule)
}

/// Constructed: the ADO article's second step on a V100, as far as its text gives numbers.
#[test]
fn v100_second_step_is_sent_to_the_strided_line() {
    let mut launch = launch(&[
        (ISSUE, 1.0 / 6.8),
        (MOST, 16.0),
        (ACTIVE, 16.0),
        (ELIGIBLE, 0.69),
        (LATENCY, 109.1),
        (LG, 82.8),
        (SM, 15.0),
        (MEMORY, 50.0),
        (SECTORS, 1_073_741_824.0 + 134_217_728.0),
        (IDEAL, 134_217_728.0 + 134_217_728.0),
    ]);
    let counters = |sectors, ideal| SourceCounters {
        l2_sectors_global: sectors,
        l2_sectors_global_ideal: ideal,
        ..SourceCounters::default()
    };
    launch.lines = vec![
        line(81, "v1 += input[k*M*L+idx*M+i];", counters(1_073_741_824.0, 134_217_728.0)),
        line(84, "smem[idx] = v1 * matrix[i*L+idx];", counters(134_217_728.0, 134_217_728.0)),
    ];
    let diagnosis = diagnose(&launch);
    let first = &diagnosis.findings[0];
    assert_eq!(first.rule, "uncoalesced-global-access");
    assert_eq!(first.section, "SourceCounters");
    assert_eq!(first.locations.len(), 1, "the matrix line is one to one");
    assert_eq!(first.locations[0].line, 81);
    assert!(first.message.contains("1,073,741,824 sectors where 134,217,728 would do (8:1)"));
    assert!(first.hint.contains("line 81"));
    assert_eq!(first.estimate, None, "no unit's utilization is known");
    assert_eq!(first.explains, ["lg-throttle", "issue-slots-underused"]);
    assert!(
        first.symptoms[0].message.contains("82.8 of 109.1 cycles between two instructions (76%)")
    );
    let slots = &first.symptoms[1].message;
    assert!(slots.contains("every 6.8 cycles") && slots.contains("16.00 active (of at most 16)"));
    assert!(slots.contains("0.69 eligible"), "{slots}");
    assert_eq!(diagnosis.bound, Bound::Latency);
    let sentence = bottleneck_sentence(&launch, &Model::new(&launch), &diagnosis);
    assert!(sentence.starts_with("Latency") && sentence.contains("6.8 cycles"), "{sentence}");
}

/// Constructed: the article's third step, of which it says that compute leads memory, the LSU pipe
/// leads compute, and shared memory works at 49% of its peak.
#[test]
fn v100_third_step_is_sent_to_shared_memory() {
    let mut launch = launch(&[
        (SM, 60.0),
        (MEMORY, 49.0),
        ("sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active", 60.0),
        ("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum.pct_of_peak_sustained_elapsed", 49.0),
        ("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 1000.0),
        ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 80.0),
        ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", 70.0),
    ]);
    let mut sweep = SourceCounters { wavefronts_shared: 100.0, ..SourceCounters::default() };
    sweep.stall_samples[crate::metric::stall::StallReason::ShortScoreboard as usize] = 900.0;
    launch.lines = vec![line(114, "if (id < s) smem[id] += smem[id+s];", sweep)];
    let diagnosis = diagnose(&launch);
    let first = &diagnosis.findings[0];
    assert_eq!(first.rule, "shared-memory-pressure");
    assert_eq!(first.locations[0].line, 114);
    assert!(first.message.contains("busy 49%"), "{}", first.message);
    assert!(first.message.contains("predicated off"), "{}", first.message);
    assert!(first.hint.contains("line 114") && first.hint.contains("__shfl_down_sync"));
    let sentence = bottleneck_sentence(&launch, &Model::new(&launch), &diagnosis);
    assert!(sentence.contains("LSU, is busy 60%"), "{sentence}");
}

/// Constructed: the same second step on a Turing laptop (512 in every dimension), where another
/// stall leads but the sectors tell the same.
#[test]
fn turing_second_step_has_the_same_cause_under_another_stall() {
    let launch = launch(&[
        (ISSUE, 1.0 / 3.2),
        (MOST, 8.0),
        (ACTIVE, 8.02),
        (ELIGIBLE, 0.36),
        (LATENCY, 25.5),
        (WAIT, 14.1),
        (SECTORS, 151_257_088.0),
        (IDEAL, 151_257_088.0 - 117_440_512.0),
    ]);
    let diagnosis = diagnose(&launch);
    let first = &diagnosis.findings[0];
    assert_eq!(first.rule, "uncoalesced-global-access");
    assert!(first.message.contains("151,257,088 sectors"), "{}", first.message);
    assert!(first.message.contains("117,440,512 (78%) are excess"), "{}", first.message);
    assert!(first.symptoms[0].message.contains("every 3.2 cycles"));
    assert!(first.symptoms[0].message.contains("8.02 active (of at most 8) and 0.36"));
    let (rank, stall) = find(&diagnosis.findings, "fixed-latency-stalls").unwrap();
    assert_eq!(rank, 1, "the cause comes first");
    assert!(stall.message.contains("14.1 of 25.5 cycles between two instructions (55%)"));
}

/// Constructed: DRAM at 92% of what an unmeasured device reaches, and warps waiting for it.
#[test]
fn a_full_dram_with_dense_accesses_is_at_the_roof() {
    let mut full = with_code(&[
        (DRAM, 83.0),
        (LONG, 80.0),
        (LATENCY, 100.0),
        (ISSUE, 0.2),
        ("memory_l2_theoretical_sectors_global", 1000.0),
        ("memory_l2_theoretical_sectors_global_ideal", 1000.0),
    ]);
    let diagnosis = diagnose(&full);
    let first = &diagnosis.findings[0];
    assert_eq!((first.rule.as_str(), diagnosis.bound), ("at-memory-roof", Bound::Memory));
    assert!(first.estimate.is_some_and(|estimate| (estimate.factor - 1.0).abs() < 1e-9));
    assert_eq!(
        first.explains,
        ["long-scoreboard-stalls"],
        "waiting is what a full memory looks like"
    );
    assert!(find(&diagnosis.findings, "low-memory-parallelism").is_none());
    let sentence = bottleneck_sentence(&full, &Model::new(&full), &diagnosis);
    assert!(sentence.starts_with("At the roof") && sentence.contains("DRAM, works at 88%"));

    // The same bytes, of which half are not needed: no roof, and twice as fast is possible.
    full.set("memory_l2_theoretical_sectors_global_ideal", Some(500.0));
    let diagnosis = diagnose(&full);
    assert_eq!(diagnosis.findings[0].rule, "uncoalesced-global-access");
    assert!(find(&diagnosis.findings, "at-memory-roof").is_none());
}

/// Constructed: a roof, and a tail that is worth something all the same: it is second, not hidden.
#[test]
fn a_roof_hides_no_other_finding() {
    let launch = with_code(&[
        (DRAM, 82.0),
        ("sm__cycles_active.avg", 90.0),
        ("sm__cycles_active.max", 100.0),
        ("gpc__cycles_elapsed.max", 100.0),
    ]);
    let diagnosis = diagnose(&launch);
    let rules: Vec<&str> = diagnosis.findings.iter().map(|finding| finding.rule.as_str()).collect();
    assert_eq!(rules, ["at-memory-roof", "workload-imbalance"]);
    let factor = diagnosis.findings[1].estimate.map_or(0.0, |estimate| estimate.factor);
    assert!(factor > 1.05 && factor < 1.18, "{factor}");
}

/// Constructed: stalls with and without something that explains them.
#[test]
fn a_stall_without_a_cause_stands_alone() {
    let launch = launch(&[(ISSUE, 0.3), (LATENCY, 10.0), (WAIT, 4.0), (SM, 30.0), (MEMORY, 10.0)]);
    let diagnosis = diagnose(&launch);
    let rules: Vec<&str> = diagnosis.findings.iter().map(|finding| finding.rule.as_str()).collect();
    assert_eq!(rules, ["fixed-latency-stalls"]);
    assert!(diagnosis.skipped.iter().any(|skipped| skipped.rule == "issue-slots-underused"));
}

/// No metric value, however absurd, may end the program.
#[test]
fn absurd_values_do_no_harm() {
    for value in [0.0, 1.0, -1.0, 1e-300, 1e300, f64::INFINITY, f64::NAN] {
        let mut launch = Launch::default();
        for metric in crate::metric::CATALOGUE {
            launch.set(metric.name, Some(value));
        }
        let counters = SourceCounters {
            inst_executed: value,
            l2_sectors_global: value,
            wavefronts_shared: value,
            ..SourceCounters::default()
        };
        launch.lines = vec![line(1, "for (;;)", counters)];
        let diagnosis = diagnose(&launch);
        let sentence = bottleneck_sentence(&launch, &Model::new(&launch), &diagnosis);
        assert!(!sentence.is_empty());
        for estimate in diagnosis.findings.iter().filter_map(|finding| finding.estimate) {
            assert!(estimate.factor >= 1.0 && estimate.low <= estimate.factor + 1e-9);
            assert!(estimate.factor <= estimate.high + 1e-9, "{estimate:?}");
        }
    }
}
