//! Building and launching a plan on a device: the only module that talks to the CUDA driver.
#![expect(unsafe_code, reason = "kernel launches and raw device memory; every call is commented")]

mod arguments;
pub mod cache;
mod companion;
mod copy_rate;
pub mod cubin;
mod device;
mod device_place;
mod failure;
mod interleaved;
pub mod library;
mod memory;
mod module;
pub mod nvrtc;
mod peer;
mod replay;
mod stretch;
mod stuck;
mod texture;
mod timing;
mod transfer;

use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cudarc::driver::{CudaEvent, CudaFunction, CudaSlice, CudaStream, DevicePtr, sys};

use crate::error::{Error, Result};
use crate::interrupt;
use crate::plan::{Place, Plan};

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
pub use stuck::{is_stuck, leave_if_stuck};
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

impl Drop for Prepared {
    fn drop(&mut self) {
        if !is_stuck() {
            // SAFETY: dropped once, here, and not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.on_device) };
        }
    }
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

    /// Waits for an event by polling, so that Ctrl-C and the limit are seen while a kernel hangs.
    fn wait(&self, event: &CudaEvent) -> Result<()> {
        let start = Instant::now();
        loop {
            if event.try_is_complete().map_err(|e| self.failed("running", e))? {
                return Ok(());
            }
            if interrupt::requested() {
                stuck::give_up();
                return Err(interrupt::error());
            }
            let waited = start.elapsed();
            if waited > self.limit {
                stuck::give_up();
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
}
