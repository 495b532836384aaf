//! Building and launching a plan on a device: the only module that talks to the CUDA driver.
#![expect(unsafe_code, reason = "kernel launches and raw device memory; every call is commented")]

pub mod cache;
mod companion;
mod copy_rate;
pub mod cubin;
mod device;
mod device_place;
mod interleaved;
pub mod library;
mod memory;
mod module;
pub mod nvrtc;
mod peer;
mod replay;
mod stretch;
mod texture;
mod timing;

use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cudarc::driver::{
    CudaEvent, CudaFunction, CudaSlice, CudaStream, DevicePtr, DriverError, LaunchConfig,
    PushKernelArg, result, sys,
};

use crate::error::{Error, Result};
use crate::interrupt;
use crate::plan::{Argument, DType, Place, Plan, PlannedLaunch};
use crate::problem::buffer::poison_byte;

use memory::Memory;
use module::load;
use peer::Peer;
use texture::Textures;

pub use companion::{Companion, Residency};
pub use device::{Device, driver_version};
pub(crate) use device_place::{DeviceLock, device_folder};
pub(crate) use interleaved::MOST_READINGS;
pub use interleaved::{Candidate, Interleaved};
pub use module::place_source;
pub use timing::{Repetitions, median_and_range};

/// A plan on a device: module loaded, buffers allocated.
pub struct Prepared {
    plan: Plan,
    limit: Duration,
    on_device: ManuallyDrop<OnDevice>,
}

/// What a plan holds on the device.
struct OnDevice {
    stream: Arc<CudaStream>,
    functions: Vec<CudaFunction>,
    /// Before the buffers that they are views of, so that they are given back first.
    textures: Textures,
    buffers: Vec<Memory>,
    /// What a captured launch changes, as it was before: buffers by their place.
    before: BTreeMap<usize, CudaSlice<u8>>,
    /// The parameters of a captured launch, in their order.
    parameters: Vec<Vec<u8>>,
}

impl OnDevice {
    /// Where a buffer starts, as the device sees it.
    fn address(&self, buffer: usize) -> u64 {
        self.buffers[buffer].device_ptr(&self.stream).0
    }
}

/// True once a kernel was given up while it still ran. Giving its memory or its context back would
/// wait for it, so both are left to the end of the process.
static STUCK: AtomicBool = AtomicBool::new(false);

/// True once a kernel was given up while it still ran.
#[must_use]
pub fn is_stuck() -> bool {
    STUCK.load(Ordering::Relaxed)
}

/// Ends the process with this code where a kernel that was given up still runs: the usual way out
/// closes the driver, which would wait for the kernel. Everything else must be done by then.
pub fn leave_if_stuck(code: i32) {
    if is_stuck() {
        // SAFETY: ends the process without running anything more of it.
        #[cfg(unix)]
        unsafe {
            libc::_exit(code);
        }
        #[cfg(not(unix))]
        std::process::abort();
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        if !is_stuck() {
            // SAFETY: dropped once, here, and not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.on_device) };
        }
    }
}

/// A kernel argument in the form the driver wants it: something to point at.
enum Scalar {
    F32(f32),
    F64(f64),
    I32(i32),
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64),
}

impl Prepared {
    /// Compiles the plan's source, loads it and allocates its buffers. `limit` is the longest that
    /// one run may take before it is given up.
    ///
    /// # Errors
    /// [`Error::Kernel`] where the source does not compile or lacks a kernel, [`Error::Environment`]
    /// without NVRTC or without a second device where a buffer lies in one's memory,
    /// [`Error::Usage`] where the problem does not fit the device's memory.
    pub fn new(device: &Device, plan: Plan, limit: Duration) -> Result<Self> {
        let own = plan.buffers.iter().filter(|buffer| buffer.place == Place::Device);
        device.check_memory(own.map(crate::plan::Buffer::bytes).sum(), &plan)?;
        let peer = match plan.buffers.iter().find(|buffer| buffer.place == Place::Peer) {
            Some(buffer) => Some(Peer::of(device, &buffer.name)?),
            None => None,
        };
        let functions = load(device, &plan)?;
        let stream = device.context.default_stream();
        let mut parameters = Vec::new();
        let allocated = || {
            plan.buffers
                .iter()
                .map(|buffer| {
                    let bytes = buffer.bytes().max(1) as usize;
                    let (memory, giver) = match (buffer.place, &peer) {
                        (Place::Host, _) => (Memory::on_host(&stream, bytes), "host"),
                        (Place::Peer, Some(peer)) => {
                            (Memory::on_peer(&stream, peer, bytes), "other device")
                        }
                        _ => (Memory::on_device(&stream, bytes), "device"),
                    };
                    memory.map_err(|e| {
                        Error::Environment(format!(
                            "the {giver} could not give {} for `{}`: {e}",
                            crate::text::bytes(buffer.bytes() as f64),
                            buffer.name
                        ))
                    })
                })
                .collect::<Result<Vec<_>>>()
        };
        let buffers = match &plan.captured {
            Some(replay) => {
                let buffers = replay::memory(device, &stream, replay, functions.first())?;
                parameters = replay::parameters(&replay.launch, |buffer| {
                    buffers[buffer].device_ptr(&stream).0
                });
                buffers
            }
            None => allocated()?,
        };
        let textures = Textures::new(&plan.buffers, &plan.launches, |buffer| {
            buffers[buffer].device_ptr(&stream).0
        })?;
        let before = BTreeMap::new();
        let on_device = OnDevice { stream, functions, textures, buffers, before, parameters };
        let on_device = ManuallyDrop::new(on_device);
        Ok(Self { plan, limit, on_device })
    }

