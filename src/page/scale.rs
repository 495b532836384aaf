//! Logarithmic scales: from values to shares of a chart's width or height, and the ticks between.

/// A logarithmic scale between two values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Log {
    low: f64,
    high: f64,
}

/// So many decades have ticks at 2 and 5 as well.
const FINE_DECADES: f64 = 2.0;

impl Log {
    /// The scale that begins and ends a little outside of the values.
    pub(super) fn around(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let (low, high) = range(values)?;
        // A tenth of the range on either side, and a quarter of an octave at least.
        let margin = (high / low).powf(0.1).max(2_f64.powf(0.25));
        Some(Self { low: low / margin, high: high * margin })
    }

    /// Where a value lies: 0 at the low end, 1 at the high one. Values outside stand at the ends.
    pub(super) fn at(self, value: f64) -> f64 {
        if value > 0.0 {
            ((value / self.low).ln() / (self.high / self.low).ln()).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    /// The lowest value.
    pub(super) fn low(self) -> f64 {
        self.low
    }

    /// The highest value.
    pub(super) fn high(self) -> f64 {
        self.high
    }

    /// Powers of ten within the scale; 2 and 5 times them too, where there are few.
    pub(super) fn ticks(self) -> Vec<f64> {
        let steps: &[f64] = match (self.high / self.low).log10() {
            decades if decades < FINE_DECADES => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        // The ends are powers of floats, which are off by a last digit.
        let inside = |tick: &f64| (self.low * 0.9999..=self.high * 1.0001).contains(tick);
        (first..=last)
            .flat_map(|decade| steps.iter().map(move |step| step * 10_f64.powi(decade)))
            .filter(inside)
            .collect()
    }
}

/// A round number without the zeros behind its point: `2 ms` for `2.00 ms`.
pub(super) fn bare(said: &str) -> String {
    let number =
        said.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(said.len());
    let (digits, unit) = said.split_at(number);
    match digits.split_once('.') {
        Some((whole, zeros)) if zeros.bytes().all(|digit| digit == b'0') => {
            format!("{whole}{unit}")
        }
        _ => said.to_owned(),
    }
}

fn range(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let sound = |value: &f64| value.is_finite() && *value > 0.0;
    values.into_iter().filter(sound).fold(None, |range, value| {
        let (low, high) = range.unwrap_or((value, value));
        Some((value.min(low), value.max(high)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_by_their_logarithm_within_margins() {
        // From 1 to 2^20: margins of 4, and so a range of 2^24.
        let scale = Log::around([1.0, 1_048_576.0, 0.0, f64::NAN]).unwrap();
        assert!((scale.low() - 0.25).abs() < 1e-12 && (scale.high() - 4_194_304.0).abs() < 1e-6);
        assert!((scale.at(1.0) - 2.0 / 24.0).abs() < 1e-12);
        assert!((scale.at(1e12) - 1.0).abs() < 1e-12, "values outside stand at the ends");
        assert!(scale.at(0.0).abs() < 1e-12);
        assert_eq!(scale.ticks(), [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6]);
        assert_eq!(Log::around([-1.0, f64::INFINITY]), None);
    }

    #[test]
    fn one_value_has_half_an_octave() {
        let scale = Log::around([100.0]).unwrap();
        assert!((scale.high() / scale.low() - 2_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn round_numbers_are_short() {
        assert_eq!(bare("2.00 ms"), "2 ms");
        assert_eq!(bare("20.0 T"), "20 T");
        assert_eq!(bare("0.05"), "0.05");
        assert_eq!(bare("100 ms"), "100 ms");
    }

    #[test]
    fn a_narrow_scale_has_fine_ticks_and_margins() {
        // A ratio of 1024 makes margins of 2.
        let scale = Log::around([1.0, 1024.0]).unwrap();
        assert!((scale.low() - 0.5).abs() < 1e-12 && (scale.high() - 2048.0).abs() < 1e-9);
        assert_eq!(Log::around([1.5, 6.0]).unwrap().ticks(), [2.0, 5.0]);
    }
}
