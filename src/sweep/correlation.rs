//! Which metrics move with the time: Spearman's rank correlation over the points of a sweep.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PointResult;
use crate::metric::{self, CATALOGUE, Metric};

/// Fewer points say nothing of an order.
const LEAST_POINTS: usize = 4;
/// A rank correlation from here on is called moving with the time.
const LEAST_RHO: f64 = 0.8;

/// A metric that rises or falls with the time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Moving {
    /// Its canonical name.
    pub metric: String,
    /// Its title.
    pub title: String,
    /// Its unit.
    pub unit: String,
    /// Spearman's rank correlation with the time: 1 where it rises whenever the time does, −1 where
    /// it falls.
    pub rho: f64,
    /// Points that had both.
    pub n: usize,
    /// Its value at the fastest point.
    pub at_fastest: f64,
    /// Its value at the slowest.
    pub at_slowest: f64,
}

/// The metrics with |ρ| of at least 0.8 over at least 4 points, the strongest first, and of equals
/// the one that changes most. Where the problem's size differs, times and sums are taken per unit
/// of work: they would all grow together otherwise.
#[must_use]
pub fn moving(points: &[PointResult]) -> Vec<Moving> {
    let mut found: Vec<Moving> = CATALOGUE
        .iter()
        .filter(|metric| !is_time(metric))
        .filter_map(|metric| correlated(metric, points))
        .collect();
    found.sort_by(|a, b| {
        let strength = b.rho.abs().total_cmp(&a.rho.abs());
        strength.then(swing(b).total_cmp(&swing(a)))
    });
    found
}

/// The time in another guise, which moves with it in any case.
fn is_time(metric: &Metric) -> bool {
    matches!(metric.unit, "ns" | "cycle")
        && ["time_duration", "cycles_elapsed", "cycles_active"]
            .iter()
            .any(|part| metric.name.contains(part))
}

/// How much a metric changes, as a share of its larger end.
fn swing(moving: &Moving) -> f64 {
    let larger = moving.at_fastest.abs().max(moving.at_slowest.abs());
    (moving.at_slowest - moving.at_fastest).abs() / larger.max(f64::MIN_POSITIVE)
}

fn correlated(metric: &Metric, points: &[PointResult]) -> Option<Moving> {
    let mut pairs: Vec<(f64, f64)> = points
        .iter()
        .filter_map(|point| {
            let work = point.work()?;
            let value = *point.metrics.get(metric.name)?;
            let value = if is_sum(metric.name) { value / work } else { value };
            Some((point.time_ns?.median / work, value))
        })
        .filter(|(time, value)| time.is_finite() && value.is_finite())
        .collect();
    if pairs.len() < LEAST_POINTS {
        return None;
    }
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (times, values): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let rho = spearman(&times, &values).filter(|rho| rho.abs() >= LEAST_RHO)?;
    Some(Moving {
        metric: metric.name.to_owned(),
        title: metric.title.to_owned(),
        unit: metric.unit.to_owned(),
        rho,
        n: pairs.len(),
        at_fastest: *values.first()?,
        at_slowest: *values.last()?,
    })
}

/// True for a metric that counts over the whole launch, so that it adds up over launches and grows
/// with the work.
#[must_use]
pub fn is_sum(name: &str) -> bool {
    metric::canonical(name).is_some_and(|(metric, _)| {
        metric.name.split('.').nth(1) == Some("sum") && metric.name.split('.').count() == 2
            || metric.name.starts_with("sass__inst_executed")
    })
}

/// Spearman's rank correlation: Pearson's over the ranks, equal values sharing the mean of theirs.
/// polars has both in `polars-ops` alone, which would add more to the build than these lines.
/// `None` where one side does not vary or the lengths differ.
#[must_use]
fn spearman(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.len() != b.len() {
        return None;
    }
    let (a, b) = (ranks(a), ranks(b));
    // Ranks 1 to n have this mean, shared or not.
    let mean = f64::midpoint(a.len() as f64, 1.0);
    let sum = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).map(|(x, y)| (x - mean) * (y - mean)).sum()
    };
    let (across, own, other) = (sum(&a, &b), sum(&a, &a), sum(&b, &b));
    (own > 0.0 && other > 0.0).then(|| (across / (own * other).sqrt()).clamp(-1.0, 1.0))
}

