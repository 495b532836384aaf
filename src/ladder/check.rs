//! From a manifest's text to a checked ladder: every name leads somewhere, every file is there.

mod arguments;
mod buffers;
mod captured;
mod library;
mod program;
mod steps;
mod variants;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use toml::Spanned;

use super::expression::{Expression, RESERVED};
use super::manifest::{DeclaredSize, Formula, Manifest, Origin, Sizes};
use super::{Ladder, NamedSize, mend};
use crate::error::{Error, Result};
use crate::plan::Source;
use crate::text::nearest::hint;
use crate::text::printable;

/// Reads a `.cu` file of the ladder by its name in the manifest.
pub(super) type ReadSource<'a> = &'a dyn Fn(&str) -> std::result::Result<Source, String>;

/// Reads and checks a manifest; the first mistake is the error. `folder` is where programs run.
pub(super) fn ladder(origin: Origin, folder: Option<&Path>, read: ReadSource) -> Result<Ladder> {
    checked(origin, folder, origin.parse()?, read).map_err(|mut mistakes| mistakes.swap_remove(0))
}

/// Reads and checks a manifest; all its mistakes by their lines, and the ladder where there is none.
pub(super) fn all(
    origin: Origin,
    folder: Option<&Path>,
    read: ReadSource,
) -> (Option<Ladder>, Vec<Error>) {
    let mut mended = mend::parse(origin);
    let mut mistakes = std::mem::take(&mut mended.mistakes);
    let mut ladder = None;
    if let Some(manifest) = mended.manifest.take() {
        let origin = Origin { path: origin.path, text: &mended.text };
        match checked(origin, folder, manifest, read) {
            Ok(checked) => ladder = Some(checked).filter(|_| mistakes.is_empty()),
            Err(more) => {
                let placed = more.into_iter().filter_map(|mistake| mended.place(mistake));
                mistakes.extend(placed);
            }
        }
    }
    mistakes.sort_by_key(|mistake| match mistake {
        Error::Manifest { line, .. } => *line,
        _ => 0,
    });
    (ladder, mistakes)
}

/// Checks a manifest; all mistakes are the error, of which there is one at least.
fn checked(
    origin: Origin,
    folder: Option<&Path>,
    manifest: Manifest,
    read: ReadSource,
) -> std::result::Result<Ladder, Vec<Error>> {
    let main = manifest.steps.iter().filter(|step| !step.side);
    let main_steps = main.map(|step| step.name.get_ref().as_str()).collect();
    let checker = Checker { origin, manifest: &manifest, main_steps, mistakes: RefCell::default() };
    checker.names();
    let mut parameters: Vec<_> = manifest.parameters.iter().collect();
    parameters.sort_by_key(|(name, _)| name.span().start);
    let parameters = parameters
        .into_iter()
        .filter_map(|(name, value)| {
            Some((name.get_ref().clone(), checker.keep(checker.size(name, value))?))
        })
        .collect();
    checker.wanted_by_kernels();
    checker.formulas();
    checker.buffers();
    let steps = (0..manifest.steps.len()).take_while(|_| checker.goes_on());
    let steps = steps.filter_map(|at| checker.step(at, folder, read)).collect();
    checker.keep(checker.reference());
    checker.keep(checker.library());
    checker.keep(checker.set());
    let named_sizes = checker.named_sizes();
    let mistakes = checker.mistakes.into_inner();
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let (path, text) = (origin.path.to_owned(), origin.text.to_owned());
    let folder = folder.map(Path::to_owned);
    Ok(Ladder { manifest, path, text, folder, parameters, steps, named_sizes })
}

/// More mistakes than these are not looked for: nobody mends them in one go, and each has its line found.
const MOST_MISTAKES: usize = 100;

struct Checker<'a> {
    origin: Origin<'a>,
    manifest: &'a Manifest,
    /// The names of the steps that are in the main walk.
    main_steps: BTreeSet<&'a str>,
    /// In the order in which they were found.
    mistakes: RefCell<Vec<Error>>,
}

