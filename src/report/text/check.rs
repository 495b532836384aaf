//! A check as text.

use std::io::{self, Write};

use super::diff;
use crate::gate::{CheckDocument, Outcome, Timed, Verdict};
use crate::report::style::Style;
use crate::report::text::page::{Ink, Page};
use crate::report::words::check::{cause, gate, headline, remedy, times};
use crate::report::words::number::place;
use crate::text::layout::{columns, pad};

/// Writes the check: the verdict, how it came about, the gates, and what changed.
pub(super) fn check(check: &CheckDocument, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(style);
    for one in &check.places {
        page.link(&place(&one.place), &one.place.file);
    }
    let ink = match check.exit_code {
        0 => Ink::Green,
        1 => Ink::Red,
        _ => Ink::Yellow,
    };
    page.inked("", &headline(check), ink);
    for difference in &check.unlike {
        let text =
            format!("unlike: {}: {} against {}", difference.what, difference.base, difference.new);
        page.inked("", &text, Ink::Yellow);
    }
    if let Some(remedy) = remedy(check) {
        page.paragraph("", remedy);
    }
    for one in &check.gates {
        let ink = match one.outcome {
            Outcome::Passed => None,
            Outcome::Failed => Some(Ink::Red),
            Outcome::Unknown => Some(Ink::Yellow),
        };
        page.inked("", &gate(one), ink);
    }
    if !page.style.quiet {
        let rows = times(check);
        if !rows.is_empty() {
            page.blank();
        }
        let widest = rows.iter().map(|(label, _)| columns(label)).max().unwrap_or(0);
        for (label, text) in rows {
            page.labelled("", &pad(label, widest), &text);
        }
        explained(&mut page, check);
    }
    page.write(out)
}

/// What changed, where something failed or -v asks for it.
fn explained(page: &mut Page, check: &CheckDocument) {
    let Some(found) = &check.cause else { return };
    let is_slower = check.timed != Timed::NotAtAll && check.verdict == Verdict::Slower;
    if !is_slower && check.passed && !page.style.verbose {
        if let Some(cause) = cause(found) {
            page.blank();
            page.labelled("", "findings", &cause);
        }
        return;
    }
    for one in &check.places {
        page.labelled(
            "",
            "new",
            &format!("{} at {}: {}", one.rule, place(&one.place), one.message),
        );
    }
    page.blank();
    diff::body(page, found);
}
