//! Is an answer right?

use rayon::prelude::*;

use super::HostBuffer;
use crate::error::{Error, Result};
use crate::plan::Buffer;
use crate::text;

/// Elements that one task compares.
const CHUNK: usize = 1 << 16;

/// How far an element may be from the expected value e: absolute + relative·|e|.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tolerance {
    /// In units of the value.
    pub absolute: f64,
    /// As a fraction of the expected value.
    pub relative: f64,
}

impl Tolerance {
    /// Only the expected value itself will do.
    pub(crate) const EXACT: Self = Self { absolute: 0.0, relative: 0.0 };

    /// A fraction of the expected value.
    #[must_use]
    pub(crate) fn relative(relative: f64) -> Self {
        Self { absolute: 0.0, relative }
    }

    /// NaN never passes, not even where NaN was expected; an infinity passes for itself only.
    #[must_use]
    #[expect(clippy::float_cmp, reason = "equal values pass without a tolerance; infinities too")]
    fn passes(self, expected: f64, got: f64) -> bool {
        let error = (got - expected).abs();
        got == expected
            || (error.is_finite() && error <= self.absolute + self.relative * expected.abs())
    }
}

/// What a comparison came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Comparison {
    /// Largest |got − expected|; infinite where an element is NaN.
    pub max_error: f64,
    /// The first element outside the tolerance: index, expected, got.
    pub first_mismatch: Option<(usize, f64, f64)>,
    /// How many elements are outside.
    pub mismatches: u64,
    /// How many elements were compared.
    pub elements: u64,
}

impl Comparison {
    const NOTHING: Self = Self { max_error: 0.0, first_mismatch: None, mismatches: 0, elements: 0 };

    /// True where every element is within the tolerance.
    #[must_use]
    pub(crate) fn passed(&self) -> bool {
        self.mismatches == 0
    }

    /// What is wrong, in one sentence with the element's coordinates; `None` where nothing is.
    #[must_use]
    pub(crate) fn complaint(&self, buffer: &Buffer) -> Option<String> {
        let (index, expected, got) = self.first_mismatch?;
        let places: Vec<String> =
            coordinates(index as u64, &buffer.shape).iter().map(u64::to_string).collect();
        let element = format!("{}[{}]", buffer.name, places.join("]["));
        let unwritten = if got.is_nan() {
            " (never written, or computed from a value that was never written)"
        } else {
            ""
        };
        Some(format!(
            "{} of {} elements of `{}` are wrong; the first is {element}: expected {expected}, \
             got {got}{unwritten}",
            text::count(self.mismatches as f64),
            text::count(self.elements as f64),
            buffer.name,
        ))
    }

    /// This one and a later stretch of the same array.
    fn and(self, later: Self) -> Self {
        Self {
            max_error: self.max_error.max(later.max_error),
            first_mismatch: self.first_mismatch.or(later.first_mismatch),
            mismatches: self.mismatches + later.mismatches,
            elements: self.elements + later.elements,
        }
    }

    fn add(&mut self, index: usize, expected: f64, got: f64, error: f64, passed: bool) {
        self.elements += 1;
        self.max_error = self.max_error.max(if error.is_nan() { f64::INFINITY } else { error });
        if !passed {
            self.mismatches += 1;
            self.first_mismatch = self.first_mismatch.or(Some((index, expected, got)));
        }
    }
}

/// Compares an answer with the expected one, element by element, with all threads of the current
/// rayon pool. The expected values may be of a wider type than the answer's.
///
/// # Errors
/// [`Error::Kernel`] where the lengths differ.
pub(crate) fn compare(
    expected: &HostBuffer,
    got: &HostBuffer,
    tolerance: Tolerance,
) -> Result<Comparison> {
    if expected.len() != got.len() {
        return Err(Error::Kernel(format!(
            "the answer has {} elements, and {} were expected",
            got.len(),
            expected.len()
        )));
    }
    // The types that matter most in size get a loop of their own; the others go one by one.
    Ok(match (expected, got) {
        (HostBuffer::F32(expected), HostBuffer::F32(got)) => {
            pairs(expected, got, |value| f64::from(*value), |value| f64::from(*value), tolerance)
        }
        (HostBuffer::F64(expected), HostBuffer::F32(got)) => {
            pairs(expected, got, |value| *value, |value| f64::from(*value), tolerance)
        }
        (HostBuffer::F64(expected), HostBuffer::F64(got)) => {
            pairs(expected, got, |value| *value, |value| *value, tolerance)
        }
        (HostBuffer::U64(expected), HostBuffer::U64(got)) => wide(expected, got, tolerance),
        _ => any(expected, got, tolerance),
    })
}

fn pairs<E: Sync, G: Sync>(
    expected: &[E],
    got: &[G],
    expected_value: impl Fn(&E) -> f64 + Sync,
    got_value: impl Fn(&G) -> f64 + Sync,
    tolerance: Tolerance,
) -> Comparison {
    stretches(expected.len(), |index, comparison| {
        let (expected, got) = (expected_value(&expected[index]), got_value(&got[index]));
        comparison.add(
            index,
            expected,
            got,
            distance(expected, got),
            tolerance.passes(expected, got),
        );
    })
}

/// 64-bit integers differ where their f64 neighbours don't.
fn wide(expected: &[u64], got: &[u64], tolerance: Tolerance) -> Comparison {
    stretches(expected.len(), |index, comparison| {
        let error = expected[index].abs_diff(got[index]) as f64;
        let (expected, got) = (expected[index] as f64, got[index] as f64);
        let passed = error <= tolerance.absolute + tolerance.relative * expected;
        comparison.add(index, expected, got, error, passed);
    })
}

