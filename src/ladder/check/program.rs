//! Steps that are programs.

use std::path::Path;

use regex::Regex;
use toml::Spanned;

use super::Checker;
use crate::error::Result;
use crate::ladder::flag::Flag;
use crate::ladder::manifest::{self, AnswerCheck, OutputTime};
use crate::plan::TimeUnit;
use crate::text::printable;

/// Runs at most: a time from more of them is no better.
pub(in crate::ladder) const MOST_RUNS: i64 = 1000;

/// What a step of kernels has and a program has not, with where it stands.
type Misplaced<'a> = [(&'static str, Option<std::ops::Range<usize>>); 6];

impl Checker<'_> {
    /// A program has what it needs and nothing that only kernels have.
    pub(super) fn program(&self, step: &manifest::Step, folder: Option<&Path>) {
        let Some(run) = &step.run else { return };
        if folder.is_none() {
            let problem = "a program runs in its ladder's folder, and a built-in ladder has none";
            self.keep::<()>(self.fail(run, problem));
        }
        let of_check = step.check.as_ref().and_then(|check| check.get_ref().run.as_ref());
        for command in [Some(run), step.build.as_ref(), of_check].into_iter().flatten() {
            self.keep(self.command(step, command));
        }
        if let Some(kernels) = &step.kernels {
            self.keep(self.expression("match", kernels));
        }
        if let Some(check) = &step.check {
            self.keep(self.answer_check(check));
        }
        if let Some(time) = &step.time {
            self.keep(self.output_time(time));
        }
        if let Some(runs) =
            step.runs.as_ref().filter(|runs| !(1..=MOST_RUNS).contains(runs.get_ref()))
        {
            let problem = format!("`runs` is a whole number from 1 to {MOST_RUNS}");
            self.keep::<()>(self.fail(runs, problem));
        }
        self.nothing_of_kernels(step);
    }

    /// Keys that mean nothing for a program.
    fn nothing_of_kernels(&self, step: &manifest::Step) {
        let first = |list: &[Spanned<String>]| list.first().map(Spanned::span);
        let misplaced: Misplaced = [
            ("launches", step.launches.as_ref().map(Spanned::span)),
            ("flags", step.flags.first().map(Spanned::span)),
            ("host", first(&step.host)),
            ("peer", first(&step.peer)),
            ("variants", step.variants.first().map(|variant| variant.name.span())),
            ("plants", first(&step.plants)),
        ];
        for (key, span) in misplaced {
            let Some(span) = span else { continue };
            let problem = match key {
                "flags" => "`run` makes this step a program, and its flags stand in `build`: remove `flags`".to_owned(),
                _ => format!(
                    "`run` makes this step a program, and `{key}` is for steps of kernels: remove it, or remove `run`"
                ),
            };
            self.mistakes.borrow_mut().push(self.origin.error(&span, problem));
        }
    }

    /// Keys that mean nothing for kernels.
    pub(super) fn no_program(&self, step: &manifest::Step) {
        for (key, span) in [
            ("build", step.build.as_ref().map(Spanned::span)),
            ("match", step.kernels.as_ref().map(Spanned::span)),
            ("check", step.check.as_ref().map(Spanned::span)),
            ("time", step.time.as_ref().map(|time| time.output.span())),
            ("runs", step.runs.as_ref().map(Spanned::span)),
        ] {
            let Some(span) = span else { continue };
            let problem =
                format!("`{key}` is for a step that is a program: add `run`, or remove it");
            self.mistakes.borrow_mut().push(self.origin.error(&span, problem));
        }
    }

    /// A command has a first word, its quotes match, and its names are known.
    fn command(&self, step: &manifest::Step, command: &Spanned<Flag>) -> Result<()> {
        for expression in command.get_ref().expressions() {
            self.names_known(command, expression, false, &step.tune)?;
            if expression.names().iter().any(|name| name == "SMS") {
                return self.fail(
                    command,
                    "a command does not know the device's number of multiprocessors: leave `SMS` out",
                );
            }
        }
        match shell_words::split(&command.get_ref().sketch()) {
            Ok(words) if words.is_empty() => self.fail(command, "the command is empty: write one"),
            Ok(_) => Ok(()),
            Err(_) => self.fail(command, "a quote of the command has no partner: add it"),
        }
    }

    fn expression(&self, key: &str, text: &Spanned<String>) -> Result<Regex> {
        Regex::new(text.get_ref()).or_else(|error| {
            // The message draws the place over several lines; its last one says what is wrong.
            let error = error.to_string();
            let problem = error.lines().last().unwrap_or_default();
            let problem = problem.strip_prefix("error: ").unwrap_or(problem);
            let shown = printable(text.get_ref());
            let problem = format!("`{key}`: `{shown}` is not a regular expression: {problem}");
            self.fail(text, problem)
        })
    }

    fn answer_check(&self, check: &Spanned<AnswerCheck>) -> Result<()> {
        match (&check.get_ref().output, &check.get_ref().run) {
            (Some(output), None) => self.expression("check", output).map(drop),
            (None, Some(_)) => Ok(()),
            _ => self.fail(
                check,
                "`check` has either `output`, an expression that the program's output must match, or `run`, a \
                 command that ends with 0 where the answer is right",
            ),
        }
    }

    /// The first group of the expression is the number; the unit is known, or comes in the second.
    fn output_time(&self, time: &OutputTime) -> Result<()> {
        let groups = self.expression("time", &time.output)?.captures_len() - 1;
        if let Some(unit) = &time.unit {
            if TimeUnit::parse(unit.get_ref()).is_none() {
                let problem = format!(
                    "`{}` is not a unit of time: write {}",
                    printable(unit.get_ref()),
                    TimeUnit::WORDS
                );
                return self.fail(unit, problem);
            }
        } else if groups == 1 {
            return self.fail(
                &time.output,
                "the expression has no second group for the unit: add one, or a `unit`",
            );
        }
        if groups == 0 {
            return self.fail(
                &time.output,
                "the expression has no group: put parentheses around the number, such as ([0-9.]+) (ms)",
            );
        }
        Ok(())
    }
}
