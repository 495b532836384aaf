//! Rounding: when single precision is exact, and how far it may be off where it is not.

use super::Tolerance;
use crate::error::{Error, Result};
use crate::plan::{Buffer, DType, Fill, Plan};

/// Unit roundoff of f32, u = 2^-24: the largest relative error of one rounding to nearest.
pub(crate) const F32_ROUNDOFF: f64 = 1.0 / 16_777_216.0;

/// f32 holds every integer up to here, 2^24.
pub(crate) const F32_INTEGERS: f64 = 16_777_216.0;

/// Unit roundoff of f64, u = 2^-53.
pub(crate) const F64_ROUNDOFF: f64 = 1.0 / F64_INTEGERS;

/// f64 holds every integer up to here, 2^53.
pub(crate) const F64_INTEGERS: f64 = 9_007_199_254_740_992.0;

/// What is known of the values of an input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bounds {
    /// Largest magnitude.
    pub magnitude: f64,
    /// True where all are whole numbers.
    pub whole: bool,
    /// True where none is negative.
    pub positive: bool,
}

impl Bounds {
    /// The bounds that a buffer's fill gives.
    #[must_use]
    pub(crate) fn of(buffer: &Buffer) -> Self {
        let (values, whole_steps): (Vec<f64>, bool) = match &buffer.fill {
            Fill::Choice(values) => (values.clone(), true),
            Fill::Constant(value) => (vec![*value], true),
            Fill::Uniform { low, high } => (vec![*low, *high], false),
            // A copy is judged by what it is a copy of; without that it may hold anything.
            Fill::Encode { .. } => (vec![buffer.dtype.range().0, buffer.dtype.range().1], false),
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

/// The smallest and the largest value that a fill gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    /// The smallest.
    pub low: f64,
    /// The largest.
    pub high: f64,
}

impl Range {
    /// The range of a fill; `None` where it depends on the buffer's length or on another buffer, and
    /// where there are no values.
    #[must_use]
    pub(crate) fn of(fill: &Fill) -> Option<Self> {
        match fill {
            Fill::Choice(values) => {
                let low = values.iter().copied().reduce(f64::min)?;
                let high = values.iter().copied().reduce(f64::max)?;
                Some(Self { low, high })
            }
            Fill::Constant(value) => Some(Self { low: *value, high: *value }),
            Fill::Uniform { low, high } => Some(Self { low: *low, high: *high }),
            Fill::Index | Fill::Encode { .. } => None,
        }
    }
}

/// Half the distance of neighbouring f16 values, relative to the value: 2^-11. Below 2^-14 the
/// distance is fixed; half of it is 2^-25.
const F16_ROUNDOFF: f64 = 1.0 / 2048.0;
const F16_SMALLEST_ERROR: f64 = 1.0 / 33_554_432.0;

/// The largest error of the values that a plan's kernels read for an input: 0 where they read the
/// input itself, half a step of the code or a rounding where they read a compressed copy of it.
#[must_use]
pub(crate) fn quantisation(plan: &Plan, input: &str) -> f64 {
    let source = plan.buffers.iter().find(|buffer| buffer.name == input);
    let magnitude = source.map_or(0.0, |source| Bounds::of(source).magnitude);
    let passed = |place: usize| {
        let mut arguments = plan.launches.iter().flat_map(|launch| &launch.arguments);
        arguments.any(|argument| argument.buffer() == Some(place))
    };
    let copies = plan.buffers.iter().enumerate().filter(|(place, _)| passed(*place));
    copies
        .filter_map(|(_, copy)| match &copy.fill {
            Fill::Encode { of, low, high } if of == input => Some(match (copy.dtype, low, high) {
                (DType::F16, ..) => (F16_ROUNDOFF * magnitude).max(F16_SMALLEST_ERROR),
                (DType::F32 | DType::F64, ..) => 0.0,
                // An integer without a range never passes the manifest's checks.
                (dtype, Some(low), Some(high)) => (high - low) / dtype.range().1 / 2.0,
                _ => f64::INFINITY,
            }),
            _ => None,
        })
        .fold(0.0, f64::max)
}

/// γ_k = k·u / (1 − k·u): the relative error of a result behind k roundings, whatever their order,
/// against the sum of its terms' magnitudes (Higham, "Accuracy and Stability of Numerical
/// Algorithms", 2nd ed., lemma 3.1 and section 3.1).
///
/// # Errors
/// [`Error::Usage`] where k·u is 1/2 or more: any answer could be called right. `sums` says which
/// sums are too long.
pub(crate) fn gamma(roundings: f64, roundoff: f64, sums: &str) -> Result<f64> {
    let error = roundings * roundoff;
    if error >= 0.5 {
        return Err(Error::Usage(format!(
            "{sums} are too long for this precision: any answer would pass; choose a smaller --size"
        )));
    }
    Ok(error / (1.0 - error))
}

/// The tolerance of a result behind k roundings: relative where all terms have one sign, since then
/// the result is the sum of their magnitudes; else absolute, `largest` being the most that this sum
/// can come to.
///
/// # Errors
/// As [`gamma`].
pub(crate) fn tolerance(
    roundings: f64,
    one_sign: bool,
    largest: f64,
    sums: &str,
) -> Result<Tolerance> {
    let gamma = gamma(roundings, F32_ROUNDOFF, sums)?;
    Ok(if one_sign {
        Tolerance::relative(gamma)
    } else {
        Tolerance { absolute: gamma * largest, relative: 0.0 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_by_hand() {
        // k = 2048: k·u = 2^-13, so γ = 2^-13 / (1 − 2^-13) = 1 / 8191.
        let got = gamma(2048.0, F32_ROUNDOFF, "sums").unwrap();
        assert!((got - 1.0 / 8191.0).abs() < 1e-18);
        assert!(gamma(F32_INTEGERS / 2.0, F32_ROUNDOFF, "sums").is_err());
    }

    #[test]
    fn quantisation_is_half_a_step() {
        let ladder = crate::ladder::Ladder::builtin("stencil").unwrap();
        let error = |step, field| {
            let plan = ladder.plan(step, &crate::ladder::Overrides::new(), 132).unwrap();
            quantisation(&plan, field)
        };
        assert!(error("stream", "cur").abs() < f64::EPSILON);
        // Halves up to 1 and up to 3/16: 2^-11 of that.
        assert!((error("halves", "cur") - 1.0 / 2048.0).abs() < 1e-12);
        assert!((error("halves", "vsq") - 3.0 / 32768.0).abs() < 1e-12);
        // 255 steps from -1 to 1 and from 1/16 to 3/16.
        assert!((error("codes", "cur") - 1.0 / 255.0).abs() < 1e-12);
        assert!((error("codes", "vsq") - 1.0 / 16.0 / 255.0).abs() < 1e-12);
    }

    #[test]
    fn ranges_are_the_fills() {
        let range = Range::of(&Fill::Choice(vec![2.0, -3.0, 1.0])).unwrap();
        assert!((range.low + 3.0).abs() < 1e-15 && (range.high - 2.0).abs() < 1e-15);
        assert_eq!(Range::of(&Fill::Choice(Vec::new())), None);
        assert_eq!(Range::of(&Fill::Index), None);
    }

    #[test]
    fn mixed_signs_give_an_absolute_tolerance() {
        let got = tolerance(2048.0, false, 4.0, "sums").unwrap();
        assert!((got.absolute - 4.0 / 8191.0).abs() < 1e-15 && got.relative == 0.0);
    }
}
