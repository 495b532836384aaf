//! What a CPU reference is, and what all of them need.

use super::fill::Inputs;
use super::{HostBuffer, Tolerance};
use crate::error::{Error, Result};
use crate::plan::{Buffer, DType, Plan, Role};

/// A CPU reference that the program carries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reference {
    /// Its name in a manifest.
    pub name: &'static str,
    /// Parameters that must exist.
    pub parameters: &'static [&'static str],
    /// Buffers that must exist, with their roles and element types.
    pub buffers: &'static [(&'static str, Role, DType)],
    /// Computes what the outputs must be, on all threads.
    pub expected: fn(&Plan, &Inputs) -> Result<Vec<Expected>>,
    /// CPU versions to be timed beside the kernel, by name; the number is of threads.
    pub versions: &'static [(&'static str, Version)],
}

/// A CPU version of a problem: runs it once on so many threads and returns what it computed.
pub(crate) type Version = fn(&Plan, &Inputs, usize) -> Result<HostBuffer>;

/// The right answer of one output.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expected {
    /// The output that it belongs to.
    pub buffer: String,
    /// Its values.
    pub values: HostBuffer,
    /// How far a right answer may be from them.
    pub tolerance: Tolerance,
    /// True where every order of summation gives exactly these values.
    pub exact: bool,
}

/// As many threads as the machine runs at once.
#[must_use]
pub(crate) fn all_threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// An input of type f32 by its name in the manifest.
///
/// # Errors
/// [`Error::Usage`] where there is none.
pub(crate) fn f32_input<'a>(reference: &str, name: &str, inputs: &'a Inputs) -> Result<&'a [f32]> {
    match inputs.get(name) {
        Some(HostBuffer::F32(values)) => Ok(values.as_slice()),
        _ => Err(Error::Usage(format!(
            "the reference `{reference}` needs an input `{name}` of type f32; add it to the manifest"
        ))),
    }
}

/// An input of type f64 by its name in the manifest.
///
/// # Errors
/// [`Error::Usage`] where there is none.
pub(crate) fn f64_input<'a>(reference: &str, name: &str, inputs: &'a Inputs) -> Result<&'a [f64]> {
    match inputs.get(name) {
        Some(HostBuffer::F64(values)) => Ok(values.as_slice()),
        _ => Err(Error::Usage(format!(
            "the reference `{reference}` needs an input `{name}` of type f64; add it to the manifest"
        ))),
    }
}

/// Runs a CPU version with so many threads.
///
/// # Errors
/// [`Error::Environment`] where they can't be started.
pub(crate) fn with_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> Result<R> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
        Error::Environment(format!("cannot start {threads} threads for the CPU reference: {error}"))
    })?;
    Ok(pool.install(work))
}

/// A buffer of a plan by its name in the manifest.
///
/// # Errors
/// [`Error::Usage`] where there is none.
pub(crate) fn buffer<'a>(reference: &str, name: &str, plan: &'a Plan) -> Result<&'a Buffer> {
    plan.buffers.iter().find(|buffer| buffer.name == name).ok_or_else(|| {
        Error::Usage(format!(
            "the reference `{reference}` needs a buffer `{name}`; add it to the manifest"
        ))
    })
}
