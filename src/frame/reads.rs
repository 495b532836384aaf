//! What code declares that it reads of a launch.

use super::Launch;

/// Metrics without which something is still judged, but less sharply.
#[derive(Debug, Clone, Copy)]
pub struct Reads {
    /// Their canonical names.
    pub metrics: &'static [&'static str],
    /// True for launches that may be judged otherwise where one of them is missing.
    decide: fn(&Launch) -> bool,
}

/// Metrics that older versions of ncu don't have, though they collect all that stands beside them. They
/// decide so seldom that their absence is no news: a block's barriers, a limit that ncu tells since 2024.3,
/// keep fewer blocks resident than the other limits only where a block has more than one of them.
const NEW_IN_NCU: [&str; 1] = ["launch__occupancy_limit_barriers"];

impl Reads {
    /// Metrics that any launch may be judged by.
    #[must_use]
    pub const fn always(metrics: &'static [&'static str]) -> Self {
        Self { metrics, decide: |_| true }
    }

    /// Metrics that only some launches are judged by.
    #[must_use]
    pub const fn only_where(decide: fn(&Launch) -> bool, metrics: &'static [&'static str]) -> Self {
        Self { metrics, decide }
    }

    /// Metrics that stand in for others: they are read only where those are missing.
    #[must_use]
    pub const fn stand_in(metrics: &'static [&'static str]) -> Self {
        Self { metrics, decide: |_| false }
    }

    /// Those that a launch lacks although it may be judged by them.
    pub fn missing(self, launch: &Launch) -> impl Iterator<Item = &'static str> {
        let lacks = |name: &&str| launch.get(name).is_none() && !NEW_IN_NCU.contains(name);
        self.deciding(launch).iter().copied().filter(lacks)
    }

    /// Those that a launch may be judged by.
    #[must_use]
    pub fn deciding(self, launch: &Launch) -> &'static [&'static str] {
        if (self.decide)(launch) { self.metrics } else { &[] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_missed_only_where_it_decides() {
        const NAMES: &[&str] = &["launch__grid_size", "launch__block_size"];
        let missing = |reads: Reads, sms: Option<f64>| -> Vec<&str> {
            let mut launch = Launch::default();
            launch.set("launch__sm_count", sms);
            launch.set("launch__grid_size", Some(8.0));
            reads.missing(&launch).collect()
        };
        assert_eq!(missing(Reads::always(NAMES), None), ["launch__block_size"]);
        assert!(missing(Reads::stand_in(NAMES), None).is_empty());
        let of_many = Reads::only_where(
            |launch| launch.get("launch__sm_count").is_some_and(|sms| sms > 1.0),
            NAMES,
        );
        assert!(missing(of_many, None).is_empty() && missing(of_many, Some(1.0)).is_empty());
        assert_eq!(missing(of_many, Some(2.0)), ["launch__block_size"]);
        assert!(missing(Reads::always(&NEW_IN_NCU), None).is_empty());
    }
}
