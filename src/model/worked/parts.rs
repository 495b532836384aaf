//! The parts of the time as it is: busy, idle, waiting, and which of them is the longest.

use super::{ACTIVE, DURATION, ELAPSED, ISSUE, L1, assert_near, hopper, sample};
use crate::model::*;

#[test]
fn busy_time_is_the_busy_share_of_the_duration() {
    let model = sample(&[(DURATION, 5000.0)]);
    assert_near(model.busy_ns(Term::L1Data).unwrap(), 3000.0);
    assert_near(model.busy_ns(Term::Issue).unwrap(), 2000.0);
    assert_eq!(model.busy_ns(Term::Fma), None, "no counter");
    assert_eq!(sample(&[]).busy_ns(Term::L1Data), None, "no duration");
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
