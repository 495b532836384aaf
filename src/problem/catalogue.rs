//! The CPU references that the program carries: the right answers, and how long a CPU takes for them.

use std::time::Instant;

use super::fill::Inputs;
use super::reference::{Expected, Reference, all_threads};
use super::{access_pattern, ado, increment, matmul, padding, reduce, stencil};
use crate::error::{Error, Result};
use crate::plan::{Check, Plan};
use crate::timing::CpuTime;

/// The references that the program carries.
pub(crate) const REFERENCES: &[Reference] = &[
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
pub(crate) fn find(name: &str) -> Option<&'static Reference> {
    REFERENCES.iter().find(|reference| reference.name == name)
}

/// Computes the expected answers of a plan with a built-in reference, on all threads.
///
/// # Errors
/// [`Error::Usage`] for an unknown reference, for inputs that don't fit it, and for sums too long
/// to be checked.
pub(crate) fn run(name: &str, plan: &Plan, inputs: &Inputs) -> Result<Vec<Expected>> {
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
pub(crate) fn cpu_times(plan: &Plan, inputs: &Inputs) -> Result<Vec<CpuTime>> {
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
