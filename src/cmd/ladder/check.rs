//! `adoprof ladder check`: every mistake in a manifest at once.

mod compiled;

use std::path::Path;

use crate::cli::{FactFormat, FactOutput};
use crate::cmd::shared::facts::show;
use crate::cmd::shared::printer::Printer;
use crate::document::{LadderCheckDocument, ManifestMistake, SCHEMA, Version};
use crate::error::{Error, ExitCode, Result};
use crate::init;
use crate::ladder::{Ladder, Overrides, Step, Tuning, parse_overrides};
use crate::launch::nvrtc;
use crate::text::{count_of, printable};

use compiled::Target;

/// Lines of a compiler's log that are shown.
const LOG_LINES: usize = 12;

/// What was found wrong.
#[derive(Default)]
struct Found {
    /// In the manifest, each with its line.
    mistakes: Vec<Error>,
    /// Sources that do not compile, with the compiler's words.
    refused: Vec<String>,
    /// What was not checked and why, each one sentence.
    unchecked: Vec<String>,
}

impl Found {
    /// A mistake, once.
    fn add(&mut self, mistake: Error) {
        let text = mistake.to_string();
        if !self.mistakes.iter().any(|known| known.to_string() == text) {
            self.mistakes.push(mistake);
        }
    }
}

pub(super) fn run(
    directory: &Path,
    size: Option<&str>,
    result: FactOutput,
    printer: &Printer,
) -> Result<ExitCode> {
    let size = parse_overrides(size.unwrap_or_default())?;
    refuse_built_in(directory)?;
    let (ladder, mistakes) = Ladder::mistakes(directory)?;
    let mut found = Found { mistakes, ..Found::default() };
    match &ladder {
        Some(ladder) => of_ladder(ladder, &size, &mut found)?,
        None => found.unchecked.push(
            "plans and kernels were not checked, because the manifest can't be read as a whole"
                .to_owned(),
        ),
    }
    found.mistakes.sort_by_key(|mistake| match mistake {
        Error::Manifest { line, .. } => *line,
        _ => 0,
    });
    show(result, printer, || text(&found, ladder.as_ref()), &document(&found, ladder.as_ref()))?;
    if result.format == FactFormat::Text {
        for unchecked in &found.unchecked {
            printer.notice(unchecked);
        }
    }
    Ok(match (found.mistakes.is_empty(), found.refused.is_empty()) {
        (true, true) => ExitCode::Success,
        (true, false) => ExitCode::Kernel,
        (false, _) => ExitCode::Usage,
    })
}

/// Refuses the name of a built-in ladder, which has no folder here.
fn refuse_built_in(directory: &Path) -> Result<()> {
    let name = directory.to_string_lossy();
    if directory.exists() || !Ladder::builtin_names().contains(&name.as_ref()) {
        return Ok(());
    }
    Err(Error::Usage(format!(
        "`{name}` is a built-in ladder, and there is no folder of that name here to check; `adoprof ladder copy {name} \
         DIR` writes it to a folder of yours"
    )))
}

/// A paragraph per mistake, and how many there are.
fn text(found: &Found, ladder: Option<&Ladder>) -> String {
    let mistakes = found.mistakes.iter().map(ToString::to_string);
    let mut shown: Vec<String> =
        mistakes.chain(found.refused.iter().cloned()).map(|text| lines(&text)).collect();
    shown.push(match (ladder, shown.len()) {
        (Some(ladder), 0) => {
            let steps = count_of(ladder.steps().len() as f64, "step");
            format!("{}: {steps}, no mistakes", ladder.name())
        }
        (_, count) => count_of(count as f64, "mistake"),
    });
    shown.join("\n")
}

/// The same as data.
fn document(found: &Found, ladder: Option<&Ladder>) -> LadderCheckDocument {
    let mistake = |error: &Error| {
        let (file, line, problem) = match error {
            Error::Manifest { path, line, problem } => (Some(path), Some(*line), problem.clone()),
            Error::Input { path, problem } => (Some(path), None, problem.clone()),
            other => (None, None, other.to_string()),
        };
        ManifestMistake { file: file.map(|path| path.display().to_string()), line, problem }
    };
    LadderCheckDocument {
        schema: SCHEMA,
        adoprof: Version::default(),
        ladder: ladder.map(|ladder| ladder.name().to_owned()),
        steps: ladder.map_or(0, |ladder| ladder.steps().len()),
        mistakes: found.mistakes.iter().map(mistake).collect(),
        refused: found.refused.clone(),
        unchecked: found.unchecked.clone(),
    }
}

