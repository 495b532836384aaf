//! Ladders: kernels as data.
//!
//! A ladder is a directory with a `ladder.toml` and `.cu` files. Read, checked, and with its
//! expressions evaluated for one problem size, a step is a [`plan::Plan`], which is all that the
//! launcher sees.

mod check;
pub mod describe;
pub mod expression;
mod flag;
pub mod manifest;
pub mod nearest;
pub mod overrides;
pub mod plan;
mod planner;
pub mod rule_names;
#[cfg(test)]
mod tests;
pub mod tuning;
#[cfg(test)]
mod variant_tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use include_dir::{Dir, include_dir};

pub use manifest::{Half, Published};
pub use overrides::{Overrides, parse_overrides};
pub use tuning::Tuning;

use crate::error::{Error, Result};
use manifest::{FILE, Manifest, Origin};
use plan::{Source, VariantKind};

/// The ladders that the program carries.
static BUILTIN: Dir = include_dir!("$CARGO_MANIFEST_DIR/kernels");

/// The folder of the fault bench's ladders among them.
const FAULTS: &str = "faults";

/// The ladders that the program carries, by name, with their folders. A ladder is called like its
/// folder; one of the fault bench like `fault-` and its folder.
fn carried() -> Vec<(&'static str, &'static Dir<'static>)> {
    static CARRIED: LazyLock<Vec<(String, &'static Dir<'static>)>> = LazyLock::new(|| {
        let named = |dir: &'static Dir<'static>, prefix: &str| {
            dir.get_file(dir.path().join(FILE))?;
            Some((format!("{prefix}{}", dir.path().file_name()?.to_str()?), dir))
        };
        let mut plain: Vec<_> = BUILTIN.dirs().filter_map(|dir| named(dir, "")).collect();
        let faults = BUILTIN.get_dir(FAULTS).into_iter().flat_map(Dir::dirs);
        let mut faults: Vec<_> = faults.filter_map(|dir| named(dir, "fault-")).collect();
        plain.sort_by(|a, b| a.0.cmp(&b.0));
        faults.sort_by(|a, b| a.0.cmp(&b.0));
        plain.extend(faults);
        plain
    });
    CARRIED.iter().map(|(name, dir)| (name.as_str(), *dir)).collect()
}

/// A ladder that has been read and checked; its expressions wait for a problem size.
#[derive(Debug, Clone)]
pub struct Ladder {
    manifest: Manifest,
    /// The manifest's path and text, for errors that show only at a given size.
    path: PathBuf,
    text: String,
    /// Parameters with their defaults, in the manifest's order.
    parameters: Vec<(String, u64)>,
    steps: Vec<Step>,
    cases: Vec<Case>,
}

/// A step of a ladder.
#[derive(Debug, Clone)]
pub struct Step {
    manifest: manifest::Step,
    defaults: BTreeMap<String, u64>,
    answers: Vec<String>,
    plants: Vec<String>,
    innocent: Vec<String>,
    source: Source,
    variants: Vec<Variant>,
}

/// A step with something left out: timed, never verified.
#[derive(Debug, Clone)]
pub struct Variant {
    manifest: manifest::Variant,
    removes: Vec<String>,
    source: Source,
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
pub struct Case {
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

    /// The faults of the step before it that it takes away, as rule names.
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

    /// Its CUDA source.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
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

impl Ladder {
    /// The names of the ladders that the program carries: those of the literature, then those of the
    /// fault bench.
    #[must_use]
    pub fn builtin_names() -> Vec<&'static str> {
        carried().into_iter().map(|(name, _)| name).collect()
    }

