//! ncu's units, brought to base units.
//!
//! Without `--print-units base` ncu scales every value to its own unit (`usecond` for one kernel,
//! `msecond` for the next), and the words changed between versions: `usecond` until 2024, `us`
//! since; `cycle/nsecond` for a clock, later `Ghz`.

use std::borrow::Cow;

/// Words for seconds with their prefixes, in ns.
const TIMES: &[(&str, f64)] = &[
    ("s", 1e9),
    ("second", 1e9),
    ("ms", 1e6),
    ("msecond", 1e6),
    ("us", 1e3),
    ("µs", 1e3),
    ("usecond", 1e3),
    ("ns", 1.0),
    ("nsecond", 1.0),
];

/// Words that carry a decimal prefix in scaled output; ncu's `Kbyte` is 1000 bytes.
const SCALED: &[&str] =
    &["byte", "hz", "cycle", "inst", "sector", "request", "warp", "thread", "wavefront", "block"];

/// The decimal prefixes of those words.
const PREFIXES: &[(&str, f64)] =
    &[("", 1.0), ("K", 1e3), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)];

/// The base unit and the factor from a value in `unit` to a value in it: `("ns", 1e6)` for
/// `msecond`, `("byte/s", 1e9)` for `Gbyte/second`. Unknown units stay as they are.
#[must_use]
pub fn base(unit: &str) -> (Cow<'_, str>, f64) {
    let unit = unit.trim();
    let Some((above, below)) = unit.split_once('/') else {
        let (word, factor) = word(unit);
        return (Cow::Borrowed(word), factor);
    };
    let (above, factor) = word(above);
    // Rates are per second, so the base of a denominator is `s`, not `ns`.
    if let Some(ns) = time(below) {
        let base = if above == "cycle" { "hz".to_owned() } else { format!("{above}/s") };
        return (Cow::Owned(base), factor * 1e9 / ns);
    }
    let (below, divisor) = word(below);
    (Cow::Owned(format!("{above}/{below}")), factor / divisor)
}

fn time(word: &str) -> Option<f64> {
    TIMES.iter().find(|(name, _)| *name == word).map(|(_, ns)| *ns)
}

fn word(word: &str) -> (&str, f64) {
    if let Some(ns) = time(word) {
        return ("ns", ns);
    }
    PREFIXES
        .iter()
        .find_map(|(prefix, factor)| {
            let name = word.strip_prefix(prefix)?;
            let known = SCALED.iter().find(|known| known.eq_ignore_ascii_case(name))?;
            Some((*known, *factor))
        })
        .unwrap_or((word, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_rates_get_their_base() {
        for (unit, expected, factor) in [
            ("msecond", "ns", 1e6),
            ("us", "ns", 1e3),
            ("ns", "ns", 1.0),
            ("second", "ns", 1e9),
            ("Mbyte", "byte", 1e6),
            ("Kbyte/block", "byte/block", 1e3),
            ("Gbyte/second", "byte/s", 1e9),
            ("Gbyte/s", "byte/s", 1e9),
            ("byte/second", "byte/s", 1.0),
            ("cycle/nsecond", "hz", 1e9),
            ("cycle/usecond", "hz", 1e6),
            ("Ghz", "hz", 1e9),
            ("Mhz", "hz", 1e6),
            ("sector/usecond", "sector/s", 1e6),
        ] {
            let (base, by) = base(unit);
            assert_eq!((base.as_ref(), by), (expected, factor), "{unit}");
        }
    }

    #[test]
    fn other_units_stay() {
        for unit in ["", "%", "inst/cycle", "register/thread", "SM", "byte/block", "branches", "hz"]
        {
            assert_eq!(base(unit), (Cow::Borrowed(unit), 1.0), "{unit}");
        }
    }
}
