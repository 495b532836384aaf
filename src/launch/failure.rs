//! What the driver refused, in words.

use cudarc::driver::{DriverError, sys};

use super::{Prepared, device};
use crate::error::Error;
use crate::plan::PlannedLaunch;

impl Prepared {
    /// A launch that the driver refused.
    pub(super) fn refused(&self, launch: &PlannedLaunch, e: DriverError) -> Error {
        let DriverError(code) = e;
        let why = match code {
            sys::cudaError_enum::CUDA_ERROR_INVALID_VALUE => {
                "; is a block over 1024 threads, or more shared memory asked for than a block \
                     may have?"
            }
            sys::cudaError_enum::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES => {
                "; the block needs more registers or shared memory than an SM has"
            }
            _ => "",
        };
        Error::Kernel(format!(
            "{}: launching `{}` with grid {:?} and block {:?} failed: {}{why}",
            self.plan.step,
            launch.kernel,
            launch.grid,
            launch.block,
            device::describe(e)
        ))
    }

    pub(super) fn failed(&self, doing: &str, error: DriverError) -> Error {
        let DriverError(code) = error;
        let step = format!("{}/{}", self.plan.ladder, self.plan.step);
        match code {
            sys::cudaError_enum::CUDA_ERROR_ILLEGAL_ADDRESS
            | sys::cudaError_enum::CUDA_ERROR_MISALIGNED_ADDRESS => Error::Kernel(format!(
                "{step}: the kernel accessed memory outside its buffers ({}); find the access with \
                 `compute-sanitizer adoprof step --ladder {} --kernel {} --time-only`",
                device::describe(error),
                self.plan.ladder,
                self.plan.step
            )),
            _ => Error::Kernel(format!("{step}: {doing} failed: {}", device::describe(error))),
        }
    }
}
