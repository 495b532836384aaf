//! The best point, and whether it is better than the noise.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PointResult;
use crate::timing::Timing;

/// The resolution of a CUDA event, ns (CUDA Runtime API, "Event Management": about 0.5 µs): times
/// closer than that are equal whatever their spread.
const EVENT_RESOLUTION_NS: f64 = 500.0;

/// The best of a group of points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conclusion {
    /// The problem's parameters; empty where points of different sizes are compared by their rate.
    pub size: BTreeMap<String, u64>,
    /// Place of the best point among all, from 0.
    pub best: usize,
    /// True where it beats every other by more than the noise.
    pub clear: bool,
    /// Places of the points that the noise does not tell from the best, fastest first.
    pub tied: Vec<usize>,
    /// Place of the fastest point that is clearly slower than the best.
    pub next: Option<usize>,
    /// That point's time over the best's, per unit of work.
    pub factor: Option<f64>,
    /// By how much that point is slower, as a share of the best's time.
    pub margin: Option<f64>,
    /// The noise of the two, as a share of the best's time.
    pub noise: Option<f64>,
}

/// A point that ran, its time per unit of work.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    place: usize,
    time: Timing,
    /// What an event can't tell apart, in the unit of `time`.
    resolution: f64,
}

impl Candidate {
    fn new(place: usize, point: &PointResult) -> Option<Self> {
        let time = point.time_ns.filter(|time| time.median > 0.0)?;
        let work = point.work().unwrap_or(1.0);
        let time = Timing {
            median: time.median / work,
            low: time.low / work,
            high: time.high / work,
            n: time.n,
        };
        Some(Self { place, time, resolution: EVENT_RESOLUTION_NS / work })
    }

    /// How far `slower` lies behind, and how much of that may be noise: from this one's median up to
    /// its 95th percentile, and from the other's 5th percentile up to its median. The margin is
    /// larger exactly where the two ranges don't meet.
    fn against(&self, slower: &Self) -> (f64, f64) {
        let spread = (self.time.high - self.time.median) + (slower.time.median - slower.time.low);
        let noise = spread.max(self.resolution).max(slower.resolution);
        (slower.time.median - self.time.median, noise)
    }

    fn beats(&self, slower: &Self) -> bool {
        let (margin, noise) = self.against(slower);
        margin > noise
    }
}

/// The best point of each problem size; where each size has a single point, the best of all by time
/// per unit of work. Empty where nothing ran.
#[must_use]
pub fn conclude(points: &[PointResult]) -> Vec<Conclusion> {
    let mut groups: Vec<(&BTreeMap<String, u64>, Vec<Candidate>)> = Vec::new();
    let ran = points.iter().enumerate();
    for (point, candidate) in
        ran.filter_map(|(place, point)| Some((point, Candidate::new(place, point)?)))
    {
        match groups.iter_mut().find(|(size, _)| **size == point.size) {
            Some((_, group)) => group.push(candidate),
            None => groups.push((&point.size, vec![candidate])),
        }
    }
    if groups.len() > 1 && groups.iter().all(|(_, group)| group.len() == 1) {
        let all = groups.into_iter().flat_map(|(_, group)| group).collect();
        return best(&BTreeMap::new(), all).into_iter().collect();
    }
    groups.into_iter().filter_map(|(size, group)| best(size, group)).collect()
}

