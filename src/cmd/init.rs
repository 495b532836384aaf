//! `adoprof init`: a first manifest for existing kernels or an existing program.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::shared::facts::show;
use super::shared::printer::Printer;
use super::shared::{no_driver, not_a_program};
use crate::cli::{FactOutput, InitArgs};
use crate::document::WrittenDocument;
use crate::error::{Error, ExitCode, Result};
use crate::files::{self, write_atomically};
use crate::init::{self, Seen, SeenKernel, Source};
use crate::ladder::manifest;
use crate::ncu::{Limits, last_lines};
use crate::survey::group::groups;
use crate::survey::run::{Program, Surveyed};
use crate::survey::{self, Survey};
use crate::{interrupt, kernel_name};

pub(super) fn run(args: &InitArgs, printer: &Printer) -> Result<ExitCode> {
    if let Some(file) = &args.file {
        return of_file(file, args, printer);
    }
    not_a_program::refuse(&args.program)?;
    of_program(args, printer)
}

/// From the signatures in a source.
fn of_file(file: &Path, args: &InitArgs, printer: &Printer) -> Result<ExitCode> {
    let text = files::read(file, files::MOST_TEXT).map_err(|error| unreadable(file, &error))?;
    let text = String::from_utf8(text).map_err(|_| {
        let program = shell_words::quote(&file.to_string_lossy()).into_owned();
        let problem = format!("is not source text; for a program: adoprof init -- {program}");
        Error::input(file, problem)
    })?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let ladder = init::name_of(&stem);
    let source = Source::new(&text);
    let is_program = source.has_main();
    let manifest = if is_program {
        init::of_source(&ladder, &name, &source)
    } else {
        init::of_kernels(&ladder, &name, &source).map_err(|why| {
            let program = shell_words::quote(&file.to_string_lossy()).into_owned();
            // Without an extension it is rather a script.
            let hint = match file.extension() {
                Some(_) => String::new(),
                None => format!("; for a program: adoprof init -- {program}"),
            };
            Error::input(file, why + &hint)
        })?
    };
    // Only then: where the file is no source, nothing is to be overwritten.
    let folder = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new("."));
    let path = place(folder, args)?;
    if is_program {
        printer.notice(&format!(
            "{name} has a `main`, so its step is a program to build and run; for steps that adoprof launches \
             itself, put the kernels into a file of their own"
        ));
    } else if source.launches_kernels() {
        printer.notice(&format!(
            "{name} launches kernels in host code, which NVRTC does not compile: put the kernels into a file \
             of their own"
        ));
    }
    written(&path, &manifest, args.result, printer)
}

/// Why a source can't be read, and what to name instead.
fn unreadable(file: &Path, error: &std::io::Error) -> Error {
    let shown = file.to_string_lossy();
    let shown = shell_words::quote(&shown);
    if file.is_dir() {
        return Error::input(file, "is a folder; name a CUDA source in it");
    }
    match error.kind() {
        std::io::ErrorKind::NotFound => Error::input(
            file,
            format!(
                "there is no such file; name a CUDA source, or a program: adoprof init -- {shown}"
            ),
        ),
        _ => Error::io(file, "read", error),
    }
}

/// From a run of the program.
fn of_program(args: &InitArgs, printer: &Printer) -> Result<ExitCode> {
    let path = place(&args.output, args)?;
    let command = command(args)?;
    let (first, rest) = args.program.split_first().ok_or_else(no_program)?;
    let base = stem(&args.program);
    let progress = printer.progress();
    progress.stage(format!("surveying {base}"));
    let seen = surveyed(first, rest, args.timeout);
    drop(progress);
    let (seen, why) = seen?;
    if let Some(why) = why {
        let lacks = "the survey saw no kernels, so the manifest names none: ";
        let lacks = if seen.kernels.is_empty() { lacks } else { "" };
        printer.notice(&format!("{lacks}{why}"));
    }
    let manifest = init::of_program(&init::name_of(&base), &command, &seen);
    written(&path, &manifest, args.result, printer)
}

fn no_program() -> Error {
    Error::Usage("name a CUDA source, or a program after `--`".to_owned())
}

