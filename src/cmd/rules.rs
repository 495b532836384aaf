//! `adoprof rules`: rules that users write.

mod check;
mod list;
mod metrics;
mod new;

use super::shared::printer::Printer;
use crate::cli::{RulesArgs, RulesCommand};
use crate::error::{Error, ExitCode, Result};
use crate::report::Format;
use crate::settings::Settings;

pub(super) fn run(args: &RulesArgs, settings: &Settings, printer: &Printer) -> Result<ExitCode> {
    match &args.command {
        None => list::run(settings, Format::TEXT, printer),
        Some(RulesCommand::List { format }) => list::run(settings, *format, printer),
        Some(RulesCommand::Check { files, ladder, format }) => {
            check::run(files, ladder, *format, settings, printer)
        }
        Some(RulesCommand::New { name, output }) => new::run(name, output.as_deref(), printer),
        Some(RulesCommand::Metrics { filter, of, ladder, format }) => metrics::run(
            filter.as_deref(),
            of.as_deref().map(|name| (name, ladder.as_str())),
            *format,
            printer,
        ),
    }
}

/// Prints a text, or data as JSON; these tables have no other form.
fn show(
    format: Format,
    printer: &Printer,
    text: impl FnOnce() -> String,
    data: &impl serde::Serialize,
) -> Result<()> {
    match format.name() {
        "text" => printer.text(&text()),
        "json" => printer.result(|_, out| {
            serde_json::to_writer_pretty(&mut *out, data)?;
            writeln!(out)
        }),
        other => {
            Err(Error::Usage(format!("--format {other}: rules prints tables; use text or json")))
        }
    }
}
