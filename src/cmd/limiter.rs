//! `adoprof limiter`: which resource limits a step, by timing variants of it.

mod counts;
mod variants;
mod yardstick;

use std::path::Path;

use super::shared::chosen_step::{ChosenStep, split};
use super::shared::printer::Printer;
use super::shared::{ignored_options, open};
use crate::cli::LimiterArgs;
use crate::error::{Error, ExitCode, Result};
use crate::ladder::{Ladder, Step, parse_overrides};
use crate::launch::Device;
use crate::limiter::{self, LimiterDocument};
use crate::report::render;
use crate::store;

pub(super) fn run(args: &LimiterArgs, printer: &Printer) -> Result<ExitCode> {
    let format = args.format.for_table("a limiter run")?;
    let (ladder_argument, name) = split(&args.kernel, &args.problem.ladder)?;
    let ladder = Ladder::open(ladder_argument)?;
    let step = ladder.step(name)?;
    let size = parse_overrides(args.problem.size.as_deref().unwrap_or_default())?;
    let document = if args.origin.recorded {
        let document = recorded(&ladder, step)?;
        let has_counts = document.variants.iter().any(|variant| variant.accesses.is_some());
        ignored_options::on_recorded_limiter(args, has_counts, printer);
        if ladder.size(step, &size)? != document.step.size {
            return Err(Error::Usage(format!(
                "{}/{name} was recorded at {} only; leave --size out, or run it on a GPU",
                ladder.name(),
                document.step.size_words()
            )));
        }
        document
    } else {
        // Whatever is wrong with the request is said before a device is looked for.
        ladder.size(step, &size)?;
        if step.is_program() {
            return Err(Error::Usage(format!(
                "the limiter times variants of kernels, and step `{name}` is a program; `adoprof step` says \
                 what limits its kernels"
            )));
        }
        if step.variants().is_empty() {
            return Err(no_variants(&ladder, step));
        }
        if !args.origin.live && !Device::is_present() {
            return Err(no_device(&ladder, step));
        }
        let device = Device::open(args.device)?;
        let chosen = ChosenStep { ladder: &ladder, ladder_argument, step, size: &size };
        variants::run(&device, &chosen, args, printer)?
    };
    if let Some(path) = &args.output {
        save(&document, path)?;
    }
    if !format.holds_notices() {
        for notice in &document.notices {
            printer.notice(notice);
        }
    }
    printer.result(|style, out| render(&document, format, style, out))?;
    Ok(ExitCode::Success)
}

fn no_variants(ladder: &Ladder, step: &Step) -> Error {
    let with: Vec<&str> =
        ladder.steps().iter().filter(|step| !step.variants().is_empty()).map(Step::name).collect();
    let others = match with.as_slice() {
        [] => String::new(),
        with => format!("; the ladder's steps that have some: {}", with.join(", ")),
    };
    Error::Usage(format!(
        "{}/{} declares no variants to time: add [[steps.variants]] to the manifest{others}",
        ladder.name(),
        step.name()
    ))
}

fn no_device(ladder: &Ladder, step: &Step) -> Error {
    let remedy = if stored(ladder, step).is_some() {
        "--recorded shows the run that ships with adoprof"
    } else {
        "run it on a machine with a GPU"
    };
    Error::Environment(format!(
        "limiter needs a device to time variants of the kernel, and no CUDA device was found; {remedy}"
    ))
}

fn stored(ladder: &Ladder, step: &Step) -> Option<&'static str> {
    // What is recorded is of the step as it shipped.
    let is_edited = ladder.edited_file(step).is_some();
    let file = || store::recorded_file(ladder.name(), step.name(), limiter::FILE);
    if is_edited { None } else { file() }
}

/// The run that ships with adoprof.
fn recorded(ladder: &Ladder, step: &Step) -> Result<LimiterDocument> {
    let (ladder_name, name) = (ladder.name(), step.name());
    if let Some(problem) = open::edited(ladder, step) {
        return Err(Error::Usage(format!("{problem}; leave --recorded out to run it")));
    }
    let Some(text) = stored(ladder, step) else {
        return Err(Error::Usage(format!(
            "there is no recorded limiter run of {ladder_name}/{name}; on a machine with a GPU, \
             `adoprof limiter --kernel {ladder_name}/{name}` makes one"
        )));
    };
    let place = Path::new("profiles").join(ladder_name).join(name).join(limiter::FILE);
    let mut document: LimiterDocument = serde_json::from_str(text).map_err(|e| {
        Error::input(place, format!("this shipped recording is damaged ({e}); reinstall adoprof"))
    })?;
    document.step.recorded = Some(document.date.clone());
    // The figures are the recording's; the words are today's.
    document.conclusions = limiter::conclusions(&document);
    Ok(document)
}

fn save(document: &LimiterDocument, path: &Path) -> Result<()> {
    let mut text = serde_json::to_string_pretty(document)
        .map_err(|e| Error::input(path, format!("the result cannot be written as JSON: {e}")))?;
    text.push('\n');
    std::fs::write(path, text).map_err(|e| Error::io(path, "write the result", &e))
}
