//! `adoprof ladder list` and `adoprof ladder show NAME`, as text.

use tabled::builder::Builder;
use tabled::settings::{Style, Width, object::Columns, Modify};

use super::{Ladder, Step};
use crate::error::Result;
use crate::text::{printable, significant};

/// The built-in ladders.
///
/// # Errors
/// Whatever is wrong with one of them.
pub fn list() -> Result<String> {
    let mut rows = Builder::new();
    rows.push_record(["ladder", "steps", "what it computes"]);
    for name in Ladder::builtin_names() {
        let ladder = Ladder::builtin(name)?;
        let steps: Vec<&str> = ladder.main_steps().map(Step::name).collect();
        rows.push_record([name.to_owned(), steps.join(" "), printable(ladder.title())]);
    }
    Ok(table(rows, &[(2, 50)]))
}

/// One ladder: its problem, its steps, and what others measured.
#[must_use]
pub fn show(ladder: &Ladder) -> String {
    let mut sections = vec![format!("{}: {}", ladder.name(), printable(ladder.title()))];
    if !ladder.description().trim().is_empty() {
        sections.push(wrapped(&printable(&ladder.description().replace('\n', " ")), 100));
    }
    let parameters: Vec<String> =
        ladder.parameters().iter().map(|(name, value)| format!("{name} = {value}")).collect();
    sections.push(format!("Size: {}", parameters.join(", ")));
    sections.push(buffers(ladder));
    sections.push(steps(ladder));
    let notes: Vec<String> = ladder
        .steps()
        .iter()
        .filter(|step| !step.note().is_empty())
        .map(|step| format!("{}: {}", step.name(), printable(step.note())))
        .collect();
    if !notes.is_empty() {
        sections.push(notes.join("\n"));
    }
    sections.extend(published(ladder));
    sections.extend(cases(ladder));
    sections.join("\n\n") + "\n"
}

fn buffers(ladder: &Ladder) -> String {
    let mut rows = Builder::new();
    rows.push_record(["buffer", "type", "shape", "role"]);
    for buffer in &ladder.manifest.buffers {
        let shape: Vec<&str> =
            buffer.shape.get_ref().iter().map(|extent| extent.get_ref().text()).collect();
        rows.push_record([
            buffer.name.get_ref().as_str(),
            buffer.dtype.word(),
            &shape.join(" x "),
            buffer.role.word(),
        ]);
    }
    table(rows, &[])
}

fn steps(ladder: &Ladder) -> String {
    let mut rows = Builder::new();
    rows.push_record(["step", "what it is", "what it changes", "answers"]);
    for step in ladder.steps() {
        let changes = match step.from() {
            Some(from) => format!("(beside {from}) {}", step.changes()),
            None => step.changes().to_owned(),
        };
        rows.push_record([
            step.name().to_owned(),
            printable(step.title()),
            printable(&changes.replace('\n', " ")),
            step.answers().join("\n"),
        ]);
    }
    table(rows, &[(1, 18), (2, 32)])
}

fn published(ladder: &Ladder) -> Option<String> {
    let mut rows = Builder::new();
    rows.push_record(["step", "device", "what", "figure", "source"]);
    for step in ladder.steps() {
        for figure in step.published() {
            rows.push_record([
                step.name().to_owned(),
                printable(&figure.device),
                printable(&figure.what),
                format!("{} {}", significant(figure.value, 4), printable(&figure.unit)),
                printable(&figure.source),
            ]);
        }
    }
    (rows.count_records() > 1).then(|| format!("Published figures\n{}", table(rows, &[(2, 22), (4, 32)])))
}

fn cases(ladder: &Ladder) -> Option<String> {
    let mut rows = Builder::new();
    rows.push_record(["case", "step", "size", "note"]);
    for case in ladder.cases() {
        let size: Vec<String> =
            case.size.iter().map(|(name, value)| format!("{name}={value}")).collect();
        rows.push_record([&case.name, &case.step, &size.join(","), &printable(&case.note)]);
    }
    (rows.count_records() > 1).then(|| format!("Cases\n{}", table(rows, &[(3, 46)])))
}

/// A table; the given columns hold prose and are wrapped at so many characters, which keeps every
/// table within 100.
fn table(rows: Builder, prose: &[(usize, usize)]) -> String {
    let mut table = rows.build();
    table.with(Style::sharp());
    for (column, width) in prose {
        let wrap = Width::wrap(*width).keep_words(true);
        table.with(Modify::new(Columns::one(*column)).with(wrap));
    }
    table.to_string()
}

/// Words filled into lines of at most `width` characters.
fn wrapped(text: &str, width: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        if let Some(line) = lines.last_mut() {
            if line.is_empty() {
                line.push_str(word);
                continue;
            }
            if line.chars().count() + 1 + word.chars().count() <= width {
                line.push(' ');
                line.push_str(word);
                continue;
            }
        }
        lines.push(word.to_owned());
    }
    lines.join("\n")
}
