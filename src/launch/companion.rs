//! Other code on a plan's memory: its variants, and itself at another size.

use std::mem::ManuallyDrop;

use cudarc::driver::{CudaFunction, sys};

use super::texture::Textures;
use super::{Device, Prepared, device, is_stuck, load};
use crate::error::{Error, Result};
use crate::plan::{Plan, PlannedLaunch};

/// A plan that is loaded and runs on the buffers of a [`Prepared`] one.
pub struct Companion {
    plan: Plan,
    on_device: ManuallyDrop<OnDevice>,
}

/// What a companion holds on the device beside the memory that it shares.
struct OnDevice {
    functions: Vec<CudaFunction>,
    textures: Textures,
}

impl Drop for Companion {
    fn drop(&mut self) {
        if !is_stuck() {
            // SAFETY: dropped once, here, and not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.on_device) };
        }
    }
}

impl Companion {
    /// The plan, its buffer arguments those of the plan whose memory it uses.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
}

/// How a launch fills an SM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Residency {
    /// Blocks of the launch.
    pub blocks: u64,
    /// Threads per block.
    pub threads_per_block: u32,
    /// Blocks that an SM holds.
    pub blocks_per_sm: u32,
    /// Dynamic shared memory that was added to each block, bytes.
    pub added_shared_bytes: u32,
}

impl Residency {
    fn threads_per_sm(&self) -> u32 {
        self.blocks_per_sm * self.threads_per_block
    }
}

/// Shared memory is given out in pieces of 128 bytes to 1 KiB, by architecture: adding a KiB at a
/// time misses no number of blocks that can be had.
const SHARED_STEP: u32 = 1024;

impl Prepared {
    /// Loads a plan that is to run on this one's buffers: each of its buffers must be here, and be as
    /// large at least.
    ///
    /// # Errors
    /// As [`Prepared::new`], and [`Error::Usage`] where a buffer is missing or too small.
    pub fn companion(&self, device: &Device, mut plan: Plan) -> Result<Companion> {
        let places = plan
            .buffers
            .iter()
            .map(|wanted| {
                let mut here = self.plan.buffers.iter();
                here.position(|own| own.name == wanted.name && own.bytes() >= wanted.bytes())
            })
            .collect::<Vec<_>>();
        for argument in plan.launches.iter_mut().flat_map(|launch| &mut launch.arguments) {
            let Some(index) = argument.buffer_mut() else { continue };
            let Some(place) = places.get(*index).copied().flatten() else {
                let name = plan.buffers.get(*index).map_or("?", |buffer| buffer.name.as_str());
                return Err(Error::Usage(format!(
                    "{}/{}: the step has no buffer `{name}` of this size, so a comparison can't run on it",
                    plan.ladder, plan.step
                )));
            };
            *index = place;
        }
        let functions = load(device, &plan)?;
        let textures = Textures::new(&self.plan.buffers, &plan.launches, |buffer| {
            self.on_device.address(buffer)
        })?;
        let on_device = ManuallyDrop::new(OnDevice { functions, textures });
        Ok(Companion { plan, on_device })
    }

    /// Launches a companion once and waits for it. Returns the time between events around it, ns.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_companion(&self, companion: &Companion) -> Result<f64> {
        self.between_events(|| self.queue(companion))
    }

    /// Puts a companion's launches on the stream.
    pub(super) fn queue(&self, companion: &Companion) -> Result<()> {
        let OnDevice { functions, textures } = &*companion.on_device;
        let mut launches = companion.plan.launches.iter().zip(functions);
        launches.try_for_each(|(launch, function)| self.launch(launch, function, textures))
    }

    /// How each launch fills an SM.
    ///
    /// # Errors
    /// [`Error::Kernel`] where the driver refuses to say.
    pub fn residencies(&self) -> Result<Vec<Residency>> {
        let launches = self.plan.launches.iter().zip(&self.on_device.functions);
        launches
            .map(|(launch, function)| residency(launch, function, launch.shared_bytes))
            .collect()
    }

    /// Adds dynamic shared memory to the plan's launches until an SM holds no more threads of each
    /// than of the other plan's launch in its place (its last one for those beyond), as far as a
    /// block may have that much. Returns how its launches fill an SM then.
    ///
    /// # Errors
    /// As [`residencies`](Self::residencies).
    pub fn match_occupancy(
        &mut self,
        device: &Device,
        wanted: &[Residency],
    ) -> Result<Vec<Residency>> {
        matched(device, &mut self.plan, &self.on_device.functions, wanted)
    }
}

impl Companion {
    /// The same for a companion.
    ///
    /// # Errors
    /// As [`Prepared::residencies`].
    pub fn match_occupancy(
        &mut self,
        device: &Device,
        wanted: &[Residency],
    ) -> Result<Vec<Residency>> {
        matched(device, &mut self.plan, &self.on_device.functions, wanted)
    }
}

fn matched(
    device: &Device,
    plan: &mut Plan,
    functions: &[CudaFunction],
    wanted: &[Residency],
) -> Result<Vec<Residency>> {
    let mut found = Vec::new();
    for (at, (launch, function)) in plan.launches.iter_mut().zip(functions).enumerate() {
        let most = wanted.get(at).or(wanted.last()).map_or(u32::MAX, Residency::threads_per_sm);
        found.push(grow(device, launch, function, most)?);
    }
    Ok(found)
}

/// Grows a launch's shared memory until an SM holds no more than so many threads of it.
fn grow(
    device: &Device,
    launch: &mut PlannedLaunch,
    function: &CudaFunction,
    most_threads: u32,
) -> Result<Residency> {
    use sys::CUfunction_attribute_enum as Attribute;
    let own = launch.shared_bytes;
    let failed = |e| refused(launch, e);
    let fixed = function.get_attribute(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    let fixed = fixed.map_err(failed)?.max(0).cast_unsigned();
    let limit = device.most_shared_bytes().map_err(failed)?.saturating_sub(fixed).max(own);
    let mut now = residency(launch, function, own)?;
    if now.threads_per_sm() <= most_threads {
        return Ok(now);
    }
    // What a block may have must be raised before it is asked for; that alone changes nothing.
    function
        .set_attribute(
            Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            limit.cast_signed(),
        )
        .map_err(|e| refused(launch, e))?;
    while now.threads_per_sm() > most_threads && launch.shared_bytes + SHARED_STEP <= limit {
        launch.shared_bytes += SHARED_STEP;
        let next = residency(launch, function, own)?;
        // None at all is not fewer but too much.
        if next.blocks_per_sm == 0 {
            launch.shared_bytes -= SHARED_STEP;
            break;
        }
        now = next;
    }
    Ok(now)
}

fn residency(
    launch: &PlannedLaunch,
    function: &CudaFunction,
    own_shared: u32,
) -> Result<Residency> {
    let threads_per_block = launch.block.iter().product();
    let shared = launch.shared_bytes as usize;
    let blocks_per_sm = function
        .occupancy_max_active_blocks_per_multiprocessor(threads_per_block, shared, None)
        .map_err(|e| refused(launch, e))?;
    Ok(Residency {
        blocks: launch.grid.iter().map(|extent| u64::from(*extent)).product(),
        threads_per_block,
        blocks_per_sm,
        added_shared_bytes: launch.shared_bytes.saturating_sub(own_shared),
    })
}

fn refused(launch: &PlannedLaunch, error: cudarc::driver::DriverError) -> Error {
    Error::Kernel(format!(
        "the driver does not say how many blocks of `{}` an SM holds: {}",
        launch.kernel,
        device::describe(error)
    ))
}
