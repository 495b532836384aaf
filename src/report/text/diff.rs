//! Two profiles side by side, as text.

use crate::report::words::diff::{arrow, headline, kernels, shown, title};
use std::io::{self, Write};

use crate::document::{Diff, MetricChange};
use crate::report::style::Style;
use crate::report::text::page::{Ink, Page};
use crate::report::text::table::{Column, render};
use crate::report::words::number::{bare, change};

/// Writes the comparison.
pub fn diff(diff: &Diff, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(style);
    body(&mut page, diff);
    page.write(out)
}

/// The comparison, alone or below a document.
pub fn body(page: &mut Page, diff: &Diff) {
    page.inked("", &headline(diff), Ink::Bold);
    for warning in &diff.warnings {
        page.inked("  ", &format!("mind: {warning}"), Ink::Yellow);
    }
    findings(page, diff);
    if page.style.quiet {
        return;
    }
    if diff.metrics.is_empty() {
        let moved = diff.metrics_compared > 0;
        page.paragraph("  ", if moved { "No metric moved." } else { "No metric was compared." });
    }
    for kernel in kernels(diff) {
        page.blank();
        if !kernel.is_empty() {
            page.inked("", kernel, Ink::Bold);
        }
        let of_kernel = || diff.metrics.iter().filter(|change| change.kernel == kernel);
        let shown: Vec<&MetricChange> =
            of_kernel().filter(|change| page.style.verbose || shown(change)).collect();
        table(page, diff, &shown);
        let hidden = of_kernel().count() - shown.len();
        if hidden > 0 {
            let plural = if hidden == 1 { "metric" } else { "metrics" };
            page.inked("", &format!("{hidden} more {plural} moved (-v)"), Ink::Dim);
        }
    }
}

fn table(page: &mut Page, diff: &Diff, changes: &[&MetricChange]) {
    if changes.is_empty() {
        page.paragraph("", "No metric moved beyond the noise.");
        return;
    }
    let rows: Vec<Vec<String>> = changes
        .iter()
        .map(|change| {
            vec![
                title(change).to_owned(),
                bare(change.base, &change.unit),
                bare(change.new, &change.unit),
                self::change(change.base, change.new),
                arrow(change),
            ]
        })
        .collect();
    // Of a path the end tells more than the beginning.
    let side = |name: &str| crate::text::layout::fit_end(name, page.style.width / 5);
    let head = [
        Column::text("metric").flexible(12),
        Column::number(side(&diff.base)).flexible(13),
        Column::number(side(&diff.new)).flexible(13),
        Column::number("change"),
        Column::text(""),
    ];
    let lines = render(&head, &rows, page.style.width);
    for (index, line) in lines.iter().enumerate() {
        let direction = index.checked_sub(1).map(|at| changes[at].direction.as_str());
        let line = match direction {
            None => page.ink(Ink::Dim, line),
            Some("better") => page.ink(Ink::Green, line),
            Some("worse") => page.ink(Ink::Red, line),
            Some(_) => line.clone(),
        };
        page.line(&line);
    }
}

fn findings(page: &mut Page, diff: &Diff) {
    for (label, rules, ink) in [
        ("gone", &diff.gone, Some(Ink::Green)),
        ("come", &diff.come, Some(Ink::Red)),
        ("kept", &diff.kept, None),
    ] {
        if !rules.is_empty() {
            page.inked("  ", &format!("{label}: {}", rules.join(", ")), ink);
        }
    }
}
