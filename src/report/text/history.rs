//! Values over commits as text: what jumped, a chart, a table of all.

use std::io::{self, Write};

use crate::history::{HistoryDocument, Jump, Series};
use crate::kernel_name;
use crate::report::style::Style;
use crate::report::text::page::{Ink, Page};
use crate::report::text::table::{Column, MOST_ROWS, render};
use crate::report::words::history::{commit, name, title};
use crate::report::words::number::{bare, change, metric};
use crate::text::layout::{columns, fit, pad};
use crate::text::{count, count_of, percent, printable};

/// Lines of a chart.
const HEIGHT: usize = 9;
/// Columns of a chart at most.
const WIDEST: usize = 100;
/// Charts drawn unless all are asked for.
const MOST_CHARTS: usize = 1;

/// Writes the charts of the series that jumped most, then a table of all.
pub(super) fn history(
    document: &HistoryDocument,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut page = Page::new(style);
    let head = format!(
        "{} over commits: {} with {} in {}",
        document.quantity,
        count_of(document.profiles as f64, "profile"),
        count_of(document.launches as f64, "launch"),
        printable(&document.store)
    );
    page.inked("", &head, Ink::Bold);
    let drawn = match page.style {
        Style { quiet: true, .. } => 0,
        Style { verbose: true, .. } => usize::MAX,
        _ => MOST_CHARTS,
    };
    let series = document.series.iter().filter(|series| series.points.len() > 1);
    for series in series.take(drawn) {
        page.blank();
        chart(&mut page, series, &document.unit);
    }
    page.blank();
    jumps(&mut page, document);
    let is_drawn = document.series.len() == 1 && document.series[0].points.len() > 1;
    if !is_drawn && !document.series.is_empty() && !page.style.quiet {
        page.blank();
        table(&mut page, document);
    }
    page.write(out)
}

/// One sentence per jump.
fn jumps(page: &mut Page, document: &HistoryDocument) {
    let mut none = true;
    for series in &document.series {
        for jump in &series.jumps {
            none = false;
            let ink = jump.worse.map(|worse| if worse { Ink::Red } else { Ink::Green });
            page.inked("", &sentence(series, jump, &document.unit, page.style.width), ink);
        }
    }
    let points = document.series.iter().map(|series| series.points.len()).max().unwrap_or(0);
    if none && points > 1 {
        page.paragraph("", "No value jumped by more than the noise.");
    } else if none && points == 1 {
        page.paragraph(
            "",
            "There is only one commit so far, so there is nothing to compare it with.",
        );
    }
}

fn sentence(series: &Series, jump: &Jump, unit: &str, width: usize) -> String {
    let (first, before) = (&series.points[jump.at], &series.points[jump.at - 1]);
    let now = series.points.len() - jump.at;
    let worse = match jump.worse {
        Some(true) => ", worse",
        Some(false) => ", better",
        None => "",
    };
    let also = match jump.also.as_slice() {
        [] => String::new(),
        also => {
            format!(" Between the two {} changed too, which may be the cause.", also.join(" and "))
        }
    };
    format!(
        "{} jumped at {}: {} → {} ({}{worse}), after {}; single profiles scatter by {}, {} since.{also}",
        name(series, width),
        commit(first),
        metric(jump.from, unit),
        metric(jump.to, unit),
        change(jump.from, jump.to),
        commit(before),
        if series.points.iter().all(|point| point.low > 0.0) {
            percent(jump.noise)
        } else {
            metric(jump.noise, unit)
        },
        count_of(now as f64, "commit"),
    )
}

/// A series as points over a line for each level.
fn chart(page: &mut Page, series: &Series, unit: &str) {
    let title = fit(&title(series, page.style.width), page.style.width);
    page.inked("", &title, Ink::Bold);
    let low = series.points.iter().map(|point| point.value).fold(f64::INFINITY, f64::min);
    let high = series.points.iter().map(|point| point.value).fold(f64::NEG_INFINITY, f64::max);
    let labels = [bare(high, unit), bare(low, unit)];
    let label = labels.iter().map(|text| columns(text)).max().unwrap_or(0);
    let room = page.style.width.saturating_sub(label + 2).min(WIDEST);
    if room < 4 || series.points.is_empty() {
        return;
    }
    let canvas = canvas(series, low, high, room);
    for (row, line) in canvas.lines.iter().enumerate() {
        let at = match row {
            0 => labels[0].as_str(),
            row if row == HEIGHT - 1 && high > low => labels[1].as_str(),
            _ => "",
        };
        let line: String = line.iter().collect();
        page.line(&format!(
            "{}{} │{line}",
            " ".repeat(label - columns(at)),
            page.ink(Ink::Dim, at)
        ));
    }
    let axis: String = canvas.axis.iter().collect();
    page.line(&format!("{} └{axis}", " ".repeat(label)));
    let (first, last) = (&series.points[0], &series.points[series.points.len() - 1]);
    let (first, last) = (printable(commit(first)), printable(commit(last)));
    let width = canvas.axis.len();
    let ends = if series.points.len() == 1 || columns(&first) + columns(&last) + 1 > width {
        fit(&first, room)
    } else {
        format!("{}{last}", pad(&first, width - columns(&last)))
    };
    let ends = page.ink(Ink::Dim, &ends);
    page.line(&format!("{}  {ends}", " ".repeat(label)));
}

