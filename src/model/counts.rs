//! How busy a unit is by what it was given to do, where its own counter was not collected: counts
//! over the rate that its device has.
//!
//! busy = work / (rate × cycles), with the work summed over the device and the rate a cycle and SM
//! times the SMs, or a cycle for the whole of DRAM. Work of the math pipes is counted from the
//! executed instructions, so it needs the source page with its SASS.

use crate::ceiling;
use crate::frame::Launch;
use crate::term::Term;

/// Rates a cycle and SM of one compute capability, in warp instructions.
struct Rates {
    compute_capability: (u32, u32),
    /// Single precision (32 lanes are one instruction a cycle).
    fma: f64,
    /// Integer addition, logic, comparison. The hardware gives part of the moves and additions to the
    /// multiply-add pipe, so the two pipes' counts are right together, not each for itself.
    alu: f64,
    /// Double precision.
    fp64: f64,
}

/// Lanes from the throughput table of the CUDA C++ programming guide, a 32nd of them a cycle.
///
/// L2 has no entry: published read rates (2456 bytes a cycle on an H100) are far below what a recorded
/// kernel moves (`matmul` m2 on an H200: 4350), so no constant would be right.
const RATES: &[Rates] = &[
    Rates { compute_capability: (7, 0), fma: 2.0, alu: 2.0, fp64: 1.0 },
    Rates { compute_capability: (7, 5), fma: 2.0, alu: 2.0, fp64: 1.0 / 16.0 },
    Rates { compute_capability: (8, 0), fma: 2.0, alu: 2.0, fp64: 1.0 },
    Rates { compute_capability: (8, 6), fma: 4.0, alu: 2.0, fp64: 1.0 / 16.0 },
    Rates { compute_capability: (8, 9), fma: 4.0, alu: 2.0, fp64: 1.0 / 16.0 },
    Rates { compute_capability: (9, 0), fma: 4.0, alu: 2.0, fp64: 2.0 },
    Rates { compute_capability: (10, 0), fma: 4.0, alu: 2.0, fp64: 2.0 },
    Rates { compute_capability: (12, 0), fma: 4.0, alu: 4.0, fp64: 1.0 / 16.0 },
];

/// Special functions and conversions: 16 lanes on every device of the table.
const XU_RATE: f64 = 0.5;
/// The schedulers of an SM issue one instruction each.
const ISSUE_RATE: f64 = 4.0;
/// The load/store unit takes one instruction, L1's data pipe one wavefront.
const LSU_RATE: f64 = 1.0;

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
        _ => {}
    }
    let mix = |term| launch.mix().map(|mix| mix.on(term));
    let work = match term {
        Term::Issue => launch.get("smsp__inst_issued.sum")?,
        Term::L1Data => launch.get("l1tex__data_pipe_lsu_wavefronts.sum")?,
        _ => mix(term)?,
    };
    of_work(launch, term, work)
}

/// The share of the time that a unit of the SMs would be busy with so many warp instructions (L1's data
/// pipe: wavefronts), over its peak. `None` where the device's rate or the cycles are missing, and for
/// units outside the SMs.
#[must_use]
pub fn of_work(launch: &Launch, term: Term, work: f64) -> Option<f64> {
    let known = launch.row.compute_capability;
    let rates = || RATES.iter().find(|rates| Some(rates.compute_capability) == known);
    let rate = match term {
        Term::Issue => ISSUE_RATE,
        Term::L1Data | Term::Lsu => LSU_RATE,
        Term::Fma => rates()?.fma,
        Term::Alu => rates()?.alu,
        Term::Fp64 => rates()?.fp64,
        Term::Xu => XU_RATE,
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
    let cycles = launch.get("sm__cycles_elapsed.avg")?;
    let busy = work / (rate * cycles * launch.get("launch__sm_count")?);
    busy.is_finite().then_some(busy)
}

/// Sectors that came from host memory, over the bus's rate: megatransfers a second, a bit a lane each.
fn host_link(launch: &Launch) -> Option<f64> {
    let sectors = launch.get("lts__t_sectors_srcunit_tex_aperture_sysmem_lookup_miss.sum")?;
    let bits_per_s = launch.get("device__attribute_gpu_pci_ext_gpu_link_rate")?
        * 1e6
        * launch.get("device__attribute_gpu_pci_ext_gpu_link_width")?;
    let busy = 32.0 * 8.0 * sectors / (bits_per_s * launch.duration_ns()? * 1e-9);
    busy.is_finite().then_some(busy)
}

/// The busier direction of the NVLinks, answers to requests and protocol included. Peers on Hopper don't
/// show in L2's counters: what L1 asks of them never enters the device's own L2.
fn peer_link(launch: &Launch) -> Option<f64> {
    let directions = PEER_LINK.iter().filter_map(|name| launch.get(name));
    directions.reduce(f64::max).map(|percent| percent / 100.0)
}

/// How busy the NVLinks are, data coming in and going out. No counters of the term: devices without
/// NVLink don't have them.
const PEER_LINK: [&str; 2] = [
    "nvlrx__bytes.avg.pct_of_peak_sustained_elapsed",
    "nvltx__bytes.avg.pct_of_peak_sustained_elapsed",
];

/// Blocks over the rate at which they start.
fn block_scheduler(launch: &Launch) -> Option<f64> {
    let known = launch.row.compute_capability;
    let each = BLOCK_CYCLES.iter().find(|(capability, _)| Some(*capability) == known)?.1;
    let busy = launch.get("launch__grid_size")? * each / launch.get("gpc__cycles_elapsed.max")?;
    busy.is_finite().then_some(busy)
}

/// Cycles of the GPCs' clock between the starts of two blocks of a device, by compute capability:
/// 262,144 empty blocks took 1.203 to 1.205 cycles each on an H200 (2.0 GHz; 0.608 ns) for every size
/// from 32 to 640 threads, with 16 and 39 registers and up to 20 KiB of shared memory. Larger ones take
/// longer (768 threads 1.61, 1024 threads 1.75) for their warps, which each SM starts by itself.
const BLOCK_CYCLES: &[((u32, u32), f64)] = &[((9, 0), 1.203)];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_start_one_after_another() {
        let mut launch = Launch::default();
        launch.set("launch__grid_size", Some(1e6));
        launch.set("gpc__cycles_elapsed.max", Some(2.406e6));
        assert_eq!(utilization(&launch, Term::BlockScheduler), None, "of an unknown device");
        launch.row.compute_capability = Some((9, 0));
        // 1.203 million of 2.406 million cycles.
        assert!((utilization(&launch, Term::BlockScheduler).unwrap() - 0.5).abs() < 1e-12);
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
