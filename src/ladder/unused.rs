//! What a manifest declares and nothing reads, and units that don't fit: mistakes that keep nothing from running.

use toml::Spanned;

use super::expression::Expression;
use super::manifest::{Argument, DeclaredLaunch, Step};
use super::{Ladder, flag::Flag};
use crate::error::Error;
use crate::plan::Fill;
use crate::problem::catalogue;

impl Ladder {
    /// Tunables, parameters, and buffers that nothing uses, and a figure of merit whose unit does not fit.
    #[must_use]
    pub fn doubts(&self) -> Vec<Error> {
        let mut doubts = Vec::new();
        let mut doubt = |at: &std::ops::Range<usize>, problem: String| {
            doubts.push(self.origin().error(at, problem));
        };
        for step in &self.steps {
            let texts: Vec<&str> = step
                .source
                .iter()
                .chain(step.variants.iter().map(|variant| &variant.source))
                .map(|source| source.text.as_str())
                .collect();
            for name in step.manifest.tune.keys() {
                let word = name.get_ref();
                let is_used = expressions_of(&step.manifest).any(|used| names(used, word))
                    || texts.iter().any(|text| has_word(text, word));
                if !is_used {
                    doubt(
                        &name.span(),
                        format!(
                            "no expression of `{}` and no line of its source uses the tunable `{word}`: use it, or \
                         remove it",
                            step.name()
                        ),
                    );
                }
            }
        }
        for name in self.manifest.parameters.keys().filter(|name| !self.uses(name.get_ref())) {
            let word = name.get_ref();
            doubt(
                &name.span(),
                format!("nothing uses the parameter `{word}`: use it, or remove it"),
            );
        }
        for buffer in &self.manifest.buffers {
            let name = buffer.name.get_ref();
            if !self.passes(name) {
                doubt(
                    &buffer.name.span(),
                    format!("no launch takes the buffer `{name}`: add it to `args`, or remove it"),
                );
            }
        }
        if let Some(metric) = &self.manifest.metric {
            let unit = metric.unit.get_ref();
            if !unit.starts_with('G') || !unit.ends_with("/s") {
                doubt(
                    &metric.unit.span(),
                    format!(
                        "the figure of merit is work / seconds / 10^9, and the unit `{}` says otherwise: write one \
                     such as \"GB/s\" or \"GFLOP/s\", and `work` in bytes or operations",
                        crate::text::printable(unit)
                    ),
                );
            }
        }
        doubts
    }

    /// True where an expression or a reference uses a parameter.
    fn uses(&self, parameter: &str) -> bool {
        let manifest = &self.manifest;
        let shapes = manifest.buffers.iter().flat_map(|buffer| buffer.shape.get_ref());
        let work = manifest.metric.as_ref().map(|metric| &metric.work);
        let own = manifest.bytes.iter().chain(&manifest.flops).chain(work).chain(shapes);
        let mut own = own.map(Spanned::get_ref);
        let builtin = manifest.reference.as_ref().and_then(|name| catalogue::find(name.get_ref()));
        own.any(|used| names(used, parameter))
            || manifest.steps.iter().flat_map(expressions_of).any(|used| names(used, parameter))
            || builtin.is_some_and(|builtin| builtin.parameters.contains(&parameter))
    }

    /// True where a launch, a copy or a reference takes a buffer.
    fn passes(&self, buffer: &str) -> bool {
        let manifest = &self.manifest;
        let builtin = manifest.reference.as_ref().and_then(|name| catalogue::find(name.get_ref()));
        let is_original = manifest
            .buffers
            .iter()
            .filter_map(|other| other.fill.as_ref())
            .any(|fill| matches!(fill.get_ref(), Fill::Encode { of, .. } if of == buffer));
        is_original
            || builtin.is_some_and(|known| known.buffers.iter().any(|(name, ..)| *name == buffer))
            || manifest.steps.iter().flat_map(launches_of).any(|launch| {
                launch.args.iter().any(|argument| argument.get_ref().buffer() == Some(buffer))
            })
    }
}

/// A step's launches and those of its variants.
fn launches_of(step: &Step) -> impl Iterator<Item = &DeclaredLaunch> {
    let variants = step.variants.iter().filter_map(|variant| variant.launches.as_ref());
    step.launches().iter().chain(variants.flat_map(Spanned::get_ref))
}

/// Every expression of a step.
fn expressions_of(step: &Step) -> impl Iterator<Item = &Expression> {
    let check = step.check.iter().filter_map(|check| check.get_ref().run.as_ref());
    let commands = step.run.iter().chain(&step.build).chain(check);
    let flags = step.flags.iter().chain(step.variants.iter().flat_map(|variant| &variant.flags));
    let requires = step.requires.iter().map(|requirement| requirement.that.get_ref());
    flags
        .chain(commands)
        .flat_map(|flag: &Spanned<Flag>| flag.get_ref().expressions())
        .chain(requires)
        .chain(launches_of(step).flat_map(expressions_of_launch))
}

fn expressions_of_launch(launch: &DeclaredLaunch) -> impl Iterator<Item = &Expression> {
    let numbers = launch.args.iter().filter_map(|argument| match argument.get_ref() {
        Argument::Scalar(scalar) => Some(&scalar.value),
        _ => None,
    });
    let extents = launch.grid.get_ref().iter().chain(launch.block.get_ref());
    let all = extents.chain(&launch.shared).chain(&launch.repeat).chain(numbers);
    all.map(Spanned::get_ref)
}

fn names(expression: &Expression, name: &str) -> bool {
    expression.names().iter().any(|used| used == name)
}

/// True where a text has a name as a word of its own.
fn has_word(text: &str, word: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    text.split(|c| !is_name(c)).any(|each| each == word)
}
