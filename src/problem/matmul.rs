//! The matrix product: C = A·B, all n × n and row by row.

mod expected;

pub(crate) use expected::REFERENCE;

use rayon::prelude::*;

use super::real::Real;
use super::reference::with_threads;
use crate::error::{Error, Result};

/// Rows of C that a microkernel computes. With [`COLUMNS`] it keeps 32 sums: eight of the sixteen
/// vector registers that every x86-64 has, leaving room for its operands.
const ROWS: usize = 4;
/// Columns of C that a microkernel computes.
const COLUMNS: usize = 8;
/// Rows of B in a packed block; a row strip of A of this length stays in L1.
const DEPTH: usize = 256;
/// Columns of B in a packed block: 256 × 256 elements are 256 KB in f32, for L2.
const WIDTH: usize = 256;
/// Rows of C a task: packing costs one copy for so many multiply-adds.
const STRIP: usize = 64;

/// A CPU version: A, B, their extent n, and the number of threads, to C.
pub(crate) type Solver<R> = fn(&[f32], &[f32], usize, usize) -> Result<Vec<R>>;

/// Checks the arrays' sizes against n.
///
/// # Errors
/// [`Error::Usage`] where they differ, or n is 0 or too large for this machine.
fn extent(n: u64, a: &[f32], b: &[f32]) -> Result<usize> {
    let elements = n.checked_mul(n).and_then(|elements| usize::try_from(elements).ok());
    match elements {
        Some(elements) if n > 0 && a.len() == elements && b.len() == elements => Ok(n as usize),
        _ => Err(Error::Usage(format!(
            "the reference `matmul` needs A and B of shape [n, n] with n = {n}; they have {} and {} \
             elements",
            a.len(),
            b.len()
        ))),
    }
}

/// Plain loops in an order that reads all arrays along their rows: a row of C is the sum of B's rows,
/// each times an element of A. B is read anew for every row of C.
///
/// # Errors
/// [`Error::Environment`] where the threads can't be started.
pub(crate) fn row_by_row(a: &[f32], b: &[f32], n: usize, threads: usize) -> Result<Vec<f32>> {
    with_threads(threads, || {
        let mut c = vec![0.0; n * n];
        c.par_chunks_exact_mut(n).zip(a.par_chunks_exact(n)).for_each(|(c, a)| {
            for (x, b) in a.iter().zip(b.chunks_exact(n)) {
                for (sum, y) in c.iter_mut().zip(b) {
                    *sum += x * y;
                }
            }
        });
        c
    })
}

/// The product in blocks that stay in the caches and tiles that stay in registers: every element of
/// B that is fetched serves [`STRIP`] rows.
///
/// # Errors
/// [`Error::Environment`] where the threads can't be started.
pub(crate) fn blocked<R: Real>(a: &[f32], b: &[f32], n: usize, threads: usize) -> Result<Vec<R>> {
    with_threads(threads, || {
        let mut c = vec![R::default(); n * n];
        c.par_chunks_mut(STRIP * n)
            .zip(a.par_chunks(STRIP * n))
            .for_each(|(c, a)| strip(c, a, b, n));
        c
    })
}

/// Some rows of C from the same rows of A and all of B.
fn strip<R: Real>(c: &mut [R], a: &[f32], b: &[f32], n: usize) {
    let mut packed = Vec::new();
    for first_column in (0..n).step_by(WIDTH) {
        let width = WIDTH.min(n - first_column);
        for first_k in (0..n).step_by(DEPTH) {
            let depth = DEPTH.min(n - first_k);
            pack(&mut packed, b, n, [first_k, depth], [first_column, width]);
            let rows = c.chunks_mut(ROWS * n).zip(a.chunks(ROWS * n));
            for (c, a) in rows {
                let a = operands(a, n, first_k, depth);
                for (panel, b) in packed.chunks_exact(depth * COLUMNS).enumerate() {
                    let at = first_column + panel * COLUMNS;
                    add(c, n, at, &microkernel(a, b));
                }
            }
        }
    }
}

/// A block of B as panels of [`COLUMNS`] columns, each panel row after row; columns beyond the
/// matrix are zero.
fn pack<R: Real>(
    packed: &mut Vec<R>,
    b: &[f32],
    n: usize,
    [first_k, depth]: [usize; 2],
    [first_column, width]: [usize; 2],
) {
    packed.clear();
    for column in (first_column..first_column + width).step_by(COLUMNS) {
        let there = COLUMNS.min(n - column);
        for k in first_k..first_k + depth {
            let row = &b[k * n + column..][..there];
            packed.extend(row.iter().map(|value| R::from(*value)));
            packed.extend(std::iter::repeat_n(R::default(), COLUMNS - there));
        }
    }
}

