//! How busy a unit is by what it was given to do, where its own counter was not collected: counts
//! over the rate that its device has.
//!
//! busy = work / (rate × cycles), with the work summed over the device and the rate per cycle and SM
//! times the SMs, or per cycle for the whole of DRAM. Rates stand in the devices' files; L2 has none:
//! published read rates (2456 bytes per cycle on an H100) are far below what a recorded kernel moves
//! (`matmul` m2 on an H200: 4350). Work of the math pipes is counted from the
//! executed instructions, so it needs the source page with its SASS.

use crate::device::Quantity;
use crate::frame::Launch;
use crate::hardware::{SECTOR_BYTES, WARP_LANES};
use crate::model::{atomics, ceiling};
use crate::term::Term;

/// The share of the time that a unit is busy with the counted work, over its peak: not clamped, so
/// that wrong constants show. `None` where the counts, the device's rate or the cycles are missing.
#[must_use]
pub fn utilization(launch: &Launch, term: Term) -> Option<f64> {
    if term == Term::Dram {
        let bytes = launch.get("dram__bytes_read.sum")? + launch.get("dram__bytes_write.sum")?;
        return Some(
            bytes / (ceiling::dram_peak_bytes_per_s(launch)? * launch.duration_ns()? * 1e-9),
        );
    }
    match term {
        Term::HostLink => return host_link(launch),
        Term::PeerLink => return peer_link(launch),
        Term::BlockScheduler => return block_scheduler(launch),
        Term::Atomic => return Some(atomics::busiest(launch)? / 100.0),
        _ => {}
    }
    // Where memory is unknown, what the SMs' own work tells would make its time look like latency.
    if !knows_memory(launch) {
        return None;
    }
    let mix = |term| launch.mix().map(|mix| mix.on(term));
    let work = match term {
        Term::Issue => launch.get("smsp__inst_issued.sum")?,
        Term::L1Data => launch.get(L1_WAVEFRONTS)?,
        _ => mix(term)?,
    };
    of_work(launch, term, work)
}

/// True where something tells how busy each of DRAM, L2 and L1 is.
fn knows_memory(launch: &Launch) -> bool {
    let is_known = |term: Term, counts: &[&str]| {
        let counters = term.counters().iter().copied().chain(term.stand_in());
        counters.chain(counts.iter().copied()).any(|name| launch.get(name).is_some())
    };
    (is_known(Term::Dram, &[]) || utilization(launch, Term::Dram).is_some())
        && is_known(Term::L2, &[])
        && is_known(Term::L1Data, &[L1_WAVEFRONTS])
}

/// What L1's data pipe was given to do.
const L1_WAVEFRONTS: &str = "l1tex__data_pipe_lsu_wavefronts.sum";

/// The share of the time that a unit of the SMs would be busy with so many warp instructions (L1's data
/// pipe: wavefronts), over its peak. `None` where the device's rate or the cycles are missing, and for
/// units outside the SMs.
#[must_use]
pub fn of_work(launch: &Launch, term: Term, work: f64) -> Option<f64> {
    let (quantity, units) = match term {
        Term::Issue => (Quantity::Schedulers, 1.0),
        Term::L1Data => (Quantity::L1Rate, 1.0),
        Term::Lsu => (Quantity::LsuRate, 1.0),
        Term::Fma => (Quantity::FmaRate, WARP_LANES),
        Term::Alu => (Quantity::AluRate, WARP_LANES),
        Term::Fp64 => (Quantity::Fp64Rate, WARP_LANES),
        Term::Xu => (Quantity::XuRate, WARP_LANES),
        Term::Dram
        | Term::L2
        | Term::L2Requests
        | Term::Tensor
        | Term::Atomic
        | Term::Constant
        | Term::HostLink
        | Term::PeerLink
        | Term::BlockScheduler => return None,
    };
    let rate = launch.device_facts().get(quantity)? / units;
    let cycles = sm_cycles(launch)?;
    let busy = work / (rate * cycles * launch.get("launch__sm_count")?);
    busy.is_finite().then_some(busy)
}

/// Cycles of an SM from the launch's first to its last. ncu's full set has no average, but the longest of the GPCs,
/// which run at the SMs' clock: in 66 recorded launches (H200) their ratio is 1.001 in the median, and 0.83 to 1.12
/// because they come from different passes.
#[must_use]
pub fn sm_cycles(launch: &Launch) -> Option<f64> {
    launch.get(SM_CYCLES).or_else(|| launch.get(GPC_CYCLES))
}

/// What [`sm_cycles`] reads, and what stands in for it.
pub const SM_CYCLES: &str = "sm__cycles_elapsed.avg";
/// See [`SM_CYCLES`].
pub const GPC_CYCLES: &str = "gpc__cycles_elapsed.max";

