//! Numbers as people read them. Machines get the plain values from JSON and CSV.

pub(crate) mod ascii;
pub(crate) mod called;
pub(crate) mod layout;
pub(crate) mod nearest;

use std::collections::BTreeMap;

/// A count with thousands separators: `1,073,741,824`; fractions are rounded away.
#[must_use]
pub fn count(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::with_capacity(digits.len() * 4 / 3 + 1);
    if value < 0.0 && digits != "0" {
        text.push('-');
    }
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 block`, `1,024 blocks`, `2 passes`.
#[must_use]
pub fn count_of(value: f64, noun: &str) -> String {
    let digits = count(value);
    let ending = match (digits.as_str(), noun.ends_with(['s', 'x', 'h'])) {
        ("1", _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{digits} {noun}{ending}")
}

/// Names with their values: `N=512,M=512` with a comma between.
pub(crate) fn assignments<V: std::fmt::Display>(
    values: &BTreeMap<String, V>,
    between: &str,
) -> String {
    let parts: Vec<String> = values.iter().map(|(name, value)| format!("{name}={value}")).collect();
    parts.join(between)
}

/// Names with commas between them, of many the first ones and how many more there are.
pub(crate) fn listed(names: impl IntoIterator<Item = impl Into<String>>) -> String {
    /// A list of so many is still read.
    const MOST: usize = 20;
    let mut names: Vec<String> = names.into_iter().map(Into::into).collect();
    let more = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", names.join(", "))
}

/// A device's UUID as NVIDIA's tools print it: `GPU-00112233-4455-…`.
pub(crate) fn uuid(bytes: &[u8; 16]) -> String {
    let digits = hex(bytes);
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
    format!("GPU-{}", parts.join("-"))
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

/// A share (0 to 1) in percent, two significant digits at least: `78%`, `0.4%`. What is nearly all is
/// not all: `99.6%`.
#[must_use]
pub fn percent(share: f64) -> String {
    let value = 100.0 * share;
    let near_an_end = value != 0.0 && value.abs() < 1.0 || (99.5..99.95).contains(&value);
    if near_an_end { format!("{value:.1}%") } else { format!("{value:.0}%") }
}

/// What [`percent`] of a share leaves of the whole, so that both add up to 100%: `18%` beside `82%`.
pub(crate) fn percent_left(share: f64) -> String {
    let shown = percent(share);
    let value = shown.trim_end_matches('%').parse().unwrap_or(100.0 * share);
    percent((100.0_f64 - value) / 100.0)
}

/// A duration in the unit that keeps it between 1 and 1000: `10.7 ms`.
#[must_use]
pub fn duration(ns: f64) -> String {
    let (value, unit) = match ns.abs() {
        x if x < 1e3 => (ns, "ns"),
        x if x < 1e6 => (ns / 1e3, "µs"),
        x if x < 1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    format!("{} {unit}", significant(value, 3))
}

/// A rate in bytes per second, decimal prefixes: `4.29 TB/s`.
#[must_use]
pub fn byte_rate(bytes_per_s: f64) -> String {
    format!("{}B/s", prefixed(bytes_per_s))
}

/// An amount of bytes, decimal prefixes: `4.3 GB`.
#[must_use]
pub fn bytes(value: f64) -> String {
    format!("{}B", prefixed(value))
}

/// A value with a decimal prefix and a space before it: `4.29 T`.
#[must_use]
pub fn prefixed(value: f64) -> String {
    let (scaled, prefix) = match value.abs() {
        x if x < 1e3 => (value, ""),
        x if x < 1e6 => (value / 1e3, "k"),
        x if x < 1e9 => (value / 1e6, "M"),
        x if x < 1e12 => (value / 1e9, "G"),
        _ => (value / 1e12, "T"),
    };
    format!("{} {prefix}", significant(scaled, 3))
}

/// A value with so many significant digits, never in scientific notation.
#[must_use]
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let magnitude = value.abs().log10().floor() as i32;
    let decimals = (digits.cast_signed() as i32 - 1 - magnitude).max(0) as usize;
    format!("{value:.decimals$}")
}

/// Text from outside (kernel names, source lines, paths) made safe for a terminal: control
/// characters become visible, so no name can move the cursor or colour the screen.
#[must_use]
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\t' => ' ',
            c if c.is_control() || is_bidi_control(c) || is_invisible(c) => '\u{fffd}',
            c => c,
        })
        .collect()
}

/// As [`printable`], but the text may have several lines: a compiler's message, say. None of them is a
/// command to the CI that shows it.
#[must_use]
pub fn printable_lines(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = printable(line);
        match line.trim_start().strip_prefix("::") {
            Some(rest) => format!("{}: :{rest}", &line[..line.len() - rest.len() - 2]),
            None => line,
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The candidate that was probably meant: one that contains the name, otherwise the one with the
/// fewest single-character edits, if they are at most a third of the name's length.
#[must_use]
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let length = name.chars().count();
    candidates
        .into_iter()
        .filter_map(|candidate| {
            // Two letters are part of too many names to mean one of them.
            let contained = length > 2 && candidate.contains(&name);
            let edits = if contained { 0 } else { edits(&name, candidate) };
            (edits <= length.max(3) / 3).then_some((edits, candidate))
        })
        .min_by_key(|&(edits, _)| edits)
        .map(|(_, candidate)| candidate)
}

/// Levenshtein's distance: insertions, deletions and replacements from one text to the other.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (at, c) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (place, &other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(c != other);
            diagonal = row[place + 1];
            row[place + 1] = replaced.min(diagonal + 1).min(row[place] + 1);
        }
    }
    row[to.len()]
}

/// A path as a URI reference (RFC 3986): what is not unreserved or a slash is percent-encoded, and
/// an absolute path becomes a `file:` URI.
#[must_use]
pub fn uri(path: &str) -> String {
    let path = path.replace('\\', "/");
    let mut uri = if path.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push('%');
            for digit in [byte >> 4, byte & 15] {
                uri.extend(char::from_digit(u32::from(digit), 16).map(|c| c.to_ascii_uppercase()));
            }
        }
    }
    uri
}

/// Characters that reorder the text around them.
/// Characters without a width, with which one name can pass for another.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}'
        | '\u{206a}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}'..='\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_separators() {
        assert_eq!(count(0.0), "0");
        assert_eq!(count(999.0), "999");
        assert_eq!(count(1_073_741_824.0), "1,073,741,824");
        assert_eq!(count(-1234.0), "-1,234");
    }

    #[test]
    fn nouns_follow_their_count() {
        assert_eq!(count_of(1.0, "block"), "1 block");
        assert_eq!(count_of(1024.0, "block"), "1,024 blocks");
        assert_eq!(count_of(0.0, "launch"), "0 launches");
        assert_eq!(count_of(15.0, "pass"), "15 passes");
    }

    #[test]
    fn long_lists_end_in_their_number() {
        assert_eq!(listed(["a", "b"]), "a, b");
        let many = listed((0..1000).map(|at| at.to_string()));
        assert!(many.starts_with("0, 1, 2, ") && many.ends_with(", 19 and 980 more"), "{many}");
    }

    #[test]
    fn durations_pick_their_unit() {
        assert_eq!(duration(10_761_344.0), "10.8 ms");
        assert_eq!(duration(512.0), "512 ns");
        assert_eq!(duration(2.5e9), "2.50 s");
    }

    #[test]
    fn misspelt_names_are_guessed() {
        let names = ["v1", "v2", "v2-shuffle", "uncoalesced-global-access"];
        assert_eq!(nearest("v22", names), Some("v2"));
        assert_eq!(nearest("shuffle", names), Some("v2-shuffle"));
        assert_eq!(nearest("Uncoalesced", names), Some("uncoalesced-global-access"));
        assert_eq!(nearest("roofline", names), None);
        assert_eq!(nearest("", names), None);
    }

    #[test]
    fn edits_are_counted() {
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("same", "same"), 0);
    }

    #[test]
    fn hostile_names_lose_their_controls() {
        assert_eq!(printable("k\u{1b}[31m\u{202e}x"), "k\u{fffd}[31m\u{fffd}x");
    }

    #[test]
    fn no_line_is_a_command_to_a_ci() {
        assert_eq!(
            printable_lines("a ::error::b\n  ::error file=x::c\n:d"),
            "a ::error::b\n  : :error file=x::c\n:d"
        );
    }

    #[test]
    fn uris_are_references() {
        assert_eq!(uri("/src/k#1.cu"), "file:///src/k%231.cu");
        assert_eq!(uri("C:\\k.cu"), "C%3A/k.cu");
    }
}
