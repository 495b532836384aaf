//! CPU references by name, each with its expected answer and the tolerance that follows from the
//! problem.

use std::time::Instant;

use super::ado::{self, Size};
use super::fill::Inputs;
use super::{HostBuffer, Tolerance};
use crate::document::CpuTime;
use crate::error::{Error, Result};
use crate::ladder::plan::{Buffer, Fill, Plan, Role};

/// What a reference needs of a ladder that names it.
#[derive(Debug, Clone, Copy)]
pub struct Reference {
    /// Its name in a manifest.
    pub name: &'static str,
    /// Parameters that must exist.
    pub parameters: &'static [&'static str],
    /// Buffers of type f32 that must exist, with their roles; the output comes last.
    pub buffers: &'static [(&'static str, Role)],
}

/// The references that the program carries.
pub const REFERENCES: &[Reference] = &[Reference {
    name: "ado",
    parameters: &["N", "M", "L"],
    buffers: &[("input", Role::Input), ("matrix", Role::Input), ("output", Role::Output)],
}];

/// The reference of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Reference> {
    REFERENCES.iter().find(|reference| reference.name == name)
}

/// The right answer.
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

/// Computes the expected answer of a plan with a built-in reference, on all threads.
///
/// # Errors
/// [`Error::Usage`] for an unknown reference, for inputs that don't fit it, and for sums too long
/// to be checked.
pub fn run(name: &str, plan: &Plan, inputs: &Inputs) -> Result<Expected> {
    let problem = Problem::new(name, plan, inputs)?;
    let Problem { input, matrix, size } = problem;
    let (bounds, exact) = precision(plan, size)?;
    let threads = all_threads();
    let (values, tolerance) = if exact {
        let values = ado::cache_friendly::<f32>(input, matrix, size, threads)?;
        (HostBuffer::F32(values), Tolerance::EXACT)
    } else {
        let values = ado::cache_friendly::<f64>(input, matrix, size, threads)?;
        (HostBuffer::F64(values), tolerance(&bounds, size)?)
    };
    Ok(Expected { buffer: "output".to_owned(), values, tolerance, exact })
}

/// Times both CPU versions of a plan's reference, each with one and with all threads. Plans that
/// are checked against another step have none.
///
/// # Errors
/// [`Error::Usage`] for inputs that don't fit the reference.
pub fn cpu_times(plan: &Plan, inputs: &Inputs) -> Result<Vec<CpuTime>> {
    let crate::ladder::plan::Check::Builtin(name) = &plan.check else { return Ok(Vec::new()) };
    let Problem { input, matrix, size } = Problem::new(name, plan, inputs)?;
    let mut thread_counts = vec![1, all_threads()];
    thread_counts.dedup();
    let mut times = Vec::new();
    for (name, solve) in
        [("original", ado::original as ado::Solver), ("cache-friendly", ado::cache_friendly::<f32>)]
    {
        for threads in thread_counts.iter().copied() {
            let start = Instant::now();
            let output = solve(input, matrix, size, threads)?;
            let ns = start.elapsed().as_nanos() as f64;
            std::hint::black_box(&output);
            times.push(CpuTime { name: name.to_owned(), threads, ns });
        }
    }
    Ok(times)
}

fn all_threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The inputs of the ADO workload.
struct Problem<'a> {
    input: &'a [f32],
    matrix: &'a [f32],
    size: Size,
}

impl<'a> Problem<'a> {
    fn new(name: &str, plan: &Plan, inputs: &'a Inputs) -> Result<Self> {
        if find(name).is_none() {
            return Err(Error::Usage(format!(
                "the program has no CPU reference `{}`; it has: {}",
                crate::text::printable(name),
                REFERENCES.iter().map(|known| known.name).collect::<Vec<_>>().join(", ")
            )));
        }
        let array = |name: &str| match inputs.get(name) {
            Some(HostBuffer::F32(values)) => Ok(values.as_slice()),
            _ => Err(Error::Usage(format!(
                "the reference `ado` needs an input `{name}` of type f32; add it to the manifest"
            ))),
        };
        let extent = |name: &str| plan.size.get(name).copied().unwrap_or(0);
        let (input, matrix) = (array("input")?, array("matrix")?);
        let size = Size::new(extent("N"), extent("M"), extent("L"), input, matrix)?;
        Ok(Self { input, matrix, size })
    }
}

