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

    #[test]
    fn every_row_with_a_range_and_a_gain_is_there() {
        for (name, heading) in [
            ("programs.md", "The seventh draw"),
            ("programs.md", "The ninth draw"),
            ("programs.md", "The eleventh draw"),
            ("programs.md", "The twelfth draw"),
            ("programs.md", "The thirteenth draw"),
            ("programs.md", "The fourteenth draw"),
            ("programs.md", "The fifteenth draw"),
            ("programs.md", "The sixteenth draw"),
            ("programs.md", "The seventeenth draw"),
            ("triton.md", "A fifth set"),
            ("triton.md", "An eighth set"),
            ("triton.md", "A ninth set"),
            ("triton.md", "A tenth set"),
            ("triton.md", "An eleventh set"),
            ("triton.md", "A twelfth set"),
            ("triton.md", "A thirteenth set"),
            ("triton.md", "A fourteenth set"),
            ("triton.md", "A fifteenth set"),
            ("triton.md", "A sixteenth set"),
            ("triton.md", "A seventeenth set"),
            ("triton.md", "An eighteenth set"),
            ("triton.md", "A nineteenth set"),
            ("triton.md", "A twentieth set"),
            ("triton.md", "A twenty-first set"),
            ("triton.md", "A twenty-second set"),
            ("triton.md", "A twenty-third set"),
            ("triton.md", "A twenty-fourth set"),
            ("triton.md", "A twenty-fifth set"),
            ("triton.md", "A twenty-sixth set"),
            ("triton.md", "A twenty-seventh set"),
            ("triton.md", "A twenty-eighth set"),
            ("triton.md", "A twenty-ninth set"),
            ("triton.md", "A thirtieth set"),
            ("triton.md", "A thirty-first set"),
            ("triton.md", "A thirty-second set"),
            ("triton.md", "A thirty-third set"),
            ("triton.md", "A thirty-fourth set"),
            ("triton.md", "A thirty-fifth set"),
            ("triton.md", "A thirty-sixth set"),
            ("elsewhere.md", "A fifth set of fixes"),
            ("elsewhere.md", "A sixth set of fixes"),
            ("elsewhere.md", "A seventh set of fixes"),
            ("elsewhere.md", "An eighth set of fixes"),
            ("elsewhere.md", "A ninth set of fixes"),
            ("elsewhere.md", "A tenth set of fixes"),
            ("elsewhere.md", "An eleventh set of fixes"),
            ("elsewhere.md", "A twelfth set of fixes"),
            ("elsewhere.md", "A thirteenth set of fixes"),
            ("elsewhere.md", "A fourteenth set of fixes"),
            ("elsewhere.md", "A fifteenth set of fixes"),
            ("elsewhere.md", "A sixteenth set of fixes"),
            ("elsewhere.md", "A seventeenth set of fixes"),
            ("elsewhere.md", "An eighteenth set of fixes"),
            ("elsewhere.md", "A nineteenth set of fixes"),
            ("elsewhere.md", "A twentieth set of fixes"),
            ("elsewhere.md", "A twenty-first set of fixes"),
            ("elsewhere.md", "A twenty-second set of fixes"),
            ("elsewhere.md", "A twenty-third set of fixes"),
            ("elsewhere.md", "A twenty-fourth set of fixes"),
            ("elsewhere.md", "A twenty-fifth set of fixes"),
            ("elsewhere.md", "What other first findings gained"),
            ("elsewhere.md", "A twenty-sixth set of fixes"),
            ("elsewhere.md", "A twenty-seventh set of fixes"),
            ("elsewhere.md", "What more first findings gained"),
            ("elsewhere.md", "A twenty-eighth set of fixes"),
            ("elsewhere.md", "A twenty-ninth set of fixes"),
            ("elsewhere.md", "What still more first findings gained"),
            ("elsewhere.md", "A thirtieth set of fixes"),
            ("elsewhere.md", "A thirty-first set of fixes"),
            ("elsewhere.md", "A thirty-second set of fixes"),
            ("elsewhere.md", "What yet more first findings gained"),
            ("elsewhere.md", "A thirty-third set of fixes"),
            ("elsewhere.md", "A thirty-fourth set of fixes"),
            ("elsewhere.md", "A thirty-fifth set of fixes"),
            ("elsewhere.md", "What further first findings gained"),
            ("elsewhere.md", "A thirty-sixth set of fixes"),
            ("elsewhere.md", "A thirty-seventh set of fixes"),
            ("elsewhere.md", "What yet further first findings gained"),
            ("elsewhere.md", "A thirty-eighth set of fixes"),
            ("elsewhere.md", "A thirty-ninth set of fixes"),
            ("elsewhere.md", "A fortieth set of fixes"),
            ("elsewhere.md", "What later first findings gained"),
            ("elsewhere.md", "A forty-first set of fixes"),
            ("elsewhere.md", "A forty-second set of fixes"),
            ("elsewhere.md", "What the first findings of these gained"),
            ("elsewhere.md", "A forty-third set of fixes"),
            ("elsewhere.md", "A forty-fourth set of fixes"),
            ("elsewhere.md", "A forty-fifth set of fixes"),
            ("elsewhere.md", "A forty-sixth set of fixes"),
            ("elsewhere.md", "What the first findings of these four sets gained"),
        ] {
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
