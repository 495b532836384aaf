//! From a manifest's text to a checked ladder: every name leads somewhere, every file is there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use toml::Spanned;

use super::expression::RESERVED;
use super::manifest::{Argument, Buffer, Formula, Launch, Manifest, Origin, Sizes};
use super::nearest::hint;
use super::plan::{DType, Fill, Role, Source};
use super::rule_names::{RULE_NAMES, known_rule};
use super::{Case, Ladder, Step};
use crate::error::Result;
use crate::problem::reference;
use crate::text::printable;

/// Reads a `.cu` file of the ladder by its name in the manifest.
type ReadSource<'a> = &'a dyn Fn(&str) -> std::result::Result<Source, String>;

/// Reads and checks a manifest.
pub(super) fn ladder(origin: Origin, read: ReadSource) -> Result<Ladder> {
    let manifest = origin.parse()?;
    let checker = Checker { origin, manifest: &manifest };
    checker.names()?;
    let mut parameters: Vec<_> = manifest.parameters.iter().collect();
    parameters.sort_by_key(|(name, _)| name.span().start);
    let parameters = parameters
        .into_iter()
        .map(|(name, value)| Ok((name.get_ref().clone(), checker.size(name, value)?)))
        .collect::<Result<Vec<_>>>()?;
    checker.formulas()?;
    checker.buffers()?;
    let steps = manifest
        .steps
        .iter()
        .enumerate()
        .map(|(index, _)| checker.step(index, read))
        .collect::<Result<Vec<_>>>()?;
    checker.reference()?;
    let cases = checker.cases()?;
    let (path, text) = (origin.path.to_owned(), origin.text.to_owned());
    Ok(Ladder { path, text, parameters, steps, cases, manifest })
}

struct Checker<'a> {
    origin: Origin<'a>,
    manifest: &'a Manifest,
}

