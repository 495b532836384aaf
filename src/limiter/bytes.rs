//! Bytes: how fast they move, how many instructions go with each, how many are in flight.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DeviceFigures;
use crate::device::{DeviceFacts, Quantity};
use crate::hardware::WARP_LANES;

/// Bytes per second from both points of view (GTC 2010: "from the application's" and "from the
/// hardware's").
#[expect(clippy::struct_field_names, reason = "the JSON's keys, each with its unit")]
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Throughput {
    /// The bytes that the problem needs over the whole kernel's time.
    pub application_bytes_per_s: f64,
    /// The bytes that device memory moved, by the profile, over the same time; `None` without one.
    pub hardware_bytes_per_s: Option<f64>,
    /// What device memory could move: its theoretical rate, or the measured copy's where the driver
    /// does not give it.
    pub reachable_bytes_per_s: Option<f64>,
}

/// Rates of a kernel that takes `ns`, needs `application` bytes, and of which device memory moves
/// `hardware` bytes.
#[must_use]
pub(crate) fn throughput(
    ns: f64,
    application: f64,
    hardware: Option<f64>,
    device: &DeviceFigures,
    copy_bytes_per_s: Option<f64>,
) -> Throughput {
    let rate = |bytes: f64| bytes / ns.max(1.0) * 1e9;
    Throughput {
        application_bytes_per_s: rate(application),
        hardware_bytes_per_s: hardware.map(rate),
        reachable_bytes_per_s: device.peak_bytes_per_s.or(copy_bytes_per_s),
    }
}

/// Instructions per byte, as GTC 2010 counts them: 32 for each of a warp, over the bytes that device
/// memory moves.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Balance {
    /// Warp instructions, by the profile.
    pub instructions: f64,
    /// Bytes that device memory moved, by the profile.
    pub bytes: f64,
    /// Instructions of threads per byte.
    pub instructions_per_byte: f64,
    /// The same of a kernel that would keep issue slots and memory equally busy: fewer tend to be
    /// limited by memory, more by instructions.
    pub device_instructions_per_byte: f64,
}

/// The balance of a kernel with so many warp instructions and bytes of device memory. `None` where
/// the device's clock or rate is not known, or no byte moved.
#[must_use]
pub(crate) fn balance(
    instructions: f64,
    bytes: f64,
    device: &DeviceFigures,
    reachable_bytes_per_s: Option<f64>,
) -> Option<Balance> {
    let rate = reachable_bytes_per_s.filter(|rate| *rate > 0.0)?;
    // Each scheduler starts a warp instruction per cycle.
    let schedulers = f64::from(device.sm_count) * facts(device).get(Quantity::Schedulers)?;
    let issued_per_s = schedulers * WARP_LANES * device.clock_hz?;
    (bytes > 0.0).then(|| Balance {
        instructions,
        bytes,
        instructions_per_byte: WARP_LANES * instructions / bytes,
        device_instructions_per_byte: issued_per_s / rate,
    })
}

/// Bytes in flight by Little's law: latency times rate (GTC 2010, "Optimizing access concurrency").
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InFlight {
    /// Cycles from a load to its data from an idle DRAM.
    pub latency_cycles: f64,
    /// Bytes per SM that must be on their way for the full rate.
    pub needed_bytes_per_sm: f64,
    /// Bytes per SM that are on their way at the kernel's own rate, on average.
    pub achieved_bytes_per_sm: f64,
    /// Threads that an SM holds.
    pub threads_per_sm: u32,
}

impl InFlight {
    /// Bytes that each resident thread must have on their way for the full rate.
    #[must_use]
    pub fn needed_per_thread(&self) -> f64 {
        self.needed_bytes_per_sm / f64::from(self.threads_per_sm.max(1))
    }

    /// Bytes that each resident thread has on their way, on average.
    #[must_use]
    pub fn achieved_per_thread(&self) -> f64 {
        self.achieved_bytes_per_sm / f64::from(self.threads_per_sm.max(1))
    }
}

/// What is known of the device beyond its driver's figures.
fn facts(device: &DeviceFigures) -> Arc<DeviceFacts> {
    DeviceFacts::of(Some(&device.name), Some(device.compute_capability))
}

/// Bytes in flight of a kernel of which an SM holds so many threads. The kernel's rate is the
/// hardware's where it is known, the application's elsewhere.
#[must_use]
pub(crate) fn in_flight(
    rates: &Throughput,
    device: &DeviceFigures,
    threads_per_sm: u32,
) -> Option<InFlight> {
    let latency_cycles = facts(device).get(Quantity::DramLatency)?;
    let latency_s = latency_cycles / device.clock_hz.filter(|hz| *hz > 0.0)?;
    let sms = f64::from(device.sm_count.max(1));
    let rate = rates.hardware_bytes_per_s.unwrap_or(rates.application_bytes_per_s);
    Some(InFlight {
        latency_cycles,
        needed_bytes_per_sm: latency_s * rates.reachable_bytes_per_s? / sms,
        achieved_bytes_per_sm: latency_s * rate / sms,
        threads_per_sm,
    })
}
