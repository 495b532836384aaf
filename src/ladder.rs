//! Ladders: kernels as data.
//!
//! A ladder is a directory with a `ladder.toml` and `.cu` files. Read, checked, and with its
//! expressions evaluated for one problem size, a step is a [`crate::plan::Plan`], which is all that the
//! launcher sees.

mod check;
mod copy;
mod edited;
pub mod expression;
mod flag;
pub mod manifest;
mod mend;
#[cfg(test)]
mod memory_tests;
pub mod overrides;
mod planner;
pub mod rule_names;
mod source;
mod sources;
mod step;
#[cfg(test)]
mod program_tests;
#[cfg(test)]
mod tests;
pub mod tuning;
mod unused;
#[cfg(test)]
mod variant_tests;

use std::collections::BTreeMap;
use std::path::PathBuf;

pub(crate) use check::is_free_name;
pub use manifest::Published;
pub use overrides::{Overrides, parse_overrides};
pub use source::DEFAULT;
pub use step::{NamedSize, Step, Variant};
pub use tuning::Tuning;

use crate::error::{Error, Result};
use crate::text::nearest;
use manifest::{Manifest, Origin};

/// A ladder that has been read and checked; its expressions wait for a problem size.
#[derive(Debug, Clone)]
pub struct Ladder {
    manifest: Manifest,
    /// The manifest's path and text, for errors that show only at a given size.
    path: PathBuf,
    text: String,
    /// Its folder on disk; `None` for a built-in ladder.
    folder: Option<PathBuf>,
    /// Parameters with their defaults, in the manifest's order.
    parameters: Vec<(String, u64)>,
    steps: Vec<Step>,
    named_sizes: Vec<NamedSize>,
}

