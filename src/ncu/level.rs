//! How much to collect, as data: `sections/levels.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::version::Version;

/// A collection level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Level {
    /// Elementary counters only: few passes, no counters by source line.
    Quick,
    /// Everything that a rule reads, source lines included.
    #[default]
    Standard,
    /// ncu's whole `full` set.
    Full,
}

/// What to collect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// One of the levels.
    Level(Level),
    /// These sections and metrics and the duration, which nothing can be said without.
    Explicit {
        /// Section identifiers, or `regex:…`.
        sections: Vec<String>,
        /// Metric names as `--metrics` takes them.
        metrics: Vec<String>,
    },
}

/// How many times ncu will replay each kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpectedPasses {
    /// Replays of one launch.
    pub passes: u32,
    /// Where the number comes from.
    pub provenance: &'static str,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Levels {
    quick: Entry,
    standard: Entry,
    full: Entry,
    since: BTreeMap<String, String>,
    counters: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    set: Option<String>,
    sections: Vec<String>,
    passes: u32,
    provenance: String,
}

/// The shipped levels. The text is part of the program, so a mistake in it is a bug that the first
/// test finds, never an input.
static LEVELS: LazyLock<Levels> = LazyLock::new(|| {
    toml::from_str(include_str!("../../sections/levels.toml"))
        .unwrap_or_else(|error| unreachable!("sections/levels.toml: {error}"))
});

impl Level {
    fn entry(self) -> &'static Entry {
        match self {
            Self::Quick => &LEVELS.quick,
            Self::Standard => &LEVELS.standard,
            Self::Full => &LEVELS.full,
        }
    }

    /// The level's name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Standard => "standard",
            Self::Full => "full",
        }
    }

    /// ncu's section set that the level starts from.
    #[must_use]
    pub fn set(self) -> Option<&'static str> {
        self.entry().set.as_deref()
    }

    /// The sections of the level that a release of ncu has.
    pub fn sections(self, version: Version) -> impl Iterator<Item = &'static str> {
        self.entry()
            .sections
            .iter()
            .map(String::as_str)
            .filter(move |section| since(section).is_none_or(|first| version >= first))
    }

    /// The counters that every level collects on top of its sections.
    pub fn counters() -> impl Iterator<Item = &'static str> {
        LEVELS.counters.values().flatten().map(String::as_str)
    }
}

/// How many passes a level is expected to take, to be told before the run.
#[must_use]
pub fn expected_passes(level: Level) -> ExpectedPasses {
    let entry = level.entry();
    ExpectedPasses { passes: entry.passes, provenance: &entry.provenance }
}

/// The first release with a section, where not all supported ones have it.
fn since(section: &str) -> Option<Version> {
    LEVELS.since.get(section).and_then(|version| Version::parse(version))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::export::stall::StallReason;
    use crate::metric;
    use crate::model::Term;

    const NEWEST: Version = Version::new(2025, 3, 1);

    /// By name, or by the section in which the catalogue says ncu has it.
    fn collected(level: Level, name: &str) -> bool {
        let by_section = |metric: &metric::Metric| {
            level.sections(NEWEST).any(|section| section == metric.section)
        };
        Level::counters().any(|counter| counter == name)
            || metric::canonical(name).is_some_and(|(metric, _)| by_section(metric))
    }

    #[test]
    fn standard_collects_what_the_rules_need() {
        for rule in crate::rules::RULES {
            for name in rule.needs {
                assert!(collected(Level::Standard, name), "{} needs {name}", rule.name);
            }
        }
    }

    #[test]
    fn every_level_collects_the_terms_of_the_model() {
        let counters: HashSet<&str> = Level::counters().collect();
        for term in Term::ALL {
            for name in term.counters() {
                assert!(counters.contains(name), "{} of {}", name, term.title());
            }
        }
        for reason in StallReason::all() {
            for level in [Level::Quick, Level::Standard] {
                assert!(collected(level, &reason.ratio_metric()), "{reason:?} in {level:?}");
            }
        }
    }

    #[test]
    fn counters_are_elementary_and_known_to_the_catalogue() {
        let mut seen = HashSet::new();
        for name in Level::counters() {
            assert!(seen.insert(name), "{name} stands twice");
            assert!(!name.contains("throughput"), "{name} is a maximum over many units");
            assert!(!name.contains("sass"), "{name} needs patched instructions");
            assert!(metric::canonical(name).is_some(), "{name} is not in the catalogue");
        }
    }

    #[test]
    fn older_releases_are_not_asked_for_newer_sections() {
        let has = |version| {
            Level::Standard.sections(version).any(|section| section == "WorkloadDistribution")
        };
        assert!(has(NEWEST));
        assert!(has(Version::new(2024, 1, 0)));
        assert!(!has(Version::OLDEST));
        for (section, version) in &LEVELS.since {
            assert!(Version::parse(version).is_some(), "{section} since {version}");
        }
    }

    #[test]
    fn deeper_levels_take_more_passes() {
        let passes =
            [Level::Quick, Level::Standard, Level::Full].map(|l| expected_passes(l).passes);
        assert!(passes.is_sorted() && passes[0] > 0, "{passes:?}");
        assert!(expected_passes(Level::Quick).provenance.contains("H200"));
    }
}
