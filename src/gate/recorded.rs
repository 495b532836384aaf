//! Two runs that were timed apart: on another day, in another process.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::estimate::median;
use super::random::Random;
use super::{Comparison, ERROR, Interval, Margin, SEED};
use crate::timing::{RANGE_IN_DEVIATIONS, Timing};

/// How far the medians of two runs of one kernel in different processes are apart at most: of the ten steps that were
/// timed twice in shipped recordings (`profile.json` and `limiter.json` of one size) the widest are 2.6% apart.
pub(crate) const BETWEEN_RUNS: f64 = 0.03;
/// Draws of the bootstrap.
const DRAWS: usize = 1000;

/// What was kept of a run's times.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run<'a> {
    /// Median and range.
    pub timing: Timing,
    /// All times, ns; empty where they were not kept.
    pub samples_ns: &'a [f64],
}

/// The time of everything that a program launched in one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Total {
    /// It, ns.
    pub ns: f64,
    /// Its standard error by how far the launches scatter, ns.
    pub error_ns: f64,
    /// The degrees of freedom of that error.
    pub freedom: f64,
}

impl Total {
    /// As a time of one run, with the range that would hold nine of ten such runs.
    pub(crate) fn timing(&self) -> Timing {
        let reach = RANGE_IN_DEVIATIONS / 2.0 * self.error_ns;
        Timing { median: self.ns, low: self.ns - reach, high: self.ns + reach, n: 1 }
    }
}

/// Compares two runs by what was kept of their times: all of them, or the median and the range.
pub(crate) fn recorded(base: Run, new: Run, max_slowdown: f64) -> Option<Comparison> {
    let error = (relative_error(base).powi(2) + relative_error(new).powi(2)).sqrt();
    let (base, new) = (base.timing, new.timing);
    let scatter = deviation(base).max(deviation(new));
    let freedom = base.n.min(new.n) as f64 - 1.0;
    let medians = Apart { base: base.median, new: new.median, error, freedom };
    compared(medians, scatter, base.n.min(new.n), max_slowdown)
}

/// Compares the totals of one run each.
pub(crate) fn recorded_totals(base: Total, new: Total, max_slowdown: f64) -> Option<Comparison> {
    let relative = |total: Total| total.error_ns / total.ns;
    let error = f64::hypot(relative(base), relative(new));
    let freedom = base.freedom.min(new.freedom);
    let totals = Apart { base: base.ns, new: new.ns, error, freedom };
    compared(totals, relative(base).max(relative(new)), 1, max_slowdown)
}

/// Two times, ns, the standard error of the logarithm of their ratio, and its degrees of freedom.
#[derive(Clone, Copy)]
struct Apart {
    base: f64,
    new: f64,
    error: f64,
    freedom: f64,
}

fn compared(apart: Apart, scatter: f64, runs: usize, max_slowdown: f64) -> Option<Comparison> {
    let Apart { base, new, error, freedom } = apart;
    if !(base > 0.0 && new > 0.0) {
        return None;
    }
    let reach =
        StudentsT::new(0.0, 1.0, freedom.max(1.0)).ok()?.inverse_cdf(1.0 - ERROR / 2.0) * error;
    let ratio = new / base;
    let time = Interval {
        ratio,
        low: ratio * (-reach).exp(),
        high: ratio * reach.exp(),
        confidence: 1.0 - ERROR,
    };
    let margin =
        Margin { max_slowdown, noise: 0.1 * scatter, timer: 0.0, between_runs: BETWEEN_RUNS };
    Some(Comparison {
        verdict: time.verdict(margin.used()),
        time,
        cycles: None,
        margin,
        scatter,
        clock_hz: None,
        clock_moved: None,
        runs,
        looks: 1,
        seed: SEED,
    })
}

/// The standard deviation of single runs as a share of the median, from the range of the middle 90%.
fn deviation(timing: Timing) -> f64 {
    (timing.high - timing.low).max(0.0) / RANGE_IN_DEVIATIONS / timing.median
}

