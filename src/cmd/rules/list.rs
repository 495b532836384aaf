//! `adoprof rules list`: what holds here, and from where.

use std::path::PathBuf;

use serde::Serialize;

use super::show;
use crate::cmd::shared::printer::Printer;
use crate::document::{SCHEMA, Version};
use crate::error::{ExitCode, Result};
use crate::report::Format;
use crate::settings::Settings;
use crate::text::layout::wrap;
use crate::text::printable;
use crate::user_rules::{self, FOLDER, Place, VARIABLE, read};

#[derive(Debug, Serialize)]
struct Listed {
    schema: &'static str,
    adoprof: Version,
    files: Vec<ListedFile>,
}

#[derive(Debug, Serialize)]
struct ListedFile {
    path: PathBuf,
    /// `project`, `user` or `named`.
    from: &'static str,
    /// The first mistake, where the file can't be used.
    mistake: Option<String>,
    rules: Vec<ListedRule>,
}

#[derive(Debug, Serialize)]
struct ListedRule {
    rule: &'static str,
    summary: &'static str,
    tests: usize,
}

pub(super) fn run(settings: &Settings, format: Format, printer: &Printer) -> Result<ExitCode> {
    let files: Result<Vec<ListedFile>> =
        user_rules::files(settings)?.into_iter().map(|(path, place)| listed(path, place)).collect();
    let listed = Listed { schema: SCHEMA, adoprof: Version::default(), files: files? };
    show(format, printer, || text(&listed, printer.style.prose()), &listed)?;
    Ok(ExitCode::Success)
}

fn listed(path: PathBuf, place: Place) -> Result<ListedFile> {
    let contents = read::read(&path, &user_rules::text(&path)?);
    let tests = |name: &str| contents.cases.iter().filter(|case| case.rule == name).count();
    let rules = contents.rules.iter().map(|rule| ListedRule {
        rule: rule.rule.name,
        summary: rule.rule.summary,
        tests: tests(rule.rule.name),
    });
    Ok(ListedFile {
        rules: rules.collect(),
        mistake: contents.mistakes.first().map(ToString::to_string),
        from: place.word(),
        path,
    })
}

fn text(listed: &Listed, width: usize) -> String {
    if listed.files.is_empty() {
        let none = format!(
            "There are no rules of your own here. `adoprof rules new NAME` writes a first one into {FOLDER}/; the \
             folder rules/ beside your own adoprof.toml, the key `rules` of an adoprof.toml and {VARIABLE} hold \
             more."
        );
        return wrap(&none, width).join("\n");
    }
    let mut lines = Vec::new();
    for file in &listed.files {
        lines.push(format!("{} ({})", printable(&file.path.display().to_string()), file.from));
        lines.extend(
            file.mistake.as_ref().map(|mistake| format!("  not usable: {}", printable(mistake))),
        );
        for rule in &file.rules {
            let tests = match rule.tests {
                0 => "no tests".to_owned(),
                1 => "1 test".to_owned(),
                many => format!("{many} tests"),
            };
            lines.push(format!("  {}: {} ({tests})", rule.rule, printable(rule.summary)));
        }
    }
    lines.join("\n")
}
