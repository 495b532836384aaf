//! A captured launch: its memory where it lay in the program, its parameters, and the launch itself.

use std::ffi::c_void;
use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaStream, DevicePtr, DriverError, result, sys};

use super::device::{self, Device};
use super::memory::Memory;
use super::stretch::{self, Stretch};
use super::{OnDevice, Prepared};
use crate::captured::{Launch, Replay};
use crate::error::{Error, Result};
use crate::plan::PlannedLaunch;

/// What every context has as a stack, bytes per thread.
const USUAL_STACK: u64 = 1024;

/// The machine code, which runs on devices of one compute capability.
///
/// # Errors
/// [`Error::Environment`] on another device, [`Error::Input`] where the file can't be read.
pub(super) fn code(device: &Device, replay: &Replay) -> Result<Vec<u8>> {
    let launch = &replay.launch;
    let [major, minor] = launch.compute_capability;
    if device.compute_capability.0 != major || device.compute_capability.1 < minor {
        let (has_major, has_minor) = device.compute_capability;
        return Err(Error::Environment(format!(
            "the launch was captured on {} (compute capability {major}.{minor}), and its machine code does not run \
             on {} ({has_major}.{has_minor})",
            launch.device, device.name
        )));
    }
    replay.code()
}

/// Lets a kernel have what the program allowed it.
pub(super) fn prepare(function: &CudaFunction, replay: &Replay) -> Result<()> {
    use sys::CUfunction_attribute_enum as Of;
    let launch = &replay.launch;
    let set = |attribute, value| {
        function.set_attribute(attribute, value).map_err(|e| {
            Error::Kernel(format!(
                "`{}` can't have what it had in the program: {}",
                launch.kernel,
                device::describe(e)
            ))
        })
    };
    if launch.most_shared_bytes > 48 * 1024 {
        set(Of::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, launch.most_shared_bytes)?;
    }
    if launch.carveout_percent >= 0 {
        set(Of::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, launch.carveout_percent)?;
    }
    if launch.any_cluster {
        set(Of::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)?;
    }
    Ok(())
}

/// The memory of a launch where it lay in the program; elsewhere only if no memory points into it.
///
/// # Errors
/// [`Error::Environment`] where the addresses can't be had and are needed, or the device has too little memory.
pub(super) fn memory(
    device: &Device,
    stream: &Arc<CudaStream>,
    replay: &Replay,
    function: Option<&CudaFunction>,
) -> Result<Vec<Memory>> {
    let launch = &replay.launch;
    if launch.stack_bytes > USUAL_STACK {
        let limit = sys::CUlimit::CU_LIMIT_STACK_SIZE;
        device.context.set_limit(limit, launch.stack_bytes as usize).map_err(refused)?;
    }
    let places = launch.memory.iter().filter(|memory| memory.variable.is_none());
    let places: Vec<_> = places.map(|memory| (memory.address, memory.bytes)).collect();
    let stretches = match stretch::place(device, &places) {
        Ok(stretches) => stretches.into_iter().map(Arc::new).collect(),
        Err(problem) if launch.inner_pointers > 0 => {
            return Err(Error::Environment(format!(
                "memory of the launch holds pointers into itself, so that it must lie where it did, and the driver \
                 does not give these addresses ({problem}); run it again, since what is taken changes from run to run"
            )));
        }
        Err(_) => Vec::new(),
    };
    let mut all = Vec::new();
    for memory in &launch.memory {
        let bytes = memory.bytes as usize;
        if let Some(variable) = &memory.variable {
            let found = function.and_then(|function| of_module(function, variable));
            if let Some((address, _)) = found.filter(|(_, size)| *size >= bytes) {
                all.push(Memory::part(stream, address, bytes, None));
                continue;
            }
        }
        let holds = |stretch: &&Arc<Stretch>| stretch.holds(memory.address, memory.bytes);
        all.push(match stretches.iter().find(holds) {
            Some(stretch) => Memory::part(stream, memory.address, bytes, Some(Arc::clone(stretch))),
            None => Memory::on_device(stream, bytes).map_err(refused)?,
        });
    }
    Ok(all)
}

/// Where a variable of the function's module lies, and its size.
fn of_module(function: &CudaFunction, variable: &str) -> Option<(sys::CUdeviceptr, usize)> {
    let name = std::ffi::CString::new(variable).ok()?;
    let mut module = std::ptr::null_mut();
    let (mut address, mut size) = (0, 0);
    // SAFETY: the function is loaded, the name ends with a zero, and the places are filled.
    unsafe {
        sys::cuFuncGetModule(&raw mut module, function.cu_function()).result().ok()?;
        sys::cuModuleGetGlobal_v2(&raw mut address, &raw mut size, module, name.as_ptr())
            .result()
            .ok()?;
    }
    Some((address, size))
}

/// The parameters, with pointers to memory that lies elsewhere now set right; `address` says where a buffer lies.
pub(super) fn parameters(launch: &Launch, address: impl Fn(usize) -> u64) -> Vec<Vec<u8>> {
    let moved = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        for word in bytes.chunks_exact_mut(8) {
            let Ok(value) = <[u8; 8]>::try_from(&*word) else { continue };
            if let Some((buffer, offset)) = launch.place(u64::from_le_bytes(value)) {
                word.copy_from_slice(&(address(buffer) + offset).to_le_bytes());
            }
        }
        bytes
    };
    launch.parameters.iter().map(|parameter| moved(&parameter.bytes)).collect()
}

