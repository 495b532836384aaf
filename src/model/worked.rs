//! Hand-worked cases of the parts that a launch's time is made of. The numbers are chosen so that every
//! step of a formula can be followed on paper.

use super::*;

const L1: &str = "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed";
const L2: &str = "lts__t_sectors.avg.pct_of_peak_sustained_elapsed";
const ISSUE: &str = "sm__issue_active.avg.pct_of_peak_sustained_elapsed";
const FMA: &str = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed";
const ACTIVE: &str = "sm__cycles_active.avg";
const ELAPSED: &str = "gpc__cycles_elapsed.max";
const DURATION: &str = "gpu__time_duration.sum";
const WARP_LATENCY: &str = "smsp__average_warp_latency_per_inst_issued.ratio";
const BARRIER: &str = "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio";
const WAIT: &str = "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio";
const LONG: &str = "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio";
const SELECTED: &str = "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio";

fn launch(metrics: &[(&str, f64)]) -> Launch {
    let mut launch = Launch::default();
    for (name, value) in metrics {
        assert!(crate::metric::canonical(name).is_some(), "{name} is not in the catalogue");
        launch.set(name, Some(*value));
    }
    launch
}

fn model(metrics: &[(&str, f64)]) -> Model {
    Model::new(&launch(metrics))
}

/// The same on a device of compute capability 9.0, whose empty kernel is known to take 1728 ns.
fn hopper(metrics: &[(&str, f64)]) -> Model {
    let mut launch = launch(metrics);
    launch.row.compute_capability = Some((9, 0));
    Model::new(&launch)
}

/// L1 busy 60% of the time, the issue slots 40%, SMs without a block 10%, and so 30% of latency; ten
/// stall cycles, half of them at barriers, half fixed latency.
fn sample(more: &[(&str, f64)]) -> Model {
    let metrics = [
        (L1, 60.0),
        (ISSUE, 40.0),
        (ACTIVE, 900.0),
        (ELAPSED, 1000.0),
        (BARRIER, 5.0),
        (WAIT, 5.0),
        (SELECTED, 1.0),
    ];
    model(&[&metrics, more].concat())
}

#[track_caller]
fn assert_near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-9, "{value}, {expected} by hand");
}

#[test]
fn busy_time_is_the_busy_share_of_the_duration() {
    let model = sample(&[(DURATION, 5000.0)]);
    assert_near(model.busy_ns(Term::L1Data).unwrap(), 3000.0);
    assert_near(model.busy_ns(Term::Issue).unwrap(), 2000.0);
    assert_eq!(model.busy_ns(Term::Fma), None, "no counter");
    assert_eq!(sample(&[]).busy_ns(Term::L1Data), None, "no duration");
}

/// An H200 whose DRAM peak is 5 TB/s. It reads 4.55 TB/s, 91%, and copies 4.29 TB/s, 85.8%.
fn h200(metrics: &[(&str, f64)]) -> Model {
    let mut launch = launch(metrics);
    launch.row.device = Some("NVIDIA H200".to_owned());
    launch.set("dram__bytes.sum.peak_sustained", Some(1000.0));
    launch.set("dram__cycles_elapsed.avg.per_second", Some(5e9));
    Model::new(&launch)
}

#[test]
fn dram_is_busy_by_what_the_device_reaches_with_so_many_writes() {
    let busy = |percent: f64, read: f64, written: f64| {
        let metrics = [
            ("dram__cycles_active.avg.pct_of_peak_sustained_elapsed", percent),
            ("dram__bytes_read.sum", read),
            ("dram__bytes_write.sum", written),
        ];
        h200(&metrics).utilization(Term::Dram).unwrap()
    };
    assert_near(busy(72.8, 1000.0, 0.0), 0.728 / 0.91);
    assert_near(busy(72.8, 500.0, 500.0), 0.728 / 0.858);
    // A quarter is written: half of the way from 91% to 85.8%.
    assert_near(busy(72.8, 750.0, 250.0), 0.728 / 0.884);
    assert_near(busy(95.0, 1000.0, 0.0), 1.0);
}

#[test]
fn the_multiply_add_pipe_is_full_at_what_the_device_reaches() {
    // 98.6% of the peak is the most that an H200 was seen to reach.
    assert_near(h200(&[(FMA, 49.3)]).utilization(Term::Fma).unwrap(), 0.5);
    assert_near(model(&[(FMA, 42.0)]).utilization(Term::Fma).unwrap(), 0.42);
}

