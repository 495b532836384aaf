//! The expected answer of a wave step, and how far an answer may be from it.

use super::{Fields, Grid, Solver, by_points, by_rows};
use crate::error::Result;
use crate::plan::{DType, Plan, Role};
use crate::problem::fill::Inputs;
use crate::problem::precision::{self, Bounds, F32_ROUNDOFF};
use crate::problem::reference::{Expected, Reference, all_threads, buffer, f32_input};
use crate::problem::{HostBuffer, Tolerance};

/// The reference `stencil`.
pub(crate) const REFERENCE: Reference = Reference {
    name: "stencil",
    parameters: &["NX", "NY", "NZ", "ORDER"],
    buffers: &[
        ("cur", Role::Input, DType::F32),
        ("prev", Role::Input, DType::F32),
        ("vsq", Role::Input, DType::F32),
        ("next", Role::Output, DType::F32),
    ],
    expected,
    versions: &[
        ("by-points", |plan, inputs, threads| solve(by_points, plan, inputs, threads)),
        ("by-rows", |plan, inputs, threads| solve(by_rows::<f32>, plan, inputs, threads)),
    ],
};

fn solve(solver: Solver, plan: &Plan, inputs: &Inputs, threads: usize) -> Result<HostBuffer> {
    let (fields, grid) = problem(plan, inputs)?;
    solver(fields, grid, threads).map(HostBuffer::F32)
}

fn expected(plan: &Plan, inputs: &Inputs) -> Result<Vec<Expected>> {
    let (fields, grid) = problem(plan, inputs)?;
    let values = HostBuffer::F64(by_rows::<f64>(fields, grid, all_threads())?);
    let field = |name: &str| Field::of(plan, name);
    let tolerance = tolerance(grid, field("cur")?, field("prev")?, field("vsq")?)?;
    Ok(vec![Expected { buffer: "next".to_owned(), values, tolerance, exact: false }])
}

fn problem<'a>(plan: &Plan, inputs: &'a Inputs) -> Result<(Fields<'a>, Grid)> {
    let extent = |name: &str| plan.size.get(name).copied().unwrap_or(0);
    let input = |name: &str| f32_input("stencil", name, inputs);
    let fields = Fields { cur: input("cur")?, prev: input("prev")?, vsq: input("vsq")? };
    let points = [extent("NX"), extent("NY"), extent("NZ")];
    let others = [fields.prev.len(), fields.vsq.len()];
    let grid = Grid::new(points, extent("ORDER"), fields.cur.len(), others)?;
    Ok((fields, grid))
}

/// What is known of a field's values.
#[derive(Debug, Clone, Copy)]
struct Field {
    /// Largest magnitude.
    magnitude: f64,
    /// Largest error of the values that the kernel reads: 0 unless they are compressed.
    quantisation: f64,
}

impl Field {
    fn of(plan: &Plan, name: &str) -> Result<Self> {
        let buffer = buffer("stencil", name, plan)?;
        let quantisation = precision::quantisation(plan, name);
        Ok(Self { magnitude: Bounds::of(buffer).magnitude, quantisation })
    }
}

