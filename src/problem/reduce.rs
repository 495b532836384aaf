//! The sum of an array on the CPU, of floats and of integers.

mod expected;

use rayon::prelude::*;

pub(crate) use expected::{REFERENCE, REFERENCE_INT};

use super::reference::with_threads;
use crate::error::Result;

/// What is added up: an element's type, or a wider one.
pub(crate) trait Total<V>: Copy + Default + Send + Sync {
    /// The total with one more value.
    #[must_use]
    fn plus(self, value: V) -> Self;
    /// Two totals together.
    #[must_use]
    fn and(self, other: Self) -> Self;
}

impl Total<f32> for f32 {
    fn plus(self, value: f32) -> Self {
        self + value
    }
    fn and(self, other: Self) -> Self {
        self + other
    }
}

impl Total<f32> for f64 {
    fn plus(self, value: f32) -> Self {
        self + Self::from(value)
    }
    fn and(self, other: Self) -> Self {
        self + other
    }
}

/// Wraps around, as the device does.
impl Total<i32> for i32 {
    fn plus(self, value: i32) -> Self {
        self.wrapping_add(value)
    }
    fn and(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

/// Independent totals, one for every lane of a few wide vector registers.
const LANES: usize = 32;

/// Adds up from front to back: one chain of dependent additions per thread.
///
/// # Errors
/// [`crate::error::Error::Environment`] where the threads can't be started.
pub(crate) fn in_order<V: Copy + Sync, R: Total<V>>(values: &[V], threads: usize) -> Result<R> {
    shared_out(values, threads, |values| values.iter().fold(R::default(), |sum, v| sum.plus(*v)))
}

/// Adds up in many independent totals, which the compiler keeps in vector registers.
///
/// # Errors
/// As [`in_order`].
pub(crate) fn in_lanes<V: Copy + Sync, R: Total<V>>(values: &[V], threads: usize) -> Result<R> {
    shared_out(values, threads, |values| {
        let mut lanes = [R::default(); LANES];
        let chunks = values.chunks_exact(LANES);
        let rest = chunks.remainder().iter().fold(R::default(), |sum, v| sum.plus(*v));
        for chunk in chunks {
            for (lane, value) in lanes.iter_mut().zip(chunk) {
                *lane = lane.plus(*value);
            }
        }
        lanes.into_iter().fold(rest, R::and)
    })
}

/// Gives each thread one stretch of the values.
fn shared_out<V: Copy + Sync, R: Total<V>>(
    values: &[V],
    threads: usize,
    sum: impl Fn(&[V]) -> R + Send + Sync,
) -> Result<R> {
    let stretch = values.len().div_ceil(threads.max(1)).max(1);
    with_threads(threads, || values.par_chunks(stretch).map(sum).reduce(R::default, R::and))
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the expected values are exact")]
mod tests {
    use super::*;

    #[test]
    fn adds_up() {
        // 1 − 2 + 3 − 4 … + 99 = 50: more than the lanes hold, and no multiple of them.
        let values: Vec<i32> = (1..100).map(|i| if i % 2 == 1 { i } else { -i }).collect();
        let floats: Vec<f32> = values.iter().map(|value| *value as f32).collect();
        for threads in [1, 3] {
            assert_eq!(in_order::<i32, i32>(&values, threads).unwrap(), 50);
            assert_eq!(in_lanes::<i32, i32>(&values, threads).unwrap(), 50);
            assert_eq!(in_order::<f32, f32>(&floats, threads).unwrap(), 50.0);
            assert_eq!(in_lanes::<f32, f64>(&floats, threads).unwrap(), 50.0);
        }
        assert_eq!(in_lanes::<i32, i32>(&[], 2).unwrap(), 0);
    }

    #[test]
    fn integers_wrap_around() {
        let values = [i32::MAX, 1, 5];
        assert_eq!(in_order::<i32, i32>(&values, 1).unwrap(), i32::MIN + 5);
        assert_eq!(in_lanes::<i32, i32>(&values, 2).unwrap(), i32::MIN + 5);
    }
}
