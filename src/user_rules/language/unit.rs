//! Units of numbers, so that bytes are not compared with sectors.

use std::collections::BTreeMap;
use std::fmt;

/// The unit of a number: each base unit with its power. Without any it is a plain ratio or a share of 1.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Unit {
    /// A number that a rule's author wrote without a unit: it has that of whatever it meets.
    #[default]
    Any,
    /// These units.
    Known(BTreeMap<String, i32>),
}

impl Unit {
    /// No unit: a ratio, a share.
    pub(crate) fn plain() -> Self {
        Self::Known(BTreeMap::new())
    }

    /// A unit as the catalogue writes it: `byte/s`, `%`, nothing for a ratio.
    pub(super) fn of(text: &str) -> Self {
        if matches!(text, "" | "share") {
            return Self::plain();
        }
        let mut powers = BTreeMap::new();
        for (place, word) in text.split('/').enumerate() {
            *powers.entry(word.to_owned()).or_insert(0) += if place == 0 { 1 } else { -1 };
        }
        Self::Known(powers)
    }

    /// True for percent.
    pub(crate) fn is_percent(&self) -> bool {
        *self == Self::of("%")
    }

    /// The unit of a product, or with `power` -1 of a quotient.
    pub(super) fn times(&self, other: &Self, power: i32) -> Self {
        match (self, other) {
            (known, Self::Any) => known.clone(),
            (Self::Any, Self::Known(powers)) => Self::Known(
                powers.iter().map(|(name, each)| (name.clone(), power * each)).collect(),
            ),
            (Self::Known(ours), Self::Known(theirs)) => {
                let mut powers = ours.clone();
                for (name, each) in theirs {
                    *powers.entry(name.clone()).or_insert(0) += power * each;
                }
                powers.retain(|_, power| *power != 0);
                Self::Known(powers)
            }
        }
    }

    /// The unit that both have; `None` where they differ.
    pub(crate) fn common(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (known, Self::Any) | (Self::Any, known) => Some(known.clone()),
            (ours, theirs) => (ours == theirs).then(|| ours.clone()),
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Known(powers) = self else { return to.write_str("a bare number") };
        if powers.is_empty() {
            return to.write_str("a share or ratio");
        }
        let side = |sign: i32| -> Vec<String> {
            powers
                .iter()
                .filter(|(_, power)| **power * sign > 0)
                .map(|(name, power)| match power.abs() {
                    1 => name.clone(),
                    more => format!("{name}^{more}"),
                })
                .collect()
        };
        let (above, below) = (side(1).join("·"), side(-1).join("·"));
        match (above.as_str(), below.as_str()) {
            (_, "") => to.write_str(&above),
            ("", _) => write!(to, "1/{below}"),
            _ => write!(to, "{above}/{below}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_multiplied_and_divided() {
        let (bytes, sectors) = (Unit::of("byte"), Unit::of("sector"));
        assert_eq!(bytes.times(&sectors, -1), Unit::of("byte/sector"));
        assert_eq!(Unit::of("byte/sector").times(&sectors, 1), bytes);
        assert_eq!(bytes.times(&bytes, -1), Unit::plain());
        assert_eq!(Unit::Any.times(&sectors, -1).to_string(), "1/sector");
        assert_eq!(bytes.times(&Unit::Any, -1), bytes);
    }

    #[test]
    fn unlike_units_have_none_in_common() {
        assert_eq!(Unit::of("byte").common(&Unit::of("sector")), None);
        assert_eq!(Unit::of("byte").common(&Unit::Any), Some(Unit::of("byte")));
        assert_eq!(Unit::of("%").common(&Unit::plain()), None);
        assert_eq!(Unit::of("byte/s").to_string(), "byte/s");
    }
}
