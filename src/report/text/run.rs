//! A ladder's run as text: the table, then for each step what the hint said and what came of it.

use crate::document::is_roof;
use crate::report::words::run::{devices, gain, sentence};
use std::io::{self, Write};

use crate::document::RunDocument;
use crate::report::style::Style;
use crate::report::text::bars::{bar, height};
use crate::report::text::page::{Ink, Page};
use crate::report::text::table::{Column, Table, render};
use crate::report::words::number::{estimate, factor, place};
use crate::report::words::steps::{Gain, Row, rows};
use crate::report::words::subject::{device, recorded};
use crate::text::layout::columns;
use crate::text::{duration, significant};

/// Writes the run.
pub(super) fn run(run: &RunDocument, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(style);
    let rows = rows(run);
    if let Some(sentence) = run.steps.iter().find_map(recorded) {
        page.inked("", &sentence, Ink::Yellow);
    }
    let on = run.steps.iter().find_map(device).map(|name| format!(" on {name}"));
    page.inked("", &format!("ladder {}{}", run.ladder, on.unwrap_or_default()), Ink::Bold);
    for device in devices(run) {
        page.paragraph("  ", &device);
    }
    page.blank();
    let table = table(&mut page, &rows);
    page.inked("", legend(&table), Ink::Dim);
    if table.shows(NEXT_STEP) {
        let legend = "next step: what the next main step gained, and what became of the fault";
        page.inked("", legend, Ink::Dim);
    }
    if rows.iter().any(|row| [row.over_previous, row.over_first].iter().flatten().any(by_rate)) {
        page.inked("", "~: the problem sizes differ, so rates are compared, not times", Ink::Dim);
    }
    if !page.style.quiet {
        for row in &rows {
            page.blank();
            step(&mut page, row);
        }
    }
    page.write(out)
}

/// What the columns of speed-ups mean, as far as they are shown.
fn legend(table: &Table) -> &'static str {
    if table.shows(OVER_FIRST) {
        "× prev, × first: speed-up over the previous main step, and over the first step"
    } else {
        "× prev: speed-up over the previous main step"
    }
}

fn by_rate(gain: &Gain) -> bool {
    gain.by_rate
}

/// Titles of columns that a legend explains.
const OVER_FIRST: &str = "× first";
const NEXT_STEP: &str = "next step";

/// The table's columns; what a narrow one leaves out stands in the text below it.
fn head() -> [Column; 9] {
    [
        Column::text("step").flexible(8),
        Column::number("time"),
        Column::number("× prev"),
        Column::number(OVER_FIRST).optional(),
        Column::text("bound by").optional(),
        Column::text("fault").flexible(12),
        Column::number("worth").optional(),
        Column::text(NEXT_STEP).optional(),
        Column::number("rate").optional(),
    ]
}

