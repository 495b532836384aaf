//! IEEE 754 binary16 as its 16 bits: 1 sign, 5 exponent (bias 15), 10 fraction.

/// The value of a half; NaN for every NaN pattern.
#[must_use]
pub fn to_f64(bits: u16) -> f64 {
    let fraction = f64::from(bits & 0x3ff);
    let magnitude = match (bits >> 10) & 0x1f {
        0 => fraction * 2.0_f64.powi(-24),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        exponent => (1024.0 + fraction) * 2.0_f64.powi(i32::from(exponent) - 25),
    };
    if bits & 0x8000 == 0 { magnitude } else { -magnitude }
}

/// The nearest half, ties to even; what is too large becomes infinite.
#[must_use]
pub fn from_f64(value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    if magnitude.is_nan() {
        return sign | 0x7e00;
    }
    // 65520 lies halfway between the largest half and the next step, and rounds up to infinity.
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    // The exponent of the value's binade; below 2^-14 halves are as dense as in that binade.
    let biased = (magnitude.to_bits() >> 52) as i32;
    let exponent = (biased - 1023).max(-14);
    // The distance of halves there is 2^(exponent - 10): scaled, the value rounds to an integer.
    let steps = (magnitude * 2.0_f64.powi(10 - exponent)).round_ties_even() as u16;
    // A carry out of the fraction runs on into the exponent, as it should.
    sign | (((exponent + 14) as u16) << 10).wrapping_add(steps)
}

/// The next half towards negative infinity.
#[must_use]
pub fn next_down(bits: u16) -> u16 {
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
