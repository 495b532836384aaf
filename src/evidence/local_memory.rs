//! Local memory's part of what L1 asks of L2.

use crate::evidence::ModeledLaunch;
use crate::frame::{Launch, Reads};
use crate::hardware::SECTOR_BYTES;
use crate::sass::{Family, Space};
use crate::term::Term;

const STORED: &str = "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum";
const LOADED: &str = "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum";
const MISSED: &str = "l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup_miss.sum";
const FROM_L1: &str = "lts__t_sectors_srcunit_tex.sum";
const STORED_GLOBAL: &str = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum";
const READ: &str = "dram__bytes_read.sum";
const WRITTEN: &str = "dram__bytes_write.sum";
const HIT_RATE: &str = "l1tex__t_sector_hit_rate.pct";

/// What `beyond_l1` goes by.
pub(crate) const BEYOND_L1: [&str; 2] = [STORED, MISSED];

/// What tells how much of local memory's traffic reaches L2, where there is some.
pub(crate) const TO_L2: Reads =
    Reads::only_where(has_local, &[STORED, MISSED, FROM_L1, STORED_GLOBAL, READ, WRITTEN]);
/// What stands in for the loads that miss.
pub(crate) const BY_HIT_RATE: Reads = Reads::stand_in(&[LOADED, HIT_RATE]);

/// True where a launch uses local memory, or does not tell.
pub(crate) fn has_local(launch: &Launch) -> bool {
    let is_local =
        |family| matches!(family, Family::Load(Space::Local) | Family::Store(Space::Local));
    launch.mix().is_none_or(|mix| mix.sum(is_local) > 0.0)
}

/// The part of L2's work, of requests and of data alike, that goes with a part of the local accesses
/// (0 to 1). Stores to local memory are written through to L2; of the loads those that miss L1 get
/// there. Empty where the counts are missing.
pub(crate) fn l2(launch: &ModeledLaunch, goes: f64) -> Vec<(Term, f64)> {
    let (Some((stored, missed)), Some(all)) = (beyond_l1(launch), launch.get(FROM_L1)) else {
        return Vec::new();
    };
    if all <= 0.0 {
        return Vec::new();
    }
    let goes = goes.clamp(0.0, 1.0);
    let share = goes * ((stored + missed) / all).clamp(0.0, 1.0);
    let mut removed = vec![(Term::L2, share), (Term::L2Requests, share)];
    removed.extend(dram(launch, stored, missed).map(|share| (Term::Dram, goes * share)));
    removed
}

/// The sectors of local memory that are stored, and those that are loaded and miss L1: all that reach L2.
/// `None` where the counts are missing.
pub(crate) fn beyond_l1(launch: &ModeledLaunch) -> Option<(f64, f64)> {
    let missed = launch.get(MISSED).or_else(|| {
        let hits = launch.get(HIT_RATE)? / 100.0;
        Some(launch.get(LOADED)? * (1.0 - hits))
    });
    launch.get(STORED).zip(missed)
}

/// The part of DRAM's bytes that local memory moves where it overflows L2. What is written beyond the
/// sectors that global stores can account for is local memory's, and as much of what is read as its loads
/// beyond L1 are to its stores. `None` where nothing is, or the counts are missing.
fn dram(launch: &ModeledLaunch, stored: f64, missed: f64) -> Option<f64> {
    let (read, written) = (launch.get(READ)?, launch.get(WRITTEN)?);
    let by_global = SECTOR_BYTES * launch.get(STORED_GLOBAL)?;
    let local_written = (written - by_global).max(0.0).min(SECTOR_BYTES * stored);
    if !(local_written > 0.0 && stored > 0.0) {
        return None;
    }
    let local_read = (local_written * missed / stored).min(read);
    Some((local_written + local_read) / (written + read))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::testing::launch;
    use crate::model::Model;

    #[test]
    fn stores_and_missing_loads_reach_l2() {
        let launch = launch(&[(STORED, 300.0), (LOADED, 900.0), (MISSED, 100.0), (FROM_L1, 800.0)]);
        let launch = ModeledLaunch { profile: &launch, model: &Model::new(&launch) };
        assert_eq!(l2(&launch, 0.5), [(Term::L2, 0.25), (Term::L2Requests, 0.25)]);
    }

    #[test]
    fn what_overflows_l2_is_moved_by_dram() {
        let launch = launch(&[
            (STORED, 300.0),
            (MISSED, 150.0),
            (FROM_L1, 900.0),
            (STORED_GLOBAL, 100.0),
            (READ, 6400.0),
            (WRITTEN, 9600.0),
        ]);
        let launch = ModeledLaunch { profile: &launch, model: &Model::new(&launch) };
        // 9600 bytes written, of which 100 sectors are 3200: 6400 local ones, and half as many read.
        assert_eq!(l2(&launch, 0.5)[2], (Term::Dram, 0.5 * 9600.0 / 16_000.0));
    }

    #[test]
    fn loads_that_do_not_hit_l1_reach_l2() {
        let launch =
            launch(&[(STORED, 300.0), (LOADED, 400.0), (HIT_RATE, 75.0), (FROM_L1, 800.0)]);
        let launch = ModeledLaunch { profile: &launch, model: &Model::new(&launch) };
        // A quarter of 400 beside 300, of 800.
        assert_eq!(l2(&launch, 0.5)[0], (Term::L2, 0.25));
    }

    #[test]
    fn no_more_is_written_than_was_stored() {
        let launch = launch(&[
            (STORED, 100.0),
            (MISSED, 50.0),
            (FROM_L1, 900.0),
            (STORED_GLOBAL, 100.0),
            (READ, 6400.0),
            (WRITTEN, 9600.0),
        ]);
        let launch = ModeledLaunch { profile: &launch, model: &Model::new(&launch) };
        // 6400 bytes beyond the global ones, but 100 sectors are 3200, and half as many are read.
        assert_eq!(l2(&launch, 1.0)[2], (Term::Dram, 4800.0 / 16_000.0));
    }
}
