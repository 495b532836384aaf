//! A ladder's run as text: the table, then for each step what the hint said and what came of it.

use std::io::{self, Write};

use crate::document::RunDocument;
use crate::report::Style;
use crate::report::number::{estimate, factor, place};
use crate::report::steps::{Fate, Gain, Outcome, Row, is_roof, rows};
use crate::report::text::header::{device, recorded};
use crate::report::text::page::{Ink, Page};
use crate::report::text::table::{Column, render};
use crate::text::{duration, significant};

/// Writes the run.
pub fn run(run: &RunDocument, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(style);
    let rows = rows(run);
    if let Some(sentence) = run.steps.iter().find_map(recorded) {
        page.inked("", &sentence, Ink::Yellow);
    }
    let on = run.steps.iter().find_map(device).map(|name| format!(" on {name}"));
    page.inked("", &format!("ladder {}{}", run.ladder, on.unwrap_or_default()), Ink::Bold);
    page.blank();
    table(&mut page, &rows);
    if rows.iter().any(|row| [row.over_previous, row.over_first].iter().flatten().any(by_rate)) {
        page.inked("", "~ the problem sizes differ: rates are compared, not times", Ink::Dim);
    }
    if !page.style.quiet {
        for row in &rows {
            page.blank();
            step(&mut page, row);
        }
    }
    page.write(out)
}

fn by_rate(gain: &Gain) -> bool {
    gain.by_rate
}

/// A measured gain; `~` marks one that compares rates.
pub fn gain(gain: Option<Gain>) -> String {
    gain.map_or_else(String::new, |gain| {
        format!("{}{}", if gain.by_rate { "~" } else { "" }, factor(gain.factor))
    })
}

/// The table's columns; what a narrow one leaves out stands in the text below it.
fn head() -> [Column; 9] {
    [
        Column::text("step"),
        Column::number("time"),
        Column::number("× prev"),
        Column::number("× first"),
        Column::text("bound"),
        Column::text("hint: remove").flexible(12),
        Column::number("worth").optional(),
        Column::text("next step").optional(),
        Column::number("rate").optional(),
    ]
}

fn table(page: &mut Page, rows: &[Row<'_>]) {
    let cells: Vec<Vec<String>> = rows.iter().map(cells).collect();
    let lines = render(&head(), &cells, page.style.width);
    page.table("", &lines);
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
            (None, Some(roof)) => format!("({})", roof.rule),
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

/// `v3 gained 1.49×, inside the estimate; the fault is gone; new: barrier-stalls.`
pub fn sentence(row: &Row<'_>, outcome: &Outcome<'_>) -> String {
    let mut parts = Vec::new();
    let next = &outcome.next.name;
    let first = row.finding.map(|finding| finding.rule.as_str());
    let takes_away = match &outcome.answered {
        Some((finding, promised)) if Some(finding.rule.as_str()) != first => {
            format!(" takes away {}, {}, and", finding.rule, estimate(promised))
        }
        _ => String::new(),
    };
    match outcome.gained {
        Some(measured) => {
            let inside = match outcome.inside() {
                Some(true) => ", inside the estimate",
                Some(false) => ", outside the estimate",
                None => "",
            };
            let went = if measured.factor < 1.0 { "lost:" } else { "gained" };
            parts.push(format!("{next}{takes_away} {went} {}{inside}", gain(Some(measured))));
        }
        None => parts.push(format!("{next} can't be compared: the sizes differ")),
    }
    if let Some(fate) = outcome.fault {
        parts.push(format!(
            "{} is {}",
            if takes_away.is_empty() { "the fault" } else { first.unwrap_or("the first fault") },
            if fate == Fate::Kept { "still there" } else { fate.word() }
        ));
    }
    let answered = outcome.answered.as_ref().map(|(finding, _)| finding.rule.as_str());
    let also: Vec<&str> = outcome
        .gone
        .iter()
        .copied()
        .filter(|rule| Some(*rule) != first && Some(*rule) != answered)
        .collect();
    if !also.is_empty() {
        parts.push(format!("also gone: {}", also.join(", ")));
    }
    if !outcome.come.is_empty() {
        parts.push(format!("new: {}", outcome.come.join(", ")));
    }
    format!("{}.", parts.join("; "))
}