fn any(expected: &HostBuffer, got: &HostBuffer, tolerance: Tolerance) -> Comparison {
    stretches(expected.len(), |index, comparison| {
        let expected = expected.get(index).unwrap_or(f64::NAN);
        let got = got.get(index).unwrap_or(f64::NAN);
        comparison.add(
            index,
            expected,
            got,
            distance(expected, got),
            tolerance.passes(expected, got),
        );
    })
}

/// |got − expected|, 0 for equal infinities.
#[expect(clippy::float_cmp, reason = "equal infinities have no difference to speak of")]
fn distance(expected: f64, got: f64) -> f64 {
    if got == expected { 0.0 } else { (got - expected).abs() }
}

fn stretches(len: usize, add: impl Fn(usize, &mut Comparison) + Sync) -> Comparison {
    (0..len.div_ceil(CHUNK))
        .into_par_iter()
        .map(|chunk| {
            let mut comparison = Comparison::NOTHING;
            for index in chunk * CHUNK..len.min((chunk + 1) * CHUNK) {
                add(index, &mut comparison);
            }
            comparison
        })
        // An ordered reduction, so the first mismatch is the first in the array.
        .reduce(|| Comparison::NOTHING, Comparison::and)
}

/// A row-major index as coordinates, slowest first.
#[must_use]
pub(crate) fn coordinates(index: u64, shape: &[u64]) -> Vec<u64> {
    let mut rest = index;
    let mut coordinates: Vec<u64> = shape
        .iter()
        .rev()
        .map(|extent| {
            let extent = (*extent).max(1);
            let coordinate = rest % extent;
            rest /= extent;
            coordinate
        })
        .collect();
    coordinates.reverse();
    coordinates
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the expected values are exact")]
mod tests {
    use super::*;
    use crate::plan::{DType, Fill, Place, Role};

    fn f32s(values: &[f32]) -> HostBuffer {
        HostBuffer::F32(values.to_vec())
    }

    #[test]
    fn equal_answers_pass_exactly() {
        let values = f32s(&[1.0, -2.5, 0.0, f32::INFINITY]);
        let comparison = compare(&values, &values, Tolerance::EXACT).unwrap();
        assert_eq!(comparison, Comparison { elements: 4, ..Comparison::NOTHING });
        assert!(comparison.passed());
    }

    #[test]
    fn nan_and_infinity_never_pass() {
        let lax = Tolerance { absolute: 1e30, relative: 1e30 };
        for (expected, got) in [
            (1.0, f32::NAN),
            (f32::NAN, f32::NAN),
            (f32::NAN, 1.0),
            (f32::INFINITY, 1.0),
            (1.0, f32::NEG_INFINITY),
        ] {
            let comparison = compare(&f32s(&[expected]), &f32s(&[got]), lax).unwrap();
            assert_eq!(comparison.mismatches, 1, "{expected} {got}");
            assert_eq!(comparison.max_error, f64::INFINITY);
        }
        let poison = HostBuffer::F32(vec![f32::NAN]);
        assert!(!compare(&poison, &poison, lax).unwrap().passed());
    }

    #[test]
    fn tolerance_is_relative_to_the_expected_value() {
        let expected = HostBuffer::F64(vec![1000.0, 1000.0, -4.0]);
        let got = f32s(&[1001.0, 1001.5, -4.0]);
        let comparison = compare(&expected, &got, Tolerance::relative(1e-3)).unwrap();
        assert_eq!(comparison.first_mismatch, Some((1, 1000.0, 1001.5)));
        assert_eq!((comparison.mismatches, comparison.max_error), (1, 1.5));
    }

    #[test]
    fn the_first_mismatch_is_the_first_across_chunks() {
        let expected = f32s(&vec![0.0; 3 * CHUNK]);
        let mut values = vec![0.0; 3 * CHUNK];
        values[CHUNK + 5] = 2.0;
        values[2 * CHUNK] = 3.0;
        let comparison = compare(&expected, &f32s(&values), Tolerance::EXACT).unwrap();
        assert_eq!(comparison.first_mismatch, Some((CHUNK + 5, 0.0, 2.0)));
        assert_eq!((comparison.mismatches, comparison.max_error), (2, 3.0));
    }

    #[test]
    fn integers_beyond_2_53_are_told_apart() {
        let expected = HostBuffer::U64(vec![1 << 53]);
        let got = HostBuffer::U64(vec![(1 << 53) + 1]);
        let comparison = compare(&expected, &got, Tolerance::EXACT).unwrap();
        assert_eq!((comparison.mismatches, comparison.max_error), (1, 1.0));
    }

    #[test]
    fn complaints_give_coordinates() {
        let buffer = Buffer {
            name: "output".into(),
            dtype: DType::F32,
            shape: vec![2, 3],
            role: Role::Output,
            fill: Fill::Constant(0.0),
            place: Place::Device,
        };
        let expected = f32s(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let got = f32s(&[1.0, 2.0, 3.0, 4.0, 5.5, f32::NAN]);
        let comparison = compare(&expected, &got, Tolerance::EXACT).unwrap();
        assert_eq!(
            comparison.complaint(&buffer).unwrap(),
            "2 of 6 elements of `output` are wrong; the first is output[1][1]: expected 5, got 5.5"
        );
        assert!(compare(&expected, &f32s(&[1.0]), Tolerance::EXACT).is_err());
    }

    #[test]
    fn indices_become_coordinates() {
        // 2 x 3 x 4: 1·12 + 2·4 + 3.
        assert_eq!(coordinates(23, &[2, 3, 4]), [1, 2, 3]);
        assert_eq!(coordinates(0, &[2, 3, 4]), [0, 0, 0]);
    }
}