#[test]
fn the_busiest_counter_of_a_unit_counts_and_another_metric_stands_in_for_none() {
    let throughput = "lts__throughput.avg.pct_of_peak_sustained_elapsed";
    let slices = "lts__d_sectors.avg.pct_of_peak_sustained_elapsed";
    let l2 = |metrics: &[(&str, f64)]| model(metrics).utilization(Term::L2).unwrap();
    assert_near(l2(&[(L2, 20.0), (slices, 25.0)]), 0.25);
    assert_near(l2(&[(L2, 20.0), (throughput, 30.0)]), 0.2);
    assert_near(l2(&[(throughput, 30.0)]), 0.3);
    // Percent of active cycles: where SMs idle for a tenth of the time, half of nine tenths.
    let lsu = "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active";
    let idle = model(&[(lsu, 50.0), (ACTIVE, 900.0), (ELAPSED, 1000.0)]);
    assert_near(idle.utilization(Term::Lsu).unwrap(), 0.45);
}

#[test]
fn without_a_counter_a_units_work_over_its_rate_counts() {
    let counted = model(&[
        ("smsp__inst_issued.sum", 200_000.0),
        ("sm__cycles_elapsed.avg", 1000.0),
        ("launch__sm_count", 100.0),
    ]);
    // 200,000 instructions, four per cycle on 100 SMs for 1000 cycles.
    assert_near(counted.utilization(Term::Issue).unwrap(), 0.5);
}

#[test]
fn each_unit_does_its_own_number_of_warp_instructions_per_cycle() {
    let busy = |compute_capability, term| {
        let mut launch = launch(&[("sm__cycles_elapsed.avg", 1000.0), ("launch__sm_count", 10.0)]);
        launch.row.compute_capability = Some(compute_capability);
        // 10,000 SM cycles, and as many warp instructions.
        counts::of_work(&launch, term, 10_000.0)
    };
    // Lanes per cycle and SM in the CUDA C++ programming guide's throughput table, over 32.
    for (compute_capability, term, lanes) in [
        ((7, 0), Term::Fma, 64.0),
        ((7, 0), Term::Fp64, 32.0),
        ((7, 5), Term::Fp64, 2.0),
        ((8, 0), Term::Fma, 64.0),
        ((8, 0), Term::Alu, 64.0),
        ((8, 6), Term::Fma, 128.0),
        ((8, 9), Term::Fp64, 2.0),
        ((9, 0), Term::Fma, 128.0),
        ((9, 0), Term::Alu, 64.0),
        ((9, 0), Term::Fp64, 64.0),
        ((9, 0), Term::Xu, 16.0),
        ((9, 0), Term::Lsu, 32.0),
        ((9, 0), Term::L1Data, 32.0),
        ((9, 0), Term::Issue, 128.0),
        ((10, 0), Term::Fp64, 64.0),
    ] {
        let busy = busy(compute_capability, term);
        assert!(
            busy.is_some_and(|busy| (busy - 32.0 / lanes).abs() < 1e-9),
            "{term:?} of {compute_capability:?}: {busy:?}"
        );
    }
    assert_eq!(busy((9, 0), Term::L2), None, "no unit of the SMs");
    assert_eq!(busy((6, 1), Term::Fma), None, "a device without rates");
}

#[test]
fn idle_sms_are_what_the_gpcs_cycles_leave_unless_the_sms_own_are_there() {
    assert_near(sample(&[]).idle(), 0.1);
    assert_near(sample(&[("sm__cycles_elapsed.max", 1200.0)]).idle(), 0.25);
    // Units busy for 60% of the time leave 40%, however long SMs are idle on average.
    assert_near(sample(&[(ACTIVE, 300.0)]).idle(), 0.4);
    assert_near(sample(&[(ACTIVE, 300.0)]).latency(), 0.0);
}

#[test]
fn a_launch_is_bound_by_its_longest_part() {
    let bound = |metrics: &[(&str, f64)]| hopper(metrics).bound();
    assert_eq!(bound(&[(L1, 60.0)]), Bound::Memory);
    assert_eq!(bound(&[(ISSUE, 60.0)]), Bound::Compute);
    assert_eq!(bound(&[(L1, 50.0)]), Bound::Memory, "as long as the latency");
    assert_eq!(bound(&[(L1, 49.0)]), Bound::Latency);
    // SMs idle for half of the time, the unit is busy for 40% and 10% are latency.
    assert_eq!(bound(&[(L1, 40.0), (ACTIVE, 50.0), (ELAPSED, 100.0)]), Bound::Launch);
    // An empty kernel takes 1728 ns, 80% of the duration.
    assert_eq!(bound(&[(L1, 50.0), (DURATION, 1728.0 / 0.8)]), Bound::Launch);
    assert_eq!(bound(&[(L1, 50.0), (DURATION, 1728.0 / 0.2)]), Bound::Memory);
}

