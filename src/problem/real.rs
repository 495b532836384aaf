//! What the references compute in: f32 as the kernels do, f64 for the expected answer.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

/// A floating-point type.
pub(crate) trait Real:
    Copy
    + Default
    + Send
    + Sync
    + From<f32>
    + Sum
    + AddAssign
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    /// A number, rounded to the type.
    fn rounded(value: f64) -> Self;
}

impl Real for f32 {
    fn rounded(value: f64) -> Self {
        value as f32
    }
}

impl Real for f64 {
    fn rounded(value: f64) -> Self {
        value
    }
}
