//! From values per round to a ratio with an interval.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::random::Random;
use super::{Interval, SEED};

/// Batches at most: rounds beyond are joined with their neighbours, which also makes one of what rounds near each
/// other have in common.
const MOST_BATCHES: usize = 64;
/// Draws of the bootstrap.
const DRAWS: usize = 500;

/// The ratio of rounds, given as logarithms, with the interval that misses the true one with the chance `error`.
/// `None` for fewer than four rounds.
pub(super) fn interval(rounds: &[f64], error: f64) -> Option<Interval> {
    let batches = batches(rounds);
    let middle = midmean(&mut batches.clone())?;
    let kept = batches.len() - 2 * trimmed(batches.len());
    let freedom = (kept as f64 - 1.0).max(1.0);
    let quantile = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(1.0 - error / 2.0);
    let reach = quantile * scatter(&batches);
    Some(Interval {
        ratio: middle.exp(),
        low: (middle - reach).exp(),
        high: (middle + reach).exp(),
        confidence: 1.0 - error,
    })
}

/// Neighbouring rounds averaged until there are no more than [`MOST_BATCHES`]; their number does not differ by
/// more than one.
fn batches(rounds: &[f64]) -> Vec<f64> {
    let count = rounds.len().min(MOST_BATCHES);
    (0..count)
        .map(|batch| {
            let range = batch * rounds.len() / count..(batch + 1) * rounds.len() / count;
            let of_batch = &rounds[range];
            of_batch.iter().sum::<f64>() / of_batch.len() as f64
        })
        .collect()
}

/// Values left out at each end.
fn trimmed(count: usize) -> usize {
    count / 4
}

/// The mean of the middle half: as robust against single values as it needs to be, and nearly as precise as a mean.
fn midmean(values: &mut [f64]) -> Option<f64> {
    let cut = trimmed(values.len());
    if values.len() < 4 {
        return None;
    }
    values.sort_unstable_by(f64::total_cmp);
    let kept = &values[cut..values.len() - cut];
    Some(kept.iter().sum::<f64>() / kept.len() as f64)
}

/// The standard deviation of the middle mean over draws of the batches with replacement.
fn scatter(batches: &[f64]) -> f64 {
    let mut random = Random::new(SEED);
    let mut sorted = batches.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let mut counts = vec![0_usize; sorted.len()];
    let means: Vec<f64> = (0..DRAWS)
        .map(|_| {
            counts.fill(0);
            for _ in 0..sorted.len() {
                counts[random.below(sorted.len())] += 1;
            }
            drawn_midmean(&sorted, &counts)
        })
        .collect();
    let mean = means.iter().sum::<f64>() / DRAWS as f64;
    let squares: f64 = means.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (DRAWS - 1) as f64).sqrt()
}

/// The middle mean of sorted values of which each was drawn so often: what [`midmean`] gives of the draws.
fn drawn_midmean(sorted: &[f64], counts: &[usize]) -> f64 {
    let cut = trimmed(sorted.len());
    let (from, to) = (cut, sorted.len() - cut);
    let (mut sum, mut before) = (0.0, 0);
    for (value, count) in sorted.iter().zip(counts) {
        let after = before + count;
        let kept = after.min(to).saturating_sub(before.max(from));
        sum += value * kept as f64;
        before = after;
    }
    sum / (to - from) as f64
}

/// The median; 0 of none.
pub(super) fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let Some(last) = values.len().checked_sub(1) else { return 0.0 };
    f64::midpoint(values[last / 2], values[last.div_ceil(2)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_at_each_end_does_not_count() {
        // Of eight, two at each end go: 3, 4, 5, 6 are left.
        let mut values = [100.0, 3.0, 4.0, -50.0, 5.0, 6.0, 2.0, 7.0];
        assert_eq!(midmean(&mut values), Some(4.5));
        assert_eq!(midmean(&mut [1.0, 2.0, 3.0]), None);
    }

    #[test]
    fn draws_are_counted_and_not_sorted() {
        // Drawn: 1, 1, 1, 2, 5, 5, 9, 9. Two go at each end: 1, 2, 5, 5 are left.
        let sorted = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 9.0];
        assert!((drawn_midmean(&sorted, &[3, 1, 0, 0, 2, 0, 0, 2]) - 3.25).abs() < 1e-15);
    }

    #[test]
    fn rounds_are_joined_in_their_order() {
        let few: Vec<f64> = (0..10).map(f64::from).collect();
        assert_eq!(batches(&few), few);
        // 128 rounds are pairs: 0 and 1, 2 and 3.
        let many: Vec<f64> = (0..128).map(f64::from).collect();
        let joined = batches(&many);
        assert_eq!((joined.len(), joined[0], joined[63]), (64, 0.5, 126.5));
        // 100 rounds in 64 batches: none is left out.
        let odd: Vec<f64> = (0..100).map(|_| 1.0).collect();
        assert!(batches(&odd).iter().all(|value| (value - 1.0).abs() < 1e-15));
    }

    #[test]
    fn equal_rounds_have_no_scatter() {
        let interval = interval(&[0.02_f64.ln_1p(); 12], 0.005).unwrap();
        assert!((interval.low - 1.02).abs() < 1e-12 && (interval.high - 1.02).abs() < 1e-12);
    }

    #[test]
    fn the_bootstrap_scatters_as_theory_says() {
        // Uniform on (0, 1) at even places. The variance of a mean of the middle half of n values is
        // (∫ of the squared values within + 2 × 1/4 × the ends') / (n (1/2)²), all from the middle:
        // (2 × 0.25³/3 + 2 × 0.25 × 0.25²) / 0.25 / n = (1/96 + 1/32) × 4 / n = 1/6 / n.
        let values: Vec<f64> = (0..64).map(|at| (f64::from(at) + 0.5) / 64.0).collect();
        let expected = (1.0 / 6.0 / 64.0_f64).sqrt();
        let found = scatter(&values);
        assert!((found / expected - 1.0).abs() < 0.1, "{found} {expected}");
    }

    #[test]
    fn the_interval_is_as_wide_as_students_t_says() {
        let rounds: Vec<f64> = (0..10).map(|at| 0.001 * f64::from(at)).collect();
        let found = interval(&rounds, 0.05).unwrap();
        // Two of ten are left out at each end: six are left, 5 degrees of freedom, 2.5706 on both sides.
        let reach = 2.5706 * scatter(&rounds);
        assert!((found.ratio.ln() - 0.0045).abs() < 1e-12);
        assert!((found.high.ln() - 0.0045 - reach).abs() < 1e-5, "{found:?}");
        assert!((0.0045 - found.low.ln() - reach).abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn a_median_of_an_even_number_is_between_the_middle_two() {
        assert!((median(&mut [4.0, 1.0, 3.0, 2.0]) - 2.5).abs() < 1e-15);
        assert!((median(&mut [4.0, 1.0, 3.0]) - 3.0).abs() < 1e-15);
    }

    #[test]
    fn the_largest_value_is_drawn_too() {
        // Of four values the middle two count: the last one does where it is drawn twice.
        assert!(scatter(&[0.0, 0.0, 0.0, 1.0]) > 0.1);
    }
}