#[test]
fn a_share_of_the_stall_cycles_leaves_out_what_is_no_stall() {
    let model = sample(&[]);
    assert_near(model.stall_share(&[(StallReason::Barrier, 1.0)]), 0.5);
    // Half of 5 cycles and all of 5, of 10.
    let both = [(StallReason::Barrier, 0.5), (StallReason::Wait, 1.0)];
    assert_near(model.stall_share(&both), 0.75);
    assert_near(model.stall_share(&[(StallReason::Selected, 1.0)]), 0.0);
}

#[test]
fn warps_one_after_another_take_their_latency_whatever_the_units_do() {
    // Each warp has 12 cycles between two instructions. Without nine tenths of L1's work the issue
    // slots are the busiest, 0.4, and latency is 0.3; but warps need 0.9 one after another, as they do now.
    // The likely time is the geometric middle of 0.7 and 0.9.
    let l1 = Effect::on(Term::L1Data, 0.9);
    let estimate = sample(&[(WARP_LATENCY, 12.0)]).without(&l1).unwrap();
    assert_near(estimate.factor, 0.9 / 0.63_f64.sqrt());
    assert_near(estimate.low, 1.0);
    assert_near(estimate.high, 0.9 / 0.4);
    // Without the latency nothing is known of the warps.
    assert_near(sample(&[]).without(&l1).unwrap().factor, 0.9 / 0.7);
}

#[test]
fn what_goes_from_a_warps_own_time_makes_its_turn_shorter() {
    let slow = sample(&[(WARP_LATENCY, 12.0)]);
    let factor = |effect: Effect| slow.without(&effect).unwrap().factor;
    let removed = vec![(Term::L1Data, 0.9)];
    // A quarter of the instructions too: the issue slots 0.3, latency 0.3, warps 0.9 × 0.75 = 0.675.
    let fewer =
        Effect { removed: vec![(Term::L1Data, 0.9), (Term::Issue, 0.25)], ..Effect::default() };
    assert_near(factor(fewer), 0.9 / (0.6 * 0.675_f64).sqrt());
    // The 5 cycles of fixed latency too: 7 of 12 are left, 0.525. Of the 7 cycles that a warp does not
    // spend at barriers 5 go, so of the 5 at barriers 25/7 go; of 0.3 latency 1/7 is left.
    let stalls = vec![(StallReason::Wait, 1.0)];
    let faster = Effect { removed: removed.clone(), stalls, ..Effect::default() };
    assert_near(factor(faster), 0.9 / ((0.4 + 0.3 / 7.0) * 0.525_f64).sqrt());
    // A fifth hidden by more warps: latency 0.24, warps 0.72.
    let hidden = Effect { removed, hidden: 0.2, ..Effect::default() };
    assert_near(factor(hidden), 0.9 / (0.64 * 0.72_f64).sqrt());
}

#[test]
fn a_warps_latency_is_at_least_the_sum_of_its_stalls() {
    // 8 cycles cannot hold 10 of stalls: 10 count. Without 5 of them warps need 0.45, the issue slots 0.4,
    // and no latency is left besides.
    let effect = Effect {
        removed: vec![(Term::L1Data, 0.9)],
        stalls: vec![(StallReason::Wait, 1.0)],
        ..Effect::default()
    };
    let estimate = sample(&[(WARP_LATENCY, 8.0)]).without(&effect).unwrap();
    assert_near(estimate.factor, 0.9 / (0.4 * 0.45_f64).sqrt());
}

#[test]
fn a_queue_shrinks_with_the_work_of_its_unit() {
    // A unit that is busy 80% of the time, 6 of 8 stall cycles for data. Half of its work goes, and with
    // it 0.8 × 0.5 of those 6: 2.4 of 8. Of 0.2 latency 0.14 are left.
    let stalls = [(LONG, 6.0), (WAIT, 2.0)];
    let l2 = model(&[&[(L2, 80.0), (WARP_LATENCY, 10.0)], &stalls[..]].concat());
    // Beyond L1 each warp's turn shrinks by the same 2.4 of 10 cycles: 0.76.
    let estimate = l2.without(&Effect::on(Term::L2, 0.5)).unwrap();
    assert_near(estimate.factor, 1.0 / (0.54 * 0.76_f64).sqrt());
    assert_near(estimate.low, 1.0 + 0.61 * (1.0 / 0.76 - 1.0));
    assert_near(estimate.high, 1.0 / 0.4);
    // In L1 it may stay as it is.
    let l1 = model(&[&[(L1, 80.0), (WARP_LATENCY, 10.0)], &stalls[..]].concat());
    let estimate = l1.without(&Effect::on(Term::L1Data, 0.5)).unwrap();
    assert_near(estimate.factor, 1.0 / 0.54_f64.sqrt());
}

