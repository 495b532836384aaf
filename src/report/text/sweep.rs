//! A sweep as text: the table, bars with their spread, the best, what failed, what moves along.

use crate::report::words::sweep::{brief, cells, differing_sizes, moving_cells, sentence, values};
use std::io::{self, Write};

use crate::report::style::Style;
use crate::report::text::page::{Ink, Page};
use crate::report::text::table::{Column, render};
use crate::sweep::axis::shown;
use crate::sweep::{PointResult, SweepDocument};
use crate::text::layout::{columns, fit, pad};
use crate::text::{count_of, duration};
use crate::timing::Timing;

/// Bars drawn unless all are asked for: the fastest.
const MOST_BARS: usize = 30;
/// Moving metrics shown unless all are asked for.
const MOST_MOVING: usize = 6;
/// Columns of the longest bar.
const LONGEST: usize = 50;

/// Writes the sweep.
pub(super) fn sweep(document: &SweepDocument, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(style);
    let ran = document.points.iter().filter(|point| point.time_ns.is_some()).count();
    let head = format!(
        "sweep of {}/{}{} on {}: {ran} of {} ran",
        document.ladder,
        document.step,
        fixed_size(document),
        document.device,
        count_of(document.points.len() as f64, "point")
    );
    page.inked("", &head, Ink::Bold);
    for device in &document.devices {
        let own = document.points.iter().filter(|it| it.device.as_ref() == Some(&device.uuid));
        let number = count_of(own.count() as f64, "point");
        let first = device.first_point_ns.map_or_else(String::new, |time| {
            format!("; the first point takes {} there", duration(time.median))
        });
        page.line(&format!("  device {} ({}): {number}{first}", device.number, device.uuid));
    }
    if !page.style.quiet {
        page.blank();
        table(&mut page, document);
        page.blank();
        bars(&mut page, document);
    }
    page.blank();
    for best in &document.best {
        page.inked("", &sentence(document, best), Ink::Green);
    }
    for (place, point) in document.points.iter().enumerate() {
        if let Some(error) = &point.error {
            page.labelled("", "failed", &format!("{}: {}", document.label(place), brief(error)));
            for line in error.lines().filter(|_| page.style.verbose).collect::<Vec<_>>() {
                page.paragraph("        ", line);
            }
        }
    }
    if !document.moving.is_empty() {
        page.blank();
        moving(&mut page, document);
    }
    if let Some(file) = document.file.as_ref().filter(|_| !page.style.quiet) {
        page.blank();
        page.line(&format!("kept in {}", crate::text::printable(file)));
    }
    page.write(out)
}

/// The parameters that are no axis: ` at N = 1024, M = 1024`.
fn fixed_size(document: &SweepDocument) -> String {
    let axis = |name: &String| document.axes.iter().any(|axis| axis.name == *name);
    let size = document.points.first().map(|point| &point.size).into_iter().flatten();
    let parts: Vec<String> = size
        .filter(|(name, _)| !axis(name))
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    if parts.is_empty() { String::new() } else { format!(" at {}", parts.join(", ")) }
}

fn table(page: &mut Page, document: &SweepDocument) {
    let best: Vec<usize> =
        document.best.iter().filter(|best| best.clear).map(|best| best.best).collect();
    let mut head: Vec<Column> = document
        .axes
        .iter()
        .map(|axis| Column::text(&axis.name).flexible(columns(&axis.name).max(8)))
        .collect();
    head.extend([
        Column::number("time"),
        Column::number("5% to 95%").optional(),
        Column::number("rate").optional(),
        Column::text(""),
    ]);
    let rows: Vec<Vec<String>> = document
        .points
        .iter()
        .enumerate()
        .map(|(place, point)| {
            let mut row = values(document, point);
            row.extend(cells(point));
            row.push(if best.contains(&place) { "best" } else { "" }.to_owned());
            row
        })
        .collect();
    let lines = render(&head, &rows, page.style.width);
    page.table("", &lines);
}

/// A bar for each point that ran, the fastest first.
fn bars(page: &mut Page, document: &SweepDocument) {
    let by_work = differing_sizes(document);
    let mut shown: Vec<(String, Timing, &PointResult)> = document
        .points
        .iter()
        .filter_map(|point| {
            let time = point.time_ns?;
            let unit = if by_work { point.work()? } else { 1.0 };
            let scaled = Timing {
                median: time.median / unit,
                low: time.low / unit,
                high: time.high / unit,
                n: time.n,
            };
            Some((aligned(document, point), scaled, point))
        })
        .collect();
    shown.sort_by(|a, b| a.1.median.total_cmp(&b.1.median));
    let most = if page.style.verbose { usize::MAX } else { MOST_BARS };
    let left_out = shown.len().saturating_sub(most);
    shown.truncate(most);
    let largest = shown.iter().map(|(_, time, _)| time.high).fold(0.0, f64::max);
    let widest = shown.iter().map(|(label, ..)| columns(label)).max().unwrap_or(0);
    let label = widest.min(page.style.width / 3);
    // The label, two gaps, and a figure of up to 14 columns.
    let longest = page.style.width.saturating_sub(label + 2 + 1 + 14).min(LONGEST);
    if longest < 8 || shown.is_empty() {
        return;
    }
    let what = if by_work { "time per unit of work" } else { "time" };
    page.inked(
        "",
        &format!("{what}: █ up to the 5th percentile, ▓ to the median, ░ to the 95th"),
        Ink::Dim,
    );
    for (name, time, point) in shown {
        let name = pad(&fit(&name, label), label);
        let figure = cells(point);
        let figure = if by_work { &figure[2] } else { &figure[0] };
        page.line(&format!("{name}  {} {figure}", pad(&bar(&time, largest, longest), longest)));
    }
    if left_out > 0 {
        let more = count_of(left_out as f64, "slower point");
        page.inked("", &format!("{more} left out; -v draws all"), Ink::Dim);
    }
}

