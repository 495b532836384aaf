//! A launch's arithmetic and bytes: what places it under a roofline.

use crate::device::Quantity;
use crate::frame::Launch;
use crate::hardware::{SECTOR_BYTES, WARP_LANES};
use crate::metric::DRAM_BYTES_PARTS;
use crate::model::ceiling;
use crate::sass::Instruction;

/// Floating-point operations of a launch, by the unit that does them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Flops {
    /// On the single- and half-precision pipes.
    pub single: f64,
    /// On the double-precision pipe.
    pub double: f64,
    /// On the tensor units.
    pub tensor: f64,
}

impl Flops {
    /// All of them.
    pub(super) fn sum(self) -> f64 {
        self.single + self.double + self.tensor
    }
}

/// The operations of a launch, from its executed instructions; `None` without machine code.
pub(super) fn flops(launch: &Launch) -> Option<Flops> {
    launch.listing()?;
    let mut flops = Flops::default();
    for row in &launch.instructions {
        let Some(instruction) = Instruction::parse(&row.text) else { continue };
        let lanes = row.counters.thread_inst_executed_pred_on;
        let mut parts = instruction.opcode.split('.');
        match parts.next().unwrap_or_default() {
            "FFMA" | "FFMA32I" | "HADD2" | "HMUL2" | "FADD2" | "FMUL2" => {
                flops.single += 2.0 * lanes;
            }
            "FADD" | "FMUL" | "FADD32I" | "FMUL32I" => flops.single += lanes,
            "FFMA2" | "HFMA2" => flops.single += 4.0 * lanes,
            "DFMA" => flops.double += 2.0 * lanes,
            "DADD" | "DMUL" => flops.double += lanes,
            "HMMA" | "DMMA" | "QMMA" => {
                let shape = parts.find_map(warp_product);
                flops.tensor += 2.0 * shape.unwrap_or(0.0) * row.counters.inst_executed;
            }
            "HGMMA" | "QGMMA" => {
                let shape = parts.find_map(group_product);
                // Four warps do one together.
                flops.tensor += 2.0 * shape.unwrap_or(0.0) * row.counters.inst_executed / 4.0;
            }
            _ => {}
        }
    }
    Some(flops)
}

/// Multiply-adds of `16816`: 16 × 8 × 16; `884`, `1688` and the like.
fn warp_product(shape: &str) -> Option<f64> {
    match shape {
        "884" => Some(8.0 * 8.0 * 4.0),
        "1684" => Some(16.0 * 8.0 * 4.0),
        "1688" => Some(16.0 * 8.0 * 8.0),
        "16816" => Some(16.0 * 8.0 * 16.0),
        "16832" => Some(16.0 * 8.0 * 32.0),
        _ => None,
    }
}

/// Multiply-adds of `64x128x16`.
fn group_product(shape: &str) -> Option<f64> {
    let mut product = 1.0;
    let mut count = 0;
    for part in shape.split('x') {
        product *= part.parse::<f64>().ok()?;
        count += 1;
    }
    (count == 3).then_some(product)
}

/// A level of the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// Device memory.
    Dram,
    /// The second-level cache.
    L2,
    /// The first-level cache, shared memory included.
    L1,
}

impl Level {
    /// From the device outwards in.
    pub(super) const ALL: [Self; 3] = [Self::Dram, Self::L2, Self::L1];

