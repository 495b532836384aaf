//! What an effect gains.

use super::{
    ACTIVE, DURATION, ELAPSED, FMA, L1, L2, LONG, WAIT, WARP_LATENCY, assert_near, hopper, launch,
    model, sample,
};
use crate::model::*;

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
        phase: 0.0,
        launch: false,
        pauses: 0.5,
        merged: 2.0,
        rounds: 0.0,
        wasted: vec![Term::L2],
        at_least: None,
        at_most: None,
    };
    let other = Effect {
        removed: vec![(Term::L1Data, 0.5), (Term::Fma, 0.3)],
        added: vec![(Term::Issue, 0.2)],
        stalls: vec![(StallReason::Wait, 0.6), (StallReason::Barrier, 0.4)],
        hidden: 0.2,
        idle: 0.1,
        least: 0.3,
        phase: 0.0,
        launch: true,
        pauses: 0.75,
        merged: 4.0,
        rounds: 3.0,
        wasted: Vec::new(),
        at_least: None,
        at_most: None,
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
        assert_near(both.pauses, 0.75);
        assert_near(both.rounds, 3.0);
        assert_eq!(both.wasted, [Term::L2]);
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
    // Below three quarters the pipe gets as busy as that; more warps hide half of what is left.
    assert_near(factor(60.0, &no_waits), 0.75 / 0.6);
    assert_near(factor(60.0, &more_warps), 1.0 / 0.8);
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
fn sms_without_a_block_hold_up_no_unit_that_all_sms_share() {
    // A quarter of the SMs has a block each, and L2 is busy for 30% of the time.
    let few = |sms: f64, l2: f64| {
        model(&[
            (L2, l2),
            (ACTIVE, 25_000.0),
            (ELAPSED, 100_000.0),
            ("launch__sm_count", sms),
            ("launch__grid_size", 25.0),
        ])
    };
    let quarter = few(100.0, 30.0);
    assert_near(quarter.latency(), 0.25 * 0.7);
    // Without any latency it takes as long as L2 does.
    let all_hidden = Effect { hidden: 1.0, ..Effect::default() };
    assert_near(quarter.without(&all_hidden).unwrap().factor, 1.0 / 0.3);
    // Nor does it get shorter than that with work for all SMs.
    let spread = Effect { idle: 0.75, hidden: 1.0, ..Effect::default() };
    assert_near(quarter.without(&spread).unwrap().factor, 1.0 / 0.3);
    // SMs that are idle at the end leave L2 a quarter of the time for its work: it is full then.
    let tail = few(25.0, 25.0);
    assert_near(tail.latency(), 0.0);
    assert_near(tail.without(&all_hidden).unwrap().factor, 1.0);
}
