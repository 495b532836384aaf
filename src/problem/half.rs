//! IEEE 754 binary16 as its 16 bits: 1 sign, 5 exponent (bias 15), 10 fraction.

use half::f16;

/// The value of a half; NaN for every NaN pattern.
#[must_use]
pub(crate) fn to_f64(bits: u16) -> f64 {
    f16::from_bits(bits).to_f64()
}

/// The nearest half, ties to even; what is too large becomes infinite.
///
/// [`f16::from_f64`] rounds by way of f32, so twice, on CPUs that convert f32 in hardware. What is
/// rounded to odd first is rounded right the second time: a value beside a tie stays beside it.
#[must_use]
pub(crate) fn from_f64(value: f64) -> u16 {
    let near = value as f32;
    let wide = f64::from(near);
    let is_odd = near.to_bits() & 1 == 1;
    let odd = match wide.partial_cmp(&value) {
        Some(std::cmp::Ordering::Less) if !is_odd => near.next_up(),
        Some(std::cmp::Ordering::Greater) if !is_odd => near.next_down(),
        _ => near,
    };
    f16::from_f32(odd).to_bits()
}

/// The next half towards negative infinity.
#[must_use]
pub(crate) fn next_down(bits: u16) -> u16 {
    match bits {
        0x0000 | 0x8000 => 0x8001,
        0xfc00 => bits,
        positive if positive & 0x8000 == 0 => positive - 1,
        negative => negative.saturating_add(1),
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the expected values are exact")]
mod tests {
    use super::*;

    #[test]
    fn converts_known_patterns() {
        for (bits, value) in [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_953_125),
            (0x7bff, 65504.0),
            (0x0001, 5.960_464_477_539_063e-8),
            (0x03ff, 6.097_555_160_522_461e-5),
            (0x0400, 6.103_515_625e-5),
        ] {
            assert_eq!(to_f64(bits), value, "{bits:#06x}");
            assert_eq!(from_f64(value), bits, "{value}");
        }
    }

    #[test]
    fn rounds_to_nearest_even() {
        assert_eq!(from_f64(1.0 / 3.0), 0x3555);
        assert_eq!(from_f64(2049.0), from_f64(2048.0));
        assert_eq!(from_f64(2051.0), from_f64(2052.0));
        assert_eq!(from_f64(2047.9), from_f64(2048.0)); // carries into the exponent
        assert_eq!(from_f64(65519.9), 0x7bff);
        assert_eq!(from_f64(65520.0), 0x7c00);
        assert_eq!(from_f64(f64::NEG_INFINITY), 0xfc00);
        assert_eq!(from_f64(1e-9), 0);
        // Just beside a tie, closer than an f32 can tell.
        assert_eq!(from_f64(2049.0 + 1e-9), from_f64(2050.0));
        assert_eq!(from_f64(2051.0 - 1e-9), from_f64(2050.0));
        assert!(to_f64(from_f64(f64::NAN)).is_nan());
    }

    #[test]
    fn steps_down() {
        assert_eq!(to_f64(next_down(0x3c00)), 1.0 - 2.0_f64.powi(-11));
        assert_eq!(to_f64(next_down(0xbc00)), -1.0 - 2.0_f64.powi(-10));
        assert_eq!(to_f64(next_down(0)), -(2.0_f64.powi(-24)));
        assert_eq!(next_down(0xfc00), 0xfc00);
    }

    #[test]
    fn every_half_survives_the_round_trip() {
        for bits in 0..=u16::MAX {
            let value = to_f64(bits);
            assert!(value.is_nan() || from_f64(value) == bits, "{bits:#06x}");
        }
    }
}