fn refused(error: DriverError) -> Error {
    Error::Environment(format!(
        "the device could not give the memory of the captured launch: {}",
        device::describe(error)
    ))
}

/// An attribute of a launch in the driver's form.
#[repr(C, align(8))]
struct Attribute {
    number: u32,
    padding: u32,
    value: [u8; crate::captured::ATTRIBUTE_BYTES],
}

/// The driver's number of the attribute that makes a launch cooperative.
const COOPERATIVE: u32 = 2;

impl Prepared {
    /// Keeps what a captured launch changes, so that it can be put back.
    pub(super) fn remember(&mut self, buffer: usize) -> Result<()> {
        let changes = |replay: &Replay| {
            replay.launch.memory.get(buffer).is_some_and(|memory| memory.after.is_some())
        };
        if !self.plan.captured.as_ref().is_some_and(changes) {
            return Ok(());
        }
        let OnDevice { stream, buffers, before, .. } = &mut *self.on_device;
        let copy = stream.clone_dtod(&*buffers[buffer]).map_err(refused)?;
        stream.synchronize().map_err(refused)?;
        before.insert(buffer, copy);
        Ok(())
    }

    /// Puts back what a captured launch changed; does nothing for other plans.
    pub(super) fn restore(&self) -> Result<()> {
        let OnDevice { stream, before, .. } = &*self.on_device;
        for (buffer, copy) in before {
            let (from, _guard) = copy.device_ptr(stream);
            let to = self.on_device.address(*buffer);
            // SAFETY: both are live allocations of this length.
            unsafe { result::memcpy_dtod_async(to, from, copy.len(), stream.cu_stream()) }
                .map_err(|e| self.failed("putting back what the launch changed", e))?;
        }
        Ok(())
    }

    /// Makes a captured launch.
    pub(super) fn replay(
        &self,
        launch: &PlannedLaunch,
        function: &CudaFunction,
        replay: &Replay,
    ) -> Result<()> {
        let captured = &replay.launch;
        let attribute = |number, value: &[u8]| {
            let mut filled = [0; crate::captured::ATTRIBUTE_BYTES];
            for (place, byte) in filled.iter_mut().zip(value) {
                *place = *byte;
            }
            Attribute { number, padding: 0, value: filled }
        };
        let own = captured.attributes.iter();
        let mut attributes: Vec<Attribute> =
            own.map(|one| attribute(one.number, &one.value)).collect();
        if captured.cooperative {
            attributes.push(attribute(COOPERATIVE, &1_u32.to_le_bytes()));
        }
        let config = sys::CUlaunchConfig_st {
            gridDimX: launch.grid[0],
            gridDimY: launch.grid[1],
            gridDimZ: launch.grid[2],
            blockDimX: launch.block[0],
            blockDimY: launch.block[1],
            blockDimZ: launch.block[2],
            sharedMemBytes: launch.shared_bytes,
            hStream: self.on_device.stream.cu_stream(),
            attrs: attributes.as_mut_ptr().cast(),
            numAttrs: attributes.len() as u32,
        };
        let parameters = self.on_device.parameters.iter();
        let mut parameters: Vec<*mut c_void> =
            parameters.map(|bytes| bytes.as_ptr().cast_mut().cast()).collect();
        self.on_device
            .stream
            .context()
            .bind_to_thread()
            .map_err(|e| self.failed("launching", e))?;
        // SAFETY: the parameters are those of the captured launch, in order and size those of the kernel; they, the
        // attributes and the memory outlive the call. Code that takes others faults, which comes back as an error.
        unsafe {
            sys::cuLaunchKernelEx(
                &raw const config,
                function.cu_function(),
                parameters.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        }
        .result()
        .map_err(|e| self.refused(launch, e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_follow_their_memory_and_numbers_stay() {
        let text = r#"
            kernel = "k"
            name = "k"
            program = "p"
            number = 1
            original_ns = 1.0
            typical_ns = 1.0
            device = "d"
            compute_capability = [9, 0]
            date = ""
            code = "kernel.cubin"
            grid = [1, 1, 1]
            block = [1, 1, 1]
            shared_bytes = 0
            cooperative = false
            stack_bytes = 1024
            most_shared_bytes = 0
            carveout_percent = -1
            any_cluster = false
            inner_pointers = 0
            parameters = [{ bytes = "10000000007f0000" }, { bytes = "07000000" }, { bytes = "0100000000000000ff0f0000007f0000" }]
            memory = [{ name = "m0", address = "0x7f0000000000", bytes = 4096, before = "m" }]
        "#;
        let launch = Launch::parse(text).unwrap();
        let parameters = parameters(&launch, |buffer| 0x1_0000_0000 + buffer as u64);
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
        assert_eq!(word(&parameters[0]), 0x1_0000_0010);
        assert_eq!(parameters[1], [7, 0, 0, 0]);
        assert_eq!((word(&parameters[2][..8]), word(&parameters[2][8..])), (1, 0x1_0000_0fff));
    }
}
