//! From a manifest's text to a checked ladder: every name leads somewhere, every file is there.

mod arguments;
mod buffers;
mod library;
mod steps;
mod variants;

use std::collections::{BTreeMap, BTreeSet};

use toml::Spanned;

use super::expression::{Expression, RESERVED};
use super::manifest::{Formula, Manifest, Origin, Sizes};
use super::nearest::hint;
use super::{Ladder, NamedSize};
use crate::error::Result;
use crate::plan::Source;
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
    checker.library()?;
    checker.set()?;
    let named_sizes = checker.named_sizes()?;
    let (path, text) = (origin.path.to_owned(), origin.text.to_owned());
    Ok(Ladder { manifest, path, text, parameters, steps, named_sizes })
}

struct Checker<'a> {
    origin: Origin<'a>,
    manifest: &'a Manifest,
}

impl Checker<'_> {
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
    fn names(&self) -> Result<()> {
        let manifest = self.manifest;
        self.unique("ladder", std::iter::once(&manifest.name))?;
        self.unique("step", manifest.steps.iter().map(|step| &step.name))?;
        self.unique("buffer", manifest.buffers.iter().map(|buffer| &buffer.name))?;
        self.unique("case", manifest.cases.iter().map(|case| &case.name))?;
        for name in manifest.parameters.keys() {
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
                return self.fail(name, format!(
                    "`{word}` has a meaning of its own in expressions: give the parameter another \
                     name"
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
                return self.fail(
                    name,
                    format!(
                        "`{}` can't be the name of a {kind}: use letters, digits, `-` and `_`",
                        printable(word)
                    ),
                );
            }
            if !seen.insert(word) {
                return self.fail(
                    name,
                    format!("there is a {kind} `{word}` above: give this one another name"),
                );
            }
        }
        Ok(())
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
    fn tunables(&self, tune: &Sizes) -> Result<()> {
        for (name, value) in tune {
            let word = name.get_ref().as_str();
            let problem = if !is_word(word) {
                "can't be a tunable: use letters, digits and `_`, beginning with a letter"
            } else if RESERVED.contains(&word) {
                "has a meaning of its own in expressions: give the tunable another name"
            } else if self.parameters().any(|parameter| parameter == word) {
                "is a parameter of the ladder: give the tunable another name"
            } else {
                self.size(name, value)?;
                continue;
            };
            return self.fail(name, format!("`{}` {problem}", printable(word)));
        }
        Ok(())
    }

    fn sizes(&self, sizes: &Sizes) -> Result<BTreeMap<String, u64>> {
        sizes
            .iter()
            .map(|(name, value)| {
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
            })
            .collect()
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

    fn formulas(&self) -> Result<()> {
        let manifest = self.manifest;
        let shapes = manifest.buffers.iter().flat_map(|buffer| buffer.shape.get_ref());
        for formula in
            [&manifest.bytes, &manifest.flops, &manifest.metric.work].into_iter().chain(shapes)
        {
            self.formula(formula, false)?;
        }
        Ok(())
    }

    fn named_sizes(&self) -> Result<Vec<NamedSize>> {
        let steps: Vec<&str> =
            self.manifest.steps.iter().map(|step| step.name.get_ref().as_str()).collect();
        self.manifest
            .cases
            .iter()
            .map(|case| {
                let step = case.step.get_ref();
                if !steps.contains(&step.as_str()) {
                    return self.fail(
                        &case.step,
                        format!("no step is called `{}`{}", printable(step), hint(step, &steps)),
                    );
                }
                Ok(NamedSize {
                    name: case.name.get_ref().clone(),
                    step: step.clone(),
                    size: self.sizes(&case.size)?,
                    note: case.note.clone(),
                })
            })
            .collect()
    }
}

/// A name that expressions and the compiler can read.
fn is_word(word: &str) -> bool {
    let starts = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
