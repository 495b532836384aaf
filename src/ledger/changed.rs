//! What changes to other people's programs say of the rules: what was promised of each, and what it gained.

use std::collections::BTreeMap;

use super::entry::{Hint, LEDGER_SCHEMA, Line, Outcome, Subject, version};
use crate::outside::{Said, said};
use crate::rules;

/// When the changes were measured, and on what.
const DATE: &str = "2026-11-22";
const DEVICE: &str = "NVIDIA H200";

/// The hints of all kernels that somebody changed, and their outcomes. What they promise is what the
/// rules said when the shipped file was last written, which is done with each change of a rule.
#[must_use]
pub(crate) fn lines() -> Vec<Line> {
    said().iter().filter_map(of_change).flatten().collect()
}

fn of_change(said: &Said) -> Option<[Line; 2]> {
    let rule = rules::find(said.rule)?;
    let mut hint = Hint {
        schema: LEDGER_SCHEMA.to_owned(),
        id: String::new(),
        date: DATE.to_owned(),
        subject: Subject { of: said.program.to_owned(), step: None, size: BTreeMap::new() },
        device: DEVICE.to_owned(),
        kernel: said.kernel.to_owned(),
        time_share: 1.0,
        time_ns: said.time_ns,
        rule: said.rule.to_owned(),
        version: version(rule),
        rank: said.rank,
        estimate: said.estimate,
    };
    hint.id = hint.new_id();
    let outcome = Outcome {
        schema: LEDGER_SCHEMA.to_owned(),
        of: hint.id.clone(),
        date: DATE.to_owned(),
        by: format!("{}, changed", said.program),
        gain: said.gained,
        gone: false,
        counts: true,
    };
    Some([Line::Hint(hint), Line::Outcome(outcome)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::records;

    #[test]
    fn every_change_is_a_hint_with_its_gain() {
        let records = records(lines(), true);
        assert_eq!(records.len(), said().len());
        let of = |program: &str, rule: &str| {
            let found = records
                .iter()
                .find(|record| record.hint.subject.of == program && record.hint.rule == rule);
            found.unwrap().gain()
        };
        // As programs.toml has them.
        assert_eq!(of("asta", "grid-too-small"), Some(77.8));
        assert_eq!(of("ace", "low-memory-parallelism"), Some(0.78));
    }
}