/// What is known of the values of an input.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bounds {
    /// Largest magnitude.
    magnitude: f64,
    /// True where all are whole numbers.
    whole: bool,
    /// True where none is negative.
    positive: bool,
}

impl Bounds {
    fn of(buffer: &Buffer) -> Self {
        let (values, whole_steps): (Vec<f64>, bool) = match &buffer.fill {
            Fill::Choice(values) => (values.clone(), true),
            Fill::Constant(value) => (vec![*value], true),
            Fill::Uniform { low, high } => (vec![*low, *high], false),
            // At most the largest integer that f32 counts to.
            Fill::Index => (vec![0.0, (buffer.elements().min(1 << 24)) as f64], true),
        };
        Self {
            magnitude: values.iter().fold(0.0, |most, value| value.abs().max(most)),
            whole: whole_steps && values.iter().all(|value| value.fract() == 0.0),
            positive: values.iter().all(|value| *value >= 0.0),
        }
    }
}

/// Whether f32 arithmetic is exact for a plan, in any order of summation.
///
/// With whole inputs of magnitude up to a, a matrix of whole numbers up to b, and M a power of two:
/// - partial sums of the average are whole and at most a·M;
/// - the division by M only shifts, so an average is a multiple of 1/M and at most a;
/// - products and partial sums of the dot product are multiples of 1/M and at most a·b·L.
///
/// f32 holds every multiple of 1/M up to 2^24/M. So all intermediates are exact where a·M ≤ 2^24
/// and a·b·L·M ≤ 2^24. (The literature's values 1 and 2 at 1024³: 4·2^20 = 2^22.)
fn precision(plan: &Plan, size: Size) -> Result<([Bounds; 2], bool)> {
    const EXACT_INTEGERS: f64 = 16_777_216.0;
    let bounds = |name: &str| {
        let buffer = plan.buffers.iter().find(|buffer| buffer.name == name);
        buffer.map(Bounds::of).ok_or_else(|| {
            Error::Usage(format!(
                "the reference `ado` needs a buffer `{name}`; add it to the manifest"
            ))
        })
    };
    let [input, matrix] = [bounds("input")?, bounds("matrix")?];
    let (vectors, components) = (size.vectors as f64, size.components as f64);
    let exact = input.whole
        && matrix.whole
        && size.vectors.is_power_of_two()
        && input.magnitude * vectors <= EXACT_INTEGERS
        && input.magnitude * matrix.magnitude * components * vectors <= EXACT_INTEGERS;
    Ok(([input, matrix], exact))
}

