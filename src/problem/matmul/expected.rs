//! The expected answer of the matrix product, and how far an answer may be from it.

use super::{Solver, blocked, extent, row_by_row};
use crate::error::Result;
use crate::plan::{DType, Plan, Role};
use crate::problem::fill::Inputs;
use crate::problem::precision::{self, Bounds, F32_INTEGERS};
use crate::problem::reference::{Expected, Reference, all_threads, buffer, f32_input};
use crate::problem::{HostBuffer, Tolerance};

/// The reference `matmul`.
pub(crate) const REFERENCE: Reference = Reference {
    name: "matmul",
    parameters: &["n"],
    buffers: &[
        ("A", Role::Input, DType::F32),
        ("B", Role::Input, DType::F32),
        ("C", Role::Output, DType::F32),
    ],
    expected,
    versions: &[
        ("row by row", |plan, inputs, threads| solve(row_by_row, plan, inputs, threads)),
        ("cache-friendly", |plan, inputs, threads| solve(blocked::<f32>, plan, inputs, threads)),
    ],
};

/// A, B and n.
fn problem<'a>(plan: &Plan, inputs: &'a Inputs) -> Result<(&'a [f32], &'a [f32], usize)> {
    let (a, b) = (f32_input("matmul", "A", inputs)?, f32_input("matmul", "B", inputs)?);
    let n = extent(plan.size.get("n").copied().unwrap_or(0), a, b)?;
    Ok((a, b, n))
}

fn solve(solver: Solver<f32>, plan: &Plan, inputs: &Inputs, threads: usize) -> Result<HostBuffer> {
    let (a, b, n) = problem(plan, inputs)?;
    solver(a, b, n, threads).map(HostBuffer::F32)
}

fn expected(plan: &Plan, inputs: &Inputs) -> Result<Vec<Expected>> {
    let (a, b, n) = problem(plan, inputs)?;
    let bounds = bounds(plan)?;
    let exact = is_exact(&bounds, n);
    let threads = all_threads();
    let (values, tolerance) = if exact {
        (HostBuffer::F32(blocked::<f32>(a, b, n, threads)?), Tolerance::EXACT)
    } else {
        (HostBuffer::F64(blocked::<f64>(a, b, n, threads)?), tolerance(&bounds, n)?)
    };
    Ok(vec![Expected { buffer: "C".to_owned(), values, tolerance, exact }])
}

fn bounds(plan: &Plan) -> Result<[Bounds; 2]> {
    let bounds = |name: &str| buffer("matmul", name, plan).map(Bounds::of);
    Ok([bounds("A")?, bounds("B")?])
}

/// Whether f32 arithmetic is exact in any order of summation: with whole elements of magnitude up
/// to a and b, products and partial sums are whole and at most a·b·n, and f32 holds every whole
/// number up to 2^24. (Elements from −1 to 2 at n = 4096: 4·2^12 = 2^14.)
fn is_exact([a, b]: &[Bounds; 2], n: usize) -> bool {
    a.whole && b.whole && a.magnitude * b.magnitude * n as f64 <= F32_INTEGERS
}

/// How far a right f32 answer may be from the exact one.
///
/// An element is Σ_k a_ik·b_kj. A term goes through one product and at most n additions (the first
/// one may be to zero), each a factor 1 + δ with |δ| ≤ u, whatever the order; a fused multiply-add
/// rounds less often. One more covers the f64 expectation's own rounding. With k = n + 2 the error is
/// at most γ_k·Σ_k |a_ik|·|b_kj| (Higham, section 3.1). Without negative elements that sum is the
/// answer itself and the bound is relative; otherwise the sum is at most a·b·n.
fn tolerance([a, b]: &[Bounds; 2], n: usize) -> Result<Tolerance> {
    let largest = a.magnitude * b.magnitude * n as f64;
    let sums = format!("with n = {n} the sums");
    precision::tolerance(n as f64 + 2.0, a.positive && b.positive, largest, &sums)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::Ladder;
    use crate::ladder::overrides::parse_overrides;
    use crate::plan::Fill;
    use crate::problem::catalogue::{cpu_times, run};
    use crate::problem::{compare, fill};

    fn plan(size: &str) -> Plan {
        let overrides = parse_overrides(size).unwrap();
        Ladder::builtin("matmul").unwrap().plan("m2", &overrides, 132).unwrap()
    }

    #[test]
    fn exactness_is_derived_from_the_size() {
        let exact = |n: usize| is_exact(&bounds(&plan("n=8")).unwrap(), n);
        assert!(exact(4096), "4·2^12 = 2^14");
        assert!(exact(1 << 22), "4·2^22 = 2^24");
        assert!(!exact((1 << 22) + 1));
    }

    #[test]
    fn a_right_answer_passes_and_a_wrong_one_does_not() {
        for fractions in [false, true] {
            let mut plan = plan("n=37");
            if fractions {
                plan.buffers[0].fill = Fill::Uniform { low: 0.5, high: 1.0 };
            }
            let inputs = fill::inputs(&plan, 1).unwrap();
            let expected = run("matmul", &plan, &inputs).unwrap().remove(0);
            assert_eq!(expected.exact, !fractions);
            let (a, b, n) = problem(&plan, &inputs).unwrap();
            let mut c = row_by_row(a, b, n, 1).unwrap();
            let check = |c: &[f32]| {
                compare(&expected.values, &HostBuffer::F32(c.to_vec()), expected.tolerance).unwrap()
            };
            assert!(check(&c).passed(), "{:?}", check(&c));
            c[40] += 1e-2;
            assert_eq!(check(&c).first_mismatch.map(|(index, ..)| index), Some(40));
        }
    }

    #[test]
    fn the_tolerance_is_highams() {
        let ones = Bounds { magnitude: 2.0, whole: false, positive: true };
        // k = 2046 + 2 = 2^11, u = 2^-24: k·u = 2^-13, so γ = 2^-13 / (1 − 2^-13) = 1 / 8191.
        let got = tolerance(&[ones, ones], 2046).unwrap();
        assert!((got.relative - 1.0 / 8191.0).abs() < 1e-18 && got.absolute == 0.0);
        let signed = Bounds { positive: false, ..ones };
        let got = tolerance(&[signed, ones], 2046).unwrap();
        assert!((got.absolute - 4.0 * 2046.0 / 8191.0).abs() < 1e-12 && got.relative == 0.0);
    }

    #[test]
    fn every_step_covers_every_element_at_odd_sizes() {
        let ladder = Ladder::builtin("matmul").unwrap();
        for step in ladder.steps() {
            for n in [1, 7, 129, 1021] {
                let size = parse_overrides(&format!("n={n}")).unwrap();
                let plan = ladder.plan(step.name(), &size, 1).unwrap();
                let [launch] = plan.launches.as_slice() else { panic!("one launch a step") };
                let threads = launch.grid.iter().chain(&launch.block).product::<u32>();
                // No step gives a thread more than m10's 8 x 16 elements.
                assert!(u64::from(threads) * 128 >= n * n, "{} at {n}", step.name());
                assert_eq!((plan.flops, plan.bytes), (2 * n * n * n, 12 * n * n));
                assert_eq!(plan.library.as_deref(), Some("cublas-sgemm"));
            }
        }
    }

    #[test]
    fn every_version_is_timed() {
        let plan = plan("n=9");
        let times = cpu_times(&plan, &fill::inputs(&plan, 0).unwrap()).unwrap();
        for name in ["row by row", "cache-friendly"] {
            assert!(
                times.iter().any(|time| time.name == name && time.threads == 1 && time.ns > 0.0)
            );
        }
    }
}
