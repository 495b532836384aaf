//! A limiter run at a terminal: bars of times, then what they say.

use std::io::{self, Write};

use crate::limiter::{Entrant, LimiterDocument};
use crate::plan::VariantKind;
use crate::report::style::Style;
use crate::report::text::bars::bar;
use crate::report::text::page::{Ink, Page};
use crate::report::words::number::{factor, timing};
use crate::text::layout::{columns, fit, pad};
use crate::text::{bytes, count, count_of, duration, percent};

/// Columns of a full bar at most.
const LONGEST: usize = 40;
/// Shorter bars are left out.
const LEAST_BAR: usize = 8;
/// Columns of a name at most.
const LABEL: usize = 26;

/// Writes a limiter run.
pub(super) fn limiter(
    document: &LimiterDocument,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut page = Page::new(style);
    let step = &document.step;
    if let Some(date) = &step.recorded {
        let sentence = format!("recorded {date} on {}, not run here", document.device.name);
        page.inked("", &sentence, Ink::Yellow);
    }
    let mut title = format!("{}/{}", step.ladder, step.name);
    if !step.title.is_empty() {
        title = format!("{title}: {}", step.title);
    }
    page.inked("", &fit(&title, 2 * page.style.width), Ink::Bold);
    if !page.style.quiet {
        page.labelled("  ", "device", &document.device.name);
        page.labelled("  ", "size", &step.size_words());
        page.labelled("  ", "time", &timing(&document.full.time_ns));
        page.labelled("  ", "grid", &occupancy(&document.full));
        page.blank();
        bars(&mut page, document);
        page.blank();
    }
    let verdict = document.verdict.map_or("not known", |verdict| verdict.limiter.words());
    let profile = document.profile_bound.map_or_else(String::new, |bound| {
        format!(" (the counters of its profile say: {})", bound.word())
    });
    page.inked("", &format!("limiter: {verdict}{profile}"), Ink::Bold);
    let shown = if page.style.quiet { 1 } else { usize::MAX };
    for sentence in document.conclusions.iter().take(shown) {
        page.paragraph("  ", sentence);
    }
    page.write(out)
}

/// `an SM holds 4 blocks of 256 threads`.
fn occupancy(entrant: &Entrant) -> String {
    format!(
        "an SM holds {} of {}; the grid has {} in all",
        count_of(f64::from(entrant.blocks_per_sm), "block"),
        count_of(f64::from(entrant.threads_per_block), "thread"),
        count(entrant.blocks as f64)
    )
}

/// A bar for the whole kernel, for each variant, and for both parts one after the other.
fn bars(page: &mut Page, document: &LimiterDocument) {
    let mut rows = vec![("whole kernel".to_owned(), document.full.time_ns.median, String::new())];
    for variant in &document.variants {
        let note = match variant.kind {
            VariantKind::WhatIf if variant.factor < 1.0 => "gains nothing".to_owned(),
            VariantKind::WhatIf => format!("at most {}", factor(variant.factor)),
            kind => kind.word().to_owned(),
        };
        let added = match variant.entrant.added_shared_bytes {
            0 => String::new(),
            added if page.style.verbose => {
                format!(", {} of shared memory added", bytes(f64::from(added)))
            }
            _ => String::new(),
        };
        rows.push((variant.name.clone(), variant.entrant.time_ns.median, note + &added));
    }
    if let Some(verdict) = &document.verdict {
        rows.push(("both in turn".to_owned(), verdict.sum_ns, "no overlap".to_owned()));
    }
    let most = rows.iter().map(|(_, ns, _)| *ns).fold(1.0, f64::max);
    let full = document.full.time_ns.median.max(1.0);
    let label = rows.iter().map(|(name, ..)| columns(name)).max().unwrap_or(0);
    let label = label.min(LABEL).min(page.style.width / 3);
    // Indent, label and its gap, the bar's gap, ` 35.4 ms` and ` 100%`, and the note.
    let room = page.style.width.saturating_sub(2 + label + 2 + 8 + 6 + 18);
    // Without room for bars that tell times apart, the figures alone.
    let longest = if room < LEAST_BAR { 0 } else { room.min(LONGEST) };
    for (name, ns, note) in rows {
        let name = pad(&fit(&name, label), label);
        let bar = match longest {
            0 => String::new(),
            _ => format!("{} ", pad(&bar(ns / most, longest), longest)),
        };
        let line = format!("  {name}  {bar}{:>7} {:>5}  {note}", duration(ns), percent(ns / full));
        let line = fit(&line, page.style.width);
        page.line(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limiter::sample;

    fn shown(style: Style) -> String {
        let mut out = Vec::new();
        limiter(&sample(), style, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn bars_are_as_long_as_times() {
        let text = shown(Style { width: 100, ..Style::default() });
        let bar = |name: &str| {
            let line = text.lines().find(|line| line.trim().starts_with(name)).unwrap();
            line.chars().filter(|c| *c == '█').count()
        };
        // The sum, 49.52 ms, is the longest: 23 + 2 columns of labels leave 40 for it. 35.39 / 49.52
        // of 40 is 28.6, 17.695 / 49.52 of 40 is 14.3.
        assert_eq!((bar("both in turn"), bar("whole"), bar("no-barrier")), (40, 28, 14), "{text}");
        assert!(text.contains("limiter: memory-bound"), "{text}");
        assert!(text.contains("at most 2.00×"), "{text}");
        assert!(
            text.contains("an SM holds 4 blocks of 256 threads; the grid has 1,024 in all"),
            "{text}"
        );
    }

    #[test]
    fn no_line_is_wider_than_asked_for() {
        for width in [20, 40, 80, 120] {
            let text = shown(Style { width, verbose: true, ..Style::default() });
            assert!(text.lines().all(|line| columns(line) <= width), "{width}\n{text}");
        }
    }

    #[test]
    fn quiet_leaves_the_verdict() {
        let text = shown(Style { quiet: true, ..Style::default() });
        assert!(text.contains("Memory-bound:") && !text.contains('█'), "{text}");
    }
}
