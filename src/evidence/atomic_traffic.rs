//! What atomics on global memory move, beside everything else that a launch moves.

use crate::evidence::ModeledLaunch;
use crate::hardware::{SECTOR_BYTES, SECTORS_PER_LINE};

/// Sectors that atomics touch in L2: those without a result first.
pub(crate) const ATOMIC_SECTORS: [&str; 3] = [
    "lts__t_sectors_srcunit_tex_op_red.sum",
    "lts__t_sectors_srcunit_tex_op_atom_dot_alu.sum",
    "lts__t_sectors_srcunit_tex_op_atom_dot_cas.sum",
];

/// Sectors that are stored in global and in local memory.
pub(crate) const STORED: [&str; 2] = [
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
];

/// Sectors that L2 moves for whoever asks.
pub(crate) const L2_SECTORS: &str = "lts__t_sectors.sum";
const L2_REQUESTS: &str = "lts__t_requests_srcunit_tex.sum";
const LOADED: &str = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
const DRAM_READ: &str = "dram__bytes_read.sum";
const DRAM_WRITTEN: &str = "dram__bytes_write.sum";

/// All that L2 and DRAM move, and what loads ask for.
pub(crate) const ALL: [&str; 5] = [L2_SECTORS, L2_REQUESTS, LOADED, DRAM_READ, DRAM_WRITTEN];

/// What tells which of their sectors DRAM brings.
pub(crate) const FROM_DRAM: [&str; 2] = [LOADED, DRAM_READ];

fn atomic_sectors(launch: &ModeledLaunch) -> f64 {
    ATOMIC_SECTORS.iter().filter_map(|name| launch.get(name)).sum()
}

fn stored_sectors(launch: &ModeledLaunch) -> f64 {
    STORED.iter().filter_map(|name| launch.get(name)).sum()
}

/// Their sectors over all of L2 (0 to 1).
pub(crate) fn share_of_l2(launch: &ModeledLaunch) -> f64 {
    let all = launch.get(L2_SECTORS).filter(|&all| all > 0.0);
    all.map_or(0.0, |all| (atomic_sectors(launch) / all).min(1.0))
}

/// Their share of L2 where most of them are compare-and-swaps, 0 to 1: each moves half a sector more than the one that it touches (on
/// an H100, 133 million of them where 86.7 million were touched), as far as loads and stores leave any.
pub(crate) fn share_of_l2_of_swaps(launch: &ModeledLaunch) -> f64 {
    let Some(all) = launch.get(L2_SECTORS).filter(|&all| all > 0.0) else { return 0.0 };
    let swapped = launch.get(ATOMIC_SECTORS[2]).unwrap_or(0.0);
    let others = launch.get(LOADED).unwrap_or(0.0) + stored_sectors(launch);
    let own = atomic_sectors(launch) + 0.5 * swapped;
    (own.min(all - others) / all).max(share_of_l2(launch)).min(1.0)
}

/// Their part of the way from the SMs to L2 (0 to 1). A request takes a cycle there, and so does each sector that is
/// written or added to: on an H200 additions to four sectors per request took 1.25 cycles per sector whatever their type,
/// at up to 90% of the peak. Their own requests are the fewest that can be; each lane's compare-and-swap is a request of its
/// own (on an H100, 86.6 million requests brought 86.7 million such sectors). Where requests were not counted, it is their
/// part of the sectors.
pub(crate) fn share_of_requests(launch: &ModeledLaunch) -> f64 {
    let Some(requests) = launch.get(L2_REQUESTS).filter(|&requests| requests > 0.0) else {
        return share_of_l2(launch);
    };
    let sectors = atomic_sectors(launch);
    let swapped = launch.get(ATOMIC_SECTORS[2]).unwrap_or(0.0);
    let own = sectors + (sectors - swapped) / SECTORS_PER_LINE + swapped;
    (own / (requests + sectors + stored_sectors(launch))).min(1.0)
}

/// Their part of what DRAM moves (0 to 1), read and written; 0 where any of that was not counted.
pub(crate) fn share_of_dram(launch: &ModeledLaunch) -> f64 {
    let (read, written) = shares_of_dram(launch);
    (read + written).min(1.0)
}

