//! Steps, their variants, and named problem sizes, as a manifest declares them.

use std::collections::BTreeMap;

use super::manifest::{self, Published};
use super::overrides::Overrides;
use crate::captured::Replay;
use crate::error::{Error, Result};
use crate::plan::{Source, VariantKind};
use crate::text::nearest;

/// A step of a ladder.
#[derive(Debug, Clone)]
pub struct Step {
    pub(super) manifest: manifest::Step,
    pub(super) defaults: BTreeMap<String, u64>,
    pub(super) answers: Vec<String>,
    pub(super) plants: Vec<String>,
    pub(super) innocent: Vec<String>,
    pub(super) source: Option<Source>,
    pub(super) captured: Option<Replay>,
    pub(super) variants: Vec<Variant>,
}

/// A step with something left out: timed, never verified.
#[derive(Debug, Clone)]
pub struct Variant {
    pub(super) manifest: manifest::Variant,
    pub(super) removes: Vec<String>,
    pub(super) source: Source,
}

impl Variant {
    /// The variant's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.manifest.name.get_ref()
    }

    /// What it leaves out.
    #[must_use]
    pub fn kind(&self) -> VariantKind {
        self.manifest.kind
    }

    /// The variant in one line.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.manifest.title
    }

    /// The faults that a what-if takes away, as rule names.
    #[must_use]
    pub fn removes(&self) -> &[String] {
        &self.removes
    }
}

/// A named problem size, usually one from the literature.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedSize {
    /// Its name.
    pub name: String,
    /// The step that it runs.
    pub step: String,
    /// The problem's parameters.
    pub size: Overrides,
    /// Where it comes from.
    pub note: String,
}

impl Step {
    /// The step's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.manifest.name.get_ref()
    }

    /// The step in one line.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.manifest.title
    }

    /// What it changes against the step before it, or against [`Step::from`].
    #[must_use]
    pub fn changes(&self) -> &str {
        &self.manifest.changes
    }

    /// True for a step beside the main walk.
    #[must_use]
    pub fn is_side(&self) -> bool {
        self.manifest.side
    }

    /// The main step that a side step starts from.
    #[must_use]
    pub fn from(&self) -> Option<&str> {
        self.manifest.from.as_ref().map(|from| from.get_ref().as_str())
    }

    /// The faults of the step before it that it takes away, as rule names; the first is the one that the
    /// change is made for.
    #[must_use]
    pub fn answers(&self) -> &[String] {
        &self.answers
    }

    /// The faults that were put into it on purpose, as rule names.
    #[must_use]
    pub fn plants(&self) -> &[String] {
        &self.plants
    }

    /// The faults that a counter suggests and that it does not have, as rule names.
    #[must_use]
    pub fn innocent(&self) -> &[String] {
        &self.innocent
    }

    /// True where it runs at a limit of the hardware, so that nothing should be proposed.
    #[must_use]
    pub fn is_at_limit(&self) -> bool {
        self.manifest.at_limit
    }

    /// Parameters that this step sets otherwise than the ladder.
    #[must_use]
    pub fn defaults(&self) -> &BTreeMap<String, u64> {
        &self.defaults
    }

    /// Why it does; empty where it does not.
    #[must_use]
    pub fn note(&self) -> &str {
        &self.manifest.note
    }

    /// Figures that others published for it.
    #[must_use]
    pub fn published(&self) -> &[Published] {
        &self.manifest.published
    }

    /// Its source, where the manifest names one.
    #[must_use]
    pub fn source(&self) -> Option<&Source> {
        self.source.as_ref()
    }

    /// The launch that it replays, where it is one that was captured.
    pub(crate) fn captured(&self) -> Option<&Replay> {
        self.captured.as_ref()
    }

    /// True where it is a program and not kernels that adoprof launches.
    #[must_use]
    pub fn is_program(&self) -> bool {
        self.manifest.run.is_some()
    }

    /// Of a program: its commands, which kernels count, what checks its answer, and what tells its time, as the
    /// manifest writes them. `None` of a step of kernels.
    #[must_use]
    pub fn program_words(&self) -> Option<[String; 4]> {
        let run = self.manifest.run.as_ref()?.get_ref().text();
        let build = self.manifest.build.as_ref();
        let commands = match build {
            Some(build) => format!("{} && {run}", build.get_ref().text()),
            None => run.to_owned(),
        };
        let kernels = self.manifest.kernels.as_ref().map_or("all", |kernels| kernels.get_ref());
        let check = self.manifest.check.as_ref().map(toml::Spanned::get_ref);
        let checked = check.map_or_else(
            || "nothing".to_owned(),
            |check| match (&check.output, &check.run) {
                (Some(output), _) => format!("the output: {}", output.get_ref()),
                (None, Some(run)) => run.get_ref().text().to_owned(),
                (None, None) => String::new(),
            },
        );
        let time = self.manifest.time.as_ref();
        let timed = time.map_or_else(
            || "a survey".to_owned(),
            |time| format!("the output: {}", time.output.get_ref()),
        );
        Some([commands, kernels.to_owned(), checked, timed])
    }

    /// Its variants, in the manifest's order.
    #[must_use]
    pub fn variants(&self) -> &[Variant] {
        &self.variants
    }

    /// The variant of that name.
    ///
    /// # Errors
    /// [`Error::Usage`] with the names that there are.
    pub fn variant(&self, name: &str) -> Result<&Variant> {
        self.variants.iter().find(|variant| variant.name() == name).ok_or_else(|| {
            let names: Vec<&str> = self.variants.iter().map(Variant::name).collect();
            Error::Usage(format!(
                "step `{}` has no variant `{}`{}",
                self.name(),
                crate::text::printable(name),
                nearest::hint(name, &names)
            ))
        })
    }
}
