//! Loops that the lanes of a warp leave at different times.

use crate::hardware::WARP_LANES;
use crate::sass::Listing;
use crate::sass::code::blocks::Loop;
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
    let of = |each: &Loop| {
        let come = come(&listing, each);
        let stay = lanes(each.head);
        let executed: f64 = flow.places(each).map(|at| listing.executed(at)).sum();
        let left = executed * (come - stay).max(0.0);
        if left <= 0.0 || left < MOST_OF_IT * all {
            return None;
        }
        let is_serial = turns_need_one_another(&listing, each);
        let around = smallest_around(&listing, each).map(|around| around.back);
        Some(Leaving { back: each.back, come, stay, is_serial, around })
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
