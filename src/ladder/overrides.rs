//! `--size N=512,M=512`.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::text::printable;

/// Parameter values that take the place of a ladder's defaults.
pub type Overrides = BTreeMap<String, u64>;

/// Largest value of a parameter: sizes are computed in f64, which holds every integer up to here.
pub(super) const LARGEST: u64 = 1 << 53;

/// Reads `N=512,M=512`. A value is a whole number from 1, with `K`, `M` or `G` for 2^10, 2^20 or
/// 2^30, or a power such as `2^20`. An empty text gives no overrides.
///
/// # Errors
/// [`Error::Usage`] that names the part which is wrong.
pub fn parse_overrides(text: &str) -> Result<Overrides> {
    let mut overrides = Overrides::new();
    if text.trim().is_empty() {
        return Ok(overrides);
    }
    for part in text.split(',') {
        let shown = printable(part.trim());
        let Some((name, value)) = part.split_once('=') else {
            return Err(Error::Usage(format!(
                "--size: `{shown}` is not of the form NAME=VALUE; write for example N=512,M=512"
            )));
        };
        let name = name.trim();
        if name.is_empty() {
            return Err(Error::Usage(format!(
                "--size: `{shown}` has no parameter name; write for example N=512"
            )));
        }
        let value = value_of(value.trim())
            .map_err(|problem| Error::Usage(format!("--size: `{shown}`: {problem}")))?;
        if overrides.insert(name.to_owned(), value).is_some() {
            return Err(Error::Usage(format!(
                "--size gives `{}` twice; keep one of them",
                printable(name)
            )));
        }
    }
    Ok(overrides)
}

/// A parameter's value: `512`, `4K`, `2^20`.
pub(crate) fn value_of(text: &str) -> std::result::Result<u64, String> {
    const WANTED: &str = "a size is a whole number from 1, such as 512, 4K or 2^20";
    let number = |digits: &str| {
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(WANTED.to_owned());
        }
        digits.parse::<u64>().map_err(|_| "the value is too large".to_owned())
    };
    let value = if let Some((base, exponent)) = text.split_once('^') {
        let (base, exponent) = (number(base)?, number(exponent)?);
        u32::try_from(exponent).ok().and_then(|exponent| base.checked_pow(exponent))
    } else {
        let shift = match text.as_bytes().last() {
            Some(b'K' | b'k') => 10,
            Some(b'M' | b'm') => 20,
            Some(b'G' | b'g') => 30,
            _ => 0,
        };
        let digits = if shift == 0 { text } else { &text[..text.len() - 1] };
        number(digits)?.checked_mul(1 << shift)
    };
    match value {
        Some(0) => Err(format!("0 leaves nothing to compute; {WANTED}")),
        Some(value) if value <= LARGEST => Ok(value),
        _ => Err("the value is too large".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_values() {
        let overrides = parse_overrides("N=512, M=4K,L=2^20,Q=1m,R=1").unwrap();
        let expected = [("N", 512), ("M", 4096), ("L", 1 << 20), ("Q", 1 << 20), ("R", 1)];
        assert_eq!(overrides, expected.map(|(name, value)| (name.to_owned(), value)).into());
        assert!(parse_overrides(" ").unwrap().is_empty());
    }

    #[test]
    fn says_what_is_wrong() {
        for (text, words) in [
            ("512", "`512` is not of the form NAME=VALUE"),
            ("N=512,", "`` is not of the form NAME=VALUE"),
            ("=3", "no parameter name"),
            ("N=", "whole number from 1"),
            ("N=0", "0 leaves nothing to compute"),
            ("N=-4", "whole number from 1"),
            ("N=1.5", "whole number from 1"),
            ("N=many", "whole number from 1"),
            ("N=K", "whole number from 1"),
            ("N=x^2", "whole number from 1"),
            ("N=2^", "whole number from 1"),
            ("N=2^64", "too large"),
            ("N=99999999999999999999", "too large"),
            ("N=9007199254740993", "too large"),
            ("N=18014398509481984K", "too large"),
            ("N=1,N=2", "`N` twice"),
            ("N=1é", "whole number from 1"),
        ] {
            let message = parse_overrides(text).unwrap_err().to_string();
            assert!(message.contains(words), "{text}: {message}");
        }
    }
}
