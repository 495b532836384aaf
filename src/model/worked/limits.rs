//! What limits the time that is left.

use super::{ACTIVE, DURATION, ELAPSED, L1, assert_near, hopper, model};
use crate::model::*;

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
