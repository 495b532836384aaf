//! The ADO workload on the CPU.
//!
//! N sets of M vectors of length L: each set is averaged over its vectors, and the average is
//! multiplied by one L × L matrix.
//!
//! - input\[k\]\[j\]\[i\]: component j of vector i of set k (N × L × M)
//! - matrix\[r\]\[j\] (L × L)
//! - output\[r\]\[k\] = Σ_j matrix\[r\]\[j\] · (Σ_i input\[k\]\[j\]\[i\]) / M (L × N)

mod expected;

use rayon::prelude::*;

use super::real::Real;
use super::reference::with_threads;
use crate::error::{Error, Result};

pub(crate) use expected::REFERENCE;

/// The size of the problem, in the letters of the literature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    /// N: sets.
    pub sets: usize,
    /// M: vectors per set.
    pub vectors: usize,
    /// L: components a vector.
    pub components: usize,
}

impl Size {
    /// The size, if these arrays belong to it.
    ///
    /// # Errors
    /// [`Error::Usage`] where an array has another length, or an extent is 0.
    pub(crate) fn new(n: u64, m: u64, l: u64, input: &[f32], matrix: &[f32]) -> Result<Self> {
        let product = |factors: &[u64]| {
            factors.iter().try_fold(1_u64, |product, factor| product.checked_mul(*factor))
        };
        let fits = product(&[n, m, l]) == Some(input.len() as u64)
            && product(&[l, l]) == Some(matrix.len() as u64);
        if !fits || n == 0 || m == 0 || l == 0 {
            return Err(Error::Usage(format!(
                "the reference `ado` at N = {n}, M = {m}, L = {l} needs an input of N x L x M and a \
                 matrix of L x L elements; here are {} and {}: correct the shapes in the manifest",
                input.len(),
                matrix.len()
            )));
        }
        Ok(Self { sets: n as usize, vectors: m as usize, components: l as usize })
    }
}

/// A CPU version: input, matrix, size, threads.
pub(crate) type Solver = fn(&[f32], &[f32], Size, usize) -> Result<Vec<f32>>;

/// The loop order of the literature's CPU version: the average runs over the vectors outside and
/// over the components inside, so that it strides through the input by M.
///
/// # Errors
/// [`Error::Environment`] where the threads can't be started.
pub(crate) fn original(
    input: &[f32],
    matrix: &[f32],
    size: Size,
    threads: usize,
) -> Result<Vec<f32>> {
    solve(input, matrix, size, threads, |set, products| {
        let mut average = vec![0.0_f32; size.components];
        for vector in 0..size.vectors {
            for (component, sum) in average.iter_mut().enumerate() {
                *sum += set[component * size.vectors + vector];
            }
        }
        for sum in &mut average {
            *sum /= size.vectors as f32;
        }
        for (product, row) in products.iter_mut().zip(matrix.chunks_exact(size.components)) {
            *product = 0.0;
            for (element, average) in row.iter().zip(&average) {
                *product += element * average;
            }
        }
    })
}

/// The same with the components outside and the vectors inside, so that the input is read in its
/// order, and with sums that the compiler can vectorise.
///
/// # Errors
/// [`Error::Environment`] where the threads can't be started.
pub(crate) fn cache_friendly<R: Real>(
    input: &[f32],
    matrix: &[f32],
    size: Size,
    threads: usize,
) -> Result<Vec<R>> {
    solve(input, matrix, size, threads, |set, products| {
        let vectors = R::rounded(size.vectors as f64);
        let average: Vec<R> =
            set.chunks_exact(size.vectors).map(|values| sum::<R>(values) / vectors).collect();
        for (product, row) in products.iter_mut().zip(matrix.chunks_exact(size.components)) {
            *product = dot(row, &average);
        }
    })
}

