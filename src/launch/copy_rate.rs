//! The device's copy rate, the yardstick for memory-bound steps.

use cudarc::driver::{DevicePtr, DevicePtrMut, result, sys};

use super::{Device, median_and_range};
use crate::error::{Error, Result};

/// Copies this many bytes from one half to the other; large enough that the rate has settled
/// (4.10 TB/s at 2^28 bytes on an H200, 4.29 at 2^32).
const MOST_BYTES: u64 = 1 << 32;

impl Device {
    /// Bytes read plus bytes written per second of a device-to-device copy: the median of ten.
    ///
    /// # Errors
    /// [`Error::Environment`] where the device has no memory for it.
    pub fn copy_rate(&self) -> Result<f64> {
        let bytes = (self.free_bytes / 8).min(MOST_BYTES) as usize;
        let stream = self.context.default_stream();
        let failed = |e| {
            Error::Environment(format!(
                "measuring the copy rate failed: {}",
                super::device::describe(e)
            ))
        };
        // SAFETY: the contents don't matter; both are only copied.
        let from = unsafe { stream.alloc::<u8>(bytes) }.map_err(failed)?;
        // SAFETY: as above.
        let mut to = unsafe { stream.alloc::<u8>(bytes) }.map_err(failed)?;
        let mut times_ns = Vec::new();
        for _ in 0..13 {
            let flags = Some(sys::CUevent_flags::CU_EVENT_DEFAULT);
            let start = stream.record_event(flags).map_err(failed)?;
            {
                let (source, _read) = from.device_ptr(&stream);
                let (target, _write) = to.device_ptr_mut(&stream);
                // SAFETY: both allocations have `bytes` bytes.
                unsafe { result::memcpy_dtod_async(target, source, bytes, stream.cu_stream()) }
                    .map_err(failed)?;
            }
            let end = stream.record_event(flags).map_err(failed)?;
            times_ns.push(f64::from(start.elapsed_ms(&end).map_err(failed)?) * 1e6);
        }
        // The first three warm the clocks up.
        Ok(2.0 * bytes as f64 / (median_and_range(&times_ns[3..]).median * 1e-9))
    }
}