/// What DRAM reads and what it writes for them, as parts of all that it moves: the sectors that they add to are read and written
/// back. What is read beyond all that loads ask for is theirs, up to all sectors that they touch, and of what is written, their part of
/// what warps write. 0 where any of that was not counted.
pub(crate) fn shares_of_dram(launch: &ModeledLaunch) -> (f64, f64) {
    let sectors = atomic_sectors(launch);
    let [loaded, read, written] = [LOADED, DRAM_READ, DRAM_WRITTEN].map(|name| launch.get(name));
    let (Some(loaded), Some(read), Some(written)) = (loaded, read, written) else {
        return (0.0, 0.0);
    };
    let (stored, moved) = (sectors + stored_sectors(launch), read + written);
    if sectors <= 0.0 || moved <= 0.0 {
        return (0.0, 0.0);
    }
    let own_read = (read - SECTOR_BYTES * loaded).max(0.0).min(bytes_read_at_most(launch));
    (own_read / moved, written * sectors / stored / moved)
}

/// Bytes that DRAM reads for them if no cache holds what they add to.
pub(crate) fn bytes_read_at_most(launch: &ModeledLaunch) -> f64 {
    SECTOR_BYTES * atomic_sectors(launch)
}

/// The part of the sectors that they add to which DRAM brings, 0 to 1: what is read beyond all that loads ask for. 0 where
/// that was not counted.
pub(crate) fn share_from_dram(launch: &ModeledLaunch) -> f64 {
    let sectors = atomic_sectors(launch);
    let bytes = launch.get(DRAM_READ).zip(launch.get(LOADED)).filter(|_| sectors > 0.0);
    bytes.map_or(0.0, |(read, loaded)| ((read / SECTOR_BYTES - loaded) / sectors).clamp(0.0, 1.0))
}

/// The sectors of those without a result over all that warps store (0 to 1); 0 where the stores were not counted.
pub(crate) fn share_of_stores(launch: &ModeledLaunch) -> f64 {
    let reduced = launch.get(ATOMIC_SECTORS[0]).filter(|&sectors| sectors > 0.0);
    let stored = launch.get(STORED[0]).map(|_| stored_sectors(launch));
    reduced.zip(stored).map_or(0.0, |(reduced, stored)| reduced / (reduced + stored))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::rules::testing::launch;

    fn of(values: &[(&str, f64)], share: fn(&ModeledLaunch) -> f64) -> f64 {
        let launch = launch(values);
        share(&ModeledLaunch { profile: &launch, model: &Model::new(&launch) })
    }

    #[test]
    fn what_no_load_asks_for_is_read_for_atomics() {
        let values = [(DRAM_READ, 3200.0), (LOADED, 40.0), (ATOMIC_SECTORS[0], 80.0)];
        // 100 sectors come, of which loads asked for 40 at most: 60 of 80.
        assert!((of(&values, share_from_dram) - 0.75).abs() < 1e-12);
        let more = [(DRAM_READ, 3200.0), (LOADED, 140.0), (ATOMIC_SECTORS[0], 80.0)];
        assert!(of(&more, share_from_dram).abs() < 1e-12);
        assert!(of(&values[..2], share_from_dram).abs() < 1e-12, "no atomics");
    }

    #[test]
    fn an_addition_sends_its_sector_and_a_load_only_asks() {
        // 800 sectors of loads in 200 requests; 400 of atomics in 100.
        let mut values = vec![(ATOMIC_SECTORS[0], 400.0), (L2_SECTORS, 1200.0)];
        assert!((of(&values, share_of_requests) - 1.0 / 3.0).abs() < 1e-12, "not counted");
        values.push((L2_REQUESTS, 300.0));
        assert!((of(&values, share_of_requests) - 500.0 / 700.0).abs() < 1e-12);
        values.push((STORED[0], 300.0));
        assert!((of(&values, share_of_requests) - 0.5).abs() < 1e-12);
        // 100 lanes that compare and swap ask 100 times.
        values.extend([(ATOMIC_SECTORS[2], 100.0)]);
        assert!((of(&values, share_of_requests) - 700.0 / 1100.0).abs() < 1e-12);
    }

    #[test]
    fn what_dram_reads_beyond_the_loads_is_for_the_atomics() {
        let mut values = vec![
            (ATOMIC_SECTORS[0], 100.0),
            (STORED[0], 300.0),
            (LOADED, 100.0),
            (DRAM_READ, 6400.0),
        ];
        assert!(of(&values, share_of_dram).abs() < 1e-12, "the writes were not counted");
        values.push((DRAM_WRITTEN, 3200.0));
        // 3200 of 6400 bytes read, a quarter of 3200 written.
        assert!((of(&values, share_of_dram) - 4000.0 / 9600.0).abs() < 1e-12);
        values[2].1 = 1000.0;
        assert!((of(&values, share_of_dram) - 800.0 / 9600.0).abs() < 1e-12, "loads ask for more");
    }
}
