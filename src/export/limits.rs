//! How much a file of some size may turn into.
//!
//! A launch that takes 20 bytes of a hostile file takes thousands in memory once it is diagnosed. Real
//! files are far from these limits; what lies beyond is left out aloud.

use crate::metric;
use crate::text::count_of;

/// How much of one file is read.
#[derive(Debug)]
pub(super) struct Limits {
    launches: usize,
    /// Metric values and results of ncu's rules.
    values: usize,
    /// Source lines and instructions.
    source: usize,
    /// The launches that were read without their lines and instructions.
    without_source: usize,
    /// True where launches are left out.
    is_cut: bool,
}

/// From so many values on, some 200 MB in memory, only those of metrics that adoprof knows are kept: an eighth
/// of a full page.
const MANY_VALUES: usize = 1_000_000;

/// True for a metric that something reads: one of the catalogue, or one that describes a launch.
pub(super) fn is_known(metric: &str) -> bool {
    const DESCRIBING: [&str; 3] = [
        "device__attribute_display_name",
        "device__attribute_compute_capability_major",
        "device__attribute_compute_capability_minor",
    ];
    metric::canonical(metric).is_some()
        || metric.starts_with("launch__")
        || DESCRIBING.contains(&metric)
}

/// True where so many launches with so many values each are more than are kept in full.
pub(super) fn are_many(launches: usize, values: usize) -> bool {
    launches > kept_in_full(values)
}

/// The most launches with so many values each that are kept in full.
pub(super) fn kept_in_full(values: usize) -> usize {
    MANY_VALUES / values.max(1)
}

/// What a user should know where only known metrics were read.
pub(super) fn known_only(launches: usize, values: usize) -> String {
    format!(
        "{} with {} each are more than adoprof keeps, so it read only the metrics that it knows",
        count_of(launches as f64, "launch"),
        count_of(values as f64, "value")
    )
}

/// Any file may have so many launches, each of which takes some 5 KB when it is diagnosed.
const LAUNCHES: usize = 1_000;
/// Any file may have so many values, of some 200 bytes each.
const VALUES: usize = 50_000;
/// Any file may have so many lines and instructions, of some 1,000 bytes each.
const SOURCE: usize = 500_000;

impl Limits {
    /// For a report of so many bytes. A launch takes 500 bytes at the least (ncu's `launch__` values come
    /// with each), a value 10 and more, an instruction 20 for each of its counters.
    pub(super) fn of_report(bytes: usize) -> Self {
        Self::new(LAUNCHES + bytes / 160, VALUES + bytes / 8, SOURCE + bytes / 32)
    }

    /// For a CSV page of so many bytes: its cells take 4 bytes at the least, the row of a launch has some
    /// twelve that describe the launch, and that of an instruction some forty.
    pub(super) fn of_page(bytes: usize) -> Self {
        Self::new(LAUNCHES + bytes / 64, VALUES + bytes / 4, SOURCE + bytes / 64)
    }

    /// The most rows of a raw page of so many bytes: one per launch, and one of units.
    pub(super) fn raw_rows(bytes: usize) -> usize {
        LAUNCHES + bytes / 64 + 1
    }

    /// The most rows of a details page of so many bytes, each with what describes its launch.
    pub(super) fn details_rows(bytes: usize) -> usize {
        VALUES + bytes / 32
    }

    /// The most lines and instructions of a source page of so many bytes.
    pub(super) fn source_rows(bytes: usize) -> usize {
        SOURCE + bytes / 64
    }

    fn new(launches: usize, values: usize, source: usize) -> Self {
        Self { launches, values, source, without_source: 0, is_cut: false }
    }

    /// True while another launch may be read.
    pub(super) fn allow_launch(&mut self, launches: usize, values: usize) -> bool {
        let is_within = launches < self.launches && values < self.values;
        self.is_cut |= !is_within;
        is_within
    }

    /// True while another launch may be read with its lines and instructions.
    pub(super) fn allow_source(&mut self, rows: usize) -> bool {
        let is_within = rows < self.source;
        self.without_source += usize::from(!is_within);
        is_within
    }

    /// What the user should know, each one sentence; `all` is how many launches the file has, and `read` how
    /// many of them were read.
    pub(super) fn notices(&self, read: usize, all: usize) -> Vec<String> {
        let mut notices = Vec::new();
        if self.is_cut && all > read {
            notices.push(format!(
                "{} of {} were left out: adoprof reads at most {} and {} of a file of this size; \
                 collect fewer at a time (--launch-count)",
                all - read,
                count_of(all as f64, "launch"),
                count_of(self.launches as f64, "launch"),
                count_of(self.values as f64, "value"),
            ));
        }
        if self.without_source > 0 {
            notices.push(format!(
                "{} of {} come without lines and instructions: adoprof reads at most {} of a file of this size; collect fewer at a time (--launch-count)",
                self.without_source,
                count_of(read as f64, "launch"),
                count_of(self.source as f64, "row"),
            ));
        }
        notices
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_beyond_a_limit_is_said() {
        let mut limits = Limits::new(2, 3, 4);
        assert!(limits.allow_launch(1, 2) && limits.allow_source(3));
        assert!(limits.notices(1, 1).is_empty());
        assert!(!limits.allow_launch(2, 2) && !limits.allow_source(4));
        let notices = limits.notices(2, 5);
        assert!(notices[0].starts_with(
            "3 of 5 launches were left out: adoprof reads at most 2 launches and 3 values"
        ));
        assert!(notices[1].starts_with("1 of 2 launches come without lines"), "{notices:?}");
        assert!(!Limits::new(2, 3, 4).allow_launch(1, 3), "too many values");
    }
}