/// Ranks from 1; equal values share the mean of the ranks that they take up.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut from = 0;
    while from < order.len() {
        let equal = order[from..]
            .iter()
            .take_while(|&&at| values[at].total_cmp(&values[order[from]]).is_eq())
            .count();
        let shared = from as f64 + f64::midpoint(equal as f64, 1.0);
        for &at in &order[from..from + equal] {
            ranks[at] = shared;
        }
        from += equal;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timing::{Rate, Timing};

    fn close(got: Option<f64>, expected: f64) {
        assert!(got.is_some_and(|got| (got - expected).abs() < 1e-12), "{got:?} {expected}");
    }

    #[test]
    fn equal_values_share_their_ranks() {
        assert_eq!(ranks(&[30.0, 10.0, 20.0, 10.0]), [4.0, 1.5, 3.0, 1.5]);
        assert_eq!(ranks(&[7.0, 7.0, 7.0]), [2.0, 2.0, 2.0]);
        assert!(ranks(&[]).is_empty());
    }

    #[test]
    fn spearman_by_hand() {
        close(spearman(&[1.0, 2.0, 5.0, 9.0], &[10.0, 20.0, 21.0, 900.0]), 1.0);
        close(spearman(&[1.0, 2.0, 5.0, 9.0], &[4.0, 3.0, 2.0, -1.0]), -1.0);
        // Ranks 1 2 3 4 5 against 2 1 4 3 5: d² sums to 4, 1 − 6·4/(5·24) = 0.8.
        close(spearman(&[1.0, 2.0, 3.0, 4.0, 5.0], &[20.0, 10.0, 40.0, 30.0, 50.0]), 0.8);
        // Ranks 1 2 3 4 against 1.5 1.5 3 4. About the mean 2.5: (−1.5)(−1) + (−0.5)(−1) + 0.5·0.5
        // + 1.5·1.5 = 4.5; squares 5 and 4.5: 4.5/√22.5.
        close(spearman(&[1.0, 2.0, 3.0, 4.0], &[5.0, 5.0, 6.0, 7.0]), 4.5 / 22.5_f64.sqrt());
        assert_eq!(spearman(&[1.0, 2.0], &[3.0, 3.0]), None);
        assert_eq!(spearman(&[], &[]), None);
        assert_eq!(spearman(&[1.0], &[1.0, 2.0]), None);
    }

    /// A point of 1 unit of work (times `work`) with two metrics.
    fn point(ns: f64, work: f64, registers: f64, sectors: f64) -> PointResult {
        PointResult {
            time_ns: Some(Timing { median: ns, low: ns, high: ns, n: 10 }),
            rate: Some(Rate { value: work / ns, unit: "GB/s".to_owned() }),
            metrics: [
                ("launch__registers_per_thread", registers),
                ("lts__t_sectors.sum", sectors),
                ("gpu__time_duration.sum", ns),
            ]
            .map(|(name, value)| (name.to_owned(), value))
            .into(),
            ..PointResult::default()
        }
    }

    fn names(points: &[PointResult]) -> Vec<(String, f64)> {
        moving(points).into_iter().map(|moving| (moving.metric, moving.rho)).collect()
    }

    #[test]
    fn what_moves_with_the_time_is_named() {
        // Sectors rise with the time; registers go 32 64 32 64; the duration is the time itself.
        let points = [(10.0, 32.0, 1e3), (20.0, 64.0, 2e3), (30.0, 32.0, 3e3), (40.0, 64.0, 3.5e3)]
            .map(|(ns, registers, sectors)| point(ns, 1.0, registers, sectors));
        assert_eq!(names(&points), [("lts__t_sectors.sum".to_owned(), 1.0)]);
        assert!(names(&points[..3]).is_empty(), "three points are no order");
        let found = &moving(&points)[0];
        assert_eq!((found.n, found.at_fastest, found.at_slowest), (4, 1e3, 3.5e3));
    }

    #[test]
    fn larger_problems_are_compared_by_unit_of_work() {
        // Time and sectors double with the work: a unit of work takes the same of both.
        let points = [1.0, 2.0, 4.0, 8.0].map(|work| point(10.0 * work, work, 32.0, 1e3 * work));
        assert!(names(&points).is_empty());
    }
}