    /// Its name.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Dram => "DRAM",
            Self::L2 => "L2",
            Self::L1 => "L1",
        }
    }

    /// The bytes that a launch moves at this level.
    pub(super) fn bytes(self, launch: &Launch) -> Option<f64> {
        let sum = |names: &[&str]| {
            let known: Vec<f64> = names.iter().filter_map(|name| launch.get(name)).collect();
            (!known.is_empty()).then(|| known.iter().sum::<f64>())
        };
        match self {
            Self::Dram => sum(&DRAM_BYTES_PARTS),
            Self::L2 => Some(SECTOR_BYTES * launch.get("lts__t_sectors_srcunit_tex.sum")?),
            Self::L1 => {
                let sectors = sum(&[
                    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
                    "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
                ])?;
                let shared =
                    launch.get("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum").unwrap_or(0.0);
                Some(SECTOR_BYTES * sectors + WAVEFRONT_BYTES * shared)
            }
        }
    }

    /// The bytes per second that the device reaches at this level.
    pub(super) fn ceiling(self, launch: &Launch) -> Option<f64> {
        match self {
            Self::Dram => ceiling::read_bytes_per_s(launch),
            Self::L2 => launch.device_facts().get(Quantity::L2ReadRate),
            Self::L1 => Some(per_cycle(launch, Quantity::L1Rate)? * WAVEFRONT_BYTES),
        }
    }
}

/// L1 and shared memory move up to 128 bytes in a wavefront.
const WAVEFRONT_BYTES: f64 = 4.0 * WARP_LANES;

/// The most operations per second of each unit: name and rate.
pub(super) fn peaks(launch: &Launch) -> Vec<(&'static str, f64)> {
    [
        ("FP64", Quantity::Fp64Rate),
        ("FP32", Quantity::FmaRate),
        ("tensor FP16", Quantity::TensorHalfRate),
    ]
    .into_iter()
    // A multiply-add is two operations.
    .filter_map(|(name, rate)| Some((name, 2.0 * per_cycle(launch, rate)?)))
    .collect()
}

/// A rate per cycle and SM as one of the device per second.
fn per_cycle(launch: &Launch, rate: Quantity) -> Option<f64> {
    let clock = launch.get("gpc__cycles_elapsed.avg.per_second")?;
    Some(launch.device_facts().get(rate)? * launch.get("launch__sm_count")? * clock)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::{SourceCounters, SourceRow};

    #[test]
    fn each_instruction_counts_what_it_does() {
        let mut launch = Launch::default();
        for (at, (text, warps, lanes)) in (0_u64..).zip([
            ("FFMA R5, R4, R6, R5", 1.0, 32.0),
            ("FADD R5, R4, R6", 1.0, 10.0),
            ("DFMA R4, R6, R8, R4", 1.0, 32.0),
            ("HMMA.16816.F32 R4, R8, R12, R4", 3.0, 96.0),
            ("HGMMA.64x128x16.F32 R24, gdesc[UR4], R24", 4.0, 128.0),
            ("IADD3 R2, R2, 0x1, RZ", 9.0, 288.0),
            ("EXIT", 1.0, 32.0),
        ]) {
            launch.instructions.push(SourceRow {
                address: Some(16 * at),
                text: text.to_owned(),
                counters: SourceCounters {
                    inst_executed: warps,
                    thread_inst_executed_pred_on: lanes,
                    ..SourceCounters::default()
                },
                ..SourceRow::default()
            });
        }
        let flops = flops(&launch).unwrap();
        assert_eq!((flops.single, flops.double), (74.0, 64.0));
        // Three of 2 × 16 × 8 × 16, and one of 2 × 64 × 128 × 16 by four warps.
        assert!((flops.tensor - 12_288.0 - 262_144.0).abs() < 1e-9);
        assert_eq!(super::flops(&Launch::default()), None);
    }

    #[test]
    fn peaks_are_rates_times_sms_and_clock() {
        let mut launch = Launch::default();
        launch.row.compute_capability = Some((9, 0));
        launch.set("launch__sm_count", Some(100.0));
        launch.set("gpc__cycles_elapsed.avg.per_second", Some(2e9));
        let peaks = peaks(&launch);
        // 128 multiply-adds a cycle and SM, 100 SMs, 2 GHz; half of that in double precision.
        assert_eq!(peaks[1], ("FP32", 51.2e12));
        assert_eq!(peaks[0], ("FP64", 25.6e12));
        assert_eq!(Level::L1.ceiling(&launch), Some(25.6e12), "128 bytes a cycle and SM");
    }
}
