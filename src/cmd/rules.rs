//! `adoprof rules`: rules that users write.

mod check;
mod list;
mod metrics;
mod new;

use super::shared::printer::Printer;
use crate::cli::{RulesArgs, RulesCommand};
use crate::error::{ExitCode, Result};
use crate::settings::Settings;

pub(super) fn run(args: &RulesArgs, settings: &Settings, printer: &Printer) -> Result<ExitCode> {
    let result = args.result;
    match &args.command {
        None | Some(RulesCommand::List) => list::run(settings, result, printer),
        Some(RulesCommand::Check { files, ladder }) => {
            check::run(files, ladder, result, settings, printer)
        }
        Some(RulesCommand::New { name, output }) => {
            new::run(name, output.as_deref(), result, printer)
        }
        Some(RulesCommand::Metrics { filter, of, ladder }) => metrics::run(
            filter.as_deref(),
            of.as_deref().map(|name| (name, ladder.as_str())),
            result,
            printer,
        ),
    }
}
