//! `adoprof capture`: one launch of any program as a ladder.

use std::path::{Path, PathBuf};

use super::shared::facts::show;
use super::shared::printer::Printer;
use super::shared::{no_driver, not_a_program};
use crate::capture::{self, Chosen, Request};
use crate::cli::CaptureArgs;
use crate::document::WrittenDocument;
use crate::error::{Error, ExitCode, Result};
use crate::ncu::{Limits, last_lines};
use crate::survey::run::{self, Program};
use crate::{init, interrupt, kernel_name, text};

pub(super) fn run(args: &CaptureArgs, printer: &Printer) -> Result<ExitCode> {
    not_a_program::refuse(&args.program)?;
    let (first, rest) = args
        .program
        .split_first()
        .ok_or_else(|| Error::Usage("name a program behind `--`".to_owned()))?;
    if let Some(output) = &args.output {
        refuse_existing(output)?;
    }
    let interrupted = interrupt::flag();
    let limits = Limits {
        timeout: Some(args.timeout.into()),
        interrupted: &interrupted,
        write_up: std::time::Duration::ZERO,
    };
    let program = Program { program: Path::new(first), args: rest, folder: None, env: Vec::new() };
    let progress = printer.progress();
    progress.stage("surveying the program".to_owned());
    let surveyed = run::run(&program, limits)?;
    if let Some(failure) = surveyed.failure.map(no_driver::or_failure) {
        let lines = match last_lines(&surveyed.output).as_str() {
            lines if surveyed.ended_badly && !lines.is_empty() => {
                format!("; its last lines were:\n{lines}")
            }
            _ => String::new(),
        };
        return Err(Error::Environment(format!("there is no launch to capture: {failure}{lines}")));
    }
    let chosen = capture::chosen(&surveyed.survey, args.kernel.as_deref(), args.nth)?;
    let output = match &args.output {
        Some(output) => output.clone(),
        None => default_folder(&chosen)?,
    };
    let name = kernel_name::base(chosen.first().map_or("", |first| &first.kernel));
    progress.stage(format!("capturing a launch of {name}"));
    let request = Request {
        program,
        chosen: &chosen,
        output: &output,
        limit: args.limit,
        keep_running: args.keep_running,
    };
    let captured = capture::run(&request, limits)?;
    drop(progress);
    for notice in &captured.notices {
        printer.notice(notice);
    }
    let folder = output.display();
    let ladder = ladder_argument(&output);
    let next = format!("adoprof step --ladder {} --kernel captured", shell_words::quote(&ladder));
    let text = || {
        format!(
            "captured launch {} of {name}, which takes {}, with {} of memory in {}: {folder}\n\
             next      {next}",
            captured.chosen.number + 1,
            text::duration(captured.chosen.ns),
            text::bytes(captured.bytes as f64),
            text::count_of(captured.stretches as f64, "stretch"),
        )
    };
    let document = WrittenDocument::new(vec![folder.to_string()], next.clone());
    show(args.result, printer, text, &document)?;
    Ok(ExitCode::Success)
}

/// The folder as `--ladder` takes it: with a slash, so that it is no built-in ladder's name.
fn ladder_argument(output: &Path) -> String {
    let text = output.to_string_lossy();
    if text.contains('/') { text.into_owned() } else { format!("./{text}") }
}

fn refuse_existing(output: &Path) -> Result<()> {
    if output.exists() {
        return Err(Error::input(
            output,
            "is there already and is not overwritten; name another folder",
        ));
    }
    Ok(())
}

/// A folder here, named after the kernel.
fn default_folder(chosen: &[Chosen]) -> Result<PathBuf> {
    let kernel = chosen.first().map_or("", |first| first.kernel.as_str());
    let folder = PathBuf::from(init::name_of(&kernel_name::base(kernel)));
    refuse_existing(&folder)?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_not_taken_for_a_built_in_ladder() {
        assert_eq!(ladder_argument(Path::new("ado")), "./ado");
        assert_eq!(ladder_argument(Path::new("a/b")), "a/b");
    }
}
