//! A time step of the wave equation by finite differences, on the CPU.
//!
//! next = 2·cur − prev + vsq·∇²cur, second order in time and of a given even order in space: the
//! Laplacian is a star of `order / 2` neighbours on each side along x, y and z.
//!
//! - cur: (nz + order) × (ny + order) × pitch, the grid with a halo of order / 2 on every side. Along
//!   x the halo is part of a longer margin: a row's first point has the place [`MARGIN`].
//! - prev, vsq, next: nz × ny × nx.

mod expected;

use rayon::prelude::*;

use super::real::Real;
use super::reference::with_threads;
use crate::error::{Error, Result};

pub(crate) use expected::REFERENCE;

/// Floats before a row's first point: a line of 128 bytes, so that the points begin on one.
const MARGIN: usize = 32;

/// The largest order that there are weights for.
const HIGHEST_ORDER: u64 = 12;

/// Weights of a central second difference by distance, for the orders 2, 4, …, 12 (Fornberg,
/// "Generation of finite difference formulas on arbitrarily spaced grids", Mathematics of
/// Computation 51, 1988).
const WEIGHTS: [[f64; 7]; 6] = [
    [-2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [-5.0 / 2.0, 4.0 / 3.0, -1.0 / 12.0, 0.0, 0.0, 0.0, 0.0],
    [-49.0 / 18.0, 3.0 / 2.0, -3.0 / 20.0, 1.0 / 90.0, 0.0, 0.0, 0.0],
    [-205.0 / 72.0, 8.0 / 5.0, -1.0 / 5.0, 8.0 / 315.0, -1.0 / 560.0, 0.0, 0.0],
    [-5269.0 / 1800.0, 5.0 / 3.0, -5.0 / 21.0, 5.0 / 126.0, -5.0 / 1008.0, 1.0 / 3150.0, 0.0],
    [
        -5369.0 / 1800.0,
        12.0 / 7.0,
        -15.0 / 56.0,
        10.0 / 189.0,
        -1.0 / 112.0,
        2.0 / 1925.0,
        -1.0 / 16632.0,
    ],
];

/// The grid and the star on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Grid {
    /// Points along x, y and z.
    points: [usize; 3],
    /// Neighbours on each side, order / 2.
    radius: usize,
    /// Floats in a row of cur.
    pitch: usize,
}

impl Grid {
    /// A grid of that many points along x, y and z, if arrays of these lengths belong to it.
    ///
    /// # Errors
    /// [`Error::Usage`] for an order without weights and for arrays of another length.
    pub(crate) fn new(
        points: [u64; 3],
        order: u64,
        cur: usize,
        others: [usize; 2],
    ) -> Result<Self> {
        if order == 0 || order % 2 == 1 || order > HIGHEST_ORDER {
            return Err(Error::Usage(format!(
                "the reference `stencil` has no weights for ORDER = {order}; choose 2, 4, 6, 8, 10 or 12"
            )));
        }
        let [nx, ny, nz] = points;
        let radius = order / 2;
        let count = nx.checked_mul(ny).and_then(|plane| plane.checked_mul(nz));
        let lines = ny.checked_add(order).and_then(|ny| ny.checked_mul(nz.checked_add(order)?));
        let pitch = lines
            .filter(|lines| (cur as u64).is_multiple_of(*lines))
            .map(|lines| cur as u64 / lines);
        let wide = pitch.is_some_and(|pitch| pitch >= nx.saturating_add(MARGIN as u64 + radius));
        let fits = others.iter().all(|len| Some(*len as u64) == count) && count != Some(0);
        match pitch {
            Some(pitch) if wide && fits => Ok(Self {
                points: points.map(|extent| extent as usize),
                radius: radius as usize,
                pitch: pitch as usize,
            }),
            _ => Err(Error::Usage(format!(
                "the reference `stencil` at NX = {nx}, NY = {ny}, NZ = {nz}, ORDER = {order} needs a \
                 `cur` of (NZ + ORDER) x (NY + ORDER) rows of {MARGIN} + NX + ORDER/2 floats or more, \
                 and a `prev` and a `vsq` of NZ x NY x NX; here are {cur} and {others:?}: correct the \
                 shapes in the manifest"
            ))),
        }
    }

    /// The weights by distance, the middle point's tripled for the three axes; as many as the radius
    /// and one.
    fn weights(self) -> Vec<f64> {
        let mut weights = WEIGHTS[self.radius - 1][..=self.radius].to_vec();
        weights[0] *= 3.0;
        weights
    }

    /// The sum of the magnitudes of all weights in the star.
    fn weight_sum(self) -> f64 {
        let weights = self.weights();
        let rest: f64 = weights.iter().skip(1).map(|weight| weight.abs()).sum();
        weights[0].abs() + 6.0 * rest
    }

    /// The place in cur of a point.
    fn place(self, [x, y, z]: [usize; 3]) -> usize {
        let [_, ny, _] = self.points;
        let line = (z + self.radius) * (ny + 2 * self.radius) + y + self.radius;
        line * self.pitch + MARGIN + x
    }