/// Runs `one_set` on every set with so many threads. Each set's products are written next to each
/// other and moved to their column at the end; that is 1/M of the work.
fn solve<R: Real>(
    input: &[f32],
    matrix: &[f32],
    size: Size,
    threads: usize,
    one_set: impl Fn(&[f32], &mut [R]) + Sync,
) -> Result<Vec<R>> {
    debug_assert_eq!(matrix.len(), size.components * size.components);
    with_threads(threads, || {
        let mut by_set = vec![R::default(); size.sets * size.components];
        input
            .par_chunks_exact(size.vectors * size.components)
            .zip(by_set.par_chunks_exact_mut(size.components))
            .for_each(|(set, products)| one_set(set, products));
        let mut output = vec![R::default(); by_set.len()];
        output.par_chunks_exact_mut(size.sets).enumerate().for_each(|(row, out)| {
            for (value, products) in out.iter_mut().zip(by_set.chunks_exact(size.components)) {
                *value = products[row];
            }
        });
        output
    })
}

/// Independent partial sums, one for every lane of a wide vector register.
const LANES: usize = 16;

fn sum<R: Real>(values: &[f32]) -> R {
    let mut lanes = [R::default(); LANES];
    let chunks = values.chunks_exact(LANES);
    let rest: R = chunks.remainder().iter().map(|value| R::from(*value)).sum();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += R::from(*value);
        }
    }
    lanes.into_iter().sum::<R>() + rest
}

fn dot<R: Real>(row: &[f32], average: &[R]) -> R {
    let mut lanes = [R::default(); LANES];
    let (rows, averages) = (row.chunks_exact(LANES), average.chunks_exact(LANES));
    let rest: R = rows
        .remainder()
        .iter()
        .zip(averages.remainder())
        .map(|(element, average)| R::from(*element) * *average)
        .sum();
    for (row, average) in rows.zip(averages) {
        for ((lane, element), average) in lanes.iter_mut().zip(row).zip(average) {
            *lane += R::from(*element) * *average;
        }
    }
    lanes.into_iter().sum::<R>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// N = 2, M = 2, L = 3, by hand. Averages: set 0 is (1.5, 2, 1), set 1 is (1, 1.5, 2).
    const INPUT: [f32; 12] = [1.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0, 2.0, 1.0, 2.0, 2.0];
    const MATRIX: [f32; 9] = [1.0, 2.0, 1.0, 2.0, 2.0, 2.0, 1.0, 1.0, 2.0];
    /// Row 0: 1.5+4+1 and 1+3+2; row 1: 3+4+2 and 2+3+4; row 2: 1.5+2+2 and 1+1.5+4.
    const OUTPUT: [f32; 6] = [6.5, 6.0, 9.0, 9.0, 5.5, 6.5];

    #[test]
    fn computes_the_example() {
        let size = Size::new(2, 2, 3, &INPUT, &MATRIX).unwrap();
        assert_eq!(original(&INPUT, &MATRIX, size, 1).unwrap(), OUTPUT);
        assert_eq!(cache_friendly::<f32>(&INPUT, &MATRIX, size, 2).unwrap(), OUTPUT);
        let wide = cache_friendly::<f64>(&INPUT, &MATRIX, size, 1).unwrap();
        assert_eq!(wide, OUTPUT.map(f64::from));
    }

    #[test]
    fn both_orders_agree_on_odd_sizes() {
        for (n, m, l) in [(1, 1, 1), (3, 64, 17), (5, 32, 33), (1, 128, 50), (7, 1, 16)] {
            // Values 1 and 2 and M a power of two: every intermediate is exact in any order.
            let values = |count: u64, step: u64| -> Vec<f32> {
                (0..count).map(|i| if (i * step) % 7 < 3 { 1.0 } else { 2.0 }).collect()
            };
            let (input, matrix) = (values(n * m * l, 5), values(l * l, 3));
            let size = Size::new(n, m, l, &input, &matrix).unwrap();
            let expected = original(&input, &matrix, size, 1).unwrap();
            assert_eq!(original(&input, &matrix, size, 3).unwrap(), expected);
            for threads in [1, 3] {
                let got = cache_friendly::<f32>(&input, &matrix, size, threads).unwrap();
                assert_eq!(got, expected, "{n} {m} {l}");
            }
        }
    }

    #[test]
    fn arrays_of_another_size_are_refused() {
        assert!(Size::new(2, 2, 2, &INPUT, &MATRIX).is_err());
        assert!(Size::new(0, 2, 3, &[], &MATRIX).is_err());
        assert!(Size::new(u64::MAX, 2, 3, &INPUT, &MATRIX).is_err());
    }
}
