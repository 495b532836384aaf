//! `adoprof config`: what holds, and from where.

use serde::Serialize;

use super::shared::printer::Printer;
use crate::cli::{Cli, ConfigArgs};
use crate::document::{SCHEMA, Version};
use crate::error::{Error, ExitCode, Result};
use crate::settings::{KEYS, Settings};
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
        "text" => printer.text(&text(&shown))?,
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

fn text(shown: &Shown) -> String {
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
    let mut text: String = rows
        .iter()
        .map(|[a, b, c, d]| {
            format!("{a:<key$}  {b:<value$}  {c:<from$}  {d}").trim_end().to_owned() + "\n"
        })
        .collect();
    text.push_str(if shown.files.is_empty() {
        "\nno adoprof.toml was found; an option on the command line holds before all of these\n"
    } else {
        "\nan option on the command line holds before all of these\n"
    });
    text
}
