//! `adoprof explain`: the rules.

use super::shared::printer::Printer;
use crate::cli::ExplainArgs;
use crate::error::{Error, ExitCode, Result};
use crate::{explain, rules};

pub(super) fn run(args: &ExplainArgs, printer: &Printer) -> Result<ExitCode> {
    let Some(name) = &args.rule else {
        printer.text(&explain::list(printer.style.prose()))?;
        return Ok(ExitCode::Success);
    };
    if let Some(text) = explain::around(name, printer.style.prose()) {
        printer.text(&text)?;
        return Ok(ExitCode::Success);
    }
    if name == explain::NUMBERS {
        printer.text(&explain::numbers(printer.style.prose()))?;
        return Ok(ExitCode::Success);
    }
    let rule = rules::find(name).ok_or_else(|| {
        let meant = explain::suggestion(name)
            .map(|other| format!(" did you mean `{other}`?"))
            .unwrap_or_default();
        Error::Usage(format!("there is no rule `{name}`;{meant} `adoprof explain` lists them all"))
    })?;
    printer.text(&explain::one(rule, printer.style.prose()))?;
    Ok(ExitCode::Success)
}
