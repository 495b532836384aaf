//! How much to collect, as data: `sections/levels.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use clap::ValueEnum;
use serde::Deserialize;

use super::version::Version;
use crate::metric;

/// How much ncu collects. The texts stand in the command line's help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Level {
    /// What decides the first finding, with source lines: about 15 passes, and a second run if these show signs
    /// of a larger fault.
    #[default]
    Auto,
    /// The counters that the model and most rules need, without source lines: about 12 passes.
    Quick,
    /// Everything that the rules need, with ncu's own sections for it: about 34 passes.
    Standard,
    /// All that ncu can collect: 38 passes or more.
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
    auto: Content,
    quick: Content,
    standard: Content,
    full: Content,
    since: BTreeMap<String, String>,
    counters: BTreeMap<String, Vec<String>>,
    further: BTreeMap<String, Group>,
    costs: Costs,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    set: Option<String>,
    sections: Vec<String>,
    counters: Vec<String>,
    passes: u32,
    provenance: String,
}

/// Counters that matter to few kernels: a second run collects them where the first leaves a rule
/// undecided.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The counters.
    pub metrics: Vec<String>,
    /// Metrics of the first run that are all 0 where there is nothing to find.
    pub trace: Vec<String>,
    /// Utilization counters of the units that such a fault keeps busy, as [`Term::counters`] names
    /// them.
    ///
    /// [`Term::counters`]: crate::term::Term::counters
    pub units: Vec<String>,
    /// Replays of a run that collects nothing else.
    pub passes: u32,
}

/// What each piece costs when it is collected alone, replay passes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Costs {
    provenance: String,
    sections: BTreeMap<String, u32>,
    counters: BTreeMap<String, u32>,
    #[cfg_attr(not(test), expect(dead_code, reason = "a record of what was measured"))]
    source: BTreeMap<String, u32>,
}

/// The shipped levels. The text is part of the program, so a mistake in it is a bug that the first
/// test finds, never an input.
static LEVELS: LazyLock<Levels> = LazyLock::new(|| {
    toml::from_str(include_str!("../../sections/levels.toml"))
        .unwrap_or_else(|error| unreachable!("sections/levels.toml: {error}"))
});

impl Level {
    fn content(self) -> &'static Content {
        match self {
            Self::Auto => &LEVELS.auto,
            Self::Quick => &LEVELS.quick,
            Self::Standard => &LEVELS.standard,
            Self::Full => &LEVELS.full,
        }
    }

    /// The level's name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Quick => "quick",
            Self::Standard => "standard",
            Self::Full => "full",
        }
    }

    /// ncu's section set that the level starts from.
    #[must_use]
    pub fn set(self) -> Option<&'static str> {
        self.content().set.as_deref()
    }

    /// The sections of the level that a release of ncu has.
    pub fn sections(self, version: Version) -> impl Iterator<Item = &'static str> {
        self.content()
            .sections
            .iter()
            .map(String::as_str)
            .filter(move |section| since(section).is_none_or(|first| version >= first))
    }

    /// The counters that the level collects on top of its sections.
    pub fn counters(self) -> impl Iterator<Item = &'static str> {
        let groups = self.content().counters.iter();
        groups.filter_map(|group| LEVELS.counters.get(group)).flatten().map(String::as_str)
    }

    /// True where the level asks for a catalogue metric: by its name, or by the section in which the
    /// catalogue says ncu has it.
    #[must_use]
    pub fn collects(self, name: &str) -> bool {
        let Some((metric, _)) = metric::canonical(name) else { return false };
        self.content().set.is_some()
            || self.counters().any(|counter| counter == metric.name)
            || self.content().sections.iter().any(|section| section == metric.section)
    }
}

impl Selection {
    /// The word for it in a saved profile.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Level(level) => level.name(),
            Self::Explicit { .. } => "custom",
        }
    }

    /// How often ncu will replay a launch, where that is known beforehand: of `auto`, its first run.
    #[must_use]
    pub fn expected_passes(&self) -> Option<u32> {
        match self {
            Self::Level(level) => Some(expected_passes(*level).passes),
            Self::Explicit { sections, metrics } if metrics.is_empty() => {
                most_passes(sections).map(|most| most.passes)
            }
            Self::Explicit { .. } => None,
        }
    }
}

/// What can be collected by itself: a section, or a group of counters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// The section's identifier or the group's name.
    pub name: String,
    /// The group's counters; none for a section.
    pub metrics: Vec<String>,
    /// Its replays where it is collected alone.
    pub passes: u32,
}

impl Piece {
    /// A section; one that was not measured counts as much as the dearest of `auto`.
    pub(super) fn section(name: &str) -> Self {
        let passes = LEVELS.costs.sections.get(name).copied().unwrap_or(9);
        Self { name: name.to_owned(), metrics: Vec::new(), passes }
    }

    /// A group of counters.
    pub(super) fn counters(name: &str) -> Self {
        let metrics = LEVELS.counters.get(name).cloned().unwrap_or_default();
        let passes = LEVELS.costs.counters.get(name).copied().unwrap_or(1);
        Self { name: name.to_owned(), metrics, passes }
    }
}

