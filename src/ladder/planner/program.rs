//! From a step that is a program to its plan.

use toml::Spanned;

use super::{Planner, size};
use crate::error::{Error, Result};
use crate::ladder::expression::Values;
use crate::ladder::flag::Flag;
use crate::ladder::{Ladder, Overrides, Step, Tuning};
use crate::plan::{AnswerCheck, CommandLine, ProgramPlan, TimeSource, TimeUnit};

/// Runs without `runs` in the manifest: the fewest of which one can be slow by accident.
const RUNS: u32 = 3;

/// Plans a program at its own defaults with the user's overrides.
pub(in crate::ladder) fn program_plan(
    ladder: &Ladder,
    step: &Step,
    given: &Overrides,
    tuning: &Tuning,
) -> Result<ProgramPlan> {
    let (Some(folder), Some(run)) = (&ladder.folder, &step.manifest.run) else {
        return Err(Error::Usage(format!("step `{}` is not a program", step.name())));
    };
    for (name, is_given) in [
        ("compiler flags", !tuning.flags.is_empty()),
        ("a block", tuning.block.is_some()),
        ("a carve-out", tuning.carveout_percent.is_some()),
    ] {
        if is_given {
            return Err(Error::Usage(format!(
                "step `{}` is a program, which adoprof neither compiles nor launches, so {name} can't be \
                 set: put a name in braces into `build` or `run` and declare it in `tune`",
                step.name()
            )));
        }
    }
    let size = size(ladder, step, given)?;
    let reduced = step.defaults.iter().any(|(name, _)| !given.contains_key(name));
    let tunables = step.tuned(tuning)?;
    let planner =
        Planner { ladder, step, variant: None, size: size.clone(), sms: 1, tunables, block: None };
    let values = planner.values();
    planner.requirements(&values)?;
    let manifest = &step.manifest;
    let command = |text: &Spanned<Flag>| planner.command(text, &values);
    let check = match manifest.check.as_ref().map(Spanned::get_ref) {
        None => None,
        Some(check) => match (&check.output, &check.run) {
            (_, Some(run)) => Some(AnswerCheck::Command(command(run)?)),
            (output, None) => {
                output.as_ref().map(|output| AnswerCheck::Output(output.get_ref().clone()))
            }
        },
    };
    let mut notices = Vec::new();
    if reduced && !step.note().is_empty() {
        notices.push(step.note().to_owned());
    }
    if check.is_none() {
        notices.push(format!(
            "step `{}` has no `check` in its manifest, so nothing says whether its answer is right",
            step.name()
        ));
    }
    Ok(ProgramPlan {
        ladder: ladder.name().to_owned(),
        step: step.name().to_owned(),
        title: step.title().to_owned(),
        size,
        folder: folder.clone(),
        build: manifest.build.as_ref().map(command).transpose()?,
        run: command(run)?,
        kernels: manifest.kernels.as_ref().map(|kernels| kernels.get_ref().clone()),
        check,
        time: manifest.time.as_ref().map_or(TimeSource::Survey, |time| TimeSource::Output {
            expression: time.output.get_ref().clone(),
            unit: time.unit.as_ref().and_then(|unit| TimeUnit::parse(unit.get_ref())),
        }),
        runs: manifest.runs.as_ref().and_then(|n| u32::try_from(*n.get_ref()).ok()).unwrap_or(RUNS),
        bytes: planner.needed("bytes", ladder.manifest.bytes.as_ref(), &values)?,
        flops: planner.needed("flops", ladder.manifest.flops.as_ref(), &values)?,
        metric: planner.metric(&values)?,
        notices,
    })
}

impl Planner<'_> {
    /// A command at these values, split into words.
    fn command(&self, command: &Spanned<Flag>, values: &Values) -> Result<CommandLine> {
        let fails = |problem: String| self.ladder.origin().error(&command.span(), problem);
        let text = command.get_ref().at(values).map_err(fails)?;
        let mut words = shell_words::split(&text)
            .map_err(|_| fails("a quote of the command has no partner: add it".to_owned()))?
            .into_iter();
        let program =
            words.next().ok_or_else(|| fails("the command is empty: write one".to_owned()))?;
        Ok(CommandLine { program, args: words.collect() })
    }
}
