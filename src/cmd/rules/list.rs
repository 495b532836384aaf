//! `adoprof rules list`: what holds here, and from where.

use std::path::Path;

use crate::cli::FactOutput;
use crate::cmd::shared::facts::show;
use crate::cmd::shared::printer::Printer;
use crate::document::{RuleFile, RulesDocument, SCHEMA, UserRule, Version};
use crate::error::{ExitCode, Result};
use crate::settings::Settings;
use crate::text::layout::wrap;
use crate::text::printable;
use crate::user_rules::{self, FOLDER, Place, VARIABLE, read};

pub(super) fn run(settings: &Settings, result: FactOutput, printer: &Printer) -> Result<ExitCode> {
    let files: Result<Vec<RuleFile>> = user_rules::files(settings)?
        .into_iter()
        .map(|(path, place)| listed(&path, place))
        .collect();
    let listed = RulesDocument { schema: SCHEMA, adoprof: Version::default(), files: files? };
    show(result, printer, || text(&listed, printer.style.prose()), &listed)?;
    Ok(ExitCode::Success)
}

fn listed(path: &Path, place: Place) -> Result<RuleFile> {
    let contents = read::read(path, &user_rules::text(path)?);
    let tests = |name: &str| contents.cases.iter().filter(|case| case.rule == name).count();
    let rules = contents.rules.iter().map(|rule| UserRule {
        rule: rule.rule.name,
        summary: rule.rule.summary,
        tests: tests(rule.rule.name),
    });
    Ok(RuleFile {
        rules: rules.collect(),
        mistake: contents.mistakes.first().map(ToString::to_string),
        from: place.word(),
        path: path.display().to_string(),
    })
}

fn text(listed: &RulesDocument, width: usize) -> String {
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
        lines.push(format!("{} ({})", printable(&file.path), file.from));
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