    /// The plan that is prepared.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Copies host bytes to a buffer and returns how long the copy took.
    ///
    /// # Errors
    /// [`Error::Kernel`] where the driver refuses.
    pub fn upload(&mut self, buffer: usize, bytes: &[u8]) -> Result<Duration> {
        let start = Instant::now();
        let stream = self.on_device.stream.clone();
        if let Some(place) = self.on_device.buffers[buffer].host_bytes() {
            let bytes = &bytes[..bytes.len().min(place.len())];
            place[..bytes.len()].copy_from_slice(bytes);
            return Ok(start.elapsed());
        }
        stream
            .memcpy_htod(bytes, &mut *self.on_device.buffers[buffer])
            .and_then(|()| stream.synchronize())
            .map_err(|e| self.failed("copying an input to the device", e))?;
        let spent = start.elapsed();
        self.remember(buffer)?;
        Ok(spent)
    }

    /// Copies a buffer back and returns it with how long the copy took.
    ///
    /// # Errors
    /// [`Error::Kernel`] where the driver refuses.
    pub fn download(&self, buffer: usize) -> Result<(Vec<u8>, Duration)> {
        let start = Instant::now();
        let mut bytes = vec![0_u8; self.on_device.buffers[buffer].len()];
        self.on_device
            .stream
            .memcpy_dtoh(&*self.on_device.buffers[buffer], &mut bytes)
            .and_then(|()| self.on_device.stream.synchronize())
            .map_err(|e| self.failed("copying the output back", e))?;
        Ok((bytes, start.elapsed()))
    }

    /// Fills outputs and scratch memory with NaN or unlikely integers, so that a kernel
    /// that forgets an element can't pass by luck.
    ///
    /// # Errors
    /// [`Error::Kernel`] where the driver refuses.
    pub fn poison(&mut self) -> Result<()> {
        use crate::plan::Role;
        use cudarc::driver::DevicePtrMut;
        for (index, buffer) in self.plan.buffers.iter().enumerate() {
            if !matches!(buffer.role, Role::Output | Role::Scratch) {
                continue;
            }
            let stream = self.on_device.stream.clone();
            let bytes = self.on_device.buffers[index].len();
            let (pointer, _guard) = self.on_device.buffers[index].device_ptr_mut(&stream);
            // SAFETY: the pointer and the length are of one live allocation.
            unsafe {
                result::memset_d8_async(
                    pointer,
                    poison_byte(buffer.dtype),
                    bytes,
                    stream.cu_stream(),
                )
            }
            .map_err(|e| Error::Kernel(format!("poisoning `{}`: {e}", buffer.name)))?;
        }
        Ok(())
    }

    /// Launches the whole step once and waits for it. Returns the time between events around it, ns.
    ///
    /// # Errors
    /// [`Error::Kernel`] where a launch is refused or a kernel faults, [`Error::Interrupted`] on
    /// Ctrl-C or where the run exceeds the limit.
    pub fn run(&self) -> Result<f64> {
        self.run_plan(&self.plan)
    }

