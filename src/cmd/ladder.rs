//! `adoprof ladder`: the ladders and their steps.

mod check;

use std::path::Path;

use super::shared::facts::show as show_facts;
use super::shared::printer::Printer;
use crate::cli::{FactOutput, LadderArgs, LadderCommand};
use crate::document::{LaddersDocument, WrittenDocument};
use crate::error::{ExitCode, Result};
use crate::ladder::Ladder;
use crate::report::ladder::{list, list_faults, show};
use crate::text::count_of;

pub(super) fn run(args: &LadderArgs, printer: &Printer) -> Result<ExitCode> {
    let width = printer.style.width;
    match &args.command {
        None | Some(LadderCommand::List { faults: false }) => {
            let text = list(width)?;
            show_facts(args.result, printer, || text, &builtin(false)?)?;
        }
        Some(LadderCommand::List { faults: true }) => {
            let text = list_faults(width)?;
            show_facts(args.result, printer, || text, &builtin(true)?)?;
        }
        Some(LadderCommand::Check { directory, size }) => {
            return check::run(directory, size.as_deref(), args.result, printer);
        }
        Some(LadderCommand::Copy { name, directory }) => {
            copy(name, directory, args.result, printer)?;
        }
        Some(LadderCommand::Show { name }) => {
            let ladder = Ladder::open(name)?;
            let document = LaddersDocument::new(std::slice::from_ref(&ladder));
            show_facts(args.result, printer, || show(&ladder, width), &document)?;
        }
    }
    Ok(ExitCode::Success)
}

/// The ladders inside adoprof: those of the fault bench, or all others.
fn builtin(of_bench: bool) -> Result<LaddersDocument> {
    let ladders: Result<Vec<Ladder>> =
        Ladder::builtin_names().into_iter().map(Ladder::builtin).collect();
    let mut ladders = ladders?;
    ladders.retain(|ladder| ladder.set().is_some() == of_bench);
    Ok(LaddersDocument::new(&ladders))
}

/// Writes a built-in ladder to a folder, and says how to run it there.
fn copy(name: &str, directory: &Path, result: FactOutput, printer: &Printer) -> Result<()> {
    let files = Ladder::copy_builtin(name, directory)?;
    let shown = directory.display().to_string();
    let as_directory = if shown.contains('/') { shown } else { format!("./{shown}") };
    let option = format!("--ladder {}", shell_words::quote(&as_directory));
    let text = || {
        let count = count_of(files.len() as f64, "file");
        format!("{name}: {count} written; run them with {option}")
    };
    let written = files.iter().map(|file| file.display().to_string()).collect();
    let document = WrittenDocument::new(written, format!("adoprof run {option}"));
    show_facts(result, printer, text, &document)
}