/// The pieces that a level is made of; `None` for one that starts from a set of ncu's own.
pub(super) fn pieces(level: Level, version: Version) -> Option<Vec<Piece>> {
    level.set().is_none().then(|| {
        let groups = level.content().counters.iter().map(|name| Piece::counters(name));
        level.sections(version).map(Piece::section).chain(groups).collect()
    })
}

/// The groups of counters that only a second run collects, with their names.
pub fn further() -> impl Iterator<Item = (&'static str, &'static Group)> {
    LEVELS.further.iter().map(|(name, group)| (name.as_str(), group))
}

/// How many passes a level is expected to take, to be told before the run; of `auto`, its first run.
#[must_use]
pub fn expected_passes(level: Level) -> ExpectedPasses {
    let content = level.content();
    ExpectedPasses { passes: content.passes, provenance: &content.provenance }
}

/// How many passes some sections take at most; `None` where one of them was not measured. Sections
/// share passes, so together they often take fewer.
#[must_use]
pub fn most_passes(sections: &[String]) -> Option<ExpectedPasses> {
    let costs = &LEVELS.costs;
    let passes = sections.iter().map(|section| costs.sections.get(section)).sum::<Option<u32>>()?;
    Some(ExpectedPasses { passes, provenance: &costs.provenance })
}

/// The first release with a section, where not all supported ones have it.
fn since(section: &str) -> Option<Version> {
    LEVELS.since.get(section).and_then(|version| Version::parse(version))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::metric::stall::StallReason;
    use crate::term::Term;

    const NEWEST: Version = Version::new(2025, 3, 1);
    const ALL: [Level; 4] = [Level::Auto, Level::Quick, Level::Standard, Level::Full];

    #[test]
    fn what_the_rules_need_is_collected_at_once_or_by_a_second_run() {
        let further: HashSet<&str> =
            further().flat_map(|(_, group)| &group.metrics).map(String::as_str).collect();
        for rule in crate::rules::RULES {
            for name in rule.needs {
                assert!(Level::Standard.collects(name), "{} needs {name}", rule.name);
                assert!(
                    Level::Auto.collects(name) != further.contains(name),
                    "{} needs {name}: either the first run has it or the second, where [further] \
                     says what it costs",
                    rule.name
                );
            }
        }
    }

    #[test]
    fn every_level_collects_the_terms_of_the_model() {
        for level in ALL {
            for term in Term::ALL {
                for name in term.counters() {
                    assert!(level.counters().any(|c| c == *name), "{} of {}", name, term.title());
                }
            }
            for reason in StallReason::all() {
                assert!(level.collects(&reason.ratio_metric()), "{reason:?} in {level:?}");
            }
        }
    }

    #[test]
    fn counters_are_elementary_and_known_to_the_catalogue() {
        let mut seen = HashSet::new();
        let further = further().flat_map(|(_, group)| &group.metrics);
        for name in LEVELS.counters.values().flatten().chain(further) {
            assert!(seen.insert(name), "{name} stands twice");
            assert!(!name.contains("throughput"), "{name} is a maximum over many units");
            assert!(!name.contains("sass"), "{name} needs patched instructions");
            assert!(metric::canonical(name).is_some(), "{name} is not in the catalogue");
        }
    }

    #[test]
    fn levels_name_groups_that_there_are() {
        for level in ALL {
            for group in &level.content().counters {
                assert!(LEVELS.counters.contains_key(group), "{group} of {level:?}");
            }
        }
        for group in LEVELS.counters.keys() {
            assert!(LEVELS.costs.counters.contains_key(group), "{group} was not measured");
        }
        assert!(LEVELS.costs.source.values().all(|&passes| passes <= 5));
        for section in Level::Auto.sections(NEWEST).chain(Level::Standard.sections(NEWEST)) {
            assert!(LEVELS.costs.sections.contains_key(section), "{section} was not measured");
        }
    }

    #[test]
    fn what_tells_of_a_second_run_is_collected_by_the_first() {
        for (name, group) in further() {
            assert!(!group.trace.is_empty() && group.passes > 0, "{name}");
            for metric in group.trace.iter().chain(&group.units) {
                assert!(Level::Auto.collects(metric), "{metric} of {name}");
            }
            for unit in &group.units {
                let counts = |term: &Term| term.counters().contains(&unit.as_str());
                assert!(Term::ALL.iter().any(counts), "{unit} of {name} is no term's");
            }
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
        let passes = [Level::Quick, Level::Auto, Level::Standard, Level::Full]
            .map(|level| expected_passes(level).passes);
        assert!(passes.is_sorted() && passes[0] > 0, "{passes:?}");
        assert!(2 * passes[1] <= passes[3], "auto takes half of full's at most");
        for level in ALL {
            assert!(expected_passes(level).provenance.contains("H200"));
        }
    }

    #[test]
    fn sections_take_as_many_passes_as_alone_at_most() {
        let named = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let most = most_passes(&named(&["LaunchStats", "SpeedOfLight"])).unwrap();
        assert_eq!(most.passes, 11, "1 and 10");
        assert_eq!(most_passes(&named(&["LaunchStats", "regex:Speed"])), None);
    }
}