#[test]
fn sms_without_blocks_limit_what_is_left() {
    // Busy 0.2, SMs idle 0.5, latency 0.3.
    let model = model(&[(L1, 20.0), (ACTIVE, 500.0), (ELAPSED, 1000.0)]);
    let next = model.next_limit(&Effect::default()).unwrap();
    assert_eq!(next.limit, Limit::IdleSms);
    assert_near(next.time, 1.0);
    assert_near(next.share, 0.5);
    // Half of that idle time gone: 0.5 of work, and SMs idle for 0.25 of its time and their own.
    let fewer = Effect { idle: 0.25, ..Effect::default() };
    let next = model.next_limit(&fewer).unwrap();
    assert_near(next.time, 0.5 / 0.75);
    assert_eq!(next.limit, Limit::Latency, "0.3 of latency, 0.167 of idle SMs, 0.2 of work");
    assert_near(next.share, 0.3 / (0.5 / 0.75));
}

#[test]
fn idle_sms_limit_where_they_are_the_longest_part() {
    // Busy 0.3, SMs idle 0.5, latency 0.2.
    let model = model(&[(L1, 30.0), (ACTIVE, 500.0), (ELAPSED, 1000.0)]);
    let next = model.next_limit(&Effect::default()).unwrap();
    assert_eq!(next.limit, Limit::IdleSms);
    assert_near(next.share, 0.5);
}

#[test]
fn four_launches_that_become_one_wait_for_as_many_rounds_as_their_blocks_take() {
    // Per launch: busy 0.2, SMs idle 0.5, latency 0.3. In two rounds instead of four half of the idle time
    // and half of the latency are left: 0.35 of work, for which SMs idle a quarter of the time.
    let model = model(&[(L1, 20.0), (ACTIVE, 500.0), (ELAPSED, 1000.0)]);
    let merged = Effect { merged: 4.0, rounds: 2.0, ..Effect::default() };
    assert_near(model.next_limit(&merged).unwrap().time, 0.35 / 0.75);
}

#[test]
fn atomics_on_few_addresses_fill_their_slice_before_its_peak() {
    let busy = |average: f64| {
        let mut launch = crate::sass::code::listing::tests::launch(&[
            ("REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R2.64], R5", 10.0),
            ("EXIT", 1.0),
        ]);
        launch.row.compute_capability = Some((9, 0));
        launch.row.device = Some("NVIDIA H200".to_owned());
        let cycles = "lts__d_atomic_input_cycles_active";
        launch.set(&format!("{cycles}.max.pct_of_peak_sustained_elapsed"), Some(20.0));
        launch.set(&format!("{cycles}.avg.pct_of_peak_sustained_elapsed"), Some(average));
        Model::new(&launch).utilization(Term::Atomic).unwrap()
    };
    // Additions of floats to one address reach a third of the peak.
    assert_near(busy(5.0), 0.6);
    assert_near(busy(10.0), 0.2);
}

#[test]
fn gains_end_where_counters_do() {
    // Nothing but L1 is known, and all of its work goes: a five-hundredth of the time can be told.
    assert_near(
        model(&[(L1, 100.0)]).without(&Effect::on(Term::L1Data, 1.0)).unwrap().factor,
        500.0,
    );
    // A launch as long as an empty one: what would remain without it is not known to a twentieth.
    let empty = hopper(&[(L1, 100.0), (DURATION, 1728.0)]);
    let fused = Effect { launch: true, ..Effect::default() };
    assert_near(empty.without(&fused).unwrap().factor, 20.0);
}

#[test]
fn what_a_warp_does_one_after_another_remains() {
    let half =
        launch(&[(L1, 50.0), ("sm__cycles_active.avg", 50.0), ("sm__cycles_elapsed.max", 100.0)]);
    let model = Model::new(&half);
    // Half of the SMs idle: twice as fast where all work, unless 80% of the time is a warp's own.
    let spread = |least: f64| Effect { idle: 0.5, least, ..Effect::default() };
    assert_near(model.without(&spread(0.0)).unwrap().factor, 2.0);
    let own = model.without(&spread(0.8)).unwrap();
    assert_near(own.factor, 1.25);
    assert_near(own.high, 1.25);
    assert_near(own.low, 1.0 + 0.61 * 0.25);
}