/// How far a right answer may be from the exact one.
///
/// Rounding: next = 2·cur − prev + vsq·Σ w·neighbour, with 3·order + 1 terms in the sum. On its way
/// a term meets the rounding of its weight, a product, at most 3·order additions in whatever order,
/// the product with vsq and two more additions, and one rounding covers the f64 expectation's: with
/// k = 3·order + 6 the error is at most γ_k·(2C + P + V·W·C) (Higham, lemma 3.1), where C, P and V
/// are the fields' largest magnitudes and W the sum of the weights' magnitudes. Signs are mixed, so
/// the bound is absolute. (cur's error from doubling is none.)
///
/// Quantisation: with inputs off by at most c, p and v, the exact answer moves by at most
/// 2c + p + V·W·c + v·W·(C + c). Kernels may compute with codes from 0 on and apply the range at the
/// end, so that their intermediates reach twice the magnitudes and meet six more roundings; the
/// rounding's bound is then taken with these, which is little beside the quantisation.
fn tolerance(grid: Grid, cur: Field, prev: Field, vsq: Field) -> Result<Tolerance> {
    let sum = grid.weight_sum();
    let order = 2.0 * grid.radius as f64;
    let compressed = [cur, prev, vsq].iter().any(|field| field.quantisation > 0.0);
    let (roundings, widening) = if compressed { (12.0, 2.0) } else { (6.0, 1.0) };
    let gamma = precision::gamma(3.0 * order + roundings, F32_ROUNDOFF, "the star's sums")?;
    let terms = 2.0 * cur.magnitude + prev.magnitude + vsq.magnitude * sum * cur.magnitude;
    let (c, p, v) = (cur.quantisation, prev.quantisation, vsq.quantisation);
    let moved = 2.0 * c + p + vsq.magnitude * sum * c + v * sum * (cur.magnitude + c);
    Ok(Tolerance { absolute: gamma * widening * terms + moved, relative: 0.0 })
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the expected values are exact")]
mod tests {
    use super::*;
    use crate::ladder::Ladder;
    use crate::ladder::overrides::parse_overrides;
    use crate::problem::catalogue::{cpu_times, run};
    use crate::problem::{compare, fill};

    fn plan(step: &str, size: &str) -> Plan {
        let overrides = parse_overrides(size).unwrap();
        Ladder::builtin("stencil").unwrap().plan(step, &overrides, 132).unwrap()
    }

    #[test]
    fn a_right_answer_passes_and_a_wrong_neighbour_does_not() {
        for size in ["NX=5,NY=7,NZ=9", "NX=33,NY=2,NZ=3,ORDER=4"] {
            let plan = plan("plane", size);
            let inputs = fill::inputs(&plan, 1).unwrap();
            let expected = run("stencil", &plan, &inputs).unwrap().remove(0);
            let (fields, grid) = problem(&plan, &inputs).unwrap();
            let check = |fields: Fields| {
                let got = HostBuffer::F32(by_points(fields, grid, 1).unwrap());
                compare(&expected.values, &got, expected.tolerance).unwrap()
            };
            assert!(check(fields).passed(), "{:?}", check(fields));
            // The outermost neighbour of the point (0, 0, 0), whose weight is the smallest.
            let mut cur = fields.cur.to_vec();
            cur[grid.place([0, 0, 0]) - grid.radius * grid.plane()] += 1.0;
            let wrong = check(Fields { cur: &cur, ..fields });
            assert_eq!(wrong.first_mismatch.map(|(index, ..)| index), Some(0));
            assert_eq!(wrong.mismatches, 1);
        }
    }

    #[test]
    fn the_tolerance_by_hand() {
        // Order 2: W = 12, k = 12. With C = P = 1 and V = 1/2 the terms come to 2 + 1 + 6 = 9.
        let grid = Grid { points: [1, 1, 1], radius: 1, pitch: 64 };
        let field = |magnitude, quantisation| Field { magnitude, quantisation };
        let got = tolerance(grid, field(1.0, 0.0), field(1.0, 0.0), field(0.5, 0.0)).unwrap();
        let u = 2.0_f64.powi(-24);
        assert!((got.absolute - 9.0 * 12.0 * u / (1.0 - 12.0 * u)).abs() < 1e-15);
        assert_eq!(got.relative, 0.0);
        // c = 1/8, p = 1/16, v = 1/32: 1/4 + 1/16 + 6/8 + 12/32·9/8 = 1.484375, and the rounding.
        let got = tolerance(grid, field(1.0, 0.125), field(1.0, 0.0625), field(0.5, 0.03125));
        let rounding = 2.0 * 9.0 * 18.0 * u / (1.0 - 18.0 * u);
        assert!((got.unwrap().absolute - 1.484_375 - rounding).abs() < 1e-12);
    }

    #[test]
    fn a_compressed_steps_answer_is_within_its_tolerance() {
        for (step, limit) in [("halves", 0.01), ("codes", 0.1)] {
            let plan = plan(step, "NX=9,NY=6,NZ=5");
            let inputs = fill::inputs(&plan, 1).unwrap();
            let expected = run("stencil", &plan, &inputs).unwrap().remove(0);
            assert!(expected.tolerance.absolute < limit, "{:?}", expected.tolerance);
            let decoded = |name: &str| -> Vec<f32> {
                let of = |low: f64, high: f64, code: f64| low + code * (high - low) / 255.0;
                let buffer =
                    &inputs[&format!("{name}_{}", if step == "codes" { "code" } else { "half" })];
                (0..buffer.len())
                    .map(|index| match (step, name, buffer.get(index).unwrap()) {
                        ("halves", _, value) => value as f32,
                        (_, "vsq", code) => of(0.0625, 0.1875, code) as f32,
                        (_, _, code) => of(-1.0, 1.0, code) as f32,
                    })
                    .collect()
            };
            let (_, grid) = problem(&plan, &inputs).unwrap();
            let (cur, prev, vsq) = (decoded("cur"), decoded("prev"), decoded("vsq"));
            let fields = Fields { cur: &cur, prev: &prev, vsq: &vsq };
            let got = HostBuffer::F32(by_points(fields, grid, 1).unwrap());
            let comparison = compare(&expected.values, &got, expected.tolerance).unwrap();
            assert!(comparison.passed(), "{comparison:?}");
            // The loss is there, and it would not pass without the step's own tolerance.
            assert!(
                !compare(&expected.values, &got, Tolerance { absolute: 1e-5, relative: 0.0 })
                    .unwrap()
                    .passed()
            );
        }
    }

    #[test]
    fn both_versions_are_timed() {
        let plan = plan("point", "NX=4,NY=3,NZ=2,ORDER=2");
        let times = cpu_times(&plan, &fill::inputs(&plan, 0).unwrap()).unwrap();
        for name in ["by-points", "by-rows"] {
            assert!(times.iter().any(|time| time.name == name && time.threads == 1));
        }
    }

    #[test]
    fn missing_inputs_are_errors() {
        assert!(run("stencil", &plan("point", "NX=4,NY=3,NZ=2"), &Inputs::new()).is_err());
    }
}