/// How far a right f32 answer may be from the exact one.
///
/// An output is Σ_j m_j·(Σ_i x_ji)/M. On its way into the output, x_ji takes part in at most M − 1
/// additions, one division (or a rounded reciprocal and a product), one product and L − 1 additions:
/// at most M + L + 1 roundings, each a factor 1 + δ with |δ| ≤ u = 2^-24, whatever the order. One
/// more covers the f64 expectation's own rounding. With k = M + L + 2 the error is at most
/// γ_k·Σ_j |m_j|·(Σ_i |x_ji|)/M with γ_k = k·u / (1 − k·u) (Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., lemma 3.1 and section 3.1). Without negative values that sum is
/// the output itself and the bound is relative; otherwise the sum is at most a·b·L.
fn tolerance([input, matrix]: &[Bounds; 2], size: Size) -> Result<Tolerance> {
    let roundings = (size.vectors as f64 + size.components as f64 + 2.0) * 2.0_f64.powi(-24);
    if roundings >= 0.5 {
        return Err(Error::Usage(format!(
            "with M = {} and L = {} the sums are too long for f32: any answer could be called right; \
             choose a smaller --size",
            size.vectors, size.components
        )));
    }
    let gamma = roundings / (1.0 - roundings);
    Ok(if input.positive && matrix.positive {
        Tolerance::relative(gamma)
    } else {
        let largest = input.magnitude * matrix.magnitude * size.components as f64;
        Tolerance { absolute: gamma * largest, relative: 0.0 }
    })
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the expected values are exact")]
mod tests {
    use super::*;
    use crate::ladder::Ladder;
    use crate::ladder::overrides::parse_overrides;
    use crate::problem::{compare, fill};

    fn plan(size: &str) -> Plan {
        let overrides = parse_overrides(size).unwrap();
        Ladder::builtin("ado").unwrap().plan("v2", &overrides, 132).unwrap()
    }

    fn exact(size: &str) -> bool {
        let plan = plan(size);
        let at = |name: &str| plan.size[name] as usize;
        let size = Size { sets: at("N"), vectors: at("M"), components: at("L") };
        precision(&plan, size).unwrap().1
    }

    #[test]
    fn exactness_is_derived_from_the_size() {
        assert!(exact("N=4,M=1024,L=1024"), "4·L·M = 2^22");
        assert!(exact("N=1,M=4096,L=1024"), "4·L·M = 2^24");
        assert!(!exact("N=1,M=8192,L=1024"), "4·L·M = 2^25");
        assert!(!exact("N=4,M=33,L=8"), "33 is no power of two");
    }

    #[test]
    fn a_right_answer_passes_and_a_wrong_one_does_not() {
        for size in ["N=3,M=64,L=40", "N=3,M=37,L=41"] {
            let plan = plan(size);
            let inputs = fill::inputs(&plan, 1).unwrap();
            let expected = run("ado", &plan, &inputs).unwrap();
            assert_eq!(expected.exact, size.contains("M=64"));
            let Problem { input, matrix, size } = Problem::new("ado", &plan, &inputs).unwrap();
            let mut output = ado::original(input, matrix, size, 1).unwrap();
            let check = |output: &[f32]| {
                let got = HostBuffer::F32(output.to_vec());
                compare(&expected.values, &got, expected.tolerance).unwrap()
            };
            assert!(check(&output).passed(), "{:?}", check(&output));
            output[7] *= 1.0 + 1e-4;
            assert_eq!(check(&output).first_mismatch.map(|(index, ..)| index), Some(7));
        }
    }

    #[test]
    fn the_tolerance_is_highams() {
        let ones = Bounds { magnitude: 2.0, whole: true, positive: true };
        let size = Size { sets: 1, vectors: 1000, components: 1046 };
        // k = 2048, u = 2^-24: k·u = 2^-13, so γ = 2^-13 / (1 − 2^-13) = 1 / 8191.
        let got = tolerance(&[ones, ones], size).unwrap();
        assert!((got.relative - 1.0 / 8191.0).abs() < 1e-18);
        assert_eq!(got.absolute, 0.0);
        let signed = Bounds { positive: false, ..ones };
        let got = tolerance(&[signed, ones], size).unwrap();
        assert!((got.absolute - 4.0 * 1046.0 / 8191.0).abs() < 1e-12);
        let endless = Size { vectors: 1 << 23, ..size };
        assert!(tolerance(&[ones, ones], endless).is_err());
    }

    #[test]
    fn every_reference_is_timed() {
        let plan = plan("N=2,M=8,L=8");
        let times = cpu_times(&plan, &fill::inputs(&plan, 0).unwrap()).unwrap();
        assert!(times.iter().any(|time| time.name == "original" && time.threads == 1));
        assert!(times.iter().any(|time| time.name == "cache-friendly" && time.threads == 1));
        assert!(times.iter().all(|time| time.ns > 0.0));
    }

    #[test]
    fn unknown_references_and_missing_inputs_are_errors() {
        let plan = plan("N=2,M=8,L=8");
        assert!(run("adoo", &plan, &Inputs::new()).is_err());
        assert!(run("ado", &plan, &Inputs::new()).is_err());
    }
}
