//! Rounding: when single precision is exact, and how far it may be off where it is not.

use super::Tolerance;
use crate::error::{Error, Result};
use crate::ladder::plan::{Buffer, Fill};

/// Unit roundoff of f32, u = 2^-24: the largest relative error of one rounding to nearest.
pub const F32_ROUNDOFF: f64 = 1.0 / 16_777_216.0;

/// f32 holds every integer up to here, 2^24.
pub const F32_INTEGERS: f64 = 16_777_216.0;

/// Unit roundoff of f64, u = 2^-53.
pub const F64_ROUNDOFF: f64 = 1.0 / F64_INTEGERS;

/// f64 holds every integer up to here, 2^53.
pub const F64_INTEGERS: f64 = 9_007_199_254_740_992.0;

/// What is known of the values of an input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
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
    pub fn of(buffer: &Buffer) -> Self {
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

/// γ_k = k·u / (1 − k·u): the relative error of a result behind k roundings, whatever their order,
/// against the sum of its terms' magnitudes (Higham, "Accuracy and Stability of Numerical
/// Algorithms", 2nd ed., lemma 3.1 and section 3.1).
///
/// # Errors
/// [`Error::Usage`] where k·u is 1/2 or more: any answer could be called right. `sums` says which
/// sums are too long.
pub fn gamma(roundings: f64, roundoff: f64, sums: &str) -> Result<f64> {
    let error = roundings * roundoff;
    if error >= 0.5 {
        return Err(Error::Usage(format!(
            "{sums} are too long for this precision: any answer could be called right; choose a \
             smaller --size"
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
pub fn tolerance(roundings: f64, one_sign: bool, largest: f64, sums: &str) -> Result<Tolerance> {
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
    fn mixed_signs_give_an_absolute_tolerance() {
        let got = tolerance(2048.0, false, 4.0, "sums").unwrap();
        assert!((got.absolute - 4.0 / 8191.0).abs() < 1e-15 && got.relative == 0.0);
    }
}