impl Checker<'_> {
    /// True until there are mistakes enough.
    fn goes_on(&self) -> bool {
        self.mistakes.borrow().len() < MOST_MISTAKES
    }

    /// The value, or the mistake kept and nothing.
    fn keep<T>(&self, result: Result<T>) -> Option<T> {
        result.map_err(|mistake| self.mistakes.borrow_mut().push(mistake)).ok()
    }

    fn fail<T>(&self, at: &Spanned<impl Sized>, problem: impl Into<String>) -> Result<T> {
        Err(self.origin.error(&at.span(), problem))
    }

    /// A ladder that was judged belongs to a set of the fault bench, and its commit is one.
    fn set(&self) -> Result<()> {
        let Some(commit) = &self.manifest.first_judged else { return Ok(()) };
        if self.manifest.set.is_none() {
            return self.fail(commit, "`first_judged` needs the `set` of the fault bench: add it");
        }
        let word = commit.get_ref();
        if word.len() < 7 || !word.chars().all(|c| c.is_ascii_hexdigit()) {
            return self.fail(commit, "`first_judged` is a commit: write at least 7 of its digits");
        }
        Ok(())
    }

    /// Names are given once, can be typed, and parameters take no reserved word.
    fn names(&self) {
        let manifest = self.manifest;
        self.unique("ladder", std::iter::once(&manifest.name));
        self.unique("step", manifest.steps.iter().map(|step| &step.name));
        self.unique("buffer", manifest.buffers.iter().map(|buffer| &buffer.name));
        self.unique("case", manifest.cases.iter().map(|case| &case.name));
        for name in manifest.parameters.keys() {
            self.keep(self.parameter(name));
        }
        if manifest.steps.is_empty() {
            let problem = "the ladder has no steps: add a [[steps]]";
            self.keep::<()>(self.fail(&manifest.name, problem));
        }
    }

    fn parameter(&self, name: &Spanned<String>) -> Result<()> {
        let word = name.get_ref().as_str();
        if !is_word(word) {
            return self.fail(
                name,
                format!(
                    "`{}` can't be a parameter: use letters, digits and `_`, beginning with a \
                     letter",
                    printable(word)
                ),
            );
        }
        if RESERVED.contains(&word) {
            return self.fail(
                name,
                format!(
                    "`{word}` has a meaning of its own in expressions: give the parameter another \
                     name"
                ),
            );
        }
        Ok(())
    }

    fn unique<'b>(&self, kind: &str, names: impl Iterator<Item = &'b Spanned<String>>) {
        let mut seen = BTreeSet::new();
        for name in names {
            let word = name.get_ref();
            let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
            if word.is_empty() || word.starts_with('-') || !word.chars().all(allowed) {
                self.keep::<()>(self.fail(
                    name,
                    format!(
                        "`{}` can't be the name of a {kind}: use letters, digits, `-` and `_`",
                        printable(word)
                    ),
                ));
            }
            if !seen.insert(word) {
                self.keep::<()>(self.fail(
                    name,
                    format!("there is a {kind} `{word}` above: give this one another name"),
                ));
            }
        }
    }

    /// What a ladder with kernels needs beside them.
    fn wanted_by_kernels(&self) {
        let manifest = self.manifest;
        if manifest.steps.iter().all(|step| step.run.is_some() || step.captured.is_some()) {
            return;
        }
        for (key, is_there) in [
            ("reference", manifest.reference.is_some()),
            ("parameters", !manifest.parameters.is_empty()),
            ("metric", manifest.metric.is_some()),
            ("bytes", manifest.bytes.is_some()),
            ("flops", manifest.flops.is_some()),
            ("buffers", !manifest.buffers.is_empty()),
        ] {
            if !is_there {
                let problem = format!(
                    "the key `{key}` is missing, which a ladder with steps of kernels needs: add it"
                );
                self.keep::<()>(self.fail(&manifest.name, problem));
            }
        }
    }

    /// A parameter's value.
    fn size(&self, name: &Spanned<String>, value: &Spanned<i64>) -> Result<u64> {
        match u64::try_from(*value.get_ref()) {
            Ok(size) if (1..=super::overrides::LARGEST).contains(&size) => Ok(size),
            _ => self.fail(
                value,
                format!(
                    "`{}` is {}: a size is a whole number from 1 to 2^53",
                    name.get_ref(),
                    value.get_ref()
                ),
            ),
        }
    }

    /// A step's tunables: names of their own, whole numbers from 1.
    fn tunables(&self, tune: &Sizes) {
        for (name, value) in tune {
            let word = name.get_ref().as_str();
            let problem = if !is_word(word) {
                "can't be a tunable: use letters, digits and `_`, beginning with a letter"
            } else if RESERVED.contains(&word) {
                "has a meaning of its own in expressions: give the tunable another name"
            } else if self.parameters().any(|parameter| parameter == word) {
                "is a parameter of the ladder: give the tunable another name"
            } else {
                self.keep(self.size(name, value));
                continue;
            };
            self.keep::<()>(self.fail(name, format!("`{}` {problem}", printable(word))));
        }
    }

    fn sizes(&self, sizes: &Sizes) -> BTreeMap<String, u64> {
        let size = |(name, value): (&Spanned<String>, &Spanned<i64>)| {
            let known: Vec<&str> = self.parameters().collect();
            if known.contains(&name.get_ref().as_str()) {
                return Ok((name.get_ref().clone(), self.size(name, value)?));
            }
            self.fail(
                name,
                format!(
                    "the ladder has no parameter `{}`{}",
                    printable(name.get_ref()),
                    hint(name.get_ref(), &known)
                ),
            )
        };
        sizes.iter().filter_map(|each| self.keep(size(each))).collect()
    }

    fn parameters(&self) -> impl Iterator<Item = &str> {
        self.manifest.parameters.keys().map(|name| name.get_ref().as_str())
    }

    /// Every name in an expression is a parameter, `SMS`, or `i` in a repeated launch.
    fn formula(&self, formula: &Formula, repeated: bool) -> Result<()> {
        self.formula_of(formula, repeated, &Sizes::new())
    }

    /// The same in a step, where its tunables have values too.
    fn formula_of(&self, formula: &Formula, repeated: bool, tune: &Sizes) -> Result<()> {
        self.names_known(formula, formula.get_ref(), repeated, tune)
    }

    /// The same for an expression that is only a part of what stands at `at`.
    fn names_known(
        &self,
        at: &Spanned<impl Sized>,
        expression: &Expression,
        repeated: bool,
        tune: &Sizes,
    ) -> Result<()> {
        let mut known: Vec<&str> = self.parameters().collect();
        known.extend(tune.keys().map(|name| name.get_ref().as_str()));
        known.push("SMS");
        if repeated {
            known.push("i");
        }
        match expression.names().iter().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) if name == "i" => {
                self.fail(at, "`i` has a value only in a launch with `repeat`: add `repeat`")
            }
            Some(name) => self.fail(
                at,
                format!(
                    "`{}` uses `{name}`, which is not a parameter{}",
                    expression.text(),
                    hint(name, &known)
                ),
            ),
        }
    }

    fn formulas(&self) {
        let manifest = self.manifest;
        let shapes = manifest.buffers.iter().flat_map(|buffer| buffer.shape.get_ref());
        let work = manifest.metric.as_ref().map(|metric| &metric.work);
        let own = manifest.bytes.iter().chain(&manifest.flops).chain(work);
        for formula in own.chain(shapes) {
            self.keep(self.formula(formula, false));
        }
    }

    fn named_sizes(&self) -> Vec<NamedSize> {
        let steps: Vec<&str> =
            self.manifest.steps.iter().map(|step| step.name.get_ref().as_str()).collect();
        let known: BTreeSet<&str> = steps.iter().copied().collect();
        let named = |case: &DeclaredSize| {
            let step = case.step.get_ref();
            if !known.contains(step.as_str()) {
                return self.fail(
                    &case.step,
                    format!("no step is called `{}`{}", printable(step), hint(step, &steps)),
                );
            }
            Ok(NamedSize {
                name: case.name.get_ref().clone(),
                step: step.clone(),
                size: self.sizes(&case.size),
                note: case.note.clone(),
            })
        };
        let cases = self.manifest.cases.iter().take_while(|_| self.goes_on());
        cases.filter_map(|case| self.keep(named(case))).collect()
    }
}

/// True where a parameter may have this name.
pub(crate) fn is_free_name(word: &str) -> bool {
    is_word(word) && !RESERVED.contains(&word)
}

/// A name that expressions and the compiler can read.
fn is_word(word: &str) -> bool {
    let starts = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
