//! A quantity over commits: a panel for each series, with the levels between its jumps.

use maud::{Markup, html};

use super::axis::below;
use crate::history::{HistoryDocument, Jump, Series};
use crate::page::figure::{Figure, ROOM, Table, pct, px};
use crate::page::lettering::{GAP, PLAIN, in_full, width, within};
use crate::report::words::history::{commit, name, title};
use crate::report::words::number::{bare, change, metric};
use crate::text::count;

/// Panels drawn: the first of the series, which jumped most.
const MOST: usize = 8;
/// Columns of a kernel's name.
const NAME: usize = 60;
/// Pixels from a panel's top to its plot, of the plot, and from there to the next panel.
const TOP: f64 = 38.0;
const PLOT: f64 = 110.0;
const FOOT: f64 = 60.0;
const PANEL: f64 = TOP + PLOT + FOOT;

/// The chart; `None` where no series has two commits.
pub(in crate::page) fn figure(document: &HistoryDocument) -> Option<Figure> {
    let all: Vec<&Series> =
        document.series.iter().filter(|series| series.points.len() > 1).collect();
    let shown = &all[..all.len().min(MOST)];
    let mut table = Table::new(["series", "commit", "value", "least", "most"]);
    for series in shown {
        for point in &series.points {
            let said = |value| metric(value, &document.unit);
            table.row([
                name(series, NAME),
                commit(point).to_owned(),
                said(point.value),
                said(point.low),
                said(point.high),
            ]);
        }
    }
    let (first, left_out) = (shown.first()?, all.len() - shown.len());
    let mut said = match first.jumps.first() {
        Some(jump) => format!(
            "{} over commits; lines are the levels between jumps. {} jumped at {}: {}.",
            document.quantity,
            name(first, NAME),
            commit(&first.points[jump.at]),
            change(jump.from, jump.to)
        ),
        None => format!("{} over commits; nothing jumped.", document.quantity),
    };
    if left_out > 0 {
        said = format!("{said} {} further series not drawn.", count(left_out as f64));
    }
    Some(Figure {
        name: "history",
        id: "history".to_owned(),
        title: "Over commits".to_owned(),
        said,
        height: (PANEL * shown.len() as f64 - 14.0) as u32,
        drawn: html! {
            @for (at, series) in shown.iter().enumerate() {
                (panel(series, &document.unit, PANEL * at as f64))
            }
        },
        table,
    })
}

fn panel(series: &Series, unit: &str, top: f64) -> Markup {
    let low = series.points.iter().map(|point| point.low).fold(f64::INFINITY, f64::min);
    let high = series.points.iter().map(|point| point.high).fold(f64::NEG_INFINITY, f64::max);
    let plot = top + TOP;
    let down = |value: f64| {
        let share = if high > low { (value - low) / (high - low) } else { 0.5 };
        px(plot + PLOT * (1.0 - share.clamp(0.0, 1.0)))
    };
    let count = series.points.len();
    let share = |at: f64| (at + 0.5) / count as f64;
    let across = |at: usize| pct(share(at as f64));
    let title = title(series, NAME);
    let last = series.points.last().map_or_else(String::new, |point| bare(point.value, unit));
    // It is drawn as a file alone, whose width is known.
    let cut = within(&title, ROOM - GAP - width(&last, PLAIN), PLAIN);
    let jumps = series.jumps.iter().map(|jump| {
        let said = format!("{} {}", commit(&series.points[jump.at]), change(jump.from, jump.to));
        (share(jump.at as f64 - 0.5), said)
    });
    let ends = [0, count - 1].map(|at| (share(at as f64), commit(&series.points[at]).to_owned()));
    html! {
        g class="series" data-label=(title) data-value=[series.points.last().map(|point| point.value)] {
            (in_full(&title, &cut))
            text class="ink" x="0" y=(px(top + 14.0)) { (cut) }
            text class="num" x="100%" y=(px(top + 14.0)) { (last) }
            line class="grid" x1="0" x2="100%" y1=(px(plot)) y2=(px(plot)) {}
            line class="grid" x1="0" x2="100%" y1=(px(plot + PLOT)) y2=(px(plot + PLOT)) {}
            text class="tick" x="0" y=(px(plot - 4.0)) { (bare(high, unit)) }
            text class="tick" x="0" y=(px(plot + PLOT + 14.0)) { (bare(low, unit)) }
            @for jump in &series.jumps {
                @let x = pct(share(jump.at as f64 - 0.5));
                line class=(class(jump)) x1=(x) x2=(x) y1=(px(plot)) y2=(px(plot + PLOT)) {}
            }
            @for (level, from, to) in levels(series) {
                line class="curve" x1=(across(from)) x2=(across(to)) y1=(down(level)) y2=(down(level)) {}
            }
            @for (at, point) in series.points.iter().enumerate() {
                g class="commit" data-label=(commit(point)) data-value=(point.value) {
                    title { (commit(point)) ": " (metric(point.value, unit)) }
                    @if point.high > point.low {
                        line class="roof" x1=(across(at)) x2=(across(at)) y1=(down(point.low)) y2=(down(point.high)) {}
                    }
                    circle class="dot" cx=(across(at)) cy=(down(point.value)) r="4" {}
                }
            }
            (below(jumps, plot + PLOT + 28.0))
            (below(ends, plot + PLOT + 42.0))
        }
    }
}

