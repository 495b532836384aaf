//! From a plan's source to the functions that it launches.

use std::path::{Path, PathBuf};

use cudarc::driver::{CudaFunction, sys};
use cudarc::nvrtc::Ptx;

use super::cache;
use super::device::{self, Device};
use super::{cubin, nvrtc};
use crate::error::{Error, Result};
use crate::files::write_atomically;
use crate::plan::{Plan, PlannedLaunch, Source};

/// Compiles a plan's source and loads it: the function of each launch.
pub(super) fn load(device: &Device, plan: &Plan) -> Result<Vec<CudaFunction>> {
    let path = place_source(&plan.source)?;
    let cubin = match plan.captured.as_ref().filter(|replay| !replay.has_own_code) {
        Some(replay) => super::replay::code(device, replay)?,
        None => nvrtc::compile(&nvrtc::Unit {
            text: &plan.source.text,
            path: &path,
            shown_as: &plan.source.name,
            flags: &plan.flags,
            compute_capability: device.compute_capability,
        })?,
    };
    let kernels = cubin::kernels(&cubin);
    let module = device
        .context
        .load_module(Ptx::from_binary(cubin))
        .map_err(|e| Error::Kernel(format!("{}: cannot be loaded: {e}", plan.source.name)))?;
    plan.launches
        .iter()
        .map(|launch| {
            let refused = |problem: &str| Error::Kernel(format!("{}: {problem}", plan.source.name));
            let kernel =
                cubin::find(&kernels, &launch.kernel).map_err(|problem| refused(&problem))?;
            if let Some(replay) = &plan.captured
                && let Some(problem) =
                    replay.launch.misfit(&launch.kernel, kernel.parameters.as_deref())
            {
                // The driver would read beyond the parameters.
                return Err(refused(&problem));
            }
            let function = module
                .load_function(&kernel.symbol)
                .map_err(|e| refused(&format!("`{}` cannot be loaded: {e}", kernel.symbol)))?;
            allow_shared_memory(&function, launch)?;
            if let Some(replay) = &plan.captured {
                super::replay::prepare(&function, replay)?;
            }
            prefer_shared_memory(&function, plan)?;
            Ok(function)
        })
        .collect()
}

/// Lets a kernel have more dynamic shared memory than the 48 KB that every kernel may have.
fn allow_shared_memory(function: &CudaFunction, launch: &PlannedLaunch) -> Result<()> {
    if launch.shared_bytes <= 48 * 1024 {
        return Ok(());
    }
    function
        .set_attribute(
            sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            launch.shared_bytes.cast_signed(),
        )
        .map_err(|e| {
            Error::Kernel(format!(
                "`{}` asks for {} bytes of dynamic shared memory per block, which this device does \
                 not allow: {}",
                launch.kernel,
                launch.shared_bytes,
                device::describe(e)
            ))
        })
}

/// Asks for a share of L1 as shared memory, where the plan does. The driver takes it as a hint.
fn prefer_shared_memory(function: &CudaFunction, plan: &Plan) -> Result<()> {
    let Some(percent) = plan.carveout_percent else { return Ok(()) };
    function
        .set_attribute(
            sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
            percent.min(100).cast_signed(),
        )
        .map_err(|e| {
            Error::Kernel(format!(
                "{}: a shared-memory carve-out of {percent}% was refused: {}",
                plan.step,
                device::describe(e)
            ))
        })
}

/// The path that the compiler is given: the user's own file, or a copy of a built-in one in the
/// cache, so that ncu finds the lines.
///
/// # Errors
/// [`Error::Input`] where the cache can't be written.
pub fn place_source(source: &Source) -> Result<PathBuf> {
    if let Some(path) = &source.path {
        return path.canonicalize().map_err(|e| Error::io(path, "read", &e));
    }
    let path: PathBuf = cache::folder().join("source").join(Path::new(&source.name));
    if std::fs::read_to_string(&path).is_ok_and(|text| text == source.text) {
        return Ok(path);
    }
    write_atomically(&path, source.text.as_bytes())?;
    Ok(path)
}
