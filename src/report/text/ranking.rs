//! Why the findings stand in their order, as a table.

use crate::document::LaunchReport;
use crate::report::text::page::{Ink, Page};
use crate::report::text::table::{Column, render};
use crate::report::words::number::factor;
use crate::report::words::order;
use crate::text::percent;

/// What limits the launch now, what would without its first fault, and after that.
pub(super) fn ranking(page: &mut Page, launch: &LaunchReport) {
    page.blank();
    page.inked("", "why in this order: what limits the kernel once each fault is gone", Ink::Bold);
    if launch.ranking.is_empty() {
        page.paragraph("  ", "The metrics that would show it were not collected.");
        return;
    }
    let rows: Vec<Vec<String>> = launch
        .ranking
        .iter()
        .enumerate()
        .map(|(at, row)| {
            let first = match (&row.without, at) {
                (None, _) => "now".to_owned(),
                (Some(rule), 1) => format!("without {rule}"),
                (Some(rule), _) => format!("and without {rule}"),
            };
            let limit = format!("{}, {} of that time", row.limited_by, percent(row.share));
            vec![first, percent(row.time), factor(1.0 / row.time.max(1e-3)), limit]
        })
        .collect();
    let head = [
        Column::text("").flexible(16),
        Column::number("time"),
        Column::number("speed-up"),
        Column::text("limited by").flexible(16),
    ];
    let lines = render(&head, &rows, page.style.width.saturating_sub(2));
    page.table("  ", &lines);
    for reason in order::reasons(launch) {
        page.paragraph("  ", &reason);
    }
    let listed = launch.ranking.iter().filter_map(|row| row.without.as_deref());
    let listed: Vec<&str> = listed.collect();
    let silent: Vec<&str> = launch
        .findings
        .iter()
        .map(|finding| finding.rule.as_str())
        .filter(|rule| !listed.contains(rule) && !crate::document::is_roof(rule))
        .collect();
    if !silent.is_empty() {
        let text =
            format!("Removing these as well would gain nothing more: {}.", silent.join(", "));
        page.paragraph("  ", &text);
    }
}
