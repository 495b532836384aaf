//! `adoprof explain`: the rules.

use super::shared::facts::show;
use super::shared::printer::Printer;
use crate::cli::ExplainArgs;
use crate::error::{Error, ExitCode, Result};
use crate::explain::{self, record};
use crate::rules;
use crate::text::listed;

pub(super) fn run(args: &ExplainArgs, printer: &Printer) -> Result<ExitCode> {
    let width = printer.style.prose();
    let (text, document) = match args.rule.as_deref() {
        None => (explain::list(width), Some(record::all())),
        Some(explain::NUMBERS) => (explain::numbers(width), Some(record::shared())),
        Some(name) => (one(name, width)?, record::one(name)),
    };
    show(args.result, printer, || text, &document)?;
    Ok(ExitCode::Success)
}

fn one(name: &str, width: usize) -> Result<String> {
    if let Some(text) = explain::around(name, width) {
        return Ok(text);
    }
    let rule = rules::find(name).ok_or_else(|| {
        let meant = match explain::suggestions(name).as_slice() {
            [] => String::new(),
            [other] => format!(" did you mean `{other}`?"),
            several => format!(" did you mean one of {}?", listed(several.iter().copied())),
        };
        Error::Usage(format!("there is no rule `{name}`;{meant} `adoprof explain` lists them all"))
    })?;
    Ok(explain::one(rule, width))
}
