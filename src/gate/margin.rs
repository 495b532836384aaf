//! How far apart times must be to count.

use super::Margin;
use super::estimate::median;
use crate::timing::Quartet;

/// A difference below this part of the scatter of single runs is none: who runs the kernel once can't tell.
const NOISE_PART: f64 = 0.1;
/// The same for a grid of less than a wave, whose blocks go to other SMs each time and whose times scatter a
/// quarter of a run where others scatter a hundredth (ROCm's FlyDSL, issue 924).
const NOISE_PART_UNDER_A_WAVE: f64 = 0.25;
/// Differences below this are rounding of the driver's times, which are 32-bit floats in ms; no timer ticks so fast.
const LEAST_TICK_NS: f64 = 1.0;

/// The margin of a comparison in turn.
pub(super) fn margin(quartets: &[Quartet], max_slowdown: f64, is_under_a_wave: bool) -> Margin {
    let part = if is_under_a_wave { NOISE_PART_UNDER_A_WAVE } else { NOISE_PART };
    let mut all: Vec<f64> = quartets.iter().flat_map(|quartet| quartet.base_ns).collect();
    let middle = median(&mut all);
    Margin {
        max_slowdown,
        noise: part * scatter(quartets),
        timer: if middle > 0.0 { tick_ns(quartets) / middle } else { 0.0 },
        between_runs: 0.0,
    }
}

/// The standard deviation of a single run as a share of its time, from pairs of runs of the same kernel in one
/// quartet, so that drifts don't count; by the median, so that neither do outliers.
pub(super) fn scatter(quartets: &[Quartet]) -> f64 {
    let mut apart: Vec<f64> = quartets
        .iter()
        .flat_map(|quartet| [quartet.base_ns, quartet.new_ns])
        .filter(|[first, second]| *first > 0.0 && *second > 0.0)
        .map(|[first, second]| (first / second).ln().abs())
        .collect();
    // Of a normal distribution the median of the absolute value is 0.6745 of the deviation; a difference of two
    // has that of one times √2.
    median(&mut apart) / 0.6745 / std::f64::consts::SQRT_2
}

/// The smallest step between two times: one tick of the timer, where enough times were taken.
fn tick_ns(quartets: &[Quartet]) -> f64 {
    let mut times: Vec<f64> = quartets
        .iter()
        .flat_map(|quartet| quartet.base_ns.into_iter().chain(quartet.new_ns))
        .collect();
    times.sort_unstable_by(f64::total_cmp);
    let steps = times.windows(2).map(|pair| pair[1] - pair[0]);
    let least = steps.filter(|step| *step >= LEAST_TICK_NS).fold(f64::INFINITY, f64::min);
    if least.is_finite() { least } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quartet(base_ns: [f64; 2], new_ns: [f64; 2]) -> Quartet {
        Quartet { base_ns, new_ns, clock_hz: None }
    }

    #[test]
    fn a_coarse_timer_widens_the_margin() {
        // Ticks of 512 ns: 10,240 and 10,752 are one apart; a rounding of 0.4 ns is no tick.
        let quartets = [
            quartet([10_240.0, 10_240.4], [10_752.0, 10_752.0]),
            quartet([10_240.0, 10_752.0], [10_240.0, 10_240.0]),
        ];
        assert!((tick_ns(&quartets) - 511.6).abs() < 1e-9);
        let margin = margin(&quartets, 0.005, false);
        assert!((margin.timer - 511.6 / 10_240.2).abs() < 1e-6, "{margin:?}");
        assert!((margin.used() - margin.timer).abs() < 1e-15);
    }

    #[test]
    fn scatter_comes_from_runs_of_one_kernel() {
        // Each pair is e^0.02 apart, the candidate is twice as slow, and the second quartet ran at half the clock.
        let step = 0.02_f64.exp();
        let quartets = [
            quartet([1000.0, 1000.0 * step], [2000.0 * step, 2000.0]),
            quartet([2000.0 * step, 2000.0], [4000.0, 4000.0 * step]),
        ];
        let expected = 0.02 / 0.6745 / 2.0_f64.sqrt();
        assert!((scatter(&quartets) - expected).abs() < 1e-12);
        assert!((margin(&quartets, 0.0, false).noise - 0.1 * expected).abs() < 1e-12);
        assert!((margin(&quartets, 0.0, true).noise - 0.25 * expected).abs() < 1e-12);
    }

    #[test]
    fn steps_of_less_than_a_nanosecond_are_no_ticks() {
        let quartets = [quartet([100.0, 100.95], [102.0, 102.0])];
        assert!((tick_ns(&quartets) - 1.05).abs() < 1e-9);
    }
}
