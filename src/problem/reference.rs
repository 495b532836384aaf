//! CPU references by name: the right answer, and how long a CPU takes for it.

use std::time::Instant;

use super::fill::Inputs;
use super::{
    HostBuffer, Tolerance, access_pattern, ado, increment, matmul, padding, reduce, stencil,
};
use crate::error::{Error, Result};
use crate::plan::{Check, DType, Plan, Role};
use crate::timing::CpuTime;

/// A CPU reference that the program carries.
#[derive(Debug, Clone, Copy)]
pub struct Reference {
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
pub type Version = fn(&Plan, &Inputs, usize) -> Result<HostBuffer>;

/// The references that the program carries.
pub const REFERENCES: &[Reference] = &[
    ado::REFERENCE,
    reduce::REFERENCE,
    reduce::REFERENCE_INT,
    increment::REFERENCE,
    access_pattern::REFERENCE,
    padding::REFERENCE,
    matmul::REFERENCE,
    stencil::REFERENCE,
];

/// The reference of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Reference> {
    REFERENCES.iter().find(|reference| reference.name == name)
}

/// The right answer of one output.
#[derive(Debug, Clone, PartialEq)]
pub struct Expected {
    /// The output that it belongs to.
    pub buffer: String,
    /// Its values.
    pub values: HostBuffer,
    /// How far a right answer may be from them.
    pub tolerance: Tolerance,
    /// True where every order of summation gives exactly these values.
    pub exact: bool,
}

/// Computes the expected answers of a plan with a built-in reference, on all threads.
///
/// # Errors
/// [`Error::Usage`] for an unknown reference, for inputs that don't fit it, and for sums too long
/// to be checked.
pub fn run(name: &str, plan: &Plan, inputs: &Inputs) -> Result<Vec<Expected>> {
    let reference = find(name).ok_or_else(|| {
        Error::Usage(format!(
            "the program has no CPU reference `{}`; it has: {}",
            crate::text::printable(name),
            REFERENCES.iter().map(|known| known.name).collect::<Vec<_>>().join(", ")
        ))
    })?;
    (reference.expected)(plan, inputs)
}

/// Times the CPU versions of a plan's reference, each with one and with all threads. Plans that are
/// checked against another step have none.
///
/// # Errors
/// [`Error::Usage`] for inputs that don't fit the reference.
pub fn cpu_times(plan: &Plan, inputs: &Inputs) -> Result<Vec<CpuTime>> {
    let Check::Builtin(name) = &plan.check else { return Ok(Vec::new()) };
    let Some(reference) = find(name) else { return Ok(Vec::new()) };
    let mut thread_counts = vec![1, all_threads()];
    thread_counts.dedup();
    let mut times = Vec::new();
    for (name, version) in reference.versions {
        for threads in thread_counts.iter().copied() {
            let start = Instant::now();
            let output = version(plan, inputs, threads)?;
            let ns = start.elapsed().as_nanos() as f64;
            std::hint::black_box(&output);
            times.push(CpuTime { name: (*name).to_owned(), threads, ns });
        }
    }
    Ok(times)
}

/// As many threads as the machine runs at once.
#[must_use]
pub fn all_threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// An input of type f32 by its name in the manifest.
///
/// # Errors
/// [`Error::Usage`] where there is none.
pub fn f32_input<'a>(reference: &str, name: &str, inputs: &'a Inputs) -> Result<&'a [f32]> {
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
pub fn f64_input<'a>(reference: &str, name: &str, inputs: &'a Inputs) -> Result<&'a [f64]> {
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
pub fn with_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> Result<R> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
        Error::Environment(format!("cannot start {threads} threads for the CPU reference: {error}"))
    })?;
    Ok(pool.install(work))
}
