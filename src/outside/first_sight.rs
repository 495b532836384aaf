//! What findings promised of kernels that no rule had been tuned by, and what the changes that they ask for gained.

use crate::finding::Estimate;

/// A finding that was judged once, by the change that it asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// The page of `docs/` whose table has it.
    pub page: &'static str,
    /// The heading above the table.
    pub heading: &'static str,
    /// The first words of its row: a program and its kernel, a pair, a project and its fix.
    pub case: &'static str,
    /// The rule, where the table names it.
    pub rule: Option<&'static str>,
    /// What it promised then.
    pub estimate: Estimate,
    /// Time before over time after.
    pub gained: f64,
}

/// `first_sight.toml`, read by the build.
#[expect(clippy::approx_constant, reason = "a gain of 6.28 was measured")]
const JUDGED: &[Judged] = include!(concat!(env!("OUT_DIR"), "/first_sight.rs"));

/// Every finding that was judged at first sight.
#[must_use]
pub fn first_sight() -> &'static [Judged] {
    JUDGED
}

/// How many of them are known to be a rule's.
#[must_use]
pub fn judged_of(rule: &str) -> usize {
    JUDGED.iter().filter(|one| one.rule == Some(rule)).count()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::rules::find;

    fn page(name: &str) -> &'static str {
        match name {
            "programs.md" => include_str!("../../docs/programs.md"),
            "triton.md" => include_str!("../../docs/triton.md"),
            "elsewhere.md" => include_str!("../../docs/elsewhere.md"),
            other => panic!("no page {other}"),
        }
    }

    /// Estimates with a range, and gains, as the tables write them.
    fn numbers(row: &str) -> Vec<f64> {
        row.split(|c: char| !c.is_ascii_digit() && c != '.')
            .filter_map(|word| word.parse().ok())
            .collect()
    }

    #[test]
    fn each_finding_stands_in_a_table_of_the_pages() {
        for one in first_sight() {
            let from = page(one.page).split(&format!("## {}\n", one.heading)).nth(1);
            let section =
                from.unwrap_or_else(|| panic!("{one:?}")).split("\n## ").next().unwrap_or_default();
            let stands = section.lines().filter(|line| line.starts_with('|')).any(|line| {
                let words = line.replace('`', "");
                let numbers = numbers(line);
                let Estimate { factor, low, high } = one.estimate;
                one.case.split(", ").all(|part| words.contains(part))
                    && one.rule.is_none_or(|rule| line.contains(rule))
                    && [factor, low, high, one.gained]
                        .iter()
                        .all(|wanted| numbers.iter().any(|number| (number - wanted).abs() < 1e-9))
            });
            assert!(stands, "{one:?}");
        }
    }

    /// Sets whose tables also have ranges of findings that were not judged, or gains without a range.
    const PARTLY: [(&str, &str); 6] = [
        ("programs.md", "The second draw"),
        ("programs.md", "The fifth draw"),
        ("programs.md", "The tenth draw"),
        ("triton.md", "A second set"),
        ("triton.md", "A sixth set"),
        ("elsewhere.md", "Faults that somebody reported and fixed"),
    ];

    #[test]
    fn every_row_with_a_range_and_a_gain_is_there() {
        let sets: BTreeSet<_> = first_sight().iter().map(|one| (one.page, one.heading)).collect();
        for (name, heading) in sets.into_iter().filter(|set| !PARTLY.contains(set)) {
            let section = page(name).split(&format!("## {heading}\n")).nth(1).unwrap();
            let section = section.split("\n## ").next().unwrap();
            let rows =
                section.lines().filter(|line| line.starts_with('|') && line.contains(" to "));
            let there =
                first_sight().iter().filter(|one| (one.page, one.heading) == (name, heading));
            assert_eq!(rows.count(), there.count(), "{heading}");
        }
    }

    #[test]
    fn rules_are_rules() {
        assert!(first_sight().len() >= 240);
        for one in first_sight() {
            assert!(one.rule.is_none_or(|rule| find(rule).is_some()), "{one:?}");
            let Estimate { factor, low, high } = one.estimate;
            assert!(low <= factor && factor <= high && one.gained > 0.0, "{one:?}");
        }
    }
}
