//! The catalogue: every metric that adoprof reads, with its unit, its better side, and the names it
//! has had from ncu 2020 to 2025 and from Volta to Blackwell.
//!
//! Rules name metrics by the catalogue's canonical name; [`canonical`] maps whatever an export
//! calls it to that name. A metric that is not here is still kept in the frames and diffed; rules
//! just can't see it.

pub mod stall;
mod table;

use std::sync::LazyLock;

use foldhash::{HashMap, HashMapExt};

pub use table::CATALOGUE;

/// The side on which a metric is better when everything else stays equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Less is better: time, excess sectors, stalls.
    Lower,
    /// More is better: occupancy, lanes at work, bytes used of a sector.
    Higher,
    /// Neither: a description of the launch, or a utilization or hit rate, which is good or bad by its cause. Where a
    /// kernel no longer loads what it already has, its hit rate falls with its time.
    Neither,
}

/// How a raw value under another name becomes the canonical value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alias {
    /// The metric's name in that version or on that architecture.
    pub name: &'static str,
    /// Canonical value = raw value × `scale` (100 from a ratio to percent, say).
    pub scale: f64,
}

/// One metric of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Metric {
    /// The canonical name: what ncu 2025 calls it on Hopper.
    pub name: &'static str,
    /// The unit of the canonical value, in ncu's base units.
    pub unit: &'static str,
    /// A short title for people.
    pub title: &'static str,
    /// The better side.
    pub better: Better,
    /// The section that collects it (an identifier of `ncu --list-sections`); empty for metrics
    /// that need no section.
    pub section: &'static str,
    /// The label under which the details page prints it in that section; empty if it does not.
    pub label: &'static str,
    /// Its other names.
    pub aliases: &'static [Alias],
}

/// DRAM's bytes, read and written.
pub const DRAM_BYTES: &str = "dram__bytes.sum";
/// What [`DRAM_BYTES`] is the sum of: ncu's sections collect these.
pub const DRAM_BYTES_PARTS: [&str; 2] = ["dram__bytes_read.sum", "dram__bytes_write.sum"];

/// Every known name → (catalogue index, scale).
static BY_NAME: LazyLock<HashMap<&'static str, (usize, f64)>> = LazyLock::new(|| {
    let mut names = HashMap::new();
    for (index, metric) in CATALOGUE.iter().enumerate() {
        names.insert(metric.name, (index, 1.0));
        for alias in metric.aliases {
            names.entry(alias.name).or_insert((index, alias.scale));
        }
    }
    names
});

/// Section and label of the details page → catalogue index.
static BY_LABEL: LazyLock<HashMap<(&'static str, &'static str), usize>> = LazyLock::new(|| {
    CATALOGUE
        .iter()
        .enumerate()
        .filter(|(_, metric)| !metric.label.is_empty())
        .map(|(index, metric)| ((metric.section, metric.label), index))
        .collect()
});

/// The catalogue's entry for an export's metric name, and the factor from its value to ours.
#[must_use]
pub fn canonical(name: &str) -> Option<(&'static Metric, f64)> {
    BY_NAME.get(name).map(|&(index, scale)| (&CATALOGUE[index], scale))
}

/// The catalogue's entry for a label of the details page in a section (by identifier).
#[must_use]
pub fn by_label(section: &str, label: &str) -> Option<&'static Metric> {
    BY_LABEL.get(&(section, label)).map(|&index| &CATALOGUE[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut seen = std::collections::HashSet::new();
        for metric in CATALOGUE {
            assert!(seen.insert(metric.name), "{} stands twice", metric.name);
            for alias in metric.aliases {
                assert!(seen.insert(alias.name), "{} stands twice", alias.name);
            }
        }
    }

    #[test]
    fn every_metric_has_a_title() {
        for metric in CATALOGUE {
            assert!(!metric.title.is_empty(), "{}", metric.name);
        }
    }
}
