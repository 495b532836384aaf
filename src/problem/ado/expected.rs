//! The expected answer of the ADO workload, and how far an answer may be from it.

use super::{Size, Solver, cache_friendly, original};
use crate::error::Result;
use crate::plan::{DType, Plan, Role};
use crate::problem::fill::Inputs;
use crate::problem::precision::{self, Bounds, F32_INTEGERS};
use crate::problem::reference::{Expected, Reference, all_threads, buffer, f32_input};
use crate::problem::{HostBuffer, Tolerance};

/// The reference `ado`.
pub(crate) const REFERENCE: Reference = Reference {
    name: "ado",
    parameters: &["N", "M", "L"],
    buffers: &[
        ("input", Role::Input, DType::F32),
        ("matrix", Role::Input, DType::F32),
        ("output", Role::Output, DType::F32),
    ],
    expected,
    versions: &[
        ("original", |plan, inputs, threads| solve(original, plan, inputs, threads)),
        ("cache-friendly", |plan, inputs, threads| {
            solve(cache_friendly::<f32>, plan, inputs, threads)
        }),
    ],
};

fn solve(solver: Solver, plan: &Plan, inputs: &Inputs, threads: usize) -> Result<HostBuffer> {
    let Problem { input, matrix, size } = Problem::new(plan, inputs)?;
    solver(input, matrix, size, threads).map(HostBuffer::F32)
}

fn expected(plan: &Plan, inputs: &Inputs) -> Result<Vec<Expected>> {
    let Problem { input, matrix, size } = Problem::new(plan, inputs)?;
    let (bounds, exact) = precision(plan, size)?;
    let threads = all_threads();
    let (values, tolerance) = if exact {
        let values = cache_friendly::<f32>(input, matrix, size, threads)?;
        (HostBuffer::F32(values), Tolerance::EXACT)
    } else {
        let values = cache_friendly::<f64>(input, matrix, size, threads)?;
        (HostBuffer::F64(values), tolerance(&bounds, size)?)
    };
    Ok(vec![Expected { buffer: "output".to_owned(), values, tolerance, exact }])
}

/// The inputs of the ADO workload.
struct Problem<'a> {
    input: &'a [f32],
    matrix: &'a [f32],
    size: Size,
}

impl<'a> Problem<'a> {
    fn new(plan: &Plan, inputs: &'a Inputs) -> Result<Self> {
        let extent = |name: &str| plan.size.get(name).copied().unwrap_or(0);
        let input = f32_input("ado", "input", inputs)?;
        let matrix = f32_input("ado", "matrix", inputs)?;
        let size = Size::new(extent("N"), extent("M"), extent("L"), input, matrix)?;
        Ok(Self { input, matrix, size })
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
    let bounds = |name: &str| buffer("ado", name, plan).map(Bounds::of);
    let [input, matrix] = [bounds("input")?, bounds("matrix")?];
    let (vectors, components) = (size.vectors as f64, size.components as f64);
    let exact = input.whole
        && matrix.whole
        && size.vectors.is_power_of_two()
        && input.magnitude * vectors <= F32_INTEGERS
        && input.magnitude * matrix.magnitude * components * vectors <= F32_INTEGERS;
    Ok(([input, matrix], exact))
}

/// How far a right f32 answer may be from the exact one.
///
/// An output is Σ_j m_j·(Σ_i x_ji)/M. On its way into the output, x_ji takes part in at most M − 1
/// additions, one division (or a rounded reciprocal and a product), one product and L − 1 additions:
/// at most M + L + 1 roundings, each a factor 1 + δ with |δ| ≤ u = 2^-24, whatever the order. One
/// more covers the f64 expectation's own rounding. With k = M + L + 2 the error is at most
/// γ_k·Σ_j |m_j|·(Σ_i |x_ji|)/M. Without negative values that sum is
/// the output itself and the bound is relative; otherwise the sum is at most a·b·L.
fn tolerance([input, matrix]: &[Bounds; 2], size: Size) -> Result<Tolerance> {
    let roundings = size.vectors as f64 + size.components as f64 + 2.0;
    let largest = input.magnitude * matrix.magnitude * size.components as f64;
    let sums = format!("with M = {} and L = {} the sums", size.vectors, size.components);
    precision::tolerance(roundings, input.positive && matrix.positive, largest, &sums)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the expected values are exact")]
mod tests {
    use super::*;
    use crate::ladder::Ladder;
    use crate::ladder::overrides::parse_overrides;
    use crate::problem::catalogue::{cpu_times, run};
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
            let expected = run("ado", &plan, &inputs).unwrap().remove(0);
            assert_eq!(expected.exact, size.contains("M=64"));
            let Problem { input, matrix, size } = Problem::new(&plan, &inputs).unwrap();
            let mut output = original(input, matrix, size, 1).unwrap();
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
