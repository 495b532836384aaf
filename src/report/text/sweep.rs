//! A sweep as text: the table, bars with their spread, the best, what failed, what moves along.

use std::io::{self, Write};

use crate::report::Style;
use crate::report::number::{bare, factor};
use crate::report::text::layout::{columns, fit, pad};
use crate::report::text::page::{Ink, Page};
use crate::report::text::table::{Column, render};
use crate::sweep::axis::shown;
use crate::sweep::{Conclusion, Moving, PointResult, SweepDocument};
use crate::text::{count_of, duration, percent, significant};
use crate::timing::Timing;

/// Bars drawn unless all are asked for: the fastest.
const MOST_BARS: usize = 30;
/// Tied points that a sentence names.
const MOST_TIED: usize = 4;
/// Moving metrics shown unless all are asked for.
const MOST_MOVING: usize = 6;
/// Columns of the longest bar.
const LONGEST: usize = 50;

/// Writes the sweep.
pub fn sweep(document: &SweepDocument, style: Style, out: &mut dyn Write) -> io::Result<()> {
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
        Column::number("5% to 95%"),
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

/// The axes' values at a point.
pub fn values(document: &SweepDocument, point: &PointResult) -> Vec<String> {
    let value = |name: &String| point.settings.get(name).map_or("", |value| shown(value));
    document.axes.iter().map(|axis| value(&axis.name).to_owned()).collect()
}

/// Time, spread and rate.
pub fn cells(point: &PointResult) -> [String; 3] {
    let Some(time) = point.time_ns else {
        return ["failed".to_owned(), String::new(), String::new()];
    };
    let rate = point.rate.as_ref();
    [
        duration(time.median),
        format!("{} to {}", duration(time.low), duration(time.high)),
        rate.map(|rate| format!("{} {}", significant(rate.value, 3), rate.unit))
            .unwrap_or_default(),
    ]
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

fn differing_sizes(document: &SweepDocument) -> bool {
    let sizes = document.points.iter().filter(|point| point.time_ns.is_some());
    let mut sizes = sizes.map(|point| &point.size);
    sizes.next().is_some_and(|first| sizes.any(|size| size != first))
}

/// What is concluded of a group of points.
pub fn sentence(document: &SweepDocument, best: &Conclusion) -> String {
    let point = |place: usize| {
        let cells = document.points.get(place).map(cells).unwrap_or_default();
        let by_rate = best.size.is_empty() && !cells[2].is_empty();
        let figure = if by_rate { &cells[2] } else { &cells[0] };
        format!("{} ({figure})", document.label(place))
    };
    let next = best.next.zip(best.factor);
    let sentence = match (next, best.clear) {
        (Some((next, gain)), true) => format!(
            "Best: {}, {} faster than the next, {}; {}.",
            point(best.best),
            factor(gain),
            point(next),
            margin(best)
        ),
        (None, _) if best.tied.is_empty() => format!("Only {} ran.", point(best.best)),
        (next, _) => {
            let mut names: Vec<String> = std::iter::once(best.best)
                .chain(best.tied.iter().copied())
                .take(MOST_TIED)
                .map(point)
                .collect();
            let more = (best.tied.len() + 1).saturating_sub(names.len());
            let last =
                if more > 0 { format!("{more} more") } else { names.pop().unwrap_or_default() };
            let lead = next.map(|(next, gain)| {
                format!(" The first is {} faster than {}.", factor(gain), point(next))
            });
            format!(
                "No clear winner: {} and {last} differ by no more than their spread.{}",
                names.join(", "),
                lead.unwrap_or_default()
            )
        }
    };
    if best.size.is_empty() || !differing_sizes(document) {
        return sentence;
    }
    let axes = document.axes.iter().map(|axis| &axis.name);
    let size: Vec<String> =
        axes.filter_map(|name| Some(format!("{name} = {}", best.size.get(name)?))).collect();
    format!("{}: {sentence}", size.join(", "))
}

/// `the margin of 20% is 4.0 times the noise of 5%`.
fn margin(best: &Conclusion) -> String {
    let (margin, noise) = (best.margin.unwrap_or(0.0), best.noise.unwrap_or(0.0));
    format!(
        "the margin of {} is {} times the noise of {}",
        percent(margin),
        significant(margin / noise.max(f64::MIN_POSITIVE), 2),
        percent(noise)
    )
}

/// An error's first line, and the first line of a compiler's log where that is what it announces.
pub fn brief(error: &str) -> String {
    let mut lines = error.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    match lines.next() {
        Some(second) if first.ends_with(':') => format!("{first} {second}"),
        _ => first.to_owned(),
    }
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
        Column::number("ρ"),
        Column::number("fastest"),
        Column::number("slowest"),
    ];
    let lines = render(&head, &rows, page.style.width);
    page.table("", &lines);
}

/// Title, ρ, and the values at the fastest and the slowest point.
pub fn moving_cells(moving: &Moving) -> Vec<String> {
    let value = |value: f64| bare(value, &moving.unit);
    vec![
        moving.title.clone(),
        format!("{:+.2}", moving.rho),
        value(moving.at_fastest),
        value(moving.at_slowest),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::sweep as sample;

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
