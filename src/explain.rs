//! The rules, explained from their own records.

use crate::report::{Column, table, wrap};
use crate::rules::{Kind, RULES, Rule};

/// Columns that explanations take: they are read like a manual page.
const WIDTH: usize = 80;

/// A table of all rules: name, kind, the fault in one line.
#[must_use]
pub fn list() -> String {
    let head = [Column::text("rule"), Column::text("kind"), Column::text("the fault")];
    let rows: Vec<Vec<String>> = RULES
        .iter()
        .map(|rule| vec![rule.name.to_owned(), kind(rule.kind).to_owned(), rule.summary.to_owned()])
        .collect();
    // Summaries are one line each: the table is as wide as they are.
    lines(table(&head, &rows, usize::MAX))
}

/// One rule: what it checks, its thresholds with their source, what it needs and explains.
#[must_use]
pub fn one(rule: &Rule) -> String {
    let mut text = vec![format!("{} ({})", rule.name, kind(rule.kind))];
    text.extend(wrap(rule.summary, WIDTH));
    text.push(String::new());
    text.extend(wrap(rule.explanation, WIDTH));
    if !rule.thresholds.is_empty() {
        text.push(String::new());
        text.push("thresholds".to_owned());
        for threshold in rule.thresholds {
            let space = if threshold.unit.is_empty() || threshold.unit == "%" { "" } else { " " };
            let value = format!("{}{space}{}", threshold.value, threshold.unit);
            text.extend(item(&format!("{}: {value}", threshold.what)));
            text.extend(
                wrap(threshold.source, WIDTH - 6).iter().map(|line| format!("      {line}")),
            );
        }
    }
    for (title, items) in
        [("metrics it needs", rule.needs), ("symptoms it explains", rule.explains)]
    {
        if !items.is_empty() {
            text.push(String::new());
            text.push(title.to_owned());
            text.extend(items.iter().flat_map(|name| item(name)));
        }
    }
    if !rule.section.is_empty() {
        text.push(String::new());
        text.push(format!("look in Nsight Compute's section {}", rule.section));
    }
    lines(text)
}

/// The name of the rule that was probably meant.
#[must_use]
pub fn suggestion(name: &str) -> Option<&'static str> {
    crate::text::nearest(name, RULES.iter().map(|rule| rule.name))
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Cause => "cause",
        Kind::Symptom => "symptom",
        Kind::Roof => "roof",
    }
}

fn item(text: &str) -> Vec<String> {
    let mut lead = "  - ";
    wrap(text, WIDTH - 4)
        .into_iter()
        .map(|line| format!("{}{line}", std::mem::replace(&mut lead, "    ")))
        .collect()
}

fn lines(lines: Vec<String>) -> String {
    lines.into_iter().map(|line| line + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_stands_in_the_list() {
        let list = list();
        assert_eq!(list.lines().count(), RULES.len() + 1);
        for rule in RULES {
            let line = list.lines().find(|line| line.split(' ').next() == Some(rule.name));
            assert!(line.is_some_and(|line| line.contains(rule.summary)), "{}", rule.name);
        }
    }

    #[test]
    fn an_explanation_has_all_that_the_record_has() {
        for rule in RULES {
            let text = one(rule);
            let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
            for name in rule.needs.iter().chain(rule.explains) {
                assert!(flat.contains(name), "{}: {name}", rule.name);
            }
            for threshold in rule.thresholds {
                let source = threshold.source.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(flat.contains(&source), "{}: {}", rule.name, threshold.what);
            }
            assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{}", rule.name);
        }
    }

    #[test]
    fn a_misspelt_rule_is_guessed() {
        assert_eq!(suggestion("uncoalesced-global-acess"), Some("uncoalesced-global-access"));
        assert_eq!(suggestion("zzz"), None);
    }
}
