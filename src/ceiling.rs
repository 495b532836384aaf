//! What a device can really achieve, as opposed to its data sheet.

/// Achievable rates of one device model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ceilings {
    /// The device's name as the driver gives it.
    pub device: &'static str,
    /// Device-to-device copy, bytes read plus bytes written a second; the largest of all sizes.
    pub copy_bytes_per_s: f64,
    /// Bytes a second of a kernel that only reads.
    pub read_bytes_per_s: f64,
    /// FP32 fused multiply-adds of a library matrix product, as a share of the FMA pipe's peak.
    pub fma_share: f64,
}

/// Measured devices. The H200: device-to-device copy of 2^32 bytes 4.29 TB/s, PyTorch's sum of
/// floats over 2^32 bytes 4.36 TB/s, cuBLAS FP32 at 4096 and up 51.1 of 66.9 TFLOP/s.
const MEASURED: &[Ceilings] = &[Ceilings {
    device: "NVIDIA H200",
    copy_bytes_per_s: 4.29e12,
    read_bytes_per_s: 4.36e12,
    fma_share: 0.77,
}];

/// The share of the DRAM peak that a kernel reaches where the device was not measured: the H200's
/// read rate over its peak of 1504 B × 3.199 GHz. One device; `doctor --measure` replaces it.
pub const DRAM_SHARE_UNMEASURED: f64 = 4.36 / 4.81;

impl Ceilings {
    /// The measured ceilings of a device, by the name the driver gives it.
    #[must_use]
    pub fn of(device: &str) -> Option<&'static Self> {
        MEASURED.iter().find(|ceilings| ceilings.device == device)
    }
}
