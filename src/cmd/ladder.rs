//! `adoprof ladder`: the ladders and their steps.

mod check;

use std::path::Path;

use super::shared::printer::Printer;
use crate::cli::{LadderArgs, LadderCommand};
use crate::error::{ExitCode, Result};
use crate::ladder::Ladder;
use crate::report::ladder::{list, list_faults, show};
use crate::text::count_of;

pub(super) fn run(args: &LadderArgs, printer: &Printer) -> Result<ExitCode> {
    let width = printer.style.width;
    match &args.command {
        None | Some(LadderCommand::List { faults: false }) => printer.text(&list(width)?)?,
        Some(LadderCommand::List { faults: true }) => printer.text(&list_faults(width)?)?,
        Some(LadderCommand::Check { directory, size }) => {
            return check::run(directory, size.as_deref(), printer);
        }
        Some(LadderCommand::Copy { name, directory }) => copy(name, directory, printer)?,
        Some(LadderCommand::Show { name }) => {
            printer.text(&show(&Ladder::open(name)?, width))?;
        }
    }
    Ok(ExitCode::Success)
}

/// Writes a built-in ladder to a folder, and says how to run it there.
fn copy(name: &str, directory: &Path, printer: &Printer) -> Result<()> {
    let files = Ladder::copy_builtin(name, directory)?;
    let shown = directory.display().to_string();
    let as_directory = if shown.contains('/') { shown } else { format!("./{shown}") };
    printer.text(&format!(
        "{name}: {} written; run them with --ladder {}",
        count_of(files.len() as f64, "file"),
        shell_words::quote(&as_directory)
    ))
}