    /// Floats from a plane of cur to the next.
    fn plane(self) -> usize {
        (self.points[1] + 2 * self.radius) * self.pitch
    }
}

/// The fields of a step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields<'a> {
    /// The field now, with its halo.
    pub cur: &'a [f32],
    /// The field a step before.
    pub prev: &'a [f32],
    /// (velocity · time step / spacing)² at every point.
    pub vsq: &'a [f32],
}

/// A CPU version: fields, grid, threads.
pub(crate) type Solver = fn(Fields, Grid, usize) -> Result<Vec<f32>>;

/// Point by point: the whole star of a point before the next.
///
/// # Errors
/// [`Error::Environment`] where the threads can't be started.
pub(crate) fn by_points(fields: Fields, grid: Grid, threads: usize) -> Result<Vec<f32>> {
    let weights: Vec<f32> = grid.weights().into_iter().map(f32::rounded).collect();
    let steps = [1, grid.pitch, grid.plane()];
    solve(fields, grid, threads, |first, laplacian| {
        for (x, laplacian) in laplacian.iter_mut().enumerate() {
            let at = first + x;
            let mut sum = weights[0] * fields.cur[at];
            for (distance, weight) in weights.iter().enumerate().skip(1) {
                for step in steps {
                    let away = distance * step;
                    sum += weight * (fields.cur[at - away] + fields.cur[at + away]);
                }
            }
            *laplacian = sum;
        }
    })
}

/// Row by row: a row takes one distance of the star after the other, in loops over neighbouring
/// points that the compiler vectorises. The sums stay in the first-level cache.
///
/// # Errors
/// [`Error::Environment`] where the threads can't be started.
pub(crate) fn by_rows<T: Real>(fields: Fields, grid: Grid, threads: usize) -> Result<Vec<T>> {
    let weights: Vec<T> = grid.weights().into_iter().map(T::rounded).collect();
    let steps = [1, grid.pitch, grid.plane()];
    solve(fields, grid, threads, |first, laplacian| {
        let row = |start: usize| &fields.cur[start..start + laplacian.len()];
        let middle: Vec<T> = row(first).iter().map(|value| weights[0] * T::from(*value)).collect();
        let mut sums = middle;
        for (distance, weight) in weights.iter().enumerate().skip(1) {
            let [left, right, south, north, under, over] = [
                row(first - distance * steps[0]),
                row(first + distance * steps[0]),
                row(first - distance * steps[1]),
                row(first + distance * steps[1]),
                row(first - distance * steps[2]),
                row(first + distance * steps[2]),
            ];
            let pairs = left.iter().zip(right).zip(south.iter().zip(north));
            let pairs = pairs.zip(under.iter().zip(over));
            for (sum, (((left, right), (south, north)), (under, over))) in
                sums.iter_mut().zip(pairs)
            {
                let along_x = T::from(*left) + T::from(*right);
                let along_y = T::from(*south) + T::from(*north);
                let along_z = T::from(*under) + T::from(*over);
                *sum += *weight * (along_x + along_y + along_z);
            }
        }
        laplacian.copy_from_slice(&sums);
    })
}