/// A chart's letters.
struct Canvas {
    lines: Vec<Vec<char>>,
    axis: Vec<char>,
}

/// Draws within `room` columns; of more commits than columns several share one.
fn canvas(series: &Series, low: f64, high: f64, room: usize) -> Canvas {
    let points = series.points.len();
    // A column per commit, several where there are few.
    let width = if points >= room { room } else { points * (room / points).min(4) };
    let column = |at: usize| at * width / points + width / points / 2;
    let row = |value: f64| {
        let share = if high > low { (value - low) / (high - low) } else { 1.0 };
        ((1.0 - share) * (HEIGHT - 1) as f64).round() as usize
    };
    let mut canvas = Canvas { lines: vec![vec![' '; width]; HEIGHT], axis: vec!['─'; width] };
    let bounds: Vec<usize> =
        std::iter::once(0).chain(series.jumps.iter().map(|jump| jump.at)).chain([points]).collect();
    for (level, ends) in bounds.windows(2).enumerate() {
        let mean = match (series.jumps.get(level), level.checked_sub(1)) {
            (Some(jump), _) => jump.from,
            (None, Some(last)) => series.jumps[last].to,
            (None, None) => break,
        };
        let line = row(mean.clamp(low, high));
        canvas.lines[line][column(ends[0])..=column(ends[1] - 1)].fill('─');
    }
    for (at, point) in series.points.iter().enumerate() {
        canvas.lines[row(point.value)][column(at)] = '●';
    }
    for jump in &series.jumps {
        canvas.axis[column(jump.at)] = '▲';
    }
    canvas
}

/// A row per series.
fn table(page: &mut Page, document: &HistoryDocument) {
    let head = [
        Column::text("program").flexible(12),
        Column::text("kernel").flexible(16),
        Column::text("GPU").flexible(8).optional(),
        Column::text("size").flexible(8).optional(),
        Column::number("commits"),
        Column::number("first"),
        Column::number("last"),
        Column::number("change"),
        Column::text("jumped last at"),
    ];
    let shown = if page.style.verbose { usize::MAX } else { MOST_ROWS };
    let rows: Vec<Vec<String>> = document
        .series
        .iter()
        .take(shown)
        .filter_map(|series| {
            let (first, last) = (series.points.first()?, series.points.last()?);
            let jumped = series.jumps.last().map(|jump| commit(&series.points[jump.at]).to_owned());
            Some(vec![
                series.program.clone(),
                series
                    .kernel
                    .as_deref()
                    .map(|kernel| kernel_name::short(kernel, 60))
                    .unwrap_or_default(),
                series.device.clone(),
                series.size.clone(),
                series.points.len().to_string(),
                bare(first.value, &document.unit),
                bare(last.value, &document.unit),
                change(first.value, last.value),
                jumped.unwrap_or_default(),
            ])
        })
        .collect();
    let lines = render(&head, &rows, page.style.width);
    page.table("", &lines);
    if document.series.len() > shown {
        let left = count((document.series.len() - shown) as f64);
        page.inked("", &format!("{left} further series not shown (-v shows all)"), Ink::Dim);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    fn text(document: &HistoryDocument, style: Style) -> String {
        let mut out = Vec::new();
        history(document, style, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_jump_is_named_with_its_size_and_neighbours() {
        let text = text(&samples::history(), Style { width: 200, ..Style::default() });
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("jumped at c5: 100 µs → 120 µs (+20%, worse), after c4;"), "{text}");
        assert!(
            text.contains("3 commits since. Between the two CUDA 12.9 → 13.0 changed too"),
            "{text}"
        );
    }

    #[test]
    fn every_line_fits_and_points_stand_on_their_levels() {
        for width in [20, 40, 80, 160] {
            let text =
                text(&samples::history(), Style { width, verbose: true, ..Style::default() });
            for line in text.lines() {
                assert!(columns(line) <= width, "{width}: {line:?}");
            }
        }
        let series = &samples::history().series[0];
        let canvas = canvas(series, 100_000.0, 120_000.0, 8);
        let line = |row: usize| canvas.lines[row].iter().collect::<String>();
        assert_eq!((line(0), line(HEIGHT - 1)), ("     ●●●".to_owned(), "●●●●●   ".to_owned()));
        assert_eq!(canvas.axis.iter().collect::<String>(), "─────▲──");
    }

    #[test]
    fn of_many_series_the_table_says_how_many_are_left_out() {
        let mut document = samples::history();
        document.series = vec![document.series[0].clone(); MOST_ROWS + 2];
        let text = text(&document, Style::default());
        assert!(text.contains("2 further series not shown"), "{text}");
    }

    #[test]
    fn many_commits_share_columns_and_equal_ones_are_no_division_by_nothing() {
        let mut document = samples::history();
        let point = document.series[0].points[0].clone();
        document.series[0].jumps.clear();
        document.series[0].points = vec![point; 1000];
        let text = text(&document, Style { width: 40, ..Style::default() });
        assert!(text.lines().all(|line| columns(line) <= 40), "{text}");
        assert!(text.contains("No value jumped by more than the noise."), "{text}");
    }
}
