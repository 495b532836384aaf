//! `adoprof completions` and `adoprof man`: what a shell wants to know of the command line.

use super::shared::printer::Printer;
use crate::cli::{CompletionsArgs, ManArgs, shell};
use crate::error::{Error, ExitCode, Result};

pub(super) fn completions(args: &CompletionsArgs, printer: &Printer) -> Result<ExitCode> {
    printer.bytes(&shell::completions(args.shell))?;
    Ok(ExitCode::Success)
}

/// Writes a page for adoprof and one for each subcommand.
pub(super) fn man(args: &ManArgs, printer: &Printer) -> Result<ExitCode> {
    let folder = &args.directory;
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, "create this folder", &e))?;
    clap_mangen::generate_to(shell::shown(), folder)
        .map_err(|error| Error::io(folder, "write the pages here", &error))?;
    printer.notice(&format!(
        "the pages are in {0}; `man -l {0}/adoprof.1` shows the first",
        folder.display()
    ));
    Ok(ExitCode::Success)
}