/// A text whose lines are safe to print.
fn lines(text: &str) -> String {
    let shown: Vec<String> = text.lines().take(LOG_LINES + 1).map(printable).collect();
    shown.join("\n")
}

/// What shows once steps are planned and compiled.
fn of_ladder(ladder: &Ladder, size: &Overrides, found: &mut Found) -> Result<()> {
    for name in size.keys() {
        if !ladder.parameters().iter().any(|(known, _)| known == name) {
            return ladder.size(&ladder.steps()[0], size).map(drop);
        }
    }
    for doubt in ladder.doubts() {
        found.add(doubt);
    }
    found.unchecked.extend(guesses(ladder));
    let target = Target::of_this_machine(ladder);
    let can_compile = nvrtc::version().is_some();
    for step in ladder.steps() {
        for size in sizes(ladder, step, size) {
            if step.is_program() {
                if let Err(error) = ladder.program_plan(step.name(), &size, &Tuning::default()) {
                    found.add(placed(ladder, step, error));
                }
            } else {
                of_kernels(ladder, step, &size, &target, can_compile, found);
            }
        }
    }
    let has_kernels = ladder.steps().iter().any(|step| !step.is_program());
    let has_programs = ladder.steps().iter().any(Step::is_program);
    if has_kernels && !can_compile {
        found.unchecked.push(
            "without NVRTC, the sources were not compiled, and their kernels, parameters and launch bounds \
             were not checked; `adoprof doctor` says how to get it"
                .to_owned(),
        );
    } else if has_kernels && !target.is_of_device {
        found.unchecked.push(format!(
            "there is no CUDA device here: kernels were compiled for compute capability {}",
            target.words()
        ));
    }
    if has_programs {
        found.unchecked.push(
            "programs were neither built nor run, so the names of their kernels and of their output were not \
             checked"
                .to_owned(),
        );
    }
    Ok(())
}

/// What `init` guessed and nobody has confirmed by removing the mark.
fn guesses(ladder: &Ladder) -> Option<String> {
    match init::guesses(ladder.text()) {
        0 => None,
        1 => Some(
            "1 line is still marked GUESS, and only you know whether it is right: correct it if it is wrong, and \
             remove the mark"
                .to_owned(),
        ),
        lines => Some(format!(
            "{lines} lines are still marked GUESS, and only you know whether they are right: correct what is wrong, \
             and remove the marks"
        )),
    }
}

/// The sizes at which a step is checked: its own or the user's, and those with a name.
fn sizes(ladder: &Ladder, step: &Step, given: &Overrides) -> Vec<Overrides> {
    let named = ladder.named_sizes().iter().filter(|case| case.step == step.name());
    std::iter::once(given.clone()).chain(named.map(|case| case.size.clone())).collect()
}

fn of_kernels(
    ladder: &Ladder,
    step: &Step,
    size: &Overrides,
    target: &Target,
    can_compile: bool,
    found: &mut Found,
) {
    let variants = step.variants().iter().map(|variant| {
        ladder.variant_plan(step.name(), variant.name(), size, target.multiprocessors)
    });
    let own = ladder.plan(step.name(), size, target.multiprocessors);
    for plan in std::iter::once(own).chain(variants) {
        match plan {
            Err(error) => found.add(placed(ladder, step, error)),
            Ok(plan) if can_compile => {
                let checked = compiled::check(&plan, target);
                for problem in checked.problems {
                    found.add(ladder.mistake_of_step(step, &problem));
                }
                if let Some(refused) = checked.refused.filter(|text| !found.refused.contains(text))
                {
                    found.refused.push(refused);
                }
                if let Some(why) = checked.unchecked.filter(|why| !found.unchecked.contains(why)) {
                    found.unchecked.push(why);
                }
            }
            Ok(_) => {}
        }
    }
}

/// A failure of planning with the line of its step, if it has none.
fn placed(ladder: &Ladder, step: &Step, error: Error) -> Error {
    match error {
        error @ Error::Manifest { .. } => error,
        error => ladder.mistake_of_step(step, &error.to_string()),
    }
}
