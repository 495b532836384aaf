//! The expected sum, and how far an answer may be from it.

use super::{in_lanes, in_order};
use crate::error::{Error, Result};
use crate::plan::{Buffer, DType, Fill, Plan, Role};
use crate::problem::fill::Inputs;
use crate::problem::precision::{self, Bounds, F32_INTEGERS};
use crate::problem::reference::{Expected, Reference, all_threads, buffer, f32_input};
use crate::problem::{HostBuffer, Tolerance};

/// The reference `reduce`: floats.
pub(crate) const REFERENCE: Reference = Reference {
    name: "reduce",
    parameters: &["N"],
    buffers: &[("values", Role::Input, DType::F32), ("sum", Role::Output, DType::F32)],
    expected: expected_float,
    versions: &[
        ("in order", |_, inputs, threads| {
            let sum: f32 = in_order(floats(inputs)?, threads)?;
            Ok(HostBuffer::F32(vec![sum]))
        }),
        ("in lanes", |_, inputs, threads| {
            let sum: f32 = in_lanes(floats(inputs)?, threads)?;
            Ok(HostBuffer::F32(vec![sum]))
        }),
    ],
};

/// The reference `reduce-int`: 32-bit integers.
pub(crate) const REFERENCE_INT: Reference = Reference {
    name: "reduce-int",
    parameters: &["N"],
    buffers: &[("values", Role::Input, DType::I32), ("sum", Role::Output, DType::I32)],
    expected: expected_int,
    versions: &[
        ("in order", |_, inputs, threads| {
            Ok(HostBuffer::I32(vec![in_order(integers(inputs)?, threads)?]))
        }),
        ("in lanes", |_, inputs, threads| {
            Ok(HostBuffer::I32(vec![in_lanes(integers(inputs)?, threads)?]))
        }),
    ],
};

fn floats(inputs: &Inputs) -> Result<&[f32]> {
    f32_input("reduce", "values", inputs)
}

fn integers(inputs: &Inputs) -> Result<&[i32]> {
    match inputs.get("values") {
        Some(HostBuffer::I32(values)) => Ok(values.as_slice()),
        _ => Err(Error::Usage(
            "the reference `reduce-int` needs an input `values` of type i32; add it to the manifest"
                .to_owned(),
        )),
    }
}

/// Addition modulo 2^32 gives one answer, whatever the order.
fn expected_int(_: &Plan, inputs: &Inputs) -> Result<Vec<Expected>> {
    let sum: i32 = in_lanes(integers(inputs)?, all_threads())?;
    Ok(vec![Expected {
        buffer: "sum".to_owned(),
        values: HostBuffer::I32(vec![sum]),
        tolerance: Tolerance::EXACT,
        exact: true,
    }])
}

fn expected_float(plan: &Plan, inputs: &Inputs) -> Result<Vec<Expected>> {
    let values = floats(inputs)?;
    let buffer = buffer("reduce", "values", plan)?;
    let sum: f64 = in_lanes(values, all_threads())?;
    let exact = is_exact(buffer);
    let tolerance = if exact { Tolerance::EXACT } else { tolerance(buffer)? };
    let values = HostBuffer::F64(vec![sum]);
    Ok(vec![Expected { buffer: "sum".to_owned(), values, tolerance, exact }])
}

/// Whether single precision adds the values of a buffer exactly, in any order that does not depend on
/// them.
///
/// Whole values give whole partial sums, and f32 holds every integer up to 2^24. That no partial sum
/// is larger is certain where a·N ≤ 2^24, a being the largest magnitude. Where the values are drawn
/// independently with mean 0, a partial sum of n ≤ N of them exceeds t with a probability of at most
/// 2·exp(−t² / (2·n·a²)) (Hoeffding, "Probability inequalities for sums of bounded random variables",
/// 1963, theorem 2); a sum of N values has fewer than N partial sums. The sums are called exact where
/// all of them together exceed t = 2^24 with a probability below 2^-64.
fn is_exact(buffer: &Buffer) -> bool {
    let bounds = Bounds::of(buffer);
    let count = buffer.elements() as f64;
    if !bounds.whole {
        return false;
    }
    if bounds.magnitude * count <= F32_INTEGERS {
        return true;
    }
    let Fill::Choice(values) = &buffer.fill else { return false };
    let balanced = values.iter().sum::<f64>() == 0.0;
    let exponent = F32_INTEGERS.powi(2) / (2.0 * count * bounds.magnitude.powi(2));
    balanced && (2.0 * count).ln() - exponent < -64.0 * std::f64::consts::LN_2
}

