//! The table of all rules.

use super::kind;
use super::layout::{WIDEST, lines};
use crate::around;
use crate::rules::{self, RULES};
use crate::text::layout::wrap;

/// A table of all rules: name, kind, the fault. What does not fit into the width goes on below.
#[must_use]
pub(crate) fn list(width: usize) -> String {
    let added = rules::added().iter().map(|(rule, _)| *rule);
    let names =
        RULES.iter().copied().chain(added).map(|rule| rule.name.len()).max().unwrap_or(0) + 2;
    let lead = names + "symptom".len() + 2;
    // Beside the names where half a line is left for the faults, below them otherwise.
    let is_beside = lead + lead / 2 <= width;
    let hang = if is_beside { lead } else { 4 };
    let mut text = Vec::new();
    let mut row = |name: &str, kind: &str, fault: &str| {
        let below = if is_beside { fault.to_owned() } else { format!("{kind}: {fault}") };
        let mut below = wrap(&below, width.saturating_sub(hang)).into_iter();
        if is_beside {
            let first = below.next().unwrap_or_default();
            text.push(format!("{name:names$}{kind:9}{first}"));
        } else {
            text.push(name.to_owned());
        }
        text.extend(below.map(|line| format!("{:hang$}{line}", "")));
    };
    row("rule", "kind", "the fault");
    for rule in RULES {
        row(rule.name, kind(rule.kind), rule.summary);
    }
    for rule in around::RULES {
        row(rule.name, "program", rule.summary);
    }
    for (rule, _) in rules::added() {
        row(rule.name, "yours", rule.summary);
    }
    text.push(String::new());
    text.extend(wrap(
        "`adoprof explain RULE` explains one; `adoprof explain numbers` lists the thresholds that belong to \
         no single rule.",
        width.min(WIDEST),
    ));
    lines(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_stands_in_the_list() {
        let list = list(usize::MAX);
        let of_programs = around::RULES.iter().map(|rule| (rule.name, rule.summary));
        let all: Vec<(&str, &str)> =
            RULES.iter().map(|rule| (rule.name, rule.summary)).chain(of_programs).collect();
        // The titles before them; an empty line and what to type next after them.
        assert_eq!(list.lines().count(), all.len() + 4);
        for (name, fault) in all {
            let line = list.lines().find(|line| line.split(' ').next() == Some(name));
            assert!(line.is_some_and(|line| line.contains(fault)), "{name}");
        }
    }
}