impl Checker<'_> {
    fn fail<T>(&self, at: &Spanned<impl Sized>, problem: impl Into<String>) -> Result<T> {
        Err(self.origin.error(&at.span(), problem))
    }

    /// Names are given once, can be typed, and parameters take no reserved word.
    fn names(&self) -> Result<()> {
        let manifest = self.manifest;
        self.unique("ladder", std::iter::once(&manifest.name))?;
        self.unique("step", manifest.steps.iter().map(|step| &step.name))?;
        self.unique("buffer", manifest.buffers.iter().map(|buffer| &buffer.name))?;
        self.unique("case", manifest.cases.iter().map(|case| &case.name))?;
        for name in manifest.parameters.keys() {
            let word = name.get_ref().as_str();
            let starts = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            if !starts || !word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                return self.fail(name, format!(
                    "`{}` can't be a parameter: use letters, digits and `_`, a letter first",
                    printable(word)
                ));
            }
            if RESERVED.contains(&word) {
                return self.fail(name, format!(
                    "`{word}` has a meaning of its own in expressions: call the parameter otherwise"
                ));
            }
        }
        if manifest.steps.is_empty() {
            return self.fail(&manifest.name, "the ladder has no steps: add a [[steps]]");
        }
        Ok(())
    }

    fn unique<'b>(
        &self,
        kind: &str,
        names: impl Iterator<Item = &'b Spanned<String>>,
    ) -> Result<()> {
        let mut seen = BTreeSet::new();
        for name in names {
            let word = name.get_ref();
            let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
            if word.is_empty() || word.starts_with('-') || !word.chars().all(allowed) {
                return self.fail(name, format!(
                    "`{}` can't be the name of a {kind}: use letters, digits, `-` and `_`",
                    printable(word)
                ));
            }
            if !seen.insert(word) {
                return self.fail(name, format!(
                    "there is a {kind} `{word}` above: give this one another name"
                ));
            }
        }
        Ok(())
    }

    /// A parameter's value.
    fn size(&self, name: &Spanned<String>, value: &Spanned<i64>) -> Result<u64> {
        match u64::try_from(*value.get_ref()) {
            Ok(size) if size > 0 => Ok(size),
            _ => self.fail(value, format!(
                "`{}` is {}: a size is a whole number from 1",
                name.get_ref(),
                value.get_ref()
            )),
        }
    }

    fn sizes(&self, sizes: &Sizes) -> Result<BTreeMap<String, u64>> {
        sizes
            .iter()
            .map(|(name, value)| {
                let known: Vec<&str> = self.parameters().collect();
                if known.contains(&name.get_ref().as_str()) {
                    return Ok((name.get_ref().clone(), self.size(name, value)?));
                }
                self.fail(name, format!(
                    "the ladder has no parameter `{}`{}",
                    printable(name.get_ref()),
                    hint(name.get_ref(), &known)
                ))
            })
            .collect()
    }

    fn parameters(&self) -> impl Iterator<Item = &str> {
        self.manifest.parameters.keys().map(|name| name.get_ref().as_str())
    }

    /// Every name in an expression is a parameter, `SMS`, or `i` in a repeated launch.
    fn formula(&self, formula: &Formula, repeated: bool) -> Result<()> {
        let mut known: Vec<&str> = self.parameters().collect();
        known.push("SMS");
        if repeated {
            known.push("i");
        }
        match formula.get_ref().names().iter().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) if name == "i" => {
                self.fail(formula, "`i` has a value only in a launch with `repeat`: add one")
            }
            Some(name) => self.fail(formula, format!(
                "`{}` uses `{name}`, which is no parameter{}",
                formula.get_ref().text(),
                hint(name, &known)
            )),
        }
    }

    fn formulas(&self) -> Result<()> {
        let manifest = self.manifest;
        let shapes = manifest.buffers.iter().flat_map(|buffer| buffer.shape.get_ref());
        for formula in [&manifest.bytes, &manifest.flops, &manifest.metric.work]
            .into_iter()
            .chain(shapes)
        {
            self.formula(formula, false)?;
        }
        Ok(())
    }

    fn buffers(&self) -> Result<()> {
        let manifest = self.manifest;
        for buffer in &manifest.buffers {
            let name = buffer.name.get_ref();
            if buffer.shape.get_ref().is_empty() {
                return self.fail(&buffer.shape, format!(
                    "the shape of `{name}` is empty: give its extents, slowest first, such as [\"N\", \"M\"]"
                ));
            }
            let needs_fill = matches!(buffer.role, Role::Input | Role::State);
            match &buffer.fill {
                None if needs_fill => {
                    return self.fail(&buffer.name, format!(
                        "`{name}` is {} {} without a `fill`: add one, such as fill = {{ choice = [1, 2] }}",
                        if buffer.role == Role::Input { "an" } else { "a" },
                        buffer.role.word()
                    ));
                }
                Some(fill) if !needs_fill => {
                    return self.fail(fill, format!(
                        "`{name}` is {} and poisoned before a checked run: remove `fill`, or make its role \"state\"",
                        if buffer.role == Role::Output { "an output" } else { "scratch" }
                    ));
                }
                Some(fill) => self.fill(buffer, fill)?,
                None => {}
            }
        }
        if manifest.buffers.iter().any(|buffer| buffer.role == Role::Output) {
            return Ok(());
        }
        self.fail(&manifest.name, "no buffer has the role \"output\": mark the one that holds the answer")
    }

    /// A fill's values fit the type.
    fn fill(&self, buffer: &Buffer, fill: &Spanned<Fill>) -> Result<()> {
        let dtype = buffer.dtype;
        let values: Vec<f64> = match fill.get_ref() {
            Fill::Choice(values) if values.is_empty() => {
                return self.fail(fill, "`choice` has no values: give one at least, such as [1, 2]");
            }
            Fill::Choice(values) => values.clone(),
            Fill::Constant(value) => vec![*value],
            Fill::Uniform { low, high } if low.is_nan() || high.is_nan() || low >= high => {
                return self.fail(fill, format!(
                    "`uniform` from {low} to {high} is empty: `low` must be below `high`"
                ));
            }
            Fill::Uniform { low, high } => vec![*low, *high],
            Fill::Index => Vec::new(),
        };
        match values.into_iter().find(|value| !fits(dtype, *value)) {
            None => Ok(()),
            Some(value) => self.fail(fill, format!(
                "{value} is no value of type {}: change the fill or the `dtype`",
                dtype.word()
            )),
        }
    }

    fn step(&self, index: usize, read: ReadSource) -> Result<Step> {
        let step = &self.manifest.steps[index];
        self.place(index)?;
        let defaults = self.sizes(&step.size)?;
        for requirement in &step.requires {
            self.formula(&requirement.that, false)?;
        }
        for answer in &step.answers {
            if !known_rule(answer.get_ref()) {
                return self.fail(answer, format!(
                    "no rule is called `{}`{}",
                    printable(answer.get_ref()),
                    match super::nearest::nearest(answer.get_ref(), RULE_NAMES.iter().copied()) {
                        Some(name) => format!("; did you mean `{name}`?"),
                        None => "; `adoprof explain` lists them".to_owned(),
                    }
                ));
            }
        }
        if step.launches.get_ref().is_empty() {
            return self.fail(&step.launches, "the step launches nothing: add a launch");
        }
        for launch in step.launches.get_ref() {
            self.launch(launch)?;
        }
        self.writes_outputs(index)?;
        let source = self.source(&step.file, read)?;
        let answers = step.answers.iter().map(|answer| answer.get_ref().clone()).collect();
        Ok(Step { manifest: step.clone(), defaults, answers, source })
    }

    /// A side step starts from a main step; a main step from the one before it.
    fn place(&self, index: usize) -> Result<()> {
        let step = &self.manifest.steps[index];
        let main: Vec<&str> = self
            .manifest
            .steps
            .iter()
            .filter(|step| !step.side)
            .map(|step| step.name.get_ref().as_str())
            .collect();
        match &step.from {
            None if step.side => self.fail(&step.name, format!(
                "`{}` is a side step without `from`: name the main step that it starts from",
                step.name.get_ref()
            )),
            Some(from) if !step.side => self.fail(from, format!(
                "`{}` is in the main walk and follows the step before it: remove `from`, or add `side = true`",
                step.name.get_ref()
            )),
            Some(from) if !main.contains(&from.get_ref().as_str()) => self.fail(from, format!(
                "no main step is called `{}`{}",
                printable(from.get_ref()),
                hint(from.get_ref(), &main)
            )),
            _ => Ok(()),
        }
    }

    fn launch(&self, launch: &Launch) -> Result<()> {
        let kernel = launch.kernel.get_ref();
        let identifier = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if kernel.is_empty() || !kernel.chars().all(identifier) {
            return self.fail(&launch.kernel, format!(
                "`{}` is no kernel name: declare the kernel extern \"C\" and write its plain name",
                printable(kernel)
            ));
        }
        let repeated = launch.repeat.is_some();
        if let Some(repeat) = &launch.repeat {
            self.formula(repeat, false)?;
        }
        for (what, extents) in [("grid", &launch.grid), ("block", &launch.block)] {
            if !(1..=3).contains(&extents.get_ref().len()) {
                return self.fail(extents, format!(
                    "a {what} has 1 to 3 extents (x, y, z); here are {}",
                    extents.get_ref().len()
                ));
            }
        }
        for formula in launch.grid.get_ref().iter().chain(launch.block.get_ref()) {
            self.formula(formula, repeated)?;
        }
        if let Some(shared) = &launch.shared {
            self.formula(shared, repeated)?;
        }
        for argument in &launch.args {
            match argument.get_ref() {
                Argument::Scalar(scalar) => self.formula(&scalar.value, repeated)?,
                Argument::Buffer(name) => {
                    let known: Vec<&str> = self.buffer_names().collect();
                    if !known.contains(&name.as_str()) {
                        return self.fail(argument, format!(
                            "`{kernel}` takes `{}`, which is no buffer{}; a number is written {{ type = \"i32\", value = \"N\" }}",
                            printable(name),
                            hint(name, &known)
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    fn buffer_names(&self) -> impl Iterator<Item = &str> {
        self.manifest.buffers.iter().map(|buffer| buffer.name.get_ref().as_str())
    }

    /// Every output is passed to some launch: it would stay poisoned otherwise.
    fn writes_outputs(&self, index: usize) -> Result<()> {
        let step = &self.manifest.steps[index];
        let passed = |name: &String| {
            step.launches.get_ref().iter().flat_map(|launch| &launch.args).any(
                |argument| matches!(argument.get_ref(), Argument::Buffer(passed) if passed == name),
            )
        };
        let outputs = self.manifest.buffers.iter().filter(|buffer| buffer.role == Role::Output);
        match outputs.map(|buffer| buffer.name.get_ref()).find(|name| !passed(name)) {
            None => Ok(()),
            Some(name) => self.fail(&step.launches, format!(
                "no launch of `{}` takes the output `{name}`: add it to the `args` of the kernel that writes it",
                step.name.get_ref()
            )),
        }
    }

    fn source(&self, file: &Spanned<String>, read: ReadSource) -> Result<Source> {
        let name = file.get_ref();
        let inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        if name.is_empty() || !inside {
            return self.fail(file, format!(
                "`{}` is not inside the ladder's directory: write a path relative to it, without `..`",
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

    /// The reference is a step, or one that the program carries and that fits the buffers.
    fn reference(&self) -> Result<()> {
        let manifest = self.manifest;
        let name = manifest.reference.get_ref();
        if manifest.steps.iter().any(|step| step.name.get_ref() == name) {
            let Some(tolerance) = &manifest.tolerance else {
                return self.fail(&manifest.reference, format!(
                    "answers are compared with step `{name}`: add tolerance = {{ relative = 1e-5 }}, or 0 for equality"
                ));
            };
            let relative = tolerance.get_ref().relative;
            if !(0.0..1.0).contains(&relative) {
                return self.fail(tolerance, format!(
                    "a relative tolerance of {relative} makes no sense: write a number from 0 to below 1"
                ));
            }
            return Ok(());
        }
        let Some(builtin) = reference::find(name) else {
            let known: Vec<&str> = reference::REFERENCES
                .iter()
                .map(|reference| reference.name)
                .chain(manifest.steps.iter().map(|step| step.name.get_ref().as_str()))
                .collect();
            return self.fail(&manifest.reference, format!(
                "no step and no built-in reference is called `{}`{}",
                printable(name),
                hint(name, &known)
            ));
        };
        if let Some(tolerance) = &manifest.tolerance {
            return self.fail(tolerance, format!(
                "the built-in reference `{name}` derives its own tolerance: remove this one"
            ));
        }
        for parameter in builtin.parameters {
            if !self.parameters().any(|known| known == *parameter) {
                return self.fail(&manifest.reference, format!(
                    "the reference `{name}` needs a parameter `{parameter}`: add it to [parameters]"
                ));
            }
        }
        for (needed, role) in builtin.buffers {
            let fits = |buffer: &&Buffer| {
                buffer.name.get_ref() == needed && buffer.role == *role && buffer.dtype == DType::F32
            };
            if !manifest.buffers.iter().any(|buffer| fits(&buffer)) {
                return self.fail(&manifest.reference, format!(
                    "the reference `{name}` needs a buffer `{needed}` of role \"{}\" and dtype \"f32\": add it",
                    role.word()
                ));
            }
        }
        Ok(())
    }

    fn cases(&self) -> Result<Vec<Case>> {
        let steps: Vec<&str> =
            self.manifest.steps.iter().map(|step| step.name.get_ref().as_str()).collect();
        self.manifest
            .cases
            .iter()
            .map(|case| {
                let step = case.step.get_ref();
                if !steps.contains(&step.as_str()) {
                    return self.fail(&case.step, format!(
                        "no step is called `{}`{}",
                        printable(step),
                        hint(step, &steps)
                    ));
                }
                Ok(Case {
                    name: case.name.get_ref().clone(),
                    step: step.clone(),
                    size: self.sizes(&case.size)?,
                    note: case.note.clone(),
                })
            })
            .collect()
    }
}

/// True where a type holds a value: finite, in range, and whole for integers. A fraction may be
/// rounded to the floating-point type.
fn fits(dtype: DType, value: f64) -> bool {
    let (low, high) = dtype.range();
    (low..=high).contains(&value) && (dtype.is_float() || value.fract() == 0.0)
}