/// Each value takes part in at most N − 1 additions, whatever their order; one more rounding covers
/// the expectation's own.
fn tolerance(buffer: &Buffer) -> Result<Tolerance> {
    let bounds = Bounds::of(buffer);
    let count = buffer.elements() as f64;
    let sums = format!("with N = {count} the sums");
    precision::tolerance(count, bounds.positive, bounds.magnitude * count, &sums)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::{Ladder, parse_overrides};
    use crate::plan::Place;
    use crate::problem::catalogue::{cpu_times, run};
    use crate::problem::fill;

    fn buffer(elements: u64, fill: Fill) -> Buffer {
        Buffer {
            name: "values".into(),
            dtype: DType::F32,
            shape: vec![elements],
            role: Role::Input,
            fill,
            place: Place::Device,
        }
    }

    #[test]
    fn exactness_is_derived_from_the_fill() {
        let choice = |elements, values: &[f64]| buffer(elements, Fill::Choice(values.to_vec()));
        assert!(is_exact(&choice(1 << 23, &[1.0, 2.0])), "2 · 2^23 = 2^24");
        assert!(!is_exact(&choice(1 << 24, &[1.0, 2.0])), "and twice that");
        // 2^48 / (2 · 2^30 · 25) = 5243; 31·ln 2 = 21.5 and 64·ln 2 = 44.4 are far below.
        assert!(is_exact(&choice(1 << 30, &[-5.0, 5.0])));
        // 2^48 / (2 · 2^30 · 2^12) = 32: too little.
        assert!(!is_exact(&choice(1 << 30, &[-64.0, 64.0])));
        assert!(!is_exact(&choice(1 << 30, &[-5.0, 6.0])), "the mean is 1/2");
        assert!(!is_exact(&choice(16, &[0.5])), "halves");
        assert!(!is_exact(&buffer(16, Fill::Uniform { low: 0.0, high: 1.0 })));
    }

    #[test]
    fn inexact_sums_have_highams_tolerance() {
        // k = 2048 roundings: γ = 2^-13 / (1 − 2^-13) = 1 / 8191.
        let positive = tolerance(&buffer(2048, Fill::Uniform { low: 0.0, high: 1.0 })).unwrap();
        assert!((positive.relative - 1.0 / 8191.0).abs() < 1e-18 && positive.absolute == 0.0);
        let signed = tolerance(&buffer(2048, Fill::Uniform { low: -1.0, high: 1.0 })).unwrap();
        assert!((signed.absolute - 2048.0 / 8191.0).abs() < 1e-12);
        assert!(tolerance(&buffer(1 << 24, Fill::Uniform { low: 0.0, high: 1.0 })).is_err());
    }

    #[test]
    fn both_ladders_are_exact_at_any_size() {
        for (name, sizes) in [("reduce", ["N=1", "N=100003"]), ("reduce-int", ["N=1", "N=100003"])]
        {
            for size in sizes {
                let size = parse_overrides(size).unwrap();
                let plan = Ladder::builtin(name).unwrap().plan("r7", &size, 132).unwrap();
                let inputs = fill::inputs(&plan, 1).unwrap();
                let expected = run(name, &plan, &inputs).unwrap().remove(0);
                let by_hand: f64 = (0..inputs["values"].len())
                    .filter_map(|index| inputs["values"].get(index))
                    .sum();
                assert!(expected.exact && expected.values.get(0) == Some(by_hand), "{name}");
                assert_eq!(cpu_times(&plan, &inputs).unwrap().len() % 2, 0);
            }
        }
        let plan = Ladder::builtin("reduce").unwrap().plan(
            "r7",
            &parse_overrides("N=268435456").unwrap(),
            132,
        );
        assert!(is_exact(&plan.unwrap().buffers[0]));
    }
}
