//! `adoprof ledger`: predicted against measured gains.

use super::shared::ledger::{COMPARING, both, local, shipped};
use super::shared::printer::Printer;
use crate::cli::{LedgerArgs, LedgerSource};
use crate::error::{ExitCode, Result};
use crate::ledger::LedgerDocument;
use crate::report::render;

pub(super) fn run(args: &LedgerArgs, printer: &Printer) -> Result<ExitCode> {
    let format = args.format.for_table("the ledger")?;
    let progress = printer.patient_progress();
    progress.stage(COMPARING);
    let (records, notices) = match args.source {
        LedgerSource::Shipped => (shipped()?, Vec::new()),
        LedgerSource::Local => local(),
        LedgerSource::All => both()?,
    };
    let document = LedgerDocument::new(records, notices);
    drop(progress);
    if !format.holds_notices() {
        for notice in &document.notices {
            printer.notice(notice);
        }
    }
    printer.result(|style, out| render(&document, format, style, out))?;
    Ok(ExitCode::Success)
}