    /// Like [`run`](Self::run) with the launch shapes and scalars of another plan of the same step:
    /// a smaller problem in the same, larger buffers.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_plan(&self, plan: &Plan) -> Result<f64> {
        self.between_events(|| {
            for (launch, function) in plan.launches.iter().zip(&self.on_device.functions) {
                self.launch(launch, function, &self.on_device.textures)?;
            }
            Ok(())
        })
    }

    /// Puts work on the stream and waits for it. Returns the time between events around it, ns.
    fn between_events(&self, work: impl FnOnce() -> Result<()>) -> Result<f64> {
        let event = || {
            self.on_device
                .stream
                .context()
                .new_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT))
                .map_err(|e| self.failed("timing", e))
        };
        let (start, end) = (event()?, event()?);
        start.record(&self.on_device.stream).map_err(|e| self.failed("timing", e))?;
        work()?;
        end.record(&self.on_device.stream).map_err(|e| self.failed("timing", e))?;
        self.wait(&end)?;
        start.elapsed_ms(&end).map(|ms| f64::from(ms) * 1e6).map_err(|e| self.failed("timing", e))
    }

    /// Runs the step once inside the CUDA profiler's range, for ncu.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_profiled(&self) -> Result<()> {
        cudarc::driver::safe::profiler_start()
            .map_err(|e| self.failed("opening the profiler range", e))?;
        let outcome = self.run();
        cudarc::driver::safe::profiler_stop()
            .map_err(|e| self.failed("closing the profiler range", e))?;
        outcome.map(|_| ())
    }

    fn launch(
        &self,
        launch: &PlannedLaunch,
        function: &CudaFunction,
        textures: &Textures,
    ) -> Result<()> {
        if let Some(replay) = &self.plan.captured {
            return self.replay(launch, function, replay);
        }
        let scalar = |argument: &Argument| match argument {
            Argument::Buffer(_) => None,
            Argument::Texture(texture) => Some(Scalar::U64(textures.object(*texture))),
            Argument::Scalar(dtype, value) => Some(scalar(*dtype, *value)),
        };
        let scalars: Vec<Option<Scalar>> = launch.arguments.iter().map(scalar).collect();
        let mut builder = self.on_device.stream.launch_builder(function);
        for (argument, scalar) in launch.arguments.iter().zip(&scalars) {
            match (argument, scalar) {
                (Argument::Buffer(index), _) => builder.arg(&*self.on_device.buffers[*index]),
                (_, Some(Scalar::F32(value))) => builder.arg(value),
                (_, Some(Scalar::F64(value))) => builder.arg(value),
                (_, Some(Scalar::I32(value))) => builder.arg(value),
                (_, Some(Scalar::U8(value))) => builder.arg(value),
                (_, Some(Scalar::U16(value))) => builder.arg(value),
                (_, Some(Scalar::U32(value))) => builder.arg(value),
                (_, Some(Scalar::U64(value))) => builder.arg(value),
                (_, None) => unreachable!("all but buffers are scalars"),
            };
        }
        let [gx, gy, gz] = launch.grid;
        let [bx, by, bz] = launch.block;
        let config = LaunchConfig {
            grid_dim: (gx, gy, gz),
            block_dim: (bx, by, bz),
            shared_mem_bytes: launch.shared_bytes,
        };
        // SAFETY: argument types and order are the manifest's promise; the buffers outlive the
        // launch. A wrong promise faults on the device and comes back as an error.
        unsafe { builder.launch(config) }.map(|_| ()).map_err(|e| self.refused(launch, e))
    }

    /// A launch that the driver refused.
    fn refused(&self, launch: &PlannedLaunch, e: DriverError) -> Error {
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

    /// Waits for an event by polling, so that Ctrl-C and the limit are seen while a kernel hangs.
    fn wait(&self, event: &CudaEvent) -> Result<()> {
        let start = Instant::now();
        loop {
            if event.try_is_complete().map_err(|e| self.failed("running", e))? {
                return Ok(());
            }
            if interrupt::requested() {
                STUCK.store(true, Ordering::Relaxed);
                return Err(interrupt::error());
            }
            let waited = start.elapsed();
            if waited > self.limit {
                STUCK.store(true, Ordering::Relaxed);
                return Err(Error::Interrupted(format!(
                    "{}: a run had not finished after {:.0} s and was abandoned; make the problem \
                     smaller with --size or allow more time with --timeout",
                    self.plan.step,
                    waited.as_secs_f64()
                )));
            }
            if waited > Duration::from_millis(2) {
                std::thread::sleep(Duration::from_micros(200));
            }
        }
    }

    fn failed(&self, doing: &str, error: DriverError) -> Error {
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

fn scalar(dtype: DType, value: f64) -> Scalar {
    match dtype {
        DType::F32 => Scalar::F32(value as f32),
        DType::F64 => Scalar::F64(value),
        DType::F16 => Scalar::U16(crate::problem::half::from_f64(value)),
        DType::I32 => Scalar::I32(value as i32),
        DType::U8 => Scalar::U8(value as u8),
        DType::U32 => Scalar::U32(value as u32),
        DType::U64 => Scalar::U64(value as u64),
    }
}
