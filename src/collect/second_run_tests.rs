use super::*;
use crate::ncu::Level;

const ATOMS: &str = "smsp__inst_executed_op_shared_atom.sum";
const WAVEFRONTS: &str = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum";
const L1: &str = "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed";
const DRAM: &str = "dram__cycles_active.avg.pct_of_peak_sustained_elapsed";
const RULE: &str = "shared-atomic-contention";

fn first(name: &str) -> bool {
    Level::Auto.collects(name)
}

/// Latency takes 40% of the time, L1 half of the rest's measure; nothing fires.
fn launch(metrics: &[(&str, f64)]) -> Launch {
    let mut launch = Launch::default();
    launch.instructions = vec![crate::evidence::testing::nop()];
    for (name, value) in [(L1, 60.0), (DRAM, 30.0), (WAVEFRONTS, 100.0)].iter().chain(metrics) {
        launch.set(name, Some(*value));
    }
    launch
}

/// The rules that a second run after these launches is for.
fn asked_for(launches: &[Launch]) -> Vec<&'static str> {
    further(launches, first).map_or_else(Vec::new, |further| further.rules)
}

#[test]
fn a_fault_that_left_a_trace_is_looked_for() {
    let found = further(&[launch(&[])], first).unwrap();
    assert_eq!(
        found,
        Further { metrics: vec![ATOMS], rules: vec![RULE], passes: Some(1) },
        "rules whose metrics the first run asked for in vain are not asked for again"
    );
    assert_eq!(further(&[launch(&[(WAVEFRONTS, 0.0)])], first), None, "no shared atomic ran");
    assert_eq!(asked_for(&[launch(&[(ATOMS, 50.0)])]), [""; 0], "the metric is there");
    let mut unknown = launch(&[]);
    unknown.set(WAVEFRONTS, None);
    assert_eq!(asked_for(&[unknown]), [""; 0], "the rule needs this one too, and it can't be had");
}

#[test]
fn one_launch_of_several_is_reason_enough_and_counts_once() {
    let quiet = launch(&[(WAVEFRONTS, 0.0)]);
    let found = further(&[quiet, launch(&[]), launch(&[])], first).unwrap();
    assert_eq!((found.metrics, found.rules), (vec![ATOMS], vec![RULE]));
    assert_eq!(further(&[], first), None);
}

#[test]
fn a_gain_under_a_twentieth_is_not_worth_a_run() {
    // Without L1's and the schedulers' work and all latency DRAM is left: 1/0.96 and 1/0.95.
    assert_eq!(asked_for(&[launch(&[(DRAM, 96.0), (L1, 10.0)])]), [""; 0]);
    assert_eq!(asked_for(&[launch(&[(DRAM, 80.0), (L1, 10.0)])]), [RULE]);
}

#[test]
fn a_roof_falls_only_by_a_fault_of_its_own_unit() {
    // 97% of what the device can do with L1: at-memory-roof.
    let l1 = launch(&[(L1, 97.0)]);
    assert_eq!(diagnose(&l1).findings[0].rule, "at-memory-roof");
    assert_eq!(asked_for(&[l1]), [RULE]);
    let dram = launch(&[(DRAM, 93.0), (L1, 5.0)]);
    assert_eq!(diagnose(&dram).findings[0].rule, "at-memory-roof");
    assert_eq!(asked_for(&[dram]), [""; 0]);
}

#[test]
fn a_first_finding_that_gives_more_than_all_the_units_stands() {
    let sectors = "memory_l2_theoretical_sectors_global";
    let ideal = "memory_l2_theoretical_sectors_global_ideal";
    // DRAM 70% busy, nearly all of it excess: 1/(0.3 + L1's 0.2) against 1/0.7 without L1 and latency.
    let strided = [(DRAM, 70.0), (L1, 20.0), (sectors, 800.0), (ideal, 10.0)];
    let strided = launch(&strided);
    let found = diagnose(&strided);
    assert_eq!(found.findings[0].rule, "uncoalesced-global-access");
    assert!(found.findings[0].estimate.unwrap().factor > 1.0 / 0.7);
    assert_eq!(asked_for(&[strided]), [""; 0]);
}

#[test]
fn before_a_run_all_that_may_follow_is_known() {
    let all = possible(first);
    assert_eq!((all.metrics, all.rules, all.passes), (vec![ATOMS], vec![RULE], Some(1)));
    assert!(possible(|_| true).rules.is_empty());
    let none = possible(|_| false);
    assert_eq!(none.rules.len(), rules::RULES.len());
    assert_eq!(none.passes, None, "what a first run costs is not what a second one does");
}
