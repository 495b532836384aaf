//! `adoprof config`: what holds, and from where.

use serde::Serialize;

use super::shared::printer::Printer;
use crate::cli::{Cli, ConfigArgs};
use crate::document::{SCHEMA, Version};
use crate::error::{Error, ExitCode, Result};
use crate::settings::{KEYS, Settings};
use crate::text::layout::wrap;
use crate::text::printable;

/// What `config` prints.
#[derive(Debug, Serialize)]
struct Shown {
    schema: &'static str,
    adoprof: Version,
    /// The files that were read, the project's first.
    files: Vec<String>,
    settings: Vec<Row>,
}

/// One setting.
#[derive(Debug, Serialize)]
struct Row {
    key: &'static str,
    value: String,
    /// `built in`, an environment variable, or a file with its line.
    from: String,
    purpose: &'static str,
}

pub(super) fn run(args: &ConfigArgs, cli: &Cli, printer: &Printer) -> Result<ExitCode> {
    let shown = shown(&cli.settings);
    match args.format.name() {
        "json" => {
            printer.result(|_, out| {
                serde_json::to_writer_pretty(&mut *out, &shown)?;
                writeln!(out)
            })?;
        }
        "text" => printer.text(&text(&shown, printer.style.width))?,
        other => {
            return Err(Error::Usage(format!(
                "--format {other}: config prints settings; use text, json"
            )));
        }
    }
    Ok(ExitCode::Success)
}

fn shown(settings: &Settings) -> Shown {
    let rows = KEYS.iter().map(|key| {
        let variable = key.variable.and_then(|name| {
            let value = std::env::var(name).ok().filter(|value| !value.is_empty())?;
            Some((value, name.to_owned()))
        });
        let of_file = || {
            let value = settings.get(key.name)?;
            Some((value.words.join(", "), value.place()))
        };
        let (value, from) = variable
            .or_else(of_file)
            .unwrap_or_else(|| (key.built_in.to_owned(), "built in".to_owned()));
        Row { key: key.name, value, from, purpose: key.purpose }
    });
    let files = settings.files.iter().map(|path| path.display().to_string()).collect();
    Shown { schema: SCHEMA, adoprof: Version::default(), files, settings: rows.collect() }
}

/// A table, or, where it does not fit into the width, an entry of two lines per setting.
fn text(shown: &Shown, width: usize) -> String {
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

fn entries(shown: &Shown, width: usize) -> String {
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

fn table(shown: &Shown) -> String {
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
