//! Hand-worked cases of what is said first of a launch, on both sides of each limit.

use super::*;
use crate::metric::stall::StallReason;

const L1: &str = "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed";
const ISSUE: &str = "sm__issue_active.avg.pct_of_peak_sustained_elapsed";
const FMA: &str = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed";
const ACTIVE: &str = "sm__cycles_active.avg";
const ELAPSED: &str = "gpc__cycles_elapsed.max";
const DURATION: &str = "gpu__time_duration.sum";
const WAIT: &str = "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio";
const LONG: &str = "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio";

fn launch(metrics: &[(&str, f64)]) -> Launch {
    let mut launch = Launch::default();
    for (name, value) in metrics {
        assert!(crate::metric::canonical(name).is_some(), "{name} is not in the catalogue");
        launch.set(name, Some(*value));
    }
    launch
}

/// Asserts that a launch is bound so, and that its sentence begins with a word and
/// holds names and numbers.
#[track_caller]
fn assert_sentence(launch: &Launch, bound: Bound, word: &str, parts: &[&str]) {
    let diagnosis = diagnose(launch);
    assert_eq!(diagnosis.bound, bound);
    let sentence = bottleneck_sentence(launch, &Model::new(launch), &diagnosis);
    assert!(sentence.starts_with(word), "{sentence}");
    for part in parts {
        assert!(sentence.contains(part), "no `{part}`: {sentence}");
    }
}

#[test]
fn the_sentence_names_the_two_busiest_units_and_what_none_covers() {
    assert_sentence(
        &launch(&[(L1, 65.0), (ISSUE, 30.0)]),
        Bound::Memory,
        "Memory",
        &["L1 data pipe", "65%", "issue slots", "30%", "35%"],
    );
    assert_sentence(
        &launch(&[(FMA, 70.0), (L1, 20.0)]),
        Bound::Compute,
        "Compute",
        &["FMA pipe", "70%", "L1 data pipe", "20%", "30%"],
    );
    // 99.4% and 0.6% are shown so that they add up.
    assert_sentence(
        &launch(&[(L1, 99.4), (ISSUE, 30.0)]),
        Bound::Memory,
        "Memory",
        &["busy 99% of", "for the remaining 1% warps"],
    );
    assert_sentence(
        &launch(&[(L1, 100.0), (ISSUE, 30.0)]),
        Bound::Memory,
        "Memory",
        &["busy 100% of the time (next: issue slots, 30%)."],
    );
}

#[test]
fn the_sentence_of_a_waiting_kernel_names_the_longest_wait() {
    // 6 of 8 stall cycles wait for global memory, and no unit is busy for 70% of the time.
    assert_sentence(
        &launch(&[(L1, 30.0), (LONG, 6.0), (WAIT, 2.0)]),
        Bound::Latency,
        "Latency",
        &["L1 data pipe", "30%", "70%", "global memory", "75%"],
    );
}

#[test]
fn the_sentence_of_a_small_launch_tells_idle_sms_from_the_launch_itself() {
    let grid = [("launch__grid_size", 4.0), ("launch__sm_count", 132.0), (L1, 5.0)];
    // SMs have no warp for 90% of the time.
    assert_sentence(
        &launch(&[&grid[..], &[(ACTIVE, 10.0), (ELAPSED, 100.0)]].concat()),
        Bound::Launch,
        "Small",
        &["4 blocks on 132 SMs", "90%", "L1 data pipe", "5%"],
    );
    // An empty kernel takes 1728 ns, 80% of the duration.
    let mut short = launch(&[&grid[..], &[(DURATION, 1728.0 / 0.8)]].concat());
    short.row.compute_capability = Some((9, 0));
    assert_sentence(&short, Bound::Launch, "Short kernel", &["4 blocks on 132 SMs", "80%"]);
}

#[test]
fn the_sentence_of_many_tiny_blocks_counts_them() {
    // 1,203,000 of 2,005,000 cycles start a million blocks, one after another.
    let metrics = [("launch__grid_size", 1e6), (ELAPSED, 2_005_000.0), (ISSUE, 10.0)];
    let mut launch = launch(&metrics);
    launch.row.compute_capability = Some((9, 0));
    assert_sentence(
        &launch,
        Bound::Launch,
        "Block starts",
        &["1,000,000 blocks", "60%", "issue slots", "10%"],
    );
    // They take 40% of the time, and SMs have no warp for half of it.
    launch.set(ELAPSED, Some(1_203_000.0 / 0.4));
    launch.set(ACTIVE, Some(1_203_000.0 / 0.8));
    assert_sentence(&launch, Bound::Launch, "Small grid", &["no warp for 50%", "40%"]);
}

#[test]
fn the_sentence_of_a_profile_without_units_reads_the_throughputs() {
    let compute = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
    let memory = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
    let slots = "smsp__issue_active.avg.pct_of_peak_sustained_active";
    for (of_compute, of_memory, bound, word) in [
        (60.0, 50.0, Bound::Compute, "Compute"),
        (50.0, 60.0, Bound::Memory, "Memory"),
        (60.0, 60.0, Bound::Memory, "Memory"),
        (59.9, 59.9, Bound::Latency, "Latency"),
    ] {
        let both = launch(&[(compute, of_compute), (memory, of_memory), (slots, 40.0)]);
        let numbers = [format!("{of_compute:.0}%"), format!("{of_memory:.0}%")];
        // 40% of the slots are one in 2.5 cycles.
        assert_sentence(&both, bound, word, &[&numbers[0], &numbers[1], "2.5 cycles"]);
    }
    let waiting = launch(&[(slots, 40.0), (LONG, 6.0), (WAIT, 2.0)]);
    assert_sentence(&waiting, Bound::None, "A scheduler", &["2.5 cycles", "global memory", "75%"]);
    assert_sentence(&Launch::default(), Bound::None, "", &[]);
}

