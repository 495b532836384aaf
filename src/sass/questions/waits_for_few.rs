//! Waits at barriers for the few warps that have something to do in front of them.

use std::ops::Range;

use crate::metric::stall::StallReason;
use crate::sass::code::blocks::Exit;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::questions::idle::by_data;
use crate::sass::questions::spin_loops::is_flag;
use crate::sass::thresholds::{FEW_WARPS, THREADS_MEET};

/// The share of the waits at barriers, by their samples, that is for code in front of the barrier which at
/// most half of the warps run, chosen by the thread's index: the others have nothing to do meanwhile. 0
/// without such samples. Found once for a launch.
#[must_use]
pub fn waits_for_few(listing: &Listing) -> f64 {
    listing.facts.waits_for_few(|| share(listing, |at| !waits_for_blocks_at(listing, at)))
}

/// The share of the waits at barriers, by their samples, that is for a few warps which wait for other blocks meanwhile:
/// more warps would not make these come sooner.
#[must_use]
pub fn waits_for_blocks(listing: &Listing) -> f64 {
    share(listing, |at| waits_for_blocks_at(listing, at))
}

fn waits_for_blocks_at(listing: &Listing, mut few_run: Range<usize>) -> bool {
    few_run.any(|at| is_flag(listing, at))
}

/// The share of waits for code of few warps, of which `counts` picks.
fn share(listing: &Listing, counts: impl Fn(Range<usize>) -> bool) -> f64 {
    let sass = listing.sass;
    let all = sass.counts.stall_samples(StallReason::Barrier);
    if all <= 0.0 {
        return 0.0;
    }
    let barriers: Vec<usize> =
        (0..sass.entries.len()).filter(|&at| listing.is_block_barrier(at)).collect();
    let mut reaching = Reaching::with_guards(sass);
    let mut behind = Marks::new(sass.entries.len());
    for (index, entry) in listing.entries() {
        let Exit::Branch(target) = entry.exit() else { continue };
        let next = index + 1;
        if target <= next || listing.executed(next) <= 0.0 {
            continue;
        }
        if listing.executed(next) > FEW_WARPS.value * listing.executed(index) {
            continue;
        }
        // The barrier is the next one after the code, without another on the way.
        let following = barriers.partition_point(|&at| at < next);
        let Some(&barrier) = barriers.get(following).filter(|&&at| at >= target) else {
            continue;
        };
        let meet = listing.executed(barrier) >= THREADS_MEET.value * listing.executed(index);
        if meet && counts(next..target) && !by_data(listing, &mut reaching, index) {
            behind.insert(barrier);
        }
    }
    let waits = behind.iter().flat_map(|barrier| listing.waits_of_barrier(barrier));
    waits.map(|at| listing.samples(at, StallReason::Barrier)).sum::<f64>() / all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    #[test]
    fn most_of_the_warps_must_come_to_the_barrier() {
        let at_barrier = |executed: f64| {
            let mut launch = launch(&[
                ("@P0 BRA 0x120", 80.0),
                ("FADD R0, R1, R2", 8.0),
                ("BAR.SYNC.DEFER_BLOCKING 0x0", executed),
                ("EXIT", 80.0),
            ]);
            launch.instructions[2].counters.stall_samples[StallReason::Barrier as usize] = 9.0;
            waits_for_few(&launch.listing().unwrap())
        };
        assert!((at_barrier(72.0) - 1.0).abs() < 1e-12);
        assert!(at_barrier(71.0).abs() < 1e-12);
    }

    #[test]
    fn a_warp_that_looks_back_at_other_blocks_is_waited_for_by_those_that_need_it() {
        let shares = |load: &'static str| {
            let mut launch = launch(&[
                ("@P0 BRA 0x120", 80.0),
                (load, 8.0),
                ("BAR.SYNC.DEFER_BLOCKING 0x0", 80.0),
                ("EXIT", 80.0),
            ]);
            launch.instructions[2].counters.stall_samples[StallReason::Barrier as usize] = 9.0;
            let listing = launch.listing().unwrap();
            (waits_for_few(&listing), waits_for_blocks(&listing))
        };
        assert_eq!(shares("LDG.E.64.STRONG.GPU R4, desc[UR4][R2.64]"), (0.0, 1.0));
        assert_eq!(shares("LDG.E.64 R4, desc[UR4][R2.64]"), (1.0, 0.0));
    }

    #[test]
    fn warps_that_run_code_elsewhere_do_not_wait_for_the_others() {
        // Half of the warps branch past the end, and from there back to the barrier.
        let mut launch = launch(&[
            ("@P0 BRA 0x140", 80.0),
            ("FADD R0, R1, R2", 40.0),
            ("BAR.SYNC.DEFER_BLOCKING 0x0", 80.0),
            ("EXIT", 80.0),
            ("FMUL R0, R1, R2", 40.0),
            ("BRA 0x120", 40.0),
        ]);
        launch.instructions[2].counters.stall_samples[StallReason::Barrier as usize] = 9.0;
        assert!(waits_for_few(&launch.listing().unwrap()).abs() < 1e-12);
    }

    /// One warp in `part` of them works in front of a barrier, where the samples are.
    fn waits(part: f64, condition: &str) -> f64 {
        let mut launch = launch(&[
            (condition, 80.0),
            ("@P0 BRA 0x130", 80.0),
            ("FADD R0, R1, R2", 80.0 * part),
            ("BAR.SYNC.DEFER_BLOCKING 0x0", 80.0),
            ("BAR.SYNC.DEFER_BLOCKING 0x0", 80.0),
            ("EXIT", 80.0),
        ]);
        for (at, count) in [(3, 90.0), (5, 10.0)] {
            launch.instructions[at].counters.stall_samples[StallReason::Barrier as usize] = count;
        }
        waits_for_few(&launch.listing().unwrap())
    }

    #[test]
    fn warps_wait_for_the_few_that_work_in_front_of_a_barrier() {
        let by_index = "ISETP.GT.U32.AND P0, PT, R5, 0x1f, PT";
        assert!((waits(0.5, by_index) - 0.9).abs() < 1e-12, "the other barrier has no such code");
        assert!(waits(0.51, by_index).abs() < 1e-12, "more than half of them work");
        let by_data = "FSETP.GT.AND P0, PT, R5, RZ, PT";
        assert!(waits(0.5, by_data).abs() < 1e-12, "data decides who works");
    }
}
