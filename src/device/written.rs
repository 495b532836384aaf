//! A device's file as adoprof writes it.

use std::fmt::Write;

use super::quantity::Quantity;

/// The text of a file: the device's name, the file that it inherits from, and values with their
/// sources.
#[must_use]
pub(crate) fn text(
    name: &str,
    inherits: Option<&str>,
    facts: &[(Quantity, f64, String)],
) -> String {
    let quoted = |text: &str| toml::Value::from(text).to_string();
    let mut out = String::from(
        "# Written by `adoprof doctor --measure`. Values here come before the shipped ones; delete this\n\
         # file to go back to those.\n",
    );
    let _ = writeln!(out, "name = {}", quoted(name));
    if let Some(parent) = inherits {
        let _ = writeln!(out, "inherits = {}", quoted(parent));
    }
    out.push_str("\n[facts]\n");
    for (quantity, value, from) in facts {
        let definition = quantity.definition();
        let _ = writeln!(
            out,
            "{} = {{ value = {}, unit = {}, from = {} }}",
            definition.key,
            four_digits(*value),
            quoted(definition.unit),
            quoted(from)
        );
    }
    out
}

/// A number with four significant digits, with an exponent from a million on and below a thousandth.
#[must_use]
pub(crate) fn four_digits(value: f64) -> String {
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    if (1e-3..1e6).contains(&rounded.abs()) { format!("{rounded}") } else { format!("{rounded:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::file::DeviceFile;
    use std::path::Path;

    #[test]
    fn numbers_have_four_digits() {
        for (value, expected) in [
            (4.549_96e12, "4.55e12"),
            (4.641_2e12, "4.641e12"),
            (3008.4, "3008"),
            (0.839_96, "0.84"),
            (1.202_84, "1.203"),
            (0.000_123_46, "1.235e-4"),
        ] {
            assert_eq!(four_digits(value), expected);
        }
    }

    #[test]
    fn what_is_written_can_be_read() {
        let from = "measured by \"hand\" on a \\ device".to_owned();
        let facts = [
            (Quantity::DramReadRate, 4.5e12, from),
            (Quantity::L1Latency, 38.0, "derived".to_owned()),
        ];
        let written = text("NVIDIA \"X\"", Some("sm_90"), &facts);
        let read = DeviceFile::parse(&written, Path::new("x.toml")).unwrap();
        assert_eq!((read.name.as_str(), read.inherits.as_deref()), ("NVIDIA \"X\"", Some("sm_90")));
        let read: Vec<_> = read
            .facts
            .into_iter()
            .map(|(quantity, fact)| (quantity, fact.value, fact.from))
            .collect();
        for fact in facts {
            assert!(read.contains(&fact), "{fact:?}");
        }
        assert!(!text("x", None, &[]).contains("inherits"));
    }
}