/// How a jump's line is drawn.
fn class(jump: &Jump) -> &'static str {
    match jump.worse {
        Some(true) => "loss",
        Some(false) => "gain",
        None => "mark",
    }
}

/// The level between each two jumps, with its first commit and its last.
fn levels(series: &Series) -> Vec<(f64, usize, usize)> {
    let mut levels = Vec::new();
    for (at, jump) in series.jumps.iter().enumerate() {
        let first = at.checked_sub(1).map_or(0, |before| series.jumps[before].at);
        levels.push((jump.from, first, jump.at - 1));
    }
    if let Some(jump) = series.jumps.last() {
        levels.push((jump.to, jump.at, series.points.len() - 1));
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::palette::Theme;
    use crate::picture;
    use crate::report::samples;

    #[test]
    fn points_stand_at_their_commits_and_levels_between_jumps() {
        let document = samples::history();
        let figure = figure(&document).unwrap();
        assert_eq!(levels(&document.series[0]), [(100_000.0, 0, 4), (120_000.0, 5, 7)]);
        assert!(figure.said.ends_with("gemm of app jumped at c5: +20%."), "{}", figure.said);
        assert_eq!(figure.table.rows[5], ["gemm of app", "c5", "120 µs", "99.0 µs", "121 µs"]);
        let drawn = figure.drawn.0.as_str();
        // Eight commits: the first at 1/16 of the width. From 99 to 121 µs over 110 pixels: 5 per µs; the plot begins
        // at 38, so that 120 µs are 5 below it, and 100 µs 105.
        assert!(drawn.contains(r#"cx="6.25%" cy="143""#), "{drawn}");
        assert!(drawn.contains(r#"cx="68.75%" cy="43""#), "{drawn}");
        // The jump lies between the fifth commit and the sixth.
        assert!(
            drawn.contains(r#"class="loss" x1="62.5%""#) && drawn.contains(">c5 +20%<"),
            "{drawn}"
        );
        assert!(picture::png(&figure.file("time", Some(Theme::Dark)), 1).unwrap().len() > 3_000);
    }

    #[test]
    fn a_single_commit_is_no_chart_and_equal_values_are_one() {
        let mut document = samples::history();
        let series = &mut document.series[0];
        series.jumps.clear();
        for point in &mut series.points {
            (point.value, point.low, point.high) = (7.0, 7.0, 7.0);
        }
        let flat = figure(&document).unwrap();
        assert!(flat.said.ends_with("nothing jumped.") && flat.drawn.0.contains(r#"cy="93""#));
        document.series = vec![document.series[0].clone(); 10];
        let many = figure(&document).unwrap();
        assert!(many.said.ends_with("2 further series not drawn."), "{}", many.said);
        for series in &mut document.series {
            series.points.truncate(1);
        }
        assert!(figure(&document).is_none());
    }
}
