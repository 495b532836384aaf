//! One collection split into parts, each of which another rank of a program can collect.

use super::level::{Piece, Selection, pieces};
use super::version::Version;

/// The counters that every part has: durations and cycles, by which others are normalized and parts compared.
const SHARED: &str = "time";
/// The section with the counters by line, which only one page can hold.
const LINES: &str = "SourceCounters";

/// A part of a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// What is collected.
    pub selection: Selection,
    /// The same in words: sections and groups of counters.
    pub names: Vec<String>,
}

/// A collection in so many parts at most, of about as many passes each; the first one has the counters by line. `None`
/// where it can't be split.
pub(crate) fn split(selection: &Selection, version: Version, count: usize) -> Option<Vec<Part>> {
    let mut all = match selection {
        Selection::Level(level) => pieces(*level, version)?,
        Selection::Explicit { sections, metrics } => {
            let sections = sections.iter().map(|name| Piece::section(name));
            let named =
                Piece { name: "the named metrics".into(), metrics: metrics.clone(), passes: 1 };
            sections.chain((!metrics.is_empty()).then_some(named)).collect()
        }
    };
    all.retain(|piece| piece.name != SHARED);
    let count = count.min(all.len());
    if count < 2 {
        return None;
    }
    // The dearest first, each to the part that has least so far.
    all.sort_by_key(|piece| std::cmp::Reverse(piece.passes));
    let mut parts: Vec<Vec<Piece>> = vec![Vec::new(); count];
    for piece in all {
        let passes = |part: &&mut Vec<Piece>| part.iter().map(|piece| piece.passes).sum::<u32>();
        if let Some(least) = parts.iter_mut().min_by_key(passes) {
            least.push(piece);
        }
    }
    if let Some(at) = parts.iter().position(|part| part.iter().any(|piece| piece.name == LINES)) {
        parts.swap(0, at);
    }
    Some(parts.into_iter().map(part).collect())
}

fn part(pieces: Vec<Piece>) -> Part {
    let (mut sections, mut metrics) = (Vec::new(), Piece::counters(SHARED).metrics);
    for piece in &pieces {
        if piece.metrics.is_empty() {
            sections.push(piece.name.clone());
        }
        metrics.extend(piece.metrics.iter().cloned());
    }
    let names = pieces.into_iter().map(|piece| piece.name).collect();
    Part { selection: Selection::Explicit { sections, metrics }, names }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::ncu::Level;

    const VERSION: Version = Version::new(2026, 1, 0);

    fn content(selection: &Selection) -> BTreeSet<String> {
        match selection {
            Selection::Level(level) => {
                let sections = level.sections(VERSION).map(str::to_owned);
                sections.chain(level.counters().map(str::to_owned)).collect()
            }
            Selection::Explicit { sections, metrics } => {
                sections.iter().chain(metrics).cloned().collect()
            }
        }
    }

    #[test]
    fn the_parts_together_are_the_whole() {
        for level in [Level::Auto, Level::Quick, Level::Standard] {
            let whole = Selection::Level(level);
            for count in 2..=4 {
                let parts = split(&whole, VERSION, count).unwrap();
                assert_eq!(parts.len(), count);
                let joined = parts.iter().flat_map(|part| content(&part.selection)).collect();
                assert_eq!(content(&whole), joined, "{level:?} in {count}");
                for part in &parts {
                    assert!(content(&part.selection).contains("gpu__time_duration.sum"));
                    assert!(content(&part.selection).contains("sm__cycles_elapsed.max"));
                }
                let lines = |part: &Part| content(&part.selection).contains(LINES);
                assert!(!parts[1..].iter().any(lines), "{level:?}: lines are the first part's");
            }
        }
    }

    #[test]
    fn the_parts_cost_about_the_same() {
        let passes = |part: &Part| {
            part.names
                .iter()
                .map(|name| {
                    let section = Piece::section(name).passes;
                    let group = Piece::counters(name);
                    if group.metrics.is_empty() { section } else { group.passes }
                })
                .sum::<u32>()
        };
        let parts = split(&Selection::Level(Level::Auto), VERSION, 2).unwrap();
        let (one, two) = (passes(&parts[0]), passes(&parts[1]));
        assert!(one.abs_diff(two) <= 2, "{one} and {two}");
    }

    #[test]
    fn what_is_one_piece_is_not_split() {
        assert_eq!(split(&Selection::Level(Level::Full), VERSION, 2), None);
        let one = |sections: &[&str], metrics: &[&str]| Selection::Explicit {
            sections: sections.iter().map(|&name| name.to_owned()).collect(),
            metrics: metrics.iter().map(|&name| name.to_owned()).collect(),
        };
        assert_eq!(split(&one(&["SpeedOfLight"], &[]), VERSION, 2), None);
        assert_eq!(split(&Selection::Level(Level::Auto), VERSION, 1), None);
        let parts = split(&one(&["SpeedOfLight"], &["a", "b"]), VERSION, 8).unwrap();
        assert_eq!(parts.len(), 2, "no more parts than pieces");
    }
}
