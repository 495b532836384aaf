//! `adoprof ladder list` and `adoprof ladder show NAME`, as text.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::ladder::{Ladder, Step};
use crate::report::text::grid::grid;
use crate::text::assignments;
use crate::text::layout::{columns, pad, wrap};

/// Columns from which on a text stands beside a name.
const LEAST_BESIDE: usize = 24;

/// The built-in ladders, except those of the fault bench.
///
/// # Errors
/// Whatever is wrong with one of them.
pub fn list(width: usize) -> Result<String> {
    let mut rows = vec![row(["ladder", "steps", "what it computes"])];
    for name in Ladder::builtin_names() {
        let ladder = Ladder::builtin(name)?;
        if ladder.set().is_none() {
            let steps: Vec<&str> = ladder.main_steps().map(Step::name).collect();
            rows.push(row([name.to_owned(), steps.join(" "), flowing(ladder.title())]));
        }
    }
    let more = "`adoprof ladder list --faults` lists the kernels with planted faults.";
    Ok([grid(&rows, width), String::new(), wrapped(more, width)].join("\n"))
}

/// The ladders of the fault bench, by their faults.
///
/// # Errors
/// Whatever is wrong with one of them.
pub fn list_faults(width: usize) -> Result<String> {
    let faults = faults()?;
    let names = faults.values().flatten().map(|ladder| columns(ladder.name())).max().unwrap_or(0);
    let mut lines: Vec<String> = Vec::new();
    for (kind, ladders) in faults {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(kind);
        for ladder in ladders {
            let set = ladder.set().unwrap_or_default();
            let title = format!("{} (set {set})", flowing(ladder.title()));
            lines.extend(beside(ladder.name(), names, &title, width));
        }
    }
    Ok(lines.join("\n"))
}

/// A name and a text beside it, or below it where there is little room.
fn beside(name: &str, names: usize, text: &str, width: usize) -> Vec<String> {
    let room = width.saturating_sub(names + 4);
    if room < LEAST_BESIDE {
        let below = wrap(text, width.saturating_sub(4));
        let below = below.into_iter().map(|line| format!("    {line}"));
        return std::iter::once(format!("  {name}")).chain(below).collect();
    }
    let mut name = pad(name, names);
    wrap(text, room)
        .into_iter()
        .map(|line| format!("  {}  {line}", std::mem::replace(&mut name, " ".repeat(names))))
        .collect()
}

/// The ladders of the fault bench by what the bench has them for.
fn faults() -> Result<BTreeMap<String, Vec<Ladder>>> {
    let mut faults: BTreeMap<String, Vec<Ladder>> = BTreeMap::new();
    for name in Ladder::builtin_names() {
        let ladder = Ladder::builtin(name)?;
        if let Some(kind) = ladder.kind() {
            faults.entry(kind.to_owned()).or_default().push(ladder);
        }
    }
    Ok(faults)
}

/// The fault bench's ladders as `kernels/faults/INDEX.md` lists them.
///
/// # Errors
/// Whatever is wrong with one of them.
pub fn index_of_faults() -> Result<String> {
    let mut lines = vec![
        "# Kernels with planted faults\n".to_owned(),
        "A folder for each fault, in it a folder for each pair of kernels. `limits` are kernels at a limit of the"
            .to_owned(),
        "hardware, `lookalikes` only look as if they had a fault. [docs/bench.md](../../docs/bench.md) says what they"
            .to_owned(),
        "are for; `ADOPROF_BLESS=1 cargo test pages` writes this page.".to_owned(),
    ];
    for (kind, ladders) in faults()? {
        lines.push(format!("\n## {kind}\n"));
        for ladder in ladders {
            let folder = ladder.name().trim_start_matches("fault-");
            let set = ladder.set().unwrap_or_default();
            let title = flowing(ladder.title());
            lines.push(format!("- [{folder}]({kind}/{folder}/ladder.toml): {title} (set {set})"));
        }
    }
    Ok(lines.join("\n") + "\n")
}

/// One ladder: its problem, its steps, and what others measured.
#[must_use]
pub fn show(ladder: &Ladder, width: usize) -> String {
    let mut sections = vec![wrapped(&format!("{}: {}", ladder.name(), ladder.title()), width)];
    if !ladder.description().trim().is_empty() {
        sections.push(wrapped(ladder.description(), width));
    }
    let parameters: Vec<String> =
        ladder.parameters().iter().map(|(name, value)| format!("{name} = {value}")).collect();
    if !parameters.is_empty() {
        sections.push(wrapped(&format!("Size: {}", parameters.join(", ")), width));
    }
    sections.extend(buffers(ladder, width));
    sections.push(steps(ladder, width));
    sections.extend(programs(ladder, width));
    let notes: Vec<String> = ladder
        .steps()
        .iter()
        .filter(|step| !step.note().is_empty())
        .map(|step| wrapped(&format!("{}: {}", step.name(), step.note()), width))
        .collect();
    if !notes.is_empty() {
        sections.push(notes.join("\n"));
    }
    sections.extend(variants(ladder, width));
    sections.extend(tunables(ladder, width));
    sections.extend(published(ladder, width));
    sections.extend(cases(ladder, width));
    sections.join("\n\n") + "\n"
}

