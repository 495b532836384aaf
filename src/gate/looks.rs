//! When the times are looked at, and how sure each look must be.
//!
//! Whoever looks again and again until something shows finds something in the end. The first look may err with a
//! half of the whole chance, the second with a sixth, the look number k with 1 / (k (k + 1)) of it: over any number
//! of looks that sums to the whole.

/// Rounds at the first look.
pub(super) const FIRST: usize = 10;

/// Rounds at the look after one at so many: half as many more, so that there are few looks.
pub(super) fn next(rounds: usize) -> usize {
    (rounds + rounds / 2).max(FIRST)
}

/// The chance with which the look of this number, from 1, may err.
pub(super) fn error_of(look: u32, whole: f64) -> f64 {
    let look = f64::from(look.max(1));
    whole / (look * (look + 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_looks_together_err_as_often_as_allowed() {
        assert!((error_of(1, 0.01) - 0.005).abs() < 1e-15);
        assert!((error_of(3, 0.01) - 0.01 / 12.0).abs() < 1e-15);
        // 1 − 1 / 1001 of the whole after a thousand.
        let sum: f64 = (1..=1000).map(|look| error_of(look, 0.01)).sum();
        assert!((sum - 0.01 * 1000.0 / 1001.0).abs() < 1e-12);
    }

    #[test]
    fn looks_become_rarer() {
        let mut at = FIRST;
        let looks: Vec<usize> = std::iter::from_fn(|| {
            let now = at;
            at = next(at);
            Some(now)
        })
        .take(6)
        .collect();
        assert_eq!(looks, [10, 15, 22, 33, 49, 73]);
    }
}