/// [`ROWS`] rows of A, `depth` elements from `first_k` on. Rows beyond the matrix repeat the first:
/// their sums are computed and dropped.
fn operands(a: &[f32], n: usize, first_k: usize, depth: usize) -> [&[f32]; ROWS] {
    std::array::from_fn(|row| {
        let row = if (row + 1) * n <= a.len() { row } else { 0 };
        &a[row * n + first_k..][..depth]
    })
}

/// [`ROWS`] × [`COLUMNS`] sums over the depth of a packed panel, in registers.
fn microkernel<R: Real>(a: [&[f32]; ROWS], panel: &[R]) -> [[R; COLUMNS]; ROWS] {
    let [a0, a1, a2, a3] = a;
    let columns = a0.iter().zip(a1).zip(a2.iter().zip(a3));
    let mut sums = [[R::default(); COLUMNS]; ROWS];
    for (((x0, x1), (x2, x3)), b) in columns.zip(panel.as_chunks::<COLUMNS>().0) {
        for (sums, x) in sums.iter_mut().zip([x0, x1, x2, x3]) {
            let x = R::from(*x);
            for (sum, y) in sums.iter_mut().zip(b) {
                *sum += x * *y;
            }
        }
    }
    sums
}

/// Adds a microkernel's sums to C from a column on, as far as C goes.
fn add<R: Real>(c: &mut [R], n: usize, column: usize, sums: &[[R; COLUMNS]; ROWS]) {
    for (row, sums) in c.chunks_exact_mut(n).zip(sums) {
        for (element, sum) in row[column..].iter_mut().zip(sums) {
            *element += *sum;
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the expected values are exact")]
mod tests {
    use super::*;

    #[test]
    fn computes_the_example() {
        // By hand: (1·2 + 2·0, 1·1 + 2·−1) and (−1·2 + 0·0, −1·1 + 0·−1).
        let (a, b) = ([1.0, 2.0, -1.0, 0.0], [2.0, 1.0, 0.0, -1.0]);
        let c = [2.0, -1.0, -2.0, -1.0];
        assert_eq!(row_by_row(&a, &b, 2, 1).unwrap(), c);
        assert_eq!(blocked::<f32>(&a, &b, 2, 1).unwrap(), c);
        assert_eq!(blocked::<f64>(&a, &b, 2, 2).unwrap(), c.map(f64::from));
    }

    /// A shifts rows up by `shift`, cyclically: C's row i is B's row i + shift, whatever the blocks.
    #[test]
    fn a_permutation_moves_rows_at_every_edge_of_the_blocks() {
        for n in [1, 3, 4, 7, 9, 65, 257] {
            let shift = n / 3;
            let mut a = vec![0.0_f32; n * n];
            for row in 0..n {
                a[row * n + (row + shift) % n] = 1.0;
            }
            let b: Vec<f32> = (0..n * n).map(|i| i as f32).collect();
            let plain = row_by_row(&a, &b, n, 1).unwrap();
            let fast = blocked::<f32>(&a, &b, n, 2).unwrap();
            for row in 0..n {
                let from = (row + shift) % n * n;
                assert_eq!(plain[row * n..][..n], b[from..][..n], "n = {n}, row {row}");
                assert_eq!(fast[row * n..][..n], b[from..][..n], "n = {n}, row {row}");
            }
        }
    }

    /// Element (i, j) of the product of a matrix of i + 1 in row i and one of ones is n·(i + 1).
    #[test]
    fn every_term_is_added_once() {
        for n in [5, 66, 130] {
            let a: Vec<f32> = (0..n * n).map(|i| (i / n + 1) as f32).collect();
            let b = vec![1.0_f32; n * n];
            for (i, sum) in blocked::<f32>(&a, &b, n, 2).unwrap().into_iter().enumerate() {
                assert_eq!(sum, (n * (i / n + 1)) as f32, "n = {n}, element {i}");
            }
        }
    }

    #[test]
    fn arrays_of_another_size_are_refused() {
        assert!(extent(2, &[0.0; 4], &[0.0; 4]).is_ok());
        assert!(extent(2, &[0.0; 4], &[0.0; 3]).is_err());
        assert!(extent(0, &[], &[]).is_err());
        assert!(extent(u64::MAX, &[0.0; 4], &[0.0; 4]).is_err());
    }
}
