//! `adoprof ladder`: the ladders and their steps.

mod check;

use super::shared::printer::Printer;
use crate::cli::{LadderArgs, LadderCommand};
use crate::error::{ExitCode, Result};
use crate::ladder::Ladder;
use crate::report::ladder::{list, list_faults, show};

pub(super) fn run(args: &LadderArgs, printer: &Printer) -> Result<ExitCode> {
    let width = printer.style.width;
    match &args.command {
        None | Some(LadderCommand::List { faults: false }) => printer.text(&list(width)?)?,
        Some(LadderCommand::List { faults: true }) => printer.text(&list_faults(width)?)?,
        Some(LadderCommand::Check { directory, size }) => {
            return check::run(directory, size.as_deref(), printer);
        }
        Some(LadderCommand::Show { name }) => {
            printer.text(&show(&Ladder::open(name)?, width))?;
        }
    }
    Ok(ExitCode::Success)
}