/// Sectors that came from host memory, over the bus's rate: megatransfers per second, of one bit per lane each.
fn host_link(launch: &Launch) -> Option<f64> {
    let sectors = launch.get(HOST_SECTORS)?;
    let bits_per_s = launch.get(LINK[0])? * 1e6 * launch.get(LINK[1])?;
    let busy = SECTOR_BYTES * 8.0 * sectors / (bits_per_s * launch.duration_ns()? * 1e-9);
    busy.is_finite().then_some(busy)
}

/// Sectors that L1 asked of L2 and that came from host memory.
pub(super) const HOST_SECTORS: &str = "lts__t_sectors_srcunit_tex_aperture_sysmem_lookup_miss.sum";
/// The bus to the host: its transfer rate and its lanes.
pub(super) const LINK: [&str; 2] =
    ["device__attribute_gpu_pci_ext_gpu_link_rate", "device__attribute_gpu_pci_ext_gpu_link_width"];

/// The busier direction of the NVLinks, answers to requests and protocol included. Peers on Hopper don't
/// show in L2's counters: what L1 asks of them never enters the device's own L2.
fn peer_link(launch: &Launch) -> Option<f64> {
    let directions = PEER_LINK.iter().filter_map(|name| launch.get(name));
    directions.reduce(f64::max).map(|percent| percent / 100.0)
}

/// How busy the NVLinks are, data coming in and going out. No counters of the term: devices without
/// NVLink don't have them.
pub(super) const PEER_LINK: [&str; 2] = [
    "nvlrx__bytes.avg.pct_of_peak_sustained_elapsed",
    "nvltx__bytes.avg.pct_of_peak_sustained_elapsed",
];

/// Blocks over the rate at which they start.
fn block_scheduler(launch: &Launch) -> Option<f64> {
    let each = launch.device_facts().get(Quantity::BlockStart)?;
    let busy = launch.get("launch__grid_size")? * each / launch.get("gpc__cycles_elapsed.max")?;
    busy.is_finite().then_some(busy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_start_one_after_another() {
        let mut launch = Launch::default();
        launch.set("launch__grid_size", Some(1e6));
        launch.set("gpc__cycles_elapsed.max", Some(2.406e6));
        // 1.203 million of 2.406 million cycles; of an unknown device, the same is assumed.
        for capability in [None, Some((9, 0))] {
            launch.row.compute_capability = capability;
            let busy = utilization(&launch, Term::BlockScheduler).unwrap();
            assert!((busy - 0.5).abs() < 1e-12, "{capability:?}");
        }
    }

    #[test]
    fn the_busier_direction_of_the_peer_link_counts() {
        let mut launch = Launch::default();
        assert_eq!(utilization(&launch, Term::PeerLink), None);
        launch.set(PEER_LINK[0], Some(20.0));
        launch.set(PEER_LINK[1], Some(30.0));
        assert!((utilization(&launch, Term::PeerLink).unwrap() - 0.3).abs() < 1e-12);
    }

    #[test]
    fn the_host_link_moves_a_bit_a_lane_and_transfer() {
        let mut launch = Launch::default();
        for (name, value) in [
            ("lts__t_sectors_srcunit_tex_aperture_sysmem_lookup_miss.sum", 1e6),
            ("device__attribute_gpu_pci_ext_gpu_link_rate", 32_000.0),
            ("device__attribute_gpu_pci_ext_gpu_link_width", 16.0),
            ("gpu__time_duration.sum", 1e6),
        ] {
            launch.set(name, Some(value));
        }
        // 32 MB of 64 GB/s × 1 ms.
        assert!((utilization(&launch, Term::HostLink).unwrap() - 0.5).abs() < 1e-12);
    }

    #[test]
    fn work_over_rate_and_cycles() {
        let mut launch = Launch::default();
        for (name, value) in [
            ("sm__cycles_elapsed.avg", 1000.0),
            ("launch__sm_count", 100.0),
            ("smsp__inst_issued.sum", 200_000.0),
            ("l1tex__data_pipe_lsu_wavefronts.sum", 50_000.0),
            ("dram__bytes_read.sum", 3e9),
            ("dram__bytes_write.sum", 1e9),
            ("dram__bytes.sum.peak_sustained", 1000.0),
            ("dram__cycles_elapsed.avg.per_second", 4e9),
            ("gpu__time_duration.sum", 2e6),
            ("lts__t_sectors.avg.pct_of_peak_sustained_elapsed", 20.0),
        ] {
            launch.set(name, Some(value));
        }
        let near = |term, share: f64| {
            let busy = utilization(&launch, term).unwrap();
            assert!((busy - share).abs() < 1e-12, "{term:?}: {busy}");
        };
        // 200,000 of 4 × 1000 × 100 slots; 50,000 of 100,000 wavefronts; 4 GB of 4 TB/s × 2 ms.
        near(Term::Issue, 0.5);
        near(Term::L1Data, 0.5);
        near(Term::Dram, 0.5);
        assert_eq!(utilization(&launch, Term::Fma), None, "no SASS");
    }
}
