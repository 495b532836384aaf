//! Steps and their launches.

use std::path::{Component, Path};

use toml::Spanned;

use super::{Checker, ReadSource};
use crate::error::Result;
use crate::ladder::Step;
use crate::ladder::flag::Flag;
use crate::ladder::manifest::{self, Argument, DeclaredLaunch, Sizes};
use crate::ladder::rule_names::{RULE_NAMES, known_rule};
use crate::plan::{Role, Source};
use crate::text::nearest::{hint, nearest};
use crate::text::printable;

impl Checker<'_> {
    /// The step of that number; `folder` is where a program would run. `None` only beside a mistake.
    pub(super) fn step(
        &self,
        index: usize,
        folder: Option<&Path>,
        read: ReadSource,
    ) -> Option<Step> {
        let step = &self.manifest.steps[index];
        self.keep(self.place(index));
        let defaults = self.sizes(&step.size);
        self.tunables(&step.tune);
        for requirement in &step.requires {
            self.keep(self.formula_of(&requirement.that, false, &step.tune));
        }
        self.flags(&step.flags, &step.tune);
        let answers = self.rules(&step.answers);
        let plants = self.rules(&step.plants);
        let innocent = self.rules(&step.innocent);
        let is_both = |name: &Spanned<String>| step.host.contains(name);
        for name in &step.host {
            self.keep(self.elsewhere(name, false));
        }
        for name in &step.peer {
            self.keep(self.elsewhere(name, is_both(name)));
        }
        let source = step.file.as_ref().map(|file| self.keep(self.source(file, read)));
        let captured =
            step.captured.as_ref().map(|file| self.keep(self.captured(step, file, read)));
        if step.captured.is_some() {
            self.nothing_but_captured(step);
        } else if step.run.is_some() {
            self.program(step, folder);
        } else {
            self.kernels(index);
        }
        let source = match source {
            Some(source) => Some(source?),
            None => None,
        };
        let captured = match captured {
            Some(captured) => Some(captured?),
            None => None,
        };
        let variants = self.variants(step, source.as_ref(), read);
        Some(Step {
            manifest: step.clone(),
            defaults,
            answers,
            plants,
            innocent,
            source,
            captured,
            variants,
        })
    }

    /// A step of kernels has a file and launches that write the outputs, and nothing of a program's.
    fn kernels(&self, index: usize) {
        let step = &self.manifest.steps[index];
        self.no_program(step);
        if step.file.is_none() {
            let problem = "the key `file` is missing: add the .cu file, `run` for a program, or `captured` for a launch";
            self.keep::<()>(self.fail(&step.name, problem));
        }
        match &step.launches {
            None => {
                let problem = "the key `launches` is missing: add a [[steps.launches]]";
                self.keep::<()>(self.fail(&step.name, problem));
            }
            Some(launches) if launches.get_ref().is_empty() => {
                self.keep::<()>(self.fail(launches, "the step launches nothing: add a launch"));
            }
            Some(launches) => {
                for launch in launches.get_ref() {
                    self.launch(launch, &step.tune);
                }
                self.keep(self.writes_outputs(step, launches));
            }
        }
    }

    /// A buffer outside the device's memory exists, and lies in one place.
    fn elsewhere(&self, name: &Spanned<String>, is_both: bool) -> Result<()> {
        let known: Vec<&str> = self.buffer_names().collect();
        if !known.contains(&name.get_ref().as_str()) {
            let word = printable(name.get_ref());
            return self.fail(name, format!("`{word}` is not a buffer{}", hint(&word, &known)));
        }
        if !is_both {
            return Ok(());
        }
        self.fail(
            name,
            format!(
                "`{}` is in host memory already: remove it from `host` or from `peer`",
                name.get_ref()
            ),
        )
    }

    /// The names in flags are parameters, tunables of their step or `SMS`.
    pub(super) fn flags(&self, flags: &[Spanned<Flag>], tune: &Sizes) {
        for flag in flags {
            for expression in flag.get_ref().expressions() {
                self.keep(self.names_known(flag, expression, false, tune));
            }
        }
    }

    /// Names of rules, each of which there is.
    pub(super) fn rules(&self, names: &[Spanned<String>]) -> Vec<String> {
        let rule = |name: &Spanned<String>| {
            if known_rule(name.get_ref()) {
                return Ok(name.get_ref().clone());
            }
            self.fail(
                name,
                format!(
                    "no rule is called `{}`{}",
                    printable(name.get_ref()),
                    match nearest(name.get_ref(), RULE_NAMES.iter().copied()) {
                        Some(near) => format!("; did you mean `{near}`?"),
                        None => "; `adoprof explain` lists them".to_owned(),
                    }
                ),
            )
        };
        names.iter().filter_map(|name| self.keep(rule(name))).collect()
    }

    /// A side step starts from a main step; a main step from the one before it.
    fn place(&self, index: usize) -> Result<()> {
        let step = &self.manifest.steps[index];
        let main = &self.main_steps;
        match &step.from {
            None if step.side => self.fail(&step.name, format!(
                "`{}` is a side step without `from`: name the main step that it starts from",
                step.name.get_ref()
            )),
            Some(from) if !step.side => self.fail(from, format!(
                "`{}` is in the main walk and follows the step before it: remove `from`, or add `side = true`",
                step.name.get_ref()
            )),
            Some(from) if !main.contains(from.get_ref().as_str()) => self.fail(from, format!(
                "no main step is called `{}`{}",
                printable(from.get_ref()),
                hint(from.get_ref(), &main.iter().copied().collect::<Vec<_>>())
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn launch(&self, launch: &DeclaredLaunch, tune: &Sizes) {
        let kernel = launch.kernel.get_ref();
        let identifier = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if kernel.is_empty() || !kernel.chars().all(identifier) {
            self.keep::<()>(self.fail(
                &launch.kernel,
                format!(
                    "`{}` is not a kernel name: write the function's own name, without template arguments; if \
                     several are called so, the symbol in the cubin",
                    printable(kernel)
                ),
            ));
        }
        let repeated = launch.repeat.is_some();
        if let Some(repeat) = &launch.repeat {
            self.keep(self.formula_of(repeat, false, tune));
        }
        for (what, extents) in [("grid", &launch.grid), ("block", &launch.block)] {
            let count = extents.get_ref().len();
            if !(1..=3).contains(&count) {
                let problem = format!("a {what} has 1 to 3 extents (x, y, z), not {count}");
                self.keep::<()>(self.fail(extents, problem));
            }
        }
        let extents = launch.grid.get_ref().iter().chain(launch.block.get_ref());
        for formula in extents.chain(&launch.shared) {
            self.keep(self.formula_of(formula, repeated, tune));
        }
        for argument in &launch.args {
            self.keep(self.argument(kernel, argument, repeated, tune));
        }
    }

    pub(super) fn buffer_names(&self) -> impl Iterator<Item = &str> {
        self.manifest.buffers.iter().map(|buffer| buffer.name.get_ref().as_str())
    }

    /// Every output is passed to some launch: it would stay poisoned otherwise.
    fn writes_outputs(
        &self,
        step: &manifest::Step,
        launches: &Spanned<Vec<DeclaredLaunch>>,
    ) -> Result<()> {
        let passed = |name: &String| {
            launches.get_ref().iter().flat_map(|launch| &launch.args).any(
                |argument| matches!(argument.get_ref(), Argument::Buffer(passed) if passed == name),
            )
        };
        let outputs = self.manifest.buffers.iter().filter(|buffer| buffer.role == Role::Output);
        match outputs.map(|buffer| buffer.name.get_ref()).find(|name| !passed(name)) {
            None => Ok(()),
            Some(name) => self.fail(launches, format!(
                "no launch of `{}` takes the output `{name}`: add it to the `args` of the kernel that writes it",
                step.name.get_ref()
            )),
        }
    }

    pub(super) fn source(&self, file: &Spanned<String>, read: ReadSource) -> Result<Source> {
        let name = file.get_ref();
        if !is_own(name) && !is_of_neighbour(name) {
            return self.fail(file, format!(
                "`{}` is not inside the ladder's directory: write a path relative to it, or `../LADDER/FILE` for a file of a neighbouring ladder",
                printable(name)
            ));
        }
        read(name).or_else(|problem| {
            self.fail(file, format!(
                "cannot read `{}`: {problem}; put the file beside the manifest or correct its name",
                printable(name)
            ))
        })
    }
}

/// A path inside the ladder's directory.
fn is_own(file: &str) -> bool {
    let inside = Path::new(file).components().all(|part| matches!(part, Component::Normal(_)));
    !file.is_empty() && inside
}

/// `../LADDER/FILE`: a kernel may serve two ladders, with other compile flags for instance.
fn is_of_neighbour(file: &str) -> bool {
    file.strip_prefix("../").is_some_and(|beside| is_own(beside) && beside.contains('/'))
}