fn buffers(ladder: &Ladder, width: usize) -> Option<String> {
    let mut rows = vec![row(["buffer", "type", "shape", "role"])];
    rows.extend(ladder.buffer_words().map(row));
    (rows.len() > 1).then(|| grid(&rows, width))
}

/// The steps that are programs: what is run, checked and timed.
fn programs(ladder: &Ladder, width: usize) -> Option<String> {
    let mut rows = vec![row(["step", "runs", "kernels", "checked by", "timed by"])];
    for step in ladder.steps() {
        rows.extend(step.program_words().map(|words| {
            let words = words.map(|words| flowing(&words));
            std::iter::once(step.name().to_owned()).chain(words).collect()
        }));
    }
    (rows.len() > 1).then(|| format!("Steps that are programs\n{}", grid(&rows, width)))
}

fn steps(ladder: &Ladder, width: usize) -> String {
    let mut rows = vec![row(["step", "what it is", "what it changes", "removes"])];
    for step in ladder.steps() {
        let changes = match step.from() {
            Some(from) => format!("(side step of {from}) {}", step.changes()),
            None => step.changes().to_owned(),
        };
        rows.push(row([
            step.name().to_owned(),
            flowing(step.title()),
            flowing(&changes),
            step.answers().join("\n"),
        ]));
    }
    grid(&rows, width)
}

fn variants(ladder: &Ladder, width: usize) -> Option<String> {
    let mut rows = vec![row(["step", "variant", "kind", "what it is", "removes"])];
    for step in ladder.steps() {
        for variant in step.variants() {
            rows.push(row([
                step.name(),
                variant.name(),
                variant.kind().word(),
                &flowing(variant.title()),
                &variant.removes().join("\n"),
            ]));
        }
    }
    let title = "Variants, which `adoprof limiter` times";
    (rows.len() > 1).then(|| format!("{title}\n{}", grid(&rows, width)))
}

/// What `adoprof sweep` may vary in each step.
fn tunables(ladder: &Ladder, width: usize) -> Option<String> {
    let mut rows = vec![row(["step", "tunables"])];
    for step in ladder.steps() {
        let pairs: Vec<String> =
            step.tunables().iter().map(|(name, value)| format!("{name} = {value}")).collect();
        if !pairs.is_empty() {
            rows.push(row([step.name().to_owned(), pairs.join(", ")]));
        }
    }
    (rows.len() > 1).then(|| format!("For `adoprof sweep --over`\n{}", grid(&rows, width)))
}

fn published(ladder: &Ladder, width: usize) -> Option<String> {
    let mut rows = vec![row(["step", "device", "what", "figure", "source"])];
    for step in ladder.steps() {
        for figure in step.published() {
            rows.push(row([
                step.name().to_owned(),
                flowing(&figure.device),
                flowing(&figure.what),
                format!("{} {}", figure.value, flowing(&figure.unit)),
                flowing(&figure.source),
            ]));
        }
    }
    (rows.len() > 1).then(|| format!("Published figures\n{}", grid(&rows, width)))
}

fn cases(ladder: &Ladder, width: usize) -> Option<String> {
    let mut rows = vec![row(["case", "step", "size", "note"])];
    for case in ladder.named_sizes() {
        let size = assignments(&case.size, ",");
        rows.push(row([&case.name, &case.step, &size, &flowing(&case.note)]));
    }
    (rows.len() > 1).then(|| format!("Sizes with a name\n{}", grid(&rows, width)))
}

fn row<T: Into<String>, const N: usize>(cells: [T; N]) -> Vec<String> {
    cells.map(Into::into).to_vec()
}

/// A manifest's text in one line; the report makes it safe for a terminal.
fn flowing(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Words filled into lines of the width.
fn wrapped(text: &str, width: usize) -> String {
    wrap(text, width).join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_name_everything() {
        let all = list(100).unwrap();
        assert!(all.contains("ado") && all.contains("v1 v2 v3 v4 v5 v6"), "{all}");
        let shown = show(&Ladder::builtin("ado").unwrap(), 100);
        for words in [
            "v2-coalesced",
            "(side step of v2)",
            "grid-too-small",
            "78.94 ms",
            "laptop-3",
            "N x L x M",
        ] {
            assert!(shown.contains(words), "{words} is missing in\n{shown}");
        }
        for width in [40, 70, 100, 120] {
            let one = show(&Ladder::builtin("ado").unwrap(), width);
            let all = list(width).unwrap();
            for (text, word) in [(one, "uncoalesced-global-access"), (all, "access-pattern")] {
                assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
                assert!(text.contains(word), "words stay whole at {width}:\n{text}");
            }
        }
        let shown = show(&Ladder::builtin("increment").unwrap(), 100);
        assert!(shown.contains("BLOCK = 64, UNUSED = 49152"), "{shown}");
        let shown = show(&Ladder::builtin("stencil").unwrap(), 100);
        assert!(shown.contains("what-if") && shown.contains("barrier-stalls"), "{shown}");
    }
}
