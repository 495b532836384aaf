//! The device: opening it, and what it says of itself.

use std::sync::Arc;

use cudarc::driver::{CudaContext, DriverError, sys};

use crate::error::{Error, Result};
use crate::plan::Plan;
use crate::text;

/// An opened CUDA device.
pub struct Device {
    /// The primary context.
    pub(super) context: Arc<CudaContext>,
    /// The name the driver gives it.
    pub name: String,
    /// Its UUID as NVIDIA's tools print it.
    pub uuid: String,
    /// Compute capability, major and minor.
    pub compute_capability: (u32, u32),
    /// Multiprocessors.
    pub sm_count: u32,
    /// L2 cache, bytes.
    pub l2_bytes: u64,
    /// Device memory, bytes.
    pub memory_bytes: u64,
    /// Device memory that is free now, bytes.
    pub free_bytes: u64,
    /// The CUDA version that the driver supports, as in `13.0`.
    pub cuda_version: String,
}

/// The driver's text of an error code, with its name.
pub(super) fn describe(error: DriverError) -> String {
    let name = error.error_name().map(|text| text.to_string_lossy().into_owned());
    let meaning = error.error_string().map(|text| text.to_string_lossy().into_owned());
    match (name, meaning) {
        (Ok(name), Ok(meaning)) => format!("{meaning} ({name})"),
        _ => format!("{error:?}"),
    }
}

/// The CUDA version that the driver supports, major and minor; `None` without a driver.
#[must_use]
pub fn driver_version() -> Option<(u32, u32)> {
    // SAFETY: only tries to open the library.
    if !unsafe { sys::is_culib_present() } {
        return None;
    }
    let mut version = 0;
    // SAFETY: the library is open and the pointer valid.
    unsafe { sys::cuDriverGetVersion(&raw mut version) }.result().ok()?;
    Some((version as u32 / 1000, version as u32 % 1000 / 10))
}

/// A UUID as NVIDIA's tools print it: `GPU-00112233-4455-…`.
fn uuid(bytes: &[std::ffi::c_char; 16]) -> String {
    text::uuid(&bytes.map(|byte| byte as u8))
}

impl Device {
    /// True where a CUDA driver can be opened and has a device.
    #[must_use]
    pub fn is_present() -> bool {
        // SAFETY: only tries to open the library.
        (unsafe { sys::is_culib_present() })
            && CudaContext::device_count().is_ok_and(|count| count > 0)
    }

    /// How many devices there are; 0 without a driver.
    ///
    /// # Errors
    /// [`Error::Environment`] where the driver can't say.
    pub fn count() -> Result<usize> {
        // SAFETY: only tries to open the library.
        if !unsafe { sys::is_culib_present() } {
            return Ok(0);
        }
        let count = CudaContext::device_count().map_err(|e| no_device(&describe(e)))?;
        Ok(count.max(0) as usize)
    }

    /// Opens a device by its number.
    ///
    /// # Errors
    /// [`Error::Environment`] without a driver or a device, [`Error::Usage`] for a number beyond the
    /// last.
    pub fn open(ordinal: usize) -> Result<Self> {
        // SAFETY: only tries to open the library.
        if !unsafe { sys::is_culib_present() } {
            return Err(Error::Environment(
                "no CUDA driver was found (libcuda.so): install NVIDIA's driver; recorded steps \
                 (--recorded) and `adoprof analyze` need none"
                    .to_owned(),
            ));
        }
        let count = Self::count()?;
        if count == 0 {
            return Err(no_device("the driver lists none"));
        }
        if ordinal >= count {
            return Err(Error::Usage(format!(
                "there is no device {ordinal}: this machine has {count}, numbered from 0"
            )));
        }
        let context = CudaContext::new(ordinal).map_err(|e| no_device(&describe(e)))?;
        Self::read(context).map_err(|e| no_device(&describe(e)))
    }

    fn read(context: Arc<CudaContext>) -> std::result::Result<Self, DriverError> {
        use sys::CUdevice_attribute_enum as Attribute;
        let (major, minor) = context.compute_capability()?;
        let (free, total) = context.mem_get_info()?;
        let (cuda_major, cuda_minor) = driver_version().unwrap_or_default();
        Ok(Self {
            name: context.name()?,
            uuid: uuid(&context.uuid()?.bytes),
            compute_capability: (major as u32, minor as u32),
            sm_count: context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?
                as u32,
            l2_bytes: context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)? as u64,
            memory_bytes: total as u64,
            free_bytes: free as u64,
            cuda_version: format!("{cuda_major}.{cuda_minor}"),
            context,
        })
    }

    /// The most shared memory that a block may have where it asks for it, bytes.
    pub(super) fn most_shared_bytes(&self) -> std::result::Result<u32, DriverError> {
        use sys::CUdevice_attribute_enum as Attribute;
        let bytes = self
            .context
            .attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
        Ok(bytes.max(0).cast_unsigned())
    }

    /// The highest SM clock, Hz; `None` where the driver does not say.
    #[must_use]
    pub fn clock_hz(&self) -> Option<f64> {
        use sys::CUdevice_attribute_enum as Attribute;
        let khz = self.context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE).ok()?;
        (khz > 0).then(|| 1e3 * f64::from(khz))
    }

    /// The memory's theoretical rate in bytes per second: two transfers per clock over the width of its
    /// bus. `None` where the driver does not say.
    #[must_use]
    pub fn peak_bytes_per_s(&self) -> Option<f64> {
        use sys::CUdevice_attribute_enum as Attribute;
        let attribute = |which| self.context.attribute(which).ok().filter(|value| *value > 0);
        let khz = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?;
        let bits = attribute(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?;
        Some(2.0 * 1e3 * f64::from(khz) * f64::from(bits) / 8.0)
    }

    /// Refuses a problem that does not fit the device's free memory.
    pub(super) fn check_memory(&self, needed_bytes: u64, plan: &Plan) -> Result<()> {
        if needed_bytes <= self.free_bytes {
            return Ok(());
        }
        Err(Error::Usage(format!(
            "{}/{} needs {} of device memory at this size, and {} has {} free; make the problem \
             smaller with --size",
            plan.ladder,
            plan.step,
            text::bytes(needed_bytes as f64),
            self.name,
            text::bytes(self.free_bytes as f64),
        )))
    }
}

fn no_device(why: &str) -> Error {
    Error::Environment(format!(
        "no CUDA device can be used: {why}; use --recorded for the profile that ships with adoprof"
    ))
}
