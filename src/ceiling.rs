//! What a device can really achieve, as opposed to its data sheet.

use crate::frame::Launch;

/// Achievable rates of one device model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ceilings {
    /// The device's name as the driver gives it.
    pub device: &'static str,
    /// Device-to-device copy, bytes read plus bytes written a second; the largest of all sizes.
    pub copy_bytes_per_s: f64,
    /// Bytes a second of a kernel that only reads.
    pub read_bytes_per_s: f64,
    /// The most that a kernel of fused multiply-adds was seen to reach, as a share of the FMA pipe's
    /// peak.
    pub fma_share: f64,
}

/// Measured devices. The H200: device-to-device copy of 2^32 bytes 4.29 TB/s; the averaging of
/// 2^32 bytes by 16-byte loads that bypass L1 (`ado` v6 without its product) 4.55 TB/s, which is more
/// than the 4.36 of PyTorch's sum; independent FP32 multiply-adds from registers (`fault-limit-midpoints`) 84% of
/// the pipe's peak, more than the 77% of cuBLAS's matrix product at 4096 and up.
const MEASURED: &[Ceilings] = &[Ceilings {
    device: "NVIDIA H200",
    copy_bytes_per_s: 4.29e12,
    read_bytes_per_s: 4.55e12,
    fma_share: 0.84,
}];

/// The H200's DRAM peak: 1504 bytes a cycle at 3.199 GHz.
const H200_PEAK_BYTES_PER_S: f64 = 1504.0 * 3.199e9;

/// The share of the DRAM peak that a kernel which only reads reaches where the device was not
/// measured: the H200's.
const READ_SHARE_UNMEASURED: f64 = 4.55e12 / H200_PEAK_BYTES_PER_S;
/// The same for a copy.
const COPY_SHARE_UNMEASURED: f64 = 4.29e12 / H200_PEAK_BYTES_PER_S;

/// The share of the DRAM peak that a kernel with this mix can reach, 0 to 1. Turning the bus around
/// between reads and writes costs time, so a copy, half of whose bytes are written, reaches less than
/// a kernel that only reads; in between the share is taken as linear in the written part.
///
/// `peak_bytes_per_s` is the device's; `written` the written part of all bytes, 0 to 1.
#[must_use]
pub fn dram_share(ceilings: Option<&Ceilings>, peak_bytes_per_s: Option<f64>, written: f64) -> f64 {
    let (read, copy) = match (ceilings, peak_bytes_per_s.filter(|&peak| peak > 0.0)) {
        (Some(known), Some(peak)) => (known.read_bytes_per_s / peak, known.copy_bytes_per_s / peak),
        _ => (READ_SHARE_UNMEASURED, COPY_SHARE_UNMEASURED),
    };
    (read - (read - copy) * 2.0 * written.clamp(0.0, 1.0)).clamp(0.5, 1.0)
}

/// Cycles from a load to its data from an idle DRAM, by compute capability: pointer-chasing
/// micro-benchmarks (AI_kernels' latency table, RRZE gpu-benches; the H100's lie between 570 and
/// 834). Newer and unlisted devices take no part.
const DRAM_LATENCY_CYCLES: &[((u32, u32), f64)] = &[
    ((7, 0), 440.0),
    ((8, 0), 466.0),
    ((8, 9), 636.0),
    ((9, 0), 690.0),
    ((10, 0), 860.0),
    ((12, 0), 936.0),
];

/// Cycles from a load to its data from an idle DRAM; `None` for a compute capability that is not
/// listed.
#[must_use]
pub fn dram_latency_cycles(compute_capability: (u32, u32)) -> Option<f64> {
    let known = DRAM_LATENCY_CYCLES.iter().find(|(known, _)| *known == compute_capability);
    known.map(|(_, cycles)| *cycles)
}

/// Bytes a second of a kernel that only reads device memory: as measured for the device, else the
/// measured devices' share of the launch's DRAM peak, else the H200's rate.
#[must_use]
pub fn read_bytes_per_s(launch: &Launch) -> f64 {
    let known = launch.row.device.as_deref().and_then(Ceilings::of);
    known.map_or_else(
        || dram_peak_bytes_per_s(launch).unwrap_or(H200_PEAK_BYTES_PER_S) * READ_SHARE_UNMEASURED,
        |ceilings| ceilings.read_bytes_per_s,
    )
}

/// The DRAM peak of the profiled device: the counter's bytes a cycle times the memory clock.
#[must_use]
pub fn dram_peak_bytes_per_s(launch: &Launch) -> Option<f64> {
    let bytes_per_cycle = launch.get("dram__bytes.sum.peak_sustained")?;
    let peak = bytes_per_cycle * launch.get("dram__cycles_elapsed.avg.per_second")?;
    (peak > 0.0).then_some(peak)
}

impl Ceilings {
    /// The measured ceilings of a device, by the name the driver gives it.
    #[must_use]
    pub fn of(device: &str) -> Option<&'static Self> {
        MEASURED.iter().find(|ceilings| ceilings.device == device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_reaches_the_copy_rate_and_a_sum_the_read_rate() {
        let h200 = Ceilings::of("NVIDIA H200");
        let share = |written| dram_share(h200, Some(5.0e12), written);
        assert!((share(0.0) - 0.91).abs() < 1e-12);
        assert!((share(0.5) - 0.858).abs() < 1e-12);
        assert!((share(0.25) - 0.884).abs() < 1e-12);
    }

    #[test]
    fn an_unmeasured_device_gets_the_h200s_shares() {
        assert!((dram_share(None, None, 0.0) - 4.55 / 4.811_296).abs() < 1e-6);
    }
}
