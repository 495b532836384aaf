//! What waits for atomics on global memory.

use super::SECTORS_APART;
use crate::evidence::atomic_traffic as traffic;
use crate::evidence::{ModeledLaunch, atomics};
use crate::metric::stall::StallReason;
use crate::model::QUEUES;
use crate::sass::questions::index_parts::of_data_alone;
use crate::term::Term;

/// The share of each stall reason that is for them (0 to 1).
pub(super) fn stalls(launch: &ModeledLaunch) -> Vec<(StallReason, f64)> {
    let mut stalls = atomics::stalls_at(launch, atomics::is_global, 1.0);
    // Whoever waits in front of the queue, it is full of what L1 has still to send: where lanes share an address, each
    // sends a sector of its own.
    at_least(&mut stalls, StallReason::LgThrottle, traffic::share_of_l2(launch));
    // The warp that waits for its stores to leave has no instruction of theirs any more.
    at_least(&mut stalls, StallReason::Drain, traffic::share_of_stores(launch));
    // Where slices work one after another, one of them is what the queue stands in front of at any time. So it is where no other
    // unit is as busy; but lanes that values send to their addresses wait for shared memory instead once blocks combine.
    let is_busiest = launch.model.busiest().is_some_and(|(term, _)| term == Term::Atomic);
    if launch.model.atomics_in_turn() || is_busiest && !by_values(launch) {
        let busy = launch.model.utilization(Term::Atomic).unwrap_or(0.0);
        for queue in QUEUES {
            at_least(&mut stalls, queue, busy);
        }
    }
    stalls
}

/// True where loaded values of each lane's own send it to the address of an atomic, as in a histogram. Where a warp's lanes go to one
/// address by a value that all of them have, there is nothing to keep in shared memory.
fn by_values(launch: &ModeledLaunch) -> bool {
    let Some(listing) = launch.profile.listing() else { return true };
    let is_atomic =
        |at: &usize| atomics::is_global(listing.row(*at)) && listing.executed(*at) > 0.0;
    let mut all = listing.entries().map(|(at, _)| at).filter(is_atomic);
    let is_spread = |at: usize| {
        let sectors = listing.row(at).counters.l2_sectors_global;
        sectors <= 0.0 || sectors >= SECTORS_APART * listing.executed(at)
    };
    all.any(|at| is_spread(at) && !of_data_alone(&listing, at).are_none())
}

fn at_least(stalls: &mut Vec<(StallReason, f64)>, reason: StallReason, least: f64) {
    match stalls.iter_mut().find(|(known, _)| *known == reason) {
        Some((_, share)) => *share = share.max(least),
        None if least > 0.0 => stalls.push((reason, least)),
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::rules::testing::sass;

    const BUSIEST: &str = "lts__d_atomic_input_cycles_active.max.pct_of_peak_sustained_elapsed";
    const AVERAGE: &str = "lts__d_atomic_input_cycles_active.avg.pct_of_peak_sustained_elapsed";

    /// The share of the waits for shuffles that goes, with so busy slices, another unit, and an address made so.
    fn of_shuffles(slices: f64, dram: f64, address: &'static str) -> f64 {
        let launch = sass(
            &[
                (BUSIEST, slices),
                (AVERAGE, slices / 2.0),
                ("dram__cycles_active.avg.pct_of_peak_sustained_elapsed", dram),
            ],
            &[
                ("S2R R0, SR_TID.X", 10.0),
                ("LDC.64 R2, c[0x0][0x210]", 10.0),
                ("IMAD.WIDE R4, R0, 0x4, R2", 10.0),
                ("LDG.E R5, desc[UR4][R4.64]", 10.0),
                (address, 10.0),
                ("REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R6.64], R9", 10.0),
                ("EXIT", 10.0),
            ],
        );
        let model = Model::new(&launch);
        let stalls = stalls(&ModeledLaunch { profile: &launch, model: &model });
        stalls.iter().find(|(reason, _)| *reason == StallReason::MioThrottle).map_or(0.0, |it| it.1)
    }

    #[test]
    fn whoever_queues_waits_for_the_busiest_unit() {
        let by_thread = "IMAD.WIDE R6, R0, 0x4, R2";
        let share = of_shuffles(70.0, 20.0, by_thread);
        assert!((share - 0.7).abs() < 1e-12, "{share}");
        assert!(of_shuffles(70.0, 80.0, by_thread).abs() < 1e-12, "DRAM is busier");
        assert!(of_shuffles(70.0, 20.0, "IMAD.WIDE R6, R5, 0x4, R2").abs() < 1e-12, "a histogram");
    }
}