fn table(page: &mut Page, rows: &[Row<'_>]) -> Table {
    let mut head = head().to_vec();
    let mut cells: Vec<Vec<String>> = rows.iter().map(cells).collect();
    if page.style.pictures {
        head.push(Column::text(BARS).optional());
        for (row, bar) in cells.iter_mut().zip(bars(rows)) {
            row.push(bar);
        }
    }
    let lines = render(&head, &cells, page.style.width);
    page.table("", &lines);
    let has_bars = lines.titles.as_ref().is_some_and(|titles| titles.contains(BARS));
    if page.style.pictures && !has_bars {
        let line = heights(rows);
        if columns(&line) <= page.style.width {
            page.line(&line);
        }
    }
    lines
}

/// The main steps' times in one line, for tables that have no room for bars.
fn heights(rows: &[Row<'_>]) -> String {
    let main: Vec<&Row<'_>> = rows.iter().filter(|row| !row.branch).collect();
    let time = |row: Option<&&Row<'_>>| {
        row.map_or_else(String::new, |row| duration(row.step.time_ns.median))
    };
    let heights: String = shares(main.iter().copied()).into_iter().map(height).collect();
    format!("time {heights}  {} → {} (logarithmic)", time(main.first()), time(main.last()))
}

/// The title of the bars.
const BARS: &str = "time, logarithmic";
/// Columns of the longest bar, as many as its title has.
const LONGEST: usize = 17;
/// The share of it that the fastest step has: nothing would be no bar.
const SHORTEST: f64 = 0.1;

/// A bar for each step's time.
fn bars(rows: &[Row<'_>]) -> Vec<String> {
    shares(rows).into_iter().map(|share| bar(share, LONGEST)).collect()
}

/// Each step's time as a share of the longest bar: equal factors are equal lengths.
fn shares<'a>(rows: impl IntoIterator<Item = &'a Row<'a>>) -> Vec<f64> {
    let log = |row: &Row<'_>| row.step.time_ns.median.max(1.0).ln();
    let logs: Vec<f64> = rows.into_iter().map(log).collect();
    let low = logs.iter().copied().fold(f64::INFINITY, f64::min);
    let high = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let share = |log: f64| if high > low { (log - low) / (high - low) } else { 1.0 };
    logs.iter().map(|log| SHORTEST + (1.0 - SHORTEST) * share(*log)).collect()
}

fn cells(row: &Row<'_>) -> Vec<String> {
    let fault = row.finding.filter(|finding| !is_roof(&finding.rule));
    let rate = row.step.rate.as_ref();
    vec![
        format!("{}{}", if row.branch { "· " } else { "" }, row.step.name),
        duration(row.step.time_ns.median),
        gain(row.over_previous),
        gain(row.over_first),
        row.bound.map_or_else(String::new, |bound| bound.word().to_owned()),
        match (fault, row.finding) {
            (None, Some(_)) => "(at the roof)".to_owned(),
            _ => fault.map_or_else(String::new, |finding| finding.rule.clone()),
        },
        fault.and(row.estimate).map(|gain| factor(gain.factor)).unwrap_or_default(),
        row.outcome.as_ref().map_or_else(String::new, |outcome| {
            let fate = outcome.fault.map_or("", |fate| fate.word());
            format!("{} {fate}", gain(outcome.gained)).trim().to_owned()
        }),
        rate.map_or_else(String::new, |rate| {
            format!("{} {}", significant(rate.value, 3), rate.unit)
        }),
    ]
}

/// What the hint said, and what the next step did.
fn step(page: &mut Page, row: &Row<'_>) {
    let title = match row.step.title.as_str() {
        "" => row.step.name.clone(),
        title => format!("{}: {title}", row.step.name),
    };
    page.inked("", &title, Ink::Bold);
    if let Some(finding) = row.finding {
        let mut because = finding.rule.clone();
        if let Some(location) = finding.locations.first() {
            because = format!("{because} at {}", place(location));
        }
        if let Some(gain) = row.estimate.filter(|_| !is_roof(&finding.rule)) {
            because = format!("{because}, {}", estimate(&gain));
        }
        page.labelled("  ", "found", &because);
        page.labelled("  ", "hint", &finding.hint);
    }
    if let Some(outcome) = &row.outcome {
        page.labelled("  ", "then", &sentence(row, outcome));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::RunDevice;
    use crate::report::samples;

    #[test]
    fn bars_stand_for_the_times_logarithms_on_a_terminal_only() {
        let mut sample = samples::run();
        for (document, ms) in sample.steps.iter_mut().zip([100.0, 10.0, 1.0]) {
            document.step.as_mut().unwrap().time_ns.median = ms * 1e6;
        }
        sample.steps.truncate(3);
        // A tenth, the middle, and the whole of 17 columns, in eighths: 1.7 is 1 and 6, 9.35 is 9 and 3.
        let told = bars(&rows(&sample));
        assert_eq!(told, ["█".repeat(17), "█".repeat(9) + "▍", "█▊".to_owned()]);
        let text = |pictures| {
            let mut out = Vec::new();
            let style = Style { width: 160, pictures, ..Style::default() };
            run(&sample, style, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert!(text(true).contains(&told[1]) && !text(false).contains('█'));
    }

    #[test]
    fn several_devices_are_named_with_their_steps() {
        let mut sample = samples::run();
        let device = |number| RunDevice {
            number,
            uuid: format!("GPU-{number}"),
            first_step_ns: Some(sample.steps[0].step.as_ref().unwrap().time_ns),
            ..RunDevice::default()
        };
        sample.devices = vec![device(0), device(1)];
        for (document, on) in sample.steps.iter_mut().zip(["GPU-1", "GPU-0", "GPU-1", "GPU-1"]) {
            document.device = Some(on.to_owned());
        }
        let mut out = Vec::new();
        run(&sample, Style { width: 160, ..Style::default() }, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let line = "  device 1 (GPU-1): v1, v2-shuffle, v3; the first step takes 26.0 ms there\n";
        assert!(text.contains(line) && text.contains("  device 0 (GPU-0): v2;"), "{text}");
    }

    #[test]
    fn a_legend_explains_what_is_shown() {
        let text = |width| {
            let mut out = Vec::new();
            run(&samples::run(), Style { width, ..Style::default() }, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let (wide, narrow) = (text(160), text(45));
        assert!(wide.contains("× prev, × first: ") && wide.contains("next step: "), "{wide}");
        assert!(narrow.contains("× prev: ") && !narrow.contains("× first"), "{narrow}");
        assert!(!narrow.contains("next step: "), "{narrow}");
    }

    #[test]
    fn a_narrow_terminal_has_the_times_in_one_line() {
        let mut sample = samples::run();
        for (document, ms) in sample.steps.iter_mut().zip([100.0, 10.0, 1.0]) {
            document.step.as_mut().unwrap().time_ns.median = ms * 1e6;
        }
        sample.steps.truncate(3);
        let text = |pictures, width| {
            let mut out = Vec::new();
            let style = Style { width, pictures, ..Style::default() };
            run(&sample, style, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        // The third is a side step. The shortest bar is a tenth, which is one eighth at least.
        let line = "time █▁  100 ms → 10.0 ms (logarithmic)\n";
        assert!(
            text(true, 80).contains(line) && text(true, 40).contains(line),
            "{}",
            text(true, 80)
        );
        assert!(!text(true, 20).contains("time █"), "where it doesn't fit there is none");
        assert!(!text(true, 160).contains("time █"), "the table has bars");
        assert!(!text(false, 80).contains('█'));
    }
}
