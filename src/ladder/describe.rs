//! `adoprof ladder list` and `adoprof ladder show NAME`, as text.

use tabled::builder::Builder;
use tabled::settings::Style;

use super::{Ladder, Step};
use crate::error::Result;
use crate::text::printable;

/// The built-in ladders: those of the literature, then the fault bench by its names.
///
/// # Errors
/// Whatever is wrong with one of them.
pub fn list() -> Result<String> {
    let mut rows = Builder::new();
    rows.push_record(["ladder", "steps", "what it computes"]);
    let mut bench = Vec::new();
    for name in Ladder::builtin_names() {
        let ladder = Ladder::builtin(name)?;
        if ladder.bench().is_some() {
            bench.push(name);
            continue;
        }
        let steps: Vec<&str> = ladder.main_steps().map(Step::name).collect();
        rows.push_record([name.to_owned(), steps.join(" "), wrapped(ladder.title(), 50)]);
    }
    let mut text = table(rows);
    if !bench.is_empty() {
        let names = wrapped(&bench.join(" "), 98);
        text.push_str(
            "\n\nThe fault bench, pairs of kernels with a planted fault and without (`adoprof bench`):\n",
        );
        text.push_str(&names);
    }
    Ok(text)
}

/// One ladder: its problem, its steps, and what others measured.
#[must_use]
pub fn show(ladder: &Ladder) -> String {
    let mut sections = vec![format!("{}: {}", ladder.name(), printable(ladder.title()))];
    if !ladder.description().trim().is_empty() {
        sections.push(wrapped(ladder.description(), 100));
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
        .map(|step| wrapped(&format!("{}: {}", step.name(), step.note()), 100))
        .collect();
    if !notes.is_empty() {
        sections.push(notes.join("\n"));
    }
    sections.extend(variants(ladder));
    sections.extend(tunables(ladder));
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
    table(rows)
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
            wrapped(step.title(), 18),
            wrapped(&changes, 32),
            step.answers().join("\n"),
        ]);
    }
    table(rows)
}

fn variants(ladder: &Ladder) -> Option<String> {
    let mut rows = Builder::new();
    rows.push_record(["step", "variant", "kind", "what it is", "takes away"]);
    for step in ladder.steps() {
        for variant in step.variants() {
            rows.push_record([
                step.name(),
                variant.name(),
                variant.kind().word(),
                &wrapped(variant.title(), 24),
                &variant.removes().join("\n"),
            ]);
        }
    }
    let title = "Variants, which `adoprof limiter` times";
    (rows.count_records() > 1).then(|| format!("{title}\n{}", table(rows)))
}

/// What `adoprof sweep` may vary in each step.
fn tunables(ladder: &Ladder) -> Option<String> {
    let mut rows = Builder::new();
    rows.push_record(["step", "tunables"]);
    for step in ladder.steps() {
        let pairs: Vec<String> =
            step.tunables().iter().map(|(name, value)| format!("{name} = {value}")).collect();
        if !pairs.is_empty() {
            rows.push_record([step.name().to_owned(), wrapped(&pairs.join(", "), 70)]);
        }
    }
    (rows.count_records() > 1).then(|| format!("For `adoprof sweep --over`\n{}", table(rows)))
}

fn published(ladder: &Ladder) -> Option<String> {
    let mut rows = Builder::new();
    rows.push_record(["step", "device", "what", "figure", "source"]);
    for step in ladder.steps() {
        for figure in step.published() {
            rows.push_record([
                step.name().to_owned(),
                printable(&figure.device),
                wrapped(&figure.what, 22),
                format!("{} {}", figure.value, printable(&figure.unit)),
                wrapped(&figure.source, 32),
            ]);
        }
    }
    (rows.count_records() > 1).then(|| format!("Published figures\n{}", table(rows)))
}

fn cases(ladder: &Ladder) -> Option<String> {
    let mut rows = Builder::new();
    rows.push_record(["case", "step", "size", "note"]);
    for case in ladder.cases() {
        let size: Vec<String> =
            case.size.iter().map(|(name, value)| format!("{name}={value}")).collect();
        rows.push_record([&case.name, &case.step, &size.join(","), &wrapped(&case.note, 46)]);
    }
    (rows.count_records() > 1).then(|| format!("Cases\n{}", table(rows)))
}

fn table(rows: Builder) -> String {
    rows.build().with(Style::sharp()).to_string()
}

/// Words filled into lines of at most `width` characters, safe for a terminal. The widths chosen
/// here keep every table within 100.
fn wrapped(text: &str, width: usize) -> String {
    let text = printable(&text.replace('\n', " "));
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
