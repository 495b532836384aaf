//! The ledger as text.

use std::io::{self, Write};

use crate::ledger::{LEAST_HINTS, LedgerDocument, Record};
use crate::report::style::Style;
use crate::report::text::page::{Ink, Page};
use crate::report::text::table::{Column, render};
use crate::report::words::number::{estimate, factor};
use crate::text::{count_of, percent};

/// Writes what the ledger says of each rule; verbose, every hint too.
pub(super) fn ledger(
    document: &LedgerDocument,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut page = Page::new(style);
    if document.rules.is_empty() {
        page.paragraph("", "The ledger is empty: live runs of step, run and profile fill it.");
        return page.write(out);
    }
    let local = document.records.iter().filter(|record| !record.shipped).count();
    let title = format!(
        "predicted against measured speed-ups: {}, {local} of them from your own runs",
        count_of(document.records.len() as f64, "hint")
    );
    page.inked("", &title, Ink::Bold);
    rules(&mut page, document);
    if !page.style.quiet {
        page.blank();
        page.paragraph(
            "",
            &format!(
                "held: share of the estimated ranges that hold the measured gain. bias: measured \
                 over estimated gain (geometric mean); above 1, the rule promises too little. \
                 spread: one standard deviation around the bias, as a factor. gone: hints after which the rule \
                 no longer fired. of other versions: hints measured with an earlier revision of the rule, \
                 which correct nothing. --apply corrects rules with at least {LEAST_HINTS} measured hints of \
                 the present revision."
            ),
        );
    }
    if page.style.verbose {
        page.blank();
        hints(&mut page, document);
    }
    page.write(out)
}

fn rules(page: &mut Page, document: &LedgerDocument) {
    let head = [
        Column::text("rule").flexible(18),
        Column::number("hints"),
        Column::number("measured"),
        Column::number("held"),
        Column::number("bias"),
        Column::number("spread").optional(),
        Column::number("gone").optional(),
        Column::number("of other versions").optional(),
    ];
    let number = |value: Option<f64>| value.map_or_else(|| "—".to_owned(), factor);
    let rows: Vec<Vec<String>> = document
        .rules
        .iter()
        .map(|rule| {
            vec![
                rule.rule.clone(),
                rule.hints.to_string(),
                rule.measured.to_string(),
                rule.hit_rate.map_or_else(|| "—".to_owned(), percent),
                number(rule.bias),
                number(rule.spread),
                rule.gone.to_string(),
                rule.of_other_versions.to_string(),
            ]
        })
        .collect();
    let lines = render(&head, &rows, page.style.width);
    page.table("", &lines);
}

fn hints(page: &mut Page, document: &LedgerDocument) {
    let head = [
        Column::text("hint of").flexible(14),
        Column::text("rule").flexible(20),
        Column::text("estimate"),
        Column::number("gain"),
        Column::text(""),
        Column::text("by").flexible(14),
        Column::text("date").optional(),
    ];
    let rows: Vec<Vec<String>> = document.records.iter().map(row).collect();
    let lines = render(&head, &rows, page.style.width);
    page.table("", &lines);
}

fn row(record: &Record) -> Vec<String> {
    let outcome = record.outcome.as_ref();
    vec![
        record.hint.subject.name(),
        record.hint.rule.clone(),
        estimate(&record.hint.estimate),
        outcome.map_or_else(String::new, |outcome| factor(outcome.gain)),
        match (outcome, record.held()) {
            (None, _) => "",
            (_, Some(true)) => "held",
            (_, Some(false)) => "missed",
            (Some(_), None) => "another's",
        }
        .to_owned(),
        outcome.map(|outcome| outcome.by.clone()).unwrap_or_default(),
        record.hint.date.clone(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::tests::{hint, outcome};
    use crate::ledger::{Line, records};
    use crate::text::layout::columns;

    fn document() -> LedgerDocument {
        let measured = hint("v2", "uncoalesced-global-access", 2.0);
        let open = hint("v2", "occupancy-limited-by-shared-memory", 1.4);
        let gain = outcome(&measured, 4.0);
        let lines = vec![Line::Hint(measured), Line::Hint(open), Line::Outcome(gain)];
        LedgerDocument::new(records(lines, false), Vec::new())
    }

    fn text(style: Style) -> String {
        let mut out = Vec::new();
        ledger(&document(), style, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_line_fits_and_verbose_has_every_hint() {
        for width in [40, 80, 120] {
            for line in text(Style { width, verbose: true, ..Style::default() }).lines() {
                assert!(columns(line) <= width, "{width}: {line:?}");
            }
        }
        let brief = text(Style { width: 120, ..Style::default() });
        // 4 where 2 was promised, 1.5 to 2.5.
        let row = brief.lines().find(|line| line.starts_with("uncoalesced")).unwrap();
        for fact in ["0%", "2.00×", "—"] {
            assert!(row.contains(fact), "{fact}: {row}");
        }
        assert!(!brief.contains("ado/v9"));
        let verbose = text(Style { width: 120, verbose: true, ..Style::default() });
        let row = verbose.lines().find(|line| line.contains("ado/v9")).unwrap();
        assert!(row.contains("4.00×") && row.contains("missed"), "{row}");
    }
}
