//! What changes without new code gave.

use crate::document::Document;
use crate::report::text::page::{Ink, Page};
use crate::report::text::table::{Column, render};
use crate::report::words::tried::{TITLES, cells, failures, sentence};

/// Writes what was tried, if anything was.
pub(super) fn tried(page: &mut Page, document: &Document) {
    let Some(sentence) = sentence(&document.tried) else { return };
    page.blank();
    page.inked("", "what was tried", Ink::Bold);
    page.paragraph("  ", &sentence);
    let [change, rule, time, gave, promised] = TITLES;
    let head = [
        Column::text(change).flexible(12),
        Column::text(rule).flexible(12).optional(),
        Column::number(time),
        Column::number(gave),
        Column::number(promised).optional(),
    ];
    let rows: Vec<Vec<String>> = document.tried.iter().map(|tried| cells(tried).to_vec()).collect();
    let lines = render(&head, &rows, page.style.width.saturating_sub(2));
    page.table("  ", &lines);
    for failure in failures(&document.tried) {
        page.labelled("  ", "failed", &failure);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Tried, gain};
    use crate::finding::Estimate;
    use crate::report::Style;
    use crate::timing::Timing;

    fn timing(median: f64) -> Timing {
        Timing { median, low: median * 0.99, high: median * 1.01, n: 10 }
    }

    fn of(change: &str, after: Option<f64>, error: Option<&str>) -> Tried {
        Tried {
            rule: "occupancy-limited-by-registers".to_owned(),
            change: change.to_owned(),
            promised: Some(Estimate { factor: 1.4, low: 1.2, high: 1.6 }),
            time_ns: after.map(timing),
            measured: after.and_then(|after| gain(&timing(2e6), &timing(after))),
            verified: after.is_some(),
            error: error.map(str::to_owned),
        }
    }

    fn text(tried: Vec<Tried>) -> String {
        let document = Document { tried, ..Document::default() };
        let mut page = Page::new(Style { width: 100, ..Style::default() });
        super::tried(&mut page, &document);
        let mut out = Vec::new();
        page.write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_best_change_is_said_first_and_failures_last() {
        let said = text(vec![
            of("maxrregcount=40", Some(1e6), None),
            of("carveout=0", Some(2.001e6), None),
            of("fast-math=true", None, Some("the answer is wrong: 3 of 4 values\nmore")),
        ]);
        assert!(
            said.contains("maxrregcount=40 gave 2.00× (1.96 to 2.04), with the right answer."),
            "{said}"
        );
        let row = said.lines().find(|line| line.contains("carveout=0")).unwrap();
        assert!(row.contains("no difference") && row.contains("1.40×"), "{said}");
        assert!(said.contains("fast-math=true: the answer is wrong: 3 of 4 values"), "{said}");
        assert!(!said.contains("more"), "{said}");
    }

    #[test]
    fn nothing_gained_and_nothing_tried_are_told_apart() {
        assert!(text(vec![of("carveout=0", Some(2.3e6), None)]).contains("None of the changes"));
        assert_eq!(text(Vec::new()), "");
    }
}
