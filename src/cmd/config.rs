//! `adoprof config`: what holds, and from where.

use super::shared::colour;
use super::shared::facts::show;
use super::shared::printer::Printer;
use crate::cli::{Cli, ConfigArgs};
use crate::document::{ConfigDocument, SCHEMA, Setting, Version};
use crate::error::{ExitCode, Result};
use crate::settings::{KEYS, Settings};
use crate::text::layout::wrap;
use crate::text::printable;

pub(super) fn run(args: &ConfigArgs, cli: &Cli, printer: &Printer) -> Result<ExitCode> {
    let shown = shown(&cli.settings);
    show(args.result, printer, || text(&shown, printer.style.width), &shown)?;
    Ok(ExitCode::Success)
}

fn shown(settings: &Settings) -> ConfigDocument {
    let rows = KEYS.iter().map(|key| {
        let of_variable = |name: &str| {
            let value = std::env::var(name).ok().filter(|value| !value.is_empty())?;
            Some((value, name.to_owned()))
        };
        // Several variables speak of colours, each in words of its own.
        let variable = if key.name == colour::KEY {
            colour::of_environment()
                .map(|(name, choice)| (colour::word(choice).to_owned(), name.to_owned()))
        } else {
            key.variable.and_then(of_variable)
        };
        let of_file = || {
            let value = settings.get(key.name)?;
            Some((value.words.join(", "), value.place()))
        };
        let (value, from) = variable
            .or_else(of_file)
            .unwrap_or_else(|| (key.built_in.to_owned(), "built in".to_owned()));
        Setting { key: key.name, value, from, purpose: key.purpose }
    });
    let files = settings.files.iter().map(|path| path.display().to_string()).collect();
    ConfigDocument { schema: SCHEMA, adoprof: Version::default(), files, settings: rows.collect() }
}

/// A table, or, where it does not fit into the width, an entry of two lines per setting.
fn text(shown: &ConfigDocument, width: usize) -> String {
    let columns = table(shown);
    let widest = columns.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let mut text = if widest <= width { columns } else { entries(shown, width) };
    let note = "options on the command line take precedence over all of these";
    let note = if shown.files.is_empty() {
        format!("no adoprof.toml was found; {note}")
    } else {
        note.to_owned()
    };
    text.push('\n');
    for line in wrap(&note, width) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

fn entries(shown: &ConfigDocument, width: usize) -> String {
    let mut text = String::new();
    for row in &shown.settings {
        let value = printable(&row.value);
        for line in wrap(&format!("{} = {value} ({})", row.key, printable(&row.from)), width) {
            text.extend([format!("{line}\n")]);
        }
        for line in wrap(row.purpose, width.saturating_sub(4)) {
            text.extend([format!("    {line}\n")]);
        }
    }
    text
}

fn table(shown: &ConfigDocument) -> String {
    let rows: Vec<[String; 4]> =
        std::iter::once(["setting", "value", "from", ""].map(str::to_owned))
            .chain(shown.settings.iter().map(|row| {
                [
                    row.key.to_owned(),
                    printable(&row.value),
                    printable(&row.from),
                    row.purpose.to_owned(),
                ]
            }))
            .collect();
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let [key, value, from] = [0, 1, 2].map(width);
    rows.iter()
        .map(|[a, b, c, d]| {
            format!("{a:<key$}  {b:<value$}  {c:<from$}  {d}").trim_end().to_owned() + "\n"
        })
        .collect()
}