fn best(size: &BTreeMap<String, u64>, mut group: Vec<Candidate>) -> Option<Conclusion> {
    group.sort_by(|a, b| a.time.median.total_cmp(&b.time.median));
    let (best, others) = group.split_first()?;
    let tied: Vec<usize> =
        others.iter().filter(|other| !best.beats(other)).map(|other| other.place).collect();
    let next = others.iter().find(|other| best.beats(other));
    let share = |value: f64| value / best.time.median;
    Some(Conclusion {
        size: size.clone(),
        best: best.place,
        clear: tied.is_empty() && next.is_some(),
        tied,
        next: next.map(|next| next.place),
        factor: next.map(|next| share(next.time.median)),
        margin: next.map(|next| share(best.against(next).0)),
        noise: next.map(|next| share(best.against(next).1)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timing::Rate;

    /// A point of a size with its 5th percentile, median and 95th percentile, µs.
    fn point(n: u64, [low, median, high]: [f64; 3]) -> PointResult {
        PointResult {
            size: BTreeMap::from([("N".to_owned(), n)]),
            time_ns: Some(Timing { median: median * 1e3, low: low * 1e3, high: high * 1e3, n: 20 }),
            rate: Some(Rate { value: n as f64 / (median * 1e3), unit: "GB/s".to_owned() }),
            ..PointResult::default()
        }
    }

    fn failed(n: u64) -> PointResult {
        PointResult { time_ns: None, error: Some("no".to_owned()), ..point(n, [0.0; 3]) }
    }

    #[test]
    fn a_margin_beyond_the_spread_wins() {
        let points = [
            point(1, [118.0, 120.0, 121.0]),
            failed(1),
            point(1, [99.0, 100.0, 103.0]),
            point(1, [149.0, 150.0, 151.0]),
        ];
        let found = conclude(&points);
        let [best] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((best.best, best.clear, best.next), (2, true, Some(0)));
        // 20 µs behind; 3 µs up from the best's median and 2 µs down from the next's.
        let close = |got: Option<f64>, expected: f64| (got.unwrap() - expected).abs() < 1e-9;
        assert!(close(best.margin, 0.2) && close(best.noise, 0.05) && close(best.factor, 1.2));
    }

    #[test]
    fn inside_the_spread_nobody_wins() {
        let points = [
            point(1, [100.0, 102.0, 110.0]),
            point(1, [99.0, 101.0, 103.0]),
            point(1, [199.0, 200.0, 201.0]),
        ];
        let best = &conclude(&points)[0];
        assert_eq!((best.best, best.clear), (1, false));
        assert_eq!((best.tied.as_slice(), best.next), ([0].as_slice(), Some(2)));
        // A noisy third point may be as fast as the first, though the second is clearly not.
        let points = [
            point(1, [99.0, 100.0, 101.0]),
            point(1, [109.0, 110.0, 111.0]),
            point(1, [90.0, 120.0, 150.0]),
        ];
        let best = &conclude(&points)[0];
        assert_eq!((best.clear, best.tied.as_slice(), best.next), (false, [2].as_slice(), Some(1)));
    }

    #[test]
    fn times_below_the_events_resolution_are_equal() {
        let points = [point(1, [3.0, 3.0, 3.0]), point(1, [3.4, 3.4, 3.4])];
        assert!(!conclude(&points)[0].clear);
        let points = [point(1, [3.0, 3.0, 3.0]), point(1, [3.6, 3.6, 3.6])];
        assert!(conclude(&points)[0].clear);
    }

    #[test]
    fn sizes_have_their_own_best_or_compare_by_rate() {
        let points = [
            point(1, [9.0, 10.0, 11.0]),
            point(1, [19.0, 20.0, 21.0]),
            point(4, [39.0, 40.0, 41.0]),
            point(4, [29.0, 30.0, 31.0]),
        ];
        let found: Vec<_> =
            conclude(&points).iter().map(|best| (best.size["N"], best.best)).collect();
        assert_eq!(found, [(1, 0), (4, 3)]);
        // 10 µs for 1, 30 µs for 4: the larger problem takes 7.5 µs a unit.
        let points = [point(1, [9.9, 10.0, 10.1]), point(4, [29.0, 30.0, 31.0])];
        let found = conclude(&points);
        assert_eq!((found.len(), found[0].best, found[0].clear), (1, 1, true));
        assert!(found[0].size.is_empty());
    }

    #[test]
    fn one_or_no_point_is_no_contest() {
        assert!(conclude(&[failed(1), failed(2)]).is_empty());
        let found = conclude(&[failed(1), point(1, [1.0, 2.0, 3.0])]);
        assert_eq!((found[0].best, found[0].clear, found[0].next), (1, false, None));
    }
}
