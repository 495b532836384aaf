//! Loops that the lanes of a warp leave at different times.

use crate::hardware::WARP_LANES;
use crate::sass::Listing;
use crate::sass::code::blocks::Loop;
use crate::sass::flow::turns::turns;
use crate::sass::questions::idle::regrouped::{come, smallest_around};
use crate::sass::questions::independence::turns_need_one_another;

/// So much of all lanes that are off must have left the loop.
pub(super) const MOST_OF_IT: f64 = 0.5;

/// A loop that lanes leave one after another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Leaving {
    /// Its branch back.
    pub(super) back: usize,
    /// Lanes that an average warp comes with.
    pub(super) come: f64,
    /// Lanes that are in it on average.
    pub(super) stay: f64,
    /// True where its turns need one another, so that lanes can't share them.
    pub(super) is_serial: bool,
    /// The branch back of the loop around it.
    pub(super) around: Option<usize>,
    /// Instructions that warps execute, as a share of the present ones, once lanes that are through go on with their next items.
    pub(super) refilled: f64,
}

/// What the warps execute once lanes that are through go on with their next items, where they now turn so often in a loop of so many
/// instructions, and execute so many others for the 32 items of a warp.
///
/// What begins and ends an item is then executed for the few lanes that have waited for it. With more of them it is executed less
/// often, and more lanes are off in the loop: the best number counts. Of 32 lanes that go on with the next item as soon as `waiting`
/// are through, half as many are off on average.
fn refilled(turns_of_lane: f64, of_turn: f64, of_items: f64) -> f64 {
    let with = |waiting: u32| {
        let waiting = f64::from(waiting);
        let turns = WARP_LANES * turns_of_lane / (WARP_LANES - waiting / 2.0);
        turns * of_turn + of_items * WARP_LANES / waiting
    };
    (1..=WARP_LANES as u32).map(with).fold(f64::INFINITY, f64::min)
}

/// The smallest loop that most of the lanes that are off have left; `None` where there is no such loop.
pub(super) fn leaving(listing: Listing) -> Option<Leaving> {
    let flow = &listing.sass.flow;
    let off = |at: usize| {
        let counters = &listing.row(at).counters;
        (WARP_LANES * counters.inst_executed - counters.thread_inst_executed).max(0.0)
    };
    let all: f64 = listing.entries().map(|(at, _)| off(at)).sum();
    let lanes = |at: usize| {
        let counters = &listing.row(at).counters;
        let executed = counters.inst_executed;
        if executed > 0.0 { counters.thread_inst_executed / executed } else { 0.0 }
    };
    let all_executed = listing.total();
    let of = |each: &Loop| {
        let come = come(&listing, each);
        let stay = lanes(each.head);
        let executed: f64 = flow.places(each).map(|at| listing.executed(at)).sum();
        let left = executed * (come - stay).max(0.0);
        if left <= 0.0 || left < MOST_OF_IT * all {
            return None;
        }
        let is_serial = turns_need_one_another(&listing, each);
        let around = smallest_around(&listing, each);
        let turns = turns(&listing, each);
        let warps = listing.executed(each.head) / turns.max(1.0);
        let beside = around.map_or(all_executed, |around| {
            flow.places(around).map(|at| listing.executed(at)).sum()
        }) - executed;
        let (of_turn, of_items) = (executed / (warps * turns).max(1.0), beside / warps.max(1.0));
        let then = warps * refilled(turns * stay / come, of_turn, of_items);
        let refilled = ((all_executed - executed - beside + then) / all_executed).min(1.0);
        Some(Leaving {
            back: each.back,
            come,
            stay,
            is_serial,
            around: around.map(|it| it.back),
            refilled,
        })
    };
    // The innermost of those around each other has the fewest instructions.
    let found = flow.loops.iter().filter_map(|each| Some((flow.places(each).count(), of(each)?)));
    found.min_by_key(|(size, _)| *size).map(|(_, leaving)| leaving)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::sass;

    #[test]
    fn what_begins_an_item_is_executed_for_the_lanes_that_waited_for_it() {
        // Nothing to begin: 10 turns of 5 instructions, but for half a lane that is always off.
        assert!((refilled(10.0, 5.0, 0.0) - 50.0 * 32.0 / 31.5).abs() < 1e-9);
        // As much as ten turns: 100 and 50 for 32 lanes at a time, 86.5 and 59.3 for 27 of them.
        let both = 50.0 * 32.0 / 18.5 + 50.0 * 32.0 / 27.0;
        assert!((refilled(10.0, 5.0, 50.0) - both).abs() < 1e-9, "{}", refilled(10.0, 5.0, 50.0));
    }

    #[test]
    fn lanes_that_leave_a_loop_are_told_from_lanes_on_another_path() {
        let of = |in_loop: f64, on_path: f64| {
            let mut launch = sass(
                &[],
                &[
                    ("MOV R0, RZ", 10.0),
                    ("IADD3 R0, R0, 0x1, RZ", 100.0), // 0x110
                    ("@P0 BRA 0x110", 100.0),
                    ("FADD R1, R1, R2", 100.0),
                    ("EXIT", 10.0),
                ],
            );
            let lanes = [32.0, in_loop, in_loop, on_path, 32.0];
            for (row, lanes) in launch.instructions.iter_mut().zip(lanes) {
                row.counters.thread_inst_executed = lanes * row.counters.inst_executed;
            }
            leaving(launch.listing().unwrap())
        };
        let found = of(16.0, 32.0).unwrap();
        assert_eq!((found.back, found.come.round(), found.stay.round()), (2, 32.0, 16.0));
        assert_eq!(of(32.0, 16.0), None, "a path behind the loop");
        // 2 instructions without 8 lanes, and one without 16: half.
        assert!(of(24.0, 16.0).is_some());
        assert_eq!(of(24.0, 15.0), None);
    }
}