/// The axes' values at a point, each as wide as its axis's widest.
fn aligned(document: &SweepDocument, point: &PointResult) -> String {
    let widest = |values: &[String]| values.iter().map(|value| columns(shown(value))).max();
    let padded: Vec<String> = values(document, point)
        .iter()
        .zip(&document.axes)
        .map(|(value, axis)| pad(value, widest(&axis.values).unwrap_or(0)))
        .collect();
    padded.join("  ")
}

/// A bar from 0 to a time's 95th percentile, its ends rounded to whole columns.
fn bar(time: &Timing, largest: f64, longest: usize) -> String {
    let column = |value: f64| {
        let share = value / largest;
        if share.is_finite() {
            (share.clamp(0.0, 1.0) * longest as f64).round() as usize
        } else {
            0
        }
    };
    let (low, median, high) = (column(time.low), column(time.median), column(time.high));
    format!(
        "{}{}{}",
        "█".repeat(low),
        "▓".repeat(median.saturating_sub(low)),
        "░".repeat(high.saturating_sub(median.max(low)))
    )
}

fn moving(page: &mut Page, document: &SweepDocument) {
    let n = document.moving.iter().map(|moving| moving.n).max().unwrap_or(0);
    let work = if differing_sizes(document) { ", counts per unit of work" } else { "" };
    page.inked(
        "",
        &format!("what moves with the time, over {}{work}", count_of(n as f64, "point")),
        Ink::Bold,
    );
    let most = if page.style.verbose { usize::MAX } else { MOST_MOVING };
    let rows: Vec<Vec<String>> = document.moving.iter().take(most).map(moving_cells).collect();
    let head = [
        Column::text("metric").flexible(20),
        Column::number("correlation"),
        Column::number("fastest"),
        Column::number("slowest"),
    ];
    let lines = render(&head, &rows, page.style.width);
    page.table("", &lines);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::sweep as sample;
    use crate::sweep::Conclusion;

    fn text(document: &SweepDocument, width: usize) -> String {
        let mut out = Vec::new();
        sweep(document, Style { width, ..Style::default() }, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn bars_show_the_spread() {
        let time = |low, median, high| Timing { low, median, high, n: 10 };
        assert_eq!(bar(&time(5.0, 7.0, 10.0), 10.0, 10), "█████▓▓░░░");
        assert_eq!(bar(&time(5.0, 5.0, 5.0), 10.0, 10), "█████");
        assert_eq!(bar(&time(0.0, 0.0, 0.0), 0.0, 10), "");
        assert_eq!(bar(&time(f64::NAN, 0.0, 0.0), 10.0, 10), "");
    }

    #[test]
    fn the_best_and_the_failures_are_named() {
        let text = text(&sample(), 100);
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for words in [
            "sweep of increment/i5 at N = 1024 on NVIDIA H200: 3 of 4 points ran",
            "Best: BLOCK=128, flags=none (100 µs), 1.20× faster than the next",
            "the margin of 20% is 4.0 times the noise of 5%",
            "failed",
            "BLOCK=128, flags=-ftz=true: i5.cu does not compile: line 7 is wrong",
        ] {
            assert!(flat.contains(words), "{words}\n{text}");
        }
        assert!(!text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn every_width_holds_it() {
        for width in [20, 40, 60, 100] {
            for line in text(&sample(), width).lines().filter(|line| !line.starts_with("kept in")) {
                assert!(columns(line) <= width, "{width}: {line}");
            }
        }
    }

    #[test]
    fn ties_have_no_winner() {
        let mut document = sample();
        document.best[0].clear = false;
        document.best[0].tied = vec![0];
        document.best[0].next = Some(1);
        let text = sentence(&document, &document.best[0]);
        assert!(
            text.starts_with("No clear winner: BLOCK=128, flags=none (100 µs) and BLOCK=64"),
            "{text}"
        );
        document.best[0] = Conclusion { tied: vec![], next: None, ..document.best[0].clone() };
        let text = sentence(&document, &document.best[0]);
        assert_eq!(text, "Only BLOCK=128, flags=none (100 µs) ran.");
    }

    #[test]
    fn a_log_is_cut_to_its_first_line() {
        assert_eq!(
            brief("x.cu does not compile:\n  line 7\nline 8"),
            "x.cu does not compile: line 7"
        );
        assert_eq!(brief("one thing\nmore"), "one thing");
        assert_eq!(brief(""), "");
    }
}
