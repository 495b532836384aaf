//! Wavefronts that bank conflicts of shared memory take.

use crate::evidence::{ModeledLaunch, atomics};
use crate::export::SourceRow;

/// Wavefronts of shared-memory accesses.
pub(crate) const WAVEFRONTS: &str = "memory_l1_wavefronts_shared";
/// Those that the accesses need at their width.
pub(crate) const IDEAL: &str = "memory_l1_wavefronts_shared_ideal";

/// Excess share of the wavefronts, percent, from which it counts.
pub(crate) const LEAST_EXCESS: f64 = 10.0;

/// Wavefronts of shared-memory accesses, and those that they would need without conflicts. Atomics are
/// left out where instructions tell them apart: equal addresses serialise them too, which is
/// another fault.
#[must_use]
pub(crate) fn wavefronts(launch: &ModeledLaunch) -> (f64, f64) {
    let (all, ideal) = (launch.need(WAVEFRONTS), launch.need(IDEAL));
    if all.is_nan() || all <= 0.0 {
        return (0.0, 0.0);
    }
    let (mut of_atomics, mut ideal_of_atomics) = (0.0, 0.0);
    let has_some = |row: &&SourceRow| row.counters.wavefronts_shared > 0.0;
    let rows = launch.profile.instructions.iter().filter(has_some);
    for row in rows.filter(|row| atomics::is_shared(row)) {
        of_atomics += row.counters.wavefronts_shared;
        ideal_of_atomics += row.counters.wavefronts_shared_ideal;
    }
    ((all - of_atomics).max(0.0), (ideal - ideal_of_atomics).max(0.0))
}