    /// A ladder that the program carries.
    ///
    /// # Errors
    /// [`Error::Usage`] for an unknown name, with those that there are.
    pub fn builtin(name: &str) -> Result<Self> {
        let carried = carried();
        let Some((_, dir)) = carried.iter().find(|(known, _)| *known == name) else {
            let names: Vec<&str> = carried.iter().map(|(name, _)| *name).collect();
            return Err(Error::Usage(format!(
                "no built-in ladder is called `{}`{}; a ladder of your own is named by its \
                 directory, such as `./{0}`",
                crate::text::printable(name),
                nearest::hint(name, &names)
            )));
        };
        let folder = dir.path();
        let text = BUILTIN
            .get_file(folder.join(FILE))
            .and_then(include_dir::File::contents_utf8)
            .unwrap_or_default();
        let path = Path::new("kernels").join(folder).join(FILE);
        let read = |file: &str| {
            let place = place(&folder.to_string_lossy(), file);
            let text = BUILTIN
                .get_file(&place)
                .and_then(include_dir::File::contents_utf8)
                .ok_or_else(|| "it is not among the built-in kernels".to_owned())?;
            let name = format!("kernels/{place}");
            Ok(Source { name, text: text.to_owned(), path: None })
        };
        check::ladder(Origin { path: &path, text }, &read)
    }

    /// The ladder that `--ladder` names: a built-in one, or a directory (anything with a `/`, and any
    /// directory that is there under a name that no built-in ladder has).
    ///
    /// # Errors
    /// As [`builtin`](Self::builtin) and [`load`](Self::load).
    pub fn open(name: &str) -> Result<Self> {
        let path = Path::new(name);
        let known = Self::builtin_names().contains(&name);
        if !known && (name.contains('/') || path.join(FILE).is_file() || path.is_file()) {
            Self::load(path)
        } else {
            Self::builtin(name)
        }
    }

    /// The ladder in a directory (or with that `ladder.toml`).
    ///
    /// # Errors
    /// [`Error::Input`] where the manifest can't be read, [`Error::Manifest`] where it says something
    /// that can't be.
    pub fn load(dir: &Path) -> Result<Self> {
        let dir = match dir.file_name() {
            Some(name) if name == FILE => dir.parent().unwrap_or(dir),
            _ => dir,
        };
        let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
        let path = dir.join(FILE);
        let text = std::fs::read_to_string(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::input(
                dir,
                format!("there is no {FILE} in it; name a ladder's directory, or start one with `adoprof init FILE.cu`"),
            ),
            _ => Error::io(&path, "read the manifest", &error),
        })?;
        let absolute = dir.canonicalize().map_err(|error| Error::io(dir, "open", &error))?;
        let folder = absolute.file_name().map(|name| name.to_string_lossy().into_owned());
        let read = |file: &str| {
            let path = absolute.join(file);
            let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
            let name = match &folder {
                Some(folder) => place(folder, file),
                None => file.to_owned(),
            };
            Ok(Source { name, text, path: Some(path) })
        };
        check::ladder(Origin { path: &path, text: &text }, &read)
    }

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

    /// The half of the fault bench that it belongs to; `None` for a ladder of its own.
    #[must_use]
    pub fn bench(&self) -> Option<Half> {
        self.manifest.bench
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
    pub fn cases(&self) -> &[Case] {
        &self.cases
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

    /// The case of that name.
    ///
    /// # Errors
    /// [`Error::Usage`] with the names that there are.
    pub fn case(&self, name: &str) -> Result<&Case> {
        self.cases.iter().find(|case| case.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.cases.iter().map(|case| case.name.as_str()).collect();
            Error::Usage(format!(
                "ladder `{}` has no case `{}`{}",
                self.name(),
                crate::text::printable(name),
                nearest::hint(name, &names)
            ))
        })
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
    pub fn plan(&self, step: &str, overrides: &Overrides, sms: u32) -> Result<plan::Plan> {
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
    ) -> Result<plan::Plan> {
        planner::plan(self, self.step(step)?, overrides, tuning, sms)
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
    ) -> Result<plan::Plan> {
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

    fn origin(&self) -> Origin<'_> {
        Origin { path: &self.path, text: &self.text }
    }
}

/// Where a file of a ladder's manifest lies, from the folder of the ladders: `ado/v2.cu`; one of the
/// ladder beside it, `../reduce/r0.cu`, is `reduce/r0.cu`.
fn place(folder: &str, file: &str) -> String {
    match file.strip_prefix("../") {
        Some(beside) => beside.to_owned(),
        None => format!("{folder}/{file}"),
    }
}
