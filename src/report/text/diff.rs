//! Two profiles side by side, as text.

use crate::kernel_name;
use crate::report::words::diff::{arrow, findings, headline, kernels, lead, moved, movers, title};
use std::io::{self, Write};

use crate::document::{Diff, MetricChange};
use crate::report::style::Style;
use crate::report::text::page::{Ink, Page};
use crate::report::text::table::{Column, render};
use crate::report::words::number::{bare, change};
use crate::text::{count_of, prefixed};

/// The most columns that a kernel's name takes behind its metric's.
const LONGEST_NAME: usize = 40;

/// Narrower pages have no room for a table of long counts.
const NARROW: usize = 72;
/// Counts from here on are long.
const MANY: f64 = 1e5;

/// Writes the comparison.
pub(super) fn diff(diff: &Diff, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(style);
    body(&mut page, diff);
    page.write(out)
}

/// The comparison, alone or below a document: time and traffic, findings, the largest movers; verbose,
/// every metric that moved.
pub(super) fn body(page: &mut Page, diff: &Diff) {
    page.inked("", &headline(diff), Ink::Bold);
    for warning in &diff.warnings {
        page.inked("", &format!("note: {warning}"), Ink::Yellow);
    }
    let lead = lead(diff);
    if !lead.is_empty() {
        table(page, diff, "", &lead.iter().collect::<Vec<_>>());
    }
    fates(page, diff);
    if page.style.quiet {
        return;
    }
    if diff.metrics.is_empty() {
        let moved = diff.metrics_compared > 0;
        page.paragraph("", if moved { "No metric moved." } else { "No metric was compared." });
        return;
    }
    page.blank();
    if page.style.verbose {
        every(page, diff);
        return;
    }
    let movers = movers(diff);
    if movers.is_empty() {
        page.paragraph("", "No other metric moved beyond the noise.");
    } else {
        table(page, diff, "largest movers", &movers);
    }
    let moved = moved(diff);
    if moved > 0 {
        let metrics = count_of(moved as f64, "metric");
        page.inked("", &format!("{metrics} moved in all (-v shows them)"), Ink::Dim);
    }
}

/// Every metric that moved, kernel by kernel.
fn every(page: &mut Page, diff: &Diff) {
    for kernel in kernels(diff) {
        page.blank();
        if !kernel.is_empty() {
            page.inked("", kernel, Ink::Bold);
        }
        let of_kernel = diff.metrics.iter().filter(|change| change.kernel == kernel);
        table(page, diff, "metric", &of_kernel.collect::<Vec<_>>());
    }
}

/// A table of changes, coloured by which way they go.
fn table(page: &mut Page, diff: &Diff, what: &str, changes: &[&MetricChange]) {
    // Below a kernel's name, and in sums, no row needs it.
    let several = !page.style.verbose && changes.iter().any(|change| !change.kernel.is_empty());
    let is_narrow = page.style.width < NARROW;
    let value = |value: f64, change: &MetricChange| {
        let is_count = value.fract() == 0.0 && value.abs() >= MANY && change.unit != "ns";
        if is_narrow && is_count && !change.unit.starts_with("byte") {
            prefixed(value)
        } else {
            bare(value, &change.unit)
        }
    };
    let way = |change: &MetricChange| match change.direction.as_str() {
        way @ ("better" | "worse") if is_narrow => way.to_owned(),
        _ => arrow(change),
    };
    let rows: Vec<Vec<String>> = changes
        .iter()
        .map(|change| {
            let kernel = if several {
                format!(" ({})", kernel_name::short(&change.kernel, LONGEST_NAME))
            } else {
                String::new()
            };
            vec![
                format!("{}{kernel}", title(change)),
                value(change.base, change),
                value(change.new, change),
                self::change(change.base, change.new),
                way(change),
            ]
        })
        .collect();
    // Of a path the end tells more than the beginning.
    let side = |name: &str| crate::text::layout::fit_end(name, page.style.width / 5);
    let head = [
        Column::text(what).flexible(12),
        Column::number(side(&diff.base)).flexible(8),
        Column::number(side(&diff.new)).flexible(8),
        Column::number("change"),
        Column::text(""),
    ];
    let table = render(&head, &rows, page.style.width);
    page.inked_table("", &table, |row| match changes[row].direction.as_str() {
        "better" => Some(Ink::Green),
        "worse" => Some(Ink::Red),
        _ => None,
    });
}

/// What became of the findings.
fn fates(page: &mut Page, diff: &Diff) {
    for (word, rules) in findings(diff) {
        let ink = match word {
            "gone" => Some(Ink::Green),
            "new" => Some(Ink::Red),
            _ => None,
        };
        page.inked("", &format!("findings {word}: {rules}"), ink);
    }
}