/// Runs the program under the survey: what was seen, and why no kernels were.
fn surveyed(
    program: &OsString,
    args: &[OsString],
    timeout: Duration,
) -> Result<(Seen, Option<String>)> {
    let interrupted = interrupt::flag();
    let limits = Limits {
        timeout: Some(timeout.into()),
        interrupted: &interrupted,
        write_up: Duration::ZERO,
    };
    let program = Program { program: Path::new(program), args, folder: None, env: Vec::new() };
    match survey::run::run(&program, limits) {
        Ok(Surveyed { survey, output, ended_badly, failure, .. }) => {
            let why = failure.map(no_driver::or_failure).or_else(|| {
                ended_badly.then(|| {
                    let how = survey.notices.last().cloned().unwrap_or_default();
                    format!("{how}; the manifest has what the program did before that")
                })
            });
            let why = why.map(|why| match last_lines(&output) {
                lines if ended_badly && !lines.is_empty() => {
                    format!("{why}; its last lines were:\n{lines}")
                }
                _ => why,
            });
            Ok((Seen { kernels: kernels(&survey), output }, why))
        }
        // The system has no such library: the command is known all the same.
        Err(Error::Environment(why)) if !survey::is_possible() => Ok((Seen::default(), Some(why))),
        Err(error) => Err(error),
    }
}

/// The kernels of a survey by the function's own name, the one with the most time first.
fn kernels(survey: &Survey) -> Vec<SeenKernel> {
    let mut kernels: BTreeMap<String, SeenKernel> = BTreeMap::new();
    for group in groups(survey) {
        let name = kernel_name::base(&group.shape.kernel);
        let seen = kernels.entry(name.clone()).or_insert(SeenKernel {
            name,
            launches: 0,
            total_ns: 0.0,
            share: 0.0,
        });
        seen.launches += group.launches.len() as u64;
        seen.total_ns += group.total_ns;
        seen.share += group.share;
    }
    let mut kernels: Vec<SeenKernel> = kernels.into_values().collect();
    kernels.sort_by(|a, b| b.total_ns.total_cmp(&a.total_ns));
    kernels
}

/// What the program is called: a script's own name, not its interpreter's.
fn stem(words: &[OsString]) -> String {
    let script = words.iter().skip(1).map(Path::new).find(|path| path.is_file());
    let named = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let program = words.first().map_or_else(|| Path::new(""), Path::new);
    let is_interpreter = program.components().count() == 1 && !program.is_file();
    named(script.filter(|_| is_interpreter).unwrap_or(program))
}

/// The command as the ladder's folder sees it: paths from here are made absolute where that is elsewhere.
fn command(args: &InitArgs) -> Result<Vec<String>> {
    let mut words: Vec<String> =
        args.program.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let is_elsewhere = args.output != Path::new(".");
    for (number, word) in words.iter_mut().enumerate() {
        let is_path = number == 0 && word.contains('/') || number > 0 && Path::new(&*word).exists();
        if is_elsewhere && is_path && !word.is_empty() {
            let path = std::path::absolute(&*word)
                .map_err(|error| Error::io(Path::new(word.as_str()), "find", &error))?;
            *word = path.display().to_string();
        }
    }
    Ok(words)
}

/// Where the manifest goes.
///
/// # Errors
/// [`Error::Input`] where one is there and `--force` is not given.
fn place(folder: &Path, args: &InitArgs) -> Result<PathBuf> {
    let path = folder.join(manifest::FILE);
    if path.symlink_metadata().is_ok() && !args.force {
        return Err(Error::input(&path, "already exists; --force overwrites it"));
    }
    Ok(path)
}

fn written(path: &Path, manifest: &str, result: FactOutput, printer: &Printer) -> Result<ExitCode> {
    write_atomically(path, manifest.as_bytes())?;
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new(".")).display().to_string();
    // A bare name would be a built-in ladder's.
    let folder = if folder.contains('/') || folder == "." { folder } else { format!("./{folder}") };
    let folder = if folder == "." { "./".to_owned() } else { folder };
    let next = format!("adoprof ladder check {}", shell_words::quote(&folder));
    let shown = path.display().to_string();
    let document = WrittenDocument::new(vec![shown.clone()], next.clone());
    let text = || format!("{shown} written; complete what is marked GUESS, then run: {next}");
    show(result, printer, text, &document)?;
    Ok(ExitCode::Success)
}
