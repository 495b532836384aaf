//! The formulas with hand-worked numbers.

use super::*;

/// As the H200's file has them, ns: an empty launch under the profiler, and what one by itself takes longer
/// between events.
const EMPTY_KERNEL_NS: f64 = 1728.0;
const LONE_LAUNCH_NS: f64 = 3008.0 - 1632.0;

/// One unit 60% busy, another 40%, SMs active 90% of the time, half of the stalls at barriers.
fn launch() -> Launch {
    with_metrics(Launch::default())
}

fn with_metrics(mut launch: Launch) -> Launch {
    for (name, value) in [
        ("l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed", 60.0),
        ("sm__issue_active.avg.pct_of_peak_sustained_elapsed", 40.0),
        ("sm__cycles_active.avg", 900.0),
        ("gpc__cycles_elapsed.max", 1000.0),
        ("smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", 5.0),
        ("smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", 5.0),
        ("smsp__average_warps_issue_stalled_selected_per_issue_active.ratio", 1.0),
    ] {
        launch.set(name, Some(value));
    }
    launch
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn time_is_the_busiest_unit_plus_idle_sms_plus_latency() {
    let model = Model::new(&launch());
    assert_eq!(model.busiest().map(|(term, _)| term), Some(Term::L1Data));
    assert!(near(model.idle(), 0.1) && near(model.latency(), 0.3));
    assert_eq!(model.bound(), Bound::Memory);
    assert_eq!(model.busy_ns(Term::L1Data), None, "no duration, no nanoseconds");
}

#[test]
fn a_gain_ends_at_the_next_unit() {
    let model = Model::new(&launch());
    // 0.6 shrinks to 0.06, issue's 0.4 is next, and 0.3 latency; SMs idle for a tenth of it.
    let estimate = model.without(&Effect::on(Term::L1Data, 0.9)).unwrap();
    assert!(near(estimate.factor, 0.9 / 0.7));
    assert!(near(estimate.high, 0.9 / 0.4), "latency gone, SMs idle for a tenth as before");
    assert!(near(estimate.low, 1.0 + 0.61 * (0.9 / 0.7 - 1.0)));
    // A fault of a unit that is not the limit gives nothing.
    assert!(near(model.without(&Effect::on(Term::Issue, 0.9)).unwrap().factor, 1.0));
}

/// The same of a change that also takes work from a unit of which nothing is known.
fn beside_work(effect: Effect) -> Effect {
    Effect { removed: vec![(Term::L2, 0.1)], ..effect }
}

#[test]
fn stalls_and_warps_act_on_latency_and_blocks_on_idle_sms() {
    let model = Model::new(&launch());
    // L1 is busy for 0.6, which waits alone bring to three quarters of what it can do: 0.8 of the time.
    let barrier = Effect::stalls([StallReason::Barrier]);
    assert!(near(model.without(&barrier).unwrap().factor, 0.9 / 0.8));
    let hidden = Effect { hidden: 0.5, ..Effect::default() };
    assert!(near(model.without(&hidden).unwrap().factor, 0.9 / 0.75), "more warps fill it further");
    // Half of 0.3 where other work goes, too.
    assert!(near(model.without(&beside_work(barrier)).unwrap().factor, 0.9 / 0.75));
    let idle = Effect { idle: 0.5, ..Effect::default() };
    assert!(near(model.without(&idle).unwrap().factor, 1.0 / 0.9));
}

#[test]
fn a_phase_of_its_own_goes_whole() {
    let model = Model::new(&launch());
    let phase = |share: f64| Effect { phase: share, ..Effect::default() };
    let gone = model.without(&phase(0.4)).unwrap();
    assert!(near(gone.factor, 1.0 / 0.6) && near(gone.low, 1.0 + 0.61 * (1.0 / 0.6 - 1.0)));
    assert!(near(model.next_limit(&phase(0.4)).unwrap().time, 0.6));
    assert!(near(model.without(&phase(0.0)).unwrap().factor, 1.0));
    let both = phase(0.4).and(&phase(0.2));
    assert!(near(both.phase, 0.4), "the same phase");
}

#[test]
fn warps_at_barriers_wait_for_warps_that_wait() {
    let mut launch = launch();
    launch.set("smsp__average_warp_latency_per_inst_issued.ratio", Some(11.0));
    let model = Model::new(&launch);
    // Of 11 cycles 5 are at barriers, and 5 of the other 6 are fixed latency. Without it 5/6 of the
    // waits at barriers go too: 9 1/6 of 10 stall cycles, and of 0.3 latency 0.025 are left.
    let fixed = beside_work(Effect::stalls([StallReason::Wait]));
    assert!(near(model.without(&fixed).unwrap().factor, 0.9 / 0.625));
}

#[test]
fn what_limits_next_is_the_longest_part_of_what_is_left() {
    let model = Model::new(&launch());
    let now = model.next_limit(&Effect::default()).unwrap();
    assert_eq!(now.limit, Limit::Unit(Term::L1Data));
    assert!(near(now.time, 1.0) && near(now.share, 0.6));
    // L1 shrinks to 0.06, issue's 0.4 is the longest: (0.4 + 0.3 latency) / 0.9.
    let l1 = Effect::on(Term::L1Data, 0.9);
    let next = model.next_limit(&l1).unwrap();
    assert_eq!(next.limit, Limit::Unit(Term::Issue));
    assert!(near(next.time, 0.7 / 0.9) && near(next.share, 0.4 * 0.9 / 0.7));
    // Issue halved too: (0.2 + 0.3) / 0.9.
    let both = l1.and(&Effect::on(Term::Issue, 0.5));
    let last = model.next_limit(&both).unwrap();
    assert_eq!(last.limit, Limit::Latency);
    assert!(near(last.time, 0.5 / 0.9) && near(last.share, 0.3 * 0.9 / 0.5));
}

#[test]
fn two_faults_of_one_term_take_their_shares_in_turn() {
    let twice = Effect::on(Term::L1Data, 0.5).and(&Effect::on(Term::L1Data, 0.5));
    assert!(near(twice.share_of(Term::L1Data), 0.75));
}

#[test]
fn work_that_moves_to_another_unit_counts_there() {
    let model = Model::new(&launch());
    let moved = Effect { added: vec![(Term::Fp64, 0.5)], ..Effect::on(Term::L1Data, 1.0) };
    // FP64 was not collected here, so only what is known counts: issue's 0.4.
    assert!(near(model.without(&moved).unwrap().factor, 0.9 / 0.7));
    let moved = Effect { added: vec![(Term::Issue, 0.1)], ..Effect::on(Term::L1Data, 1.0) };
    assert!(near(model.without(&moved).unwrap().factor, 0.9 / 0.8));
}

#[test]
fn nothing_is_shorter_than_an_empty_launch_unless_the_launch_goes() {
    let mut launch = launch();
    launch.set("gpu__time_duration.sum", Some(EMPTY_KERNEL_NS * 2.0));
    // Of a device that nobody measured, 1696 ns are assumed.
    let assumed = Model::new(&launch);
    assert!(near(assumed.launch_share(), 1696.0 / (2.0 * EMPTY_KERNEL_NS)));
    launch.row.device = Some("NVIDIA H200".to_owned());
    let model = Model::new(&launch);
    let all = Effect { removed: Term::ALL.map(|term| (term, 1.0)).to_vec(), ..Effect::default() };
    assert!(near(model.without(&all).unwrap().high, 2.0));
    let fused = Effect { launch: true, ..Effect::default() };
    assert!(near(model.without(&fused).unwrap().factor, 2.0));
}

#[test]
fn warps_that_wait_for_a_few_at_barriers_wait_whatever_goes_of_their_own() {
    let code = [
        ("@P0 BRA 0x120", 80.0),
        ("FADD R0, R1, R2", 10.0),
        ("BAR.SYNC.DEFER_BLOCKING 0x0", 80.0),
        ("EXIT", 80.0),
    ];
    let mut few = crate::sass::code::listing::tests::launch(&code);
    few.instructions[2].counters.stall_samples[StallReason::Barrier as usize] = 9.0;
    let mut few = with_metrics(few);
    few.set("smsp__average_warp_latency_per_inst_issued.ratio", Some(11.0));
    let model = Model::new(&few);
    assert!(near(model.barriers_for_few(), 1.0));
    // As above, but none of the 5 cycles at barriers goes: 5 of 10 stall cycles, and 0.15 are left.
    let fixed = beside_work(Effect::stalls([StallReason::Wait]));
    assert!(near(model.without(&fixed).unwrap().factor, 0.9 / 0.75));
}

#[test]
fn merged_launches_take_their_rounds_or_their_busiest_unit() {
    let model = Model::new(&launch());
    let four = Effect { launch: true, merged: 4.0, ..Effect::default() };
    // Each is busy for 0.6 of its time: 4 × 0.6 = 2.4 are longer than one round of 1. At least both
    // add up, and 61% of that gain appear.
    let estimate = model.without(&four).unwrap();
    assert!(near(estimate.factor, 4.0 / 2.4) && near(estimate.high, 4.0 / 2.4));
    assert!(near(estimate.low, 1.0 + 0.61 * (4.0 / 3.4 - 1.0)));
    // Three rounds take longer than 2.4.
    let rounds = Effect { rounds: 3.0, ..four.clone() };
    assert!(near(model.without(&rounds).unwrap().factor, 4.0 / 3.0));
    // Of four times an empty kernel's duration a tenth, that of idle SMs, is the launch itself, and 0.9 a
    // launch's own; a lone launch adds its start.
    let mut long = launch();
    long.set("gpu__time_duration.sum", Some(4.0 * EMPTY_KERNEL_NS));
    long.row.device = Some("NVIDIA H200".to_owned());
    let estimate = Model::new(&long).without(&rounds).unwrap();
    let start = LONE_LAUNCH_NS / (4.0 * EMPTY_KERNEL_NS);
    assert!(near(estimate.factor, 4.0 / (0.1 + start + 2.7)), "{estimate:?}");
    assert!(near(estimate.high, 4.0 / (0.1 + 2.4)));
    // A unit that is busy for a tenth needs less for all four than one round takes.
    let mut waiting = Launch::default();
    waiting.set("sm__issue_active.avg.pct_of_peak_sustained_elapsed", Some(10.0));
    let estimate = Model::new(&waiting).without(&four).unwrap();
    assert!(near(estimate.factor, 4.0) && near(estimate.high, 4.0), "{estimate:?}");
}

#[test]
fn without_counters_there_is_no_estimate() {
    let model = Model::new(&Launch::default());
    assert_eq!(model.without(&Effect::default()), None);
    assert_eq!(model.bound(), Bound::None);
}