/// What a rule of that name found, with its gain.
fn found(name: &str, effect: Effect, gain: f64) -> Found {
    let rule = crate::rules::find(name).unwrap();
    let estimate = Some(Estimate { factor: gain, low: 1.0, high: gain });
    let draft = Draft { effect, ..Draft::default() };
    Found { rule, draft, estimate, bounds: None, has_own_cause: false }
}

#[test]
fn a_cause_explains_a_symptom_from_half_of_its_gain() {
    let symptom =
        found("long-scoreboard-stalls", Effect::stalls([StallReason::LongScoreboard]), 1.5);
    let cause = |gain| found("uncoalesced-global-access", Effect::default(), gain);
    assert!(cause(1.25).explains(&symptom), "0.25 of 0.5");
    assert!(!cause(1.24).explains(&symptom));
    let other = found("barrier-stalls", Effect::stalls([StallReason::Barrier]), 1.5);
    assert!(!cause(3.0).explains(&other), "the rule does not name that symptom");
}

#[test]
fn a_cause_explains_a_symptom_from_a_quarter_of_its_stall_whatever_it_gives() {
    let symptom =
        found("long-scoreboard-stalls", Effect::stalls([StallReason::LongScoreboard]), 1.5);
    let cause = |share| {
        let stalls = vec![(StallReason::LongScoreboard, share)];
        found("uncoalesced-global-access", Effect { stalls, ..Effect::default() }, 1.0)
    };
    assert!(cause(0.25).explains(&symptom));
    assert!(!cause(0.24).explains(&symptom));
}

#[test]
fn a_fault_that_gives_a_unit_a_twentieth_of_its_work_hides_its_roof() {
    let left = |share: f64, term| {
        let draft = |name: &str, effect| {
            (crate::rules::find(name).unwrap(), Draft { effect, ..Draft::default() })
        };
        let mut drafts = vec![
            draft("uncoalesced-global-access", Effect::on(term, share)),
            draft("at-memory-roof", Effect::on(Term::Dram, 1.0)),
        ];
        drop_false_roofs(&mut drafts);
        drafts.len()
    };
    assert_eq!(left(0.05, Term::Dram), 1);
    assert_eq!(left(0.049, Term::Dram), 2);
    assert_eq!(left(0.5, Term::L2), 2, "another unit");
}

#[test]
fn a_fault_that_changes_less_than_a_hundredth_has_no_row_of_the_ranking() {
    // L1 is all that is known: what goes of its 80% goes of the time.
    let model = Model::new(&launch(&[(L1, 80.0)]));
    let rows = |share: f64| {
        ranking::ranking(&model, [("a-fault", &Effect::on(Term::L1Data, share))]).len()
    };
    // 0.8 × 1.2% = 0.96% of the time, and 0.8 × 1.3% = 1.04%.
    assert_eq!(rows(0.012), 1);
    assert_eq!(rows(0.013), 2);
}

#[test]
fn the_sentence_at_a_roof_names_the_unit_at_work() {
    // Starting blocks takes 95% of the time, but DRAM is what has to be read.
    let dram = "dram__cycles_active.avg.pct_of_peak_sustained_elapsed";
    let metrics = [(dram, 90.0), ("launch__grid_size", 1e6), (ELAPSED, 1_203_000.0 / 0.98)];
    let mut launch = launch(&metrics);
    launch.row.compute_capability = Some((9, 0));
    launch.instructions = vec![crate::evidence::testing::nop()];
    assert_eq!(Model::new(&launch).busiest().map(|(term, _)| term), Some(Term::BlockScheduler));
    assert_sentence(&launch, Bound::Memory, "At the roof", &["DRAM", "95%"]);
}

#[test]
fn that_warps_wait_is_told_only_where_a_unit_of_the_sm_is_known() {
    let dram = ("dram__cycles_active.avg.pct_of_peak_sustained_elapsed", 30.0);
    let unknown = diagnose(&launch(&[dram]));
    assert_eq!((unknown.bound, unknown.ranking.len()), (Bound::None, 0));
    let known = diagnose(&launch(&[dram, (ISSUE, 10.0)]));
    assert_eq!((known.bound, known.ranking.len()), (Bound::Latency, 1));
}

#[test]
fn barriers_are_a_fault_of_their_own_where_half_of_the_waits_are_for_few_warps() {
    let findings = |for_few: f64| {
        // Few warps work in front of the first barrier, all in front of the second.
        let mut launch = crate::sass::code::listing::tests::launch(&[
            ("ISETP.NE.AND P0, PT, R0, RZ, PT", 80.0),
            ("@P0 BRA 0x130", 80.0),
            ("FADD R0, R1, R2", 10.0),
            ("BAR.SYNC.DEFER_BLOCKING 0x0", 80.0),
            ("BAR.SYNC.DEFER_BLOCKING 0x0", 80.0),
            ("EXIT", 80.0),
        ]);
        for (at, samples) in [(3, for_few), (5, 100.0 - for_few)] {
            launch.instructions[at].counters.stall_samples[StallReason::Barrier as usize] = samples;
        }
        let model = Model::new(&launch);
        assert!((model.barriers_for_few() - for_few / 100.0).abs() < 1e-12);
        let draft = |name: &str, effect| {
            (crate::rules::find(name).unwrap(), Draft { effect, ..Draft::default() })
        };
        let drafts = vec![
            draft("shared-memory-pressure", Effect::default()),
            draft("barrier-stalls", Effect::stalls([StallReason::Barrier])),
        ];
        rank(drafts, &model, false, true).len()
    };
    assert_eq!(findings(50.0), 2);
    assert_eq!(findings(49.0), 1, "what makes all warps slow explains them");
}
