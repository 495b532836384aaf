//! The rules, explained from their own records.

mod layout;
mod list;
mod markdown;
mod numbers;
pub(crate) mod record;
mod rule;
#[cfg(test)]
mod testing;

use crate::around;
use crate::rules::{self, Kind, RULES};
use crate::text::layout::wrap;
use layout::{WIDEST, lines};

pub(crate) use list::list;
pub(crate) use markdown::help;
pub(crate) use numbers::{NUMBERS, numbers};
pub(crate) use rule::one;

/// A rule about programs: what it checks, and what to change.
#[must_use]
pub(crate) fn around(name: &str, width: usize) -> Option<String> {
    let rule = around::find(name)?;
    let width = width.min(WIDEST);
    let mut text = wrap(&format!("{} (of a program, from its survey)", rule.name), width);
    text.extend(wrap(rule.summary, width));
    for paragraph in [rule.checks.to_owned(), format!("{}.", rule.hint)] {
        text.push(String::new());
        text.extend(wrap(&paragraph, width));
    }
    Some(lines(text))
}

/// So many letters of a word mean another form of it.
const STEM: usize = 6;

/// The names of the rules that were probably meant: all that have the word in them, else the nearest one.
#[must_use]
pub(crate) fn suggestions(name: &str) -> Vec<&'static str> {
    /// Two letters are part of too many names.
    const FEWEST: usize = 3;
    let word = name.to_lowercase();
    let added = rules::added().iter().map(|(rule, _)| rule.name);
    let around = around::RULES.iter().map(|rule| rule.name);
    let names = || RULES.iter().map(|rule| rule.name).chain(around.clone()).chain(added.clone());
    let with = names().filter(|known| word.len() >= FEWEST && known.contains(&word));
    let with: Vec<&str> = with.collect();
    if !with.is_empty() {
        return with;
    }
    // Another form of a word in it: `coalescing` for `uncoalesced-global-access`.
    let stem = name.get(..STEM).map(str::to_lowercase);
    crate::text::nearest(name, names())
        .or_else(|| names().find(|known| stem.as_ref().is_some_and(|stem| known.contains(stem))))
        .into_iter()
        .collect()
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Cause => "cause",
        Kind::Symptom => "symptom",
        Kind::Roof => "roof",
    }
}

#[cfg(test)]
mod tests {
    use super::testing::flat;
    use super::*;

    #[test]
    fn nothing_is_wider_than_asked_for_and_nothing_is_lost() {
        for width in [40, 60, 72, 100, 120] {
            let list = list(width);
            assert!(list.lines().all(|line| line.chars().count() <= width), "{width}:\n{list}");
            let flat = flat(&list);
            assert!(RULES.iter().all(|rule| flat.contains(rule.summary)), "{width}:\n{list}");
            for rule in RULES {
                let text = one(rule, width);
                let most = width.min(WIDEST);
                // Code stays as it is written.
                let examples = rule.examples.iter();
                let code: Vec<&str> = examples
                    .flat_map(|example| example.fault.lines().chain(example.repair.lines()))
                    .collect();
                let fits = |line: &str| {
                    let is_code =
                        line.strip_prefix("    ").is_some_and(|line| code.contains(&line));
                    is_code || line.chars().count() <= most
                };
                assert!(text.lines().all(fits), "{width}: {text}");
            }
        }
    }

    #[test]
    fn a_rule_about_programs_is_explained_by_its_own_name() {
        let one = around("small-copies", 80).unwrap_or_default();
        assert!(one.starts_with("small-copies (of a program"), "{one}");
        assert_eq!(around("partial-wave", 80), None);
    }

    #[test]
    fn a_misspelt_rule_is_guessed() {
        assert_eq!(suggestions("uncoalesced-global-acess"), ["uncoalesced-global-access"]);
        assert_eq!(suggestions("coalescing"), ["uncoalesced-global-access"]);
        assert_eq!(suggestions("zzz"), [""; 0]);
        let shared = suggestions("Shared");
        assert!(
            shared.len() > 1 && shared.iter().all(|name| name.contains("shared")),
            "{shared:?}"
        );
        assert!(suggestions("copies").contains(&"small-copies"), "a rule about programs");
    }
}