/// The standard error of the median as a share of it: by the bootstrap where all times were kept, else that of a
/// normal distribution, 1.25 deviations over √n.
fn relative_error(Run { timing, samples_ns: samples }: Run) -> f64 {
    if samples.len() < 5 {
        return 1.25 * deviation(timing) / (timing.n.max(1) as f64).sqrt();
    }
    let mut random = Random::new(SEED);
    let mut drawn = vec![0.0; samples.len()];
    let medians: Vec<f64> = (0..DRAWS)
        .map(|_| {
            drawn.fill_with(|| samples[random.below(samples.len())]);
            median(&mut drawn)
        })
        .collect();
    let mean = medians.iter().sum::<f64>() / DRAWS as f64;
    let squares: f64 = medians.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (DRAWS - 1) as f64).sqrt() / timing.median
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::Verdict;

    fn summary(median: f64) -> Run<'static> {
        // 0.5% around: a deviation of 1% / 3.29 of the median.
        let timing = Timing { median, low: 0.995 * median, high: 1.005 * median, n: 25 };
        Run { timing, samples_ns: &[] }
    }

    #[test]
    fn a_range_stands_for_times_that_were_not_kept() {
        // 1.25 × 0.01 / 3.29 / √25.
        assert!((relative_error(summary(1e6)) - 0.000_759_88).abs() < 1e-7);
        // Both errors together are √2 of one; t of 24 degrees of freedom for 0.005 on each side is 2.7969.
        let found = recorded(summary(1e6), summary(1.05e6), 0.005).unwrap();
        let reach = 2.7969 * 2.0_f64.sqrt() * 0.000_759_88;
        assert!((found.time.low - 1.05 * (-reach).exp()).abs() < 1e-5, "{found:?}");
        assert_eq!(found.verdict, Verdict::Slower);
        assert_eq!(
            recorded(summary(1e6), summary(0.95e6), 0.005).unwrap().verdict,
            Verdict::Faster
        );
    }

    #[test]
    fn runs_of_two_days_must_be_further_apart_than_days_are() {
        let verdict = |ms: f64| recorded(summary(1e6), summary(ms * 1e6), 0.005).unwrap().verdict;
        assert_eq!([1.0, 1.02, 1.03, 1.04].map(verdict), {
            use Verdict::{Same, Slower, Undecided};
            [Same, Same, Undecided, Slower]
        });
    }

    #[test]
    fn kept_times_are_drawn_from() {
        // Evenly from 0.99 to 1.01: the density at the median is 1 / 0.02, its standard error 1 / (2 f √n).
        let samples: Vec<f64> =
            (0..100).map(|at| 1e6 * (0.99 + 0.0002 * (f64::from(at) + 0.5))).collect();
        let timing = Timing { median: 1e6, low: 0.991e6, high: 1.009e6, n: 100 };
        let found = relative_error(Run { timing, samples_ns: &samples });
        assert!((found / 0.001 - 1.0).abs() < 0.12, "{found}");
    }

    #[test]
    fn totals_are_as_certain_as_their_launches() {
        let total = |ns| Total { ns, error_ns: 0.003 * ns, freedom: 24.0 };
        let found = recorded_totals(total(1e9), total(1.05e9), 0.005).unwrap();
        // Both errors together are √2 of one; t of 24 degrees of freedom for 0.005 on each side is 2.7969.
        let reach = 2.7969 * 2.0_f64.sqrt() * 0.003;
        assert!((found.time.low - 1.05 * (-reach).exp()).abs() < 1e-5, "{found:?}");
        assert_eq!((found.verdict, found.runs), (Verdict::Slower, 1));
        let verdict = |ns| recorded_totals(total(1e9), total(ns), 0.005).unwrap().verdict;
        assert_eq!([0.95e9, 1e9, 1.03e9].map(verdict), {
            use Verdict::{Faster, Same, Undecided};
            [Faster, Same, Undecided]
        });
        // 1.645 deviations of 3 ms.
        let timing = total(1e9).timing();
        assert!((timing.high - timing.median - 1.645 * 3e6).abs() < 1.0 && timing.n == 1);
    }

    #[test]
    fn no_time_gives_no_verdict() {
        let none =
            Run { timing: Timing { median: 0.0, low: 0.0, high: 0.0, n: 0 }, samples_ns: &[] };
        assert!(recorded(none, summary(1e6), 0.005).is_none());
    }
}