impl Ladder {
    /// The ladder's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.manifest.name.get_ref()
    }

    /// The ladder in one line.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.manifest.title
    }

    /// The set of the fault bench that it came with; `None` for a ladder that is not of the bench.
    #[must_use]
    pub fn set(&self) -> Option<u32> {
        self.manifest.set
    }

    /// The commit with which the fault bench first judged it; `None` where rules were tuned on it from
    /// the start, and for a ladder that is not of the bench.
    #[must_use]
    pub fn first_judged(&self) -> Option<&str> {
        self.manifest.first_judged.as_ref().map(|commit| commit.get_ref().as_str())
    }

    /// What the fault bench has it for, which is the folder that it lies in: its first planted fault,
    /// `limits` or `lookalikes`. `None` for a ladder that is not of the bench.
    #[must_use]
    pub fn kind(&self) -> Option<&str> {
        self.set()?;
        let planted = self.steps.iter().find_map(|step| step.plants().first());
        let at_limit = self.steps.iter().any(Step::is_at_limit);
        Some(planted.map_or(if at_limit { "limits" } else { "lookalikes" }, String::as_str))
    }

    /// The least compute capability that its kernels compile for; `None` where any will do.
    #[must_use]
    pub fn least_compute_capability(&self) -> Option<(u32, u32)> {
        self.manifest.least_compute_capability
    }

    /// What it computes, in a few sentences.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.manifest.description
    }

    /// Parameters with their defaults, in the manifest's order.
    #[must_use]
    pub fn parameters(&self) -> &[(String, u64)] {
        &self.parameters
    }

    /// All steps in the manifest's order, side steps among them.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The main walk.
    pub fn main_steps(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| !step.is_side())
    }

    /// Named problem sizes.
    #[must_use]
    pub fn named_sizes(&self) -> &[NamedSize] {
        &self.named_sizes
    }

    /// Each buffer's name, type, shape as the manifest writes it, and role.
    pub fn buffer_words(&self) -> impl Iterator<Item = [String; 4]> {
        self.manifest.buffers.iter().map(|buffer| {
            let shape: Vec<&str> =
                buffer.shape.get_ref().iter().map(|extent| extent.get_ref().text()).collect();
            let (name, shape) = (buffer.name.get_ref().clone(), shape.join(" x "));
            [name, buffer.dtype.word().to_owned(), shape, buffer.role.word().to_owned()]
        })
    }

    /// The step of that name.
    ///
    /// # Errors
    /// [`Error::Usage`] with the names that there are.
    pub fn step(&self, name: &str) -> Result<&Step> {
        self.steps.iter().find(|step| step.name() == name).ok_or_else(|| {
            let names: Vec<&str> = self.steps.iter().map(Step::name).collect();
            Error::Usage(format!(
                "ladder `{}` has no step `{}`{}",
                self.name(),
                crate::text::printable(name),
                nearest::hint(name, &names)
            ))
        })
    }

    /// The manifest as it is written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The first main step after `after_step` that takes the fault `rule` away. A side step counts
    /// as the step that it starts from. `None` where no later step does, or the step is unknown.
    #[must_use]
    pub fn next_for(&self, rule: &str, after_step: &str) -> Option<&Step> {
        let after = self.step(after_step).ok()?;
        let place = after.from().unwrap_or(after.name());
        self.main_steps()
            .skip_while(|step| step.name() != place)
            .skip(1)
            .find(|step| step.answers.iter().any(|answer| answer == rule))
    }

    /// A step for one problem size, ready to build and launch.
    ///
    /// `overrides` take the place of the step's and the ladder's defaults; `sms` is the device's
    /// number of multiprocessors, `SMS` in expressions.
    ///
    /// # Errors
    /// [`Error::Usage`] for an unknown step or parameter and for a size that can't be run,
    /// [`Error::Manifest`] where an expression makes no sense at this size.
    pub fn plan(&self, step: &str, overrides: &Overrides, sms: u32) -> Result<crate::plan::Plan> {
        self.plan_tuned(step, overrides, &Tuning::default(), sms)
    }

    /// As [`plan`](Self::plan), with other tunables, flags, block or carve-out than the manifest's.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), and [`Error::Usage`] for a tunable that the step does not have.
    pub fn plan_tuned(
        &self,
        step: &str,
        overrides: &Overrides,
        tuning: &Tuning,
        sms: u32,
    ) -> Result<crate::plan::Plan> {
        planner::plan(self, self.step(step)?, overrides, tuning, sms)
    }

    /// A step that is a program, for one problem size.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), and [`Error::Usage`] for a step of kernels and for a tuning that only those
    /// know.
    pub fn program_plan(
        &self,
        step: &str,
        overrides: &Overrides,
        tuning: &Tuning,
    ) -> Result<crate::plan::ProgramPlan> {
        planner::program_plan(self, self.step(step)?, overrides, tuning)
    }

    /// A variant of a step for one problem size. Its buffers are the step's, so that both can work on
    /// the same memory; its answer is not to be checked.
    ///
    /// # Errors
    /// As [`plan`](Self::plan), and [`Error::Usage`] for an unknown variant.
    pub fn variant_plan(
        &self,
        step: &str,
        variant: &str,
        overrides: &Overrides,
        sms: u32,
    ) -> Result<crate::plan::Plan> {
        let step = self.step(step)?;
        planner::variant_plan(self, step, step.variant(variant)?, overrides, sms)
    }

    /// The problem size of a step: the ladder's defaults, the step's own, then the overrides.
    ///
    /// # Errors
    /// [`Error::Usage`] for an unknown parameter and for 0.
    pub fn size(&self, step: &Step, overrides: &Overrides) -> Result<BTreeMap<String, u64>> {
        planner::size(self, step, overrides)
    }

    /// A mistake that shows only once a step is planned or compiled, at the step's name.
    #[must_use]
    pub fn mistake_of_step(&self, step: &Step, problem: &str) -> Error {
        self.origin().error(&step.manifest.name.span(), format!("{}: {problem}", step.name()))
    }

    fn origin(&self) -> Origin<'_> {
        Origin { path: &self.path, text: &self.text }
    }
}
