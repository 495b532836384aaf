//! Numbers as NVIDIA's disassembler writes them.

use std::fmt::Write as _;

/// From this size on, floats are written with an exponent and this many decimals.
const LARGE: f64 = 1e9;
const DECIMALS: usize = 20;
/// Significant digits of smaller ones.
const DIGITS: i32 = 20;

/// A whole number in decimal digits.
pub(super) fn decimal(out: &mut String, value: u64) {
    if value >= 10 {
        decimal(out, value / 10);
    }
    out.push(char::from(b'0' + (value % 10) as u8));
}

/// A whole number with its sign, as `0x1f` or `-0x8`.
pub(super) fn hexadecimal(out: &mut String, is_negative: bool, magnitude: u64) {
    out.push_str(if is_negative { "-0x" } else { "0x" });
    let digits = (u64::BITS - (magnitude | 1).leading_zeros()).div_ceil(4);
    for place in (0..digits).rev() {
        let digit = (magnitude >> (4 * place) & 15) as u8;
        out.push(char::from(if digit < 10 { b'0' + digit } else { b'a' + digit - 10 }));
    }
}

/// The places of the bits set, the highest first.
pub(super) fn mask(out: &mut String, value: u64) {
    out.push('{');
    let mut separator = "";
    for place in (0..64).rev().filter(|place| value >> place & 1 == 1) {
        out.push_str(separator);
        decimal(out, place);
        separator = ",";
    }
    out.push('}');
}

/// A float of any width; `quiet` says which kind of NaN it would be. Infinities, NaNs and minus
/// zero end with a blank.
pub(super) fn float(out: &mut String, value: f64, quiet: bool) {
    let sign = if value.is_sign_negative() { '-' } else { '+' };
    if !value.is_finite() {
        out.push(sign);
        out.push_str(match (value.is_nan(), quiet) {
            (false, _) => "INF ",
            (true, true) => "QNAN ",
            (true, false) => "SNAN ",
        });
    } else if value == 0.0 {
        out.push_str(if sign == '-' { "-0.0 " } else { "0" });
    } else if value.abs() >= LARGE {
        let text = format!("{value:.DECIMALS$e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        // Writing to a string never fails.
        let _ = write!(out, "{digits}e+{exponent:0>2}");
    } else {
        general(out, value);
    }
}

/// As C's `%.20g` writes it.
fn general(out: &mut String, value: f64) {
    let text = format!("{value:.*e}", DECIMALS - 1);
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if exponent < -4 {
        let digits = digits.trim_end_matches('0').trim_end_matches('.');
        let _ = write!(out, "{digits}e-{:0>2}", -exponent);
        return;
    }
    let decimals = usize::try_from(DIGITS - 1 - exponent).unwrap_or_default();
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        out.push_str(text.trim_end_matches('0').trim_end_matches('.'));
    } else {
        out.push_str(&text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut String)) -> String {
        let mut out = String::new();
        write(&mut out);
        out
    }

    #[test]
    fn whole_numbers() {
        for value in [0, 7, 10, 254, u64::MAX] {
            assert_eq!(written(|out| decimal(out, value)), value.to_string());
        }
        for value in [0, 16, 255, u64::MAX] {
            assert_eq!(written(|out| hexadecimal(out, false, value)), format!("{value:#x}"));
        }
        assert_eq!(written(|out| hexadecimal(out, true, 8)), "-0x8");
        assert_eq!(written(|out| mask(out, 0b10_0101)), "{5,2,0}");
        assert_eq!(written(|out| mask(out, 0)), "{}");
    }

    /// As `nvdisasm` 13.5 printed them in FADD's immediate.
    #[test]
    fn floats() {
        for (bits, text) in [
            (0x3dcc_cccd, "0.10000000149011611938"),
            (0x38d1_b717, "9.9999997473787516356e-05"),
            (0x47f1_205a, "123456.703125"),
            (0x4974_2400, "1000000"),
            (0x4e6e_6b27, "999999936"),
            (0x4e6e_6b28, "1.00000000000000000000e+09"),
            (0xcf00_0001, "-2.14748390400000000000e+09"),
            (0x7f7f_ffff, "3.40282346638528859812e+38"),
            (0x8000_0000, "-0.0 "),
            (0, "0"),
            (1, "1.4012984643248170709e-45"),
            (0x7f80_0000, "+INF "),
            (0xff80_0000, "-INF "),
        ] {
            let value = f64::from(f32::from_bits(bits));
            assert_eq!(written(|out| float(out, value, true)), text, "{bits:#x}");
        }
        // C's %.20g turns to exponents below 0.0001: 2 to the -13 and to the -14.
        assert_eq!(written(|out| float(out, 0.5_f64.powi(13), true)), "0.0001220703125");
        assert_eq!(written(|out| float(out, 0.5_f64.powi(14), true)), "6.103515625e-05");
        assert_eq!(written(|out| float(out, f64::NAN, true)), "+QNAN ");
        assert_eq!(written(|out| float(out, -f64::NAN, false)), "-SNAN ");
    }
}