#[test]
fn of_two_faults_each_takes_its_share_of_what_the_other_leaves() {
    let one = Effect {
        removed: vec![(Term::L1Data, 0.5)],
        added: vec![(Term::Issue, 0.1)],
        stalls: vec![(StallReason::Wait, 0.5)],
        hidden: 0.5,
        idle: 0.2,
        least: 0.1,
        launch: false,
        merged: 2.0,
        rounds: 0.0,
        at_least: None,
    };
    let other = Effect {
        removed: vec![(Term::L1Data, 0.5), (Term::Fma, 0.3)],
        added: vec![(Term::Issue, 0.2)],
        stalls: vec![(StallReason::Wait, 0.6), (StallReason::Barrier, 0.4)],
        hidden: 0.2,
        idle: 0.1,
        least: 0.3,
        launch: true,
        merged: 4.0,
        rounds: 3.0,
        at_least: None,
    };
    for both in [one.and(&other), other.and(&one)] {
        assert_near(both.share_of(Term::L1Data), 0.75);
        assert_near(both.share_of(Term::Fma), 0.3);
        assert_near(both.least, 0.3);
        assert_near(both.added_to(Term::Issue), 0.3);
        // 1 − 0.5 × 0.4, and 1 − 0.5 × 0.8.
        assert_near(both.share_of_stall(StallReason::Wait), 0.8);
        assert_near(both.share_of_stall(StallReason::Barrier), 0.4);
        assert_near(both.hidden, 0.6);
        // Idle time that both claim goes once.
        assert_near(both.idle, 0.2);
        assert!(both.launch);
        assert_near(both.merged, 4.0);
        assert_near(both.rounds, 3.0);
    }
}

#[test]
fn beside_a_full_pipe_shorter_waits_gain_nothing() {
    const TENSOR: &str = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";
    let factor = |fma: f64, effect: &Effect| {
        model(&[(FMA, fma), (WAIT, 10.0)]).without(effect).unwrap().factor
    };
    let no_waits = Effect::stalls([StallReason::Wait]);
    let more_warps = Effect { hidden: 0.5, ..Effect::default() };
    // Below three quarters the other 26% go, or half of them.
    assert_near(factor(74.0, &no_waits), 1.0 / 0.74);
    assert_near(factor(74.0, &more_warps), 1.0 / 0.87);
    assert_near(factor(75.0, &no_waits), 1.0);
    assert_near(factor(75.0, &more_warps), 1.0);
    // A pipe with a tenth less to do is not full then: 0.72 of the time, and no waits.
    let less_work = Effect { removed: vec![(Term::Fma, 0.1)], ..no_waits };
    assert_near(factor(80.0, &less_work), 1.0 / 0.72);
    // The tensor pipe counts as full from there.
    assert_near(model(&[(TENSOR, 74.0)]).utilization(Term::Tensor).unwrap(), 0.74);
    assert_near(model(&[(TENSOR, 76.0)]).utilization(Term::Tensor).unwrap(), 1.0);
}

#[test]
fn what_remains_at_least_limits_next() {
    // An empty kernel takes half of the time, and L1's work, all of it, goes.
    let l1 = Effect::on(Term::L1Data, 1.0);
    let next = hopper(&[(L1, 100.0), (DURATION, 1728.0 / 0.5)]).next_limit(&l1).unwrap();
    assert_near(next.time, 0.5);
    assert_eq!(next.limit, Limit::IdleSms);
    // What a warp does one after another, three tenths.
    let least = Effect { least: 0.3, ..l1 };
    assert_near(model(&[(L1, 100.0)]).next_limit(&least).unwrap().time, 0.3);
}

#[test]
fn launches_that_become_one_share_its_own_cost() {
    // Per launch: busy 0.2, latency 0.3, SMs idle 0.5, of which 0.2 are the launch itself. A quarter of that
    // is left, and half of the other 0.3 and of the latency: 0.35 of work, in 0.8 of 0.95.
    let metrics = [(L1, 20.0), (ACTIVE, 500.0), (ELAPSED, 1000.0), (DURATION, 1728.0 / 0.2)];
    let merged = Effect { merged: 4.0, rounds: 2.0, ..Effect::default() };
    let next = hopper(&metrics).next_limit(&merged).unwrap();
    assert_near(next.time, 0.05 + 0.35 * 0.95 / 0.8);
}