/// Runs `laplacian_of_row` on every row with so many threads and finishes the step. It gets the
/// place in cur of the row's first point, and room for the row's Laplacians.
fn solve<T: Real>(
    fields: Fields,
    grid: Grid,
    threads: usize,
    laplacian_of_row: impl Fn(usize, &mut [T]) + Sync,
) -> Result<Vec<T>> {
    let [nx, ny, _] = grid.points;
    with_threads(threads, || {
        let mut next = vec![T::default(); fields.prev.len()];
        let rows = next.par_chunks_exact_mut(nx).enumerate();
        let rows = rows.zip(fields.prev.par_chunks_exact(nx).zip(fields.vsq.par_chunks_exact(nx)));
        rows.for_each(|((row, next), (prev, vsq))| {
            let first = grid.place([0, row % ny, row / ny]);
            laplacian_of_row(first, next);
            let cur = &fields.cur[first..first + nx];
            for (((next, prev), vsq), cur) in next.iter_mut().zip(prev).zip(vsq).zip(cur) {
                let cur = T::from(*cur);
                *next = cur + cur - T::from(*prev) + T::from(*vsq) * *next;
            }
        });
        next
    })
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the expected values are exact")]
mod tests {
    use super::*;

    /// A field that is `value(x, y, z)` everywhere, halo and margin included.
    fn field(points: [u64; 3], order: u64, value: impl Fn(f64, f64, f64) -> f64) -> Vec<f32> {
        let [nx, ny, nz] = points.map(u64::cast_signed);
        let radius = (order / 2).cast_signed();
        let mut cur = Vec::new();
        for z in -radius..nz + radius {
            for y in -radius..ny + radius {
                for x in -32..nx + radius {
                    cur.push(value(x as f64, y as f64, z as f64) as f32);
                }
            }
        }
        cur
    }

    #[test]
    fn a_hand_worked_point() {
        // Order 2, one point: 5 in the middle; 1 and 2 along x, 3 and 4 along y, 6 and 8 along z. The
        // Laplacian is 1 + 2 + 3 + 4 + 6 + 8 - 6·5 = -6, and 2·5 - 7 + 0.5·(-6) = 0.
        let cur = field([1, 1, 1], 2, |x, y, z| match (x as i32, y as i32, z as i32) {
            (0, 0, 0) => 5.0,
            (-1, 0, 0) => 1.0,
            (1, 0, 0) => 2.0,
            (0, -1, 0) => 3.0,
            (0, 1, 0) => 4.0,
            (0, 0, -1) => 6.0,
            (0, 0, 1) => 8.0,
            _ => f64::from(f32::NAN),
        });
        let grid = Grid::new([1, 1, 1], 2, cur.len(), [1, 1]).unwrap();
        let fields = Fields { cur: &cur, prev: &[7.0], vsq: &[0.5] };
        assert_eq!(by_points(fields, grid, 1).unwrap(), [0.0]);
        assert_eq!(by_rows::<f32>(fields, grid, 1).unwrap(), [0.0]);
        assert_eq!(by_rows::<f64>(fields, grid, 2).unwrap(), [0.0]);
    }

    #[test]
    fn every_order_is_right_on_polynomials() {
        // A difference of order 2r is exact up to degree 2r + 1. So x² + 2y² + 3z² has the Laplacian
        // 12 at every order, and x⁴ the Laplacian 12x² from order 4 on.
        let points = [5, 3, 2];
        let ones = vec![1.0; 30];
        let zeros = vec![0.0; 30];
        for order in [2, 4, 6, 8, 10, 12] {
            for quartic in [false, true] {
                let value = |x: f64, y: f64, z: f64| {
                    if quartic { x.powi(4) } else { x * x + 2.0 * y * y + 3.0 * z * z }
                };
                let cur = field(points, order, value);
                let grid = Grid::new(points, order, cur.len(), [30, 30]).unwrap();
                let fields = Fields { cur: &cur, prev: &zeros, vsq: &ones };
                let next = by_rows::<f64>(fields, grid, 2).unwrap();
                for (index, next) in next.into_iter().enumerate() {
                    let [x, y, z] = [index % 5, index / 5 % 3, index / 15].map(|n| n as f64);
                    let laplacian = if quartic { 12.0 * x * x } else { 12.0 };
                    let error = (next - 2.0 * value(x, y, z) - laplacian).abs();
                    assert!(error < 1e-9 || quartic && order == 2, "{order} {index}: {error}");
                }
            }
        }
    }

    #[test]
    fn both_versions_agree_on_odd_sizes() {
        for points in [[1, 1, 1], [7, 3, 2], [33, 5, 4]] {
            let count = points.iter().product::<u64>() as usize;
            let values = |step: usize| -> Vec<f32> {
                (0..count).map(|index| ((index * step) % 13) as f32).collect()
            };
            let cur = field(points, 8, |x, y, z| (x * 3.0 + y * 5.0 + z * 7.0).rem_euclid(11.0));
            let grid = Grid::new(points, 8, cur.len(), [count, count]).unwrap();
            let fields = Fields { cur: &cur, prev: &values(5), vsq: &values(3) };
            let wide = by_rows::<f64>(fields, grid, 3).unwrap();
            let narrow = by_points(fields, grid, 1).unwrap();
            for (wide, narrow) in wide.into_iter().zip(narrow) {
                assert!((wide - f64::from(narrow)).abs() < 1e-3, "{points:?}");
            }
        }
    }

    #[test]
    fn weights_add_up_to_nothing() {
        for order in [2, 4, 6, 8, 10, 12] {
            let grid = Grid { points: [1, 1, 1], radius: order / 2, pitch: 64 };
            let weights = grid.weights();
            let sum = weights[0] + 6.0 * weights.iter().skip(1).sum::<f64>();
            assert!(sum.abs() < 1e-14, "{order}: {sum}");
        }
        // Order 2: 6 in the middle and six times 1.
        assert_eq!(Grid { points: [1, 1, 1], radius: 1, pitch: 64 }.weight_sum(), 12.0);
    }

    #[test]
    fn arrays_of_another_size_are_refused() {
        // One point at order 2: 3 x 3 rows of 34 floats.
        assert!(Grid::new([1, 1, 1], 2, 306, [1, 1]).is_ok());
        assert!(Grid::new([1, 1, 1], 2, 305, [1, 1]).is_err());
        assert!(Grid::new([1, 1, 1], 2, 9 * 33, [1, 1]).is_err());
        assert!(Grid::new([1, 1, 1], 2, 306, [1, 2]).is_err());
        assert!(Grid::new([1, 1, 1], 3, 306, [1, 1]).is_err());
        assert!(Grid::new([1, 1, 1], 14, 306, [1, 1]).is_err());
        assert!(Grid::new([u64::MAX, 2, 1], 2, 306, [1, 1]).is_err());
        assert!(Grid::new([0, 1, 1], 2, 306, [0, 0]).is_err());
        assert!(Grid::new([1, u64::MAX, 1], 2, 306, [0, 0]).is_err());
    }
}
