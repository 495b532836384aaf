//! From a step and a problem size to a plan.

mod captured;
mod launches;
mod program;

use std::collections::BTreeMap;

use toml::Spanned;

pub(super) use program::program_plan;

use super::expression::Values;
use super::manifest::Formula;
use super::overrides::Overrides;
use super::tuning::Tuning;
use super::{Ladder, Step, Variant};
use crate::error::{Error, Result};
use crate::plan;
use crate::plan::{Buffer, Check, Fill, IS_REFERENCE, Place, Plan, Source};
use crate::problem::catalogue;
use crate::text::nearest::hint;
use crate::text::printable;

/// The problem size of a step with the user's overrides.
pub(super) fn size(
    ladder: &Ladder,
    step: &Step,
    given: &Overrides,
) -> Result<BTreeMap<String, u64>> {
    let known: Vec<&str> = ladder.parameters.iter().map(|(name, _)| name.as_str()).collect();
    for (name, value) in given {
        if !known.contains(&name.as_str()) {
            return Err(Error::Usage(format!(
                "ladder `{}` has no parameter `{}`{}",
                ladder.name(),
                printable(name),
                hint(name, &known)
            )));
        }
        if *value == 0 {
            return Err(Error::Usage(format!(
                "{name} = 0 leaves nothing to compute; give a whole number from 1"
            )));
        }
    }
    let mut size: BTreeMap<String, u64> = ladder.parameters.iter().cloned().collect();
    size.extend(step.defaults.clone());
    size.extend(given.clone());
    Ok(size)
}

/// Plans a step at its own defaults with the user's overrides.
pub(super) fn plan(
    ladder: &Ladder,
    step: &Step,
    given: &Overrides,
    tuning: &Tuning,
    sms: u32,
) -> Result<Plan> {
    if step.is_program() {
        return Err(not_kernels(step));
    }
    if step.captured().is_some() {
        return captured::plan(ladder, step, None, given, tuning, sms);
    }
    let size = size(ladder, step, given)?;
    let reduced = step.defaults.iter().any(|(name, _)| !given.contains_key(name));
    let tunables = step.tuned(tuning)?;
    let planner = Planner {
        ladder,
        step,
        variant: None,
        size: size.clone(),
        sms,
        tunables,
        block: tuning.block,
    };
    let mut plan = planner.plan()?;
    plan.flags.extend(tuning.flags.iter().cloned());
    plan.carveout_percent = tuning.carveout_percent;
    // Tuned, the reference step is compared with itself as the manifest has it.
    if plan.check == Check::Reference && *tuning != Tuning::default() {
        let tunables = step.tunables();
        plan.check = Planner { ladder, step, variant: None, size, sms, tunables, block: None }
            .reference_check()?;
        plan.notices.clear();
    }
    if reduced && !step.note().is_empty() {
        plan.notices.insert(0, step.note().to_owned());
    }
    Ok(plan)
}

/// Plans a variant of a step likewise.
pub(super) fn variant_plan(
    ladder: &Ladder,
    step: &Step,
    variant: &Variant,
    given: &Overrides,
    sms: u32,
) -> Result<Plan> {
    if step.captured().is_some() {
        let tuning = Tuning::default();
        return captured::plan(ladder, step, Some(variant), given, &tuning, sms);
    }
    let size = size(ladder, step, given)?;
    let tunables = step.tunables();
    Planner { ladder, step, variant: Some(variant), size, sms, tunables, block: None }.plan()
}

/// What to say where a step of kernels is wanted.
fn not_kernels(step: &Step) -> Error {
    Error::Usage(format!(
        "step `{}` is a program, and this works on kernels that adoprof launches itself",
        step.name()
    ))
}

/// A step at a size.
struct Planner<'a> {
    ladder: &'a Ladder,
    step: &'a Step,
    /// The step as it is without.
    variant: Option<&'a Variant>,
    size: BTreeMap<String, u64>,
    sms: u32,
    tunables: Overrides,
    /// Threads of a block in x that take the place of the manifest's.
    block: Option<u32>,
}

impl Planner<'_> {
    fn plan(&self) -> Result<Plan> {
        let values = self.values();
        self.requirements(&values)?;
        let (buffers, places) = self.buffers(&values)?;
        let launches = self.launches(&values, &places)?;
        let mut notices = Vec::new();
        let check = match self.variant {
            None => self.check(&mut notices)?,
            Some(_) => Check::Reference,
        };
        let manifest = &self.ladder.manifest;
        let library = manifest.library.as_ref().filter(|_| self.variant.is_none());
        Ok(Plan {
            ladder: self.ladder.name().to_owned(),
            step: self.step.name().to_owned(),
            title: self.variant.map_or(self.step.title(), Variant::title).to_owned(),
            size: self.size.clone(),
            buffers,
            launches,
            source: self.source()?.clone(),
            flags: self.flags(&values)?.into_iter().chain(self.definitions()).collect(),
            carveout_percent: None,
            captured: None,
            check,
            library: library.map(|name| name.get_ref().clone()),
            bytes: self.needed("bytes", manifest.bytes.as_ref(), &values)?,
            flops: self.needed("flops", manifest.flops.as_ref(), &values)?,
            metric: self.metric(&values)?.unwrap_or_default(),
            notices,
        })
    }

    /// The CUDA source.
    fn source(&self) -> Result<&Source> {
        let source = match self.variant {
            Some(variant) => Some(&variant.source),
            None => self.step.source.as_ref(),
        };
        source.ok_or_else(|| not_kernels(self.step))
    }

    /// The ladder's figure of merit, where it has one.
    fn metric(&self, values: &Values) -> Result<Option<plan::Metric>> {
        let Some(metric) = &self.ladder.manifest.metric else { return Ok(None) };
        let work = self.whole("work", &metric.work, values)? as f64;
        Ok(Some(plan::Metric { unit: metric.unit.get_ref().clone(), work }))
    }

    /// What the problem needs; 0 where the ladder does not say.
    fn needed(&self, what: &str, formula: Option<&Formula>, values: &Values) -> Result<u64> {
        formula.map_or(Ok(0), |formula| self.whole(what, formula, values))
    }

    /// What the names in expressions stand for.
    fn values(&self) -> Values {
        let sizes = self.size.iter().chain(&self.tunables);
        let sizes = sizes.map(|(name, value)| (name.clone(), *value as f64));
        sizes.chain([("SMS".to_owned(), f64::from(self.sms))]).collect()
    }

    /// What the compiler is told of the tunables.
    fn definitions(&self) -> impl Iterator<Item = String> {
        self.tunables.iter().map(|(name, value)| format!("-D{name}={value}"))
    }

    /// `L = 1024, M = 1024, N = 16`.
    fn at(&self) -> String {
        let pairs: Vec<String> =
            self.size.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        pairs.join(", ")
    }

    fn too_much(&self, problem: &str) -> Error {
        Error::Usage(format!(
            "step `{}` can't run at {}: {problem}; choose another size with --size",
            self.step.name(),
            self.at()
        ))
    }

    /// A formula that makes no sense at this size, with its line.
    fn senseless(&self, what: &str, formula: &Formula, problem: &str) -> Error {
        self.ladder.origin().error(&formula.span(), format!("{what}: {problem}"))
    }

    fn whole(&self, what: &str, formula: &Formula, values: &Values) -> Result<u64> {
        formula.get_ref().whole(values).map_err(|problem| self.senseless(what, formula, &problem))
    }

    /// The step's compiler flags, then the variant's, with their expressions evaluated.
    fn flags(&self, values: &Values) -> Result<Vec<String>> {
        let more = self.variant.into_iter().flat_map(|variant| &variant.manifest.flags);
        let flags = self.step.manifest.flags.iter().chain(more);
        flags
            .map(|flag| {
                flag.get_ref().at(values).map_err(|problem| {
                    self.ladder.origin().error(&flag.span(), format!("flags: {problem}"))
                })
            })
            .collect()
    }

    fn requirements(&self, values: &Values) -> Result<()> {
        for requirement in &self.step.manifest.requires {
            let that = requirement.that.get_ref();
            let value = that
                .value(values)
                .map_err(|problem| self.senseless("requires", &requirement.that, &problem))?;
            if value == 0.0 || value.is_nan() {
                let because = requirement.because.trim_end_matches('.');
                return Err(self.too_much(&format!("it needs {} ({because})", that.text())));
            }
        }
        Ok(())
    }

    /// The buffers that the step or its check needs, and where each one is in the list.
    fn buffers(&self, values: &Values) -> Result<(Vec<Buffer>, BTreeMap<String, usize>)> {
        let passed: Vec<&str> = self
            .step
            .manifest
            .launches()
            .iter()
            .flat_map(|launch| &launch.args)
            .filter_map(|argument| argument.get_ref().buffer())
            .collect();
        let reference = self.ladder.manifest.reference.as_ref();
        let builtin = reference.and_then(|name| catalogue::find(name.get_ref()));
        let checked = |name: &str| {
            builtin
                .is_some_and(|builtin| builtin.buffers.iter().any(|(needed, ..)| *needed == name))
        };
        // A compressed copy is made from its original, on the host.
        let originals: Vec<&str> = self
            .ladder
            .manifest
            .buffers
            .iter()
            .filter(|buffer| passed.contains(&buffer.name.get_ref().as_str()))
            .filter_map(|buffer| match buffer.fill.as_ref()?.get_ref() {
                Fill::Encode { of, .. } => Some(of.as_str()),
                _ => None,
            })
            .collect();
        let mut buffers = Vec::new();
        let mut places = BTreeMap::new();
        let mut total: Option<u64> = Some(0);
        for buffer in &self.ladder.manifest.buffers {
            let name = buffer.name.get_ref();
            let needed = passed.contains(&name.as_str()) || originals.contains(&name.as_str());
            if !needed && !checked(name) {
                continue;
            }
            let what = format!("shape of `{name}`");
            let shape = buffer
                .shape
                .get_ref()
                .iter()
                .map(|extent| match self.whole(&what, extent, values)? {
                    0 => Err(self.senseless(
                        &what,
                        extent,
                        &format!("`{}` evaluates to 0 at {}", extent.get_ref().text(), self.at()),
                    )),
                    extent => Ok(extent),
                })
                .collect::<Result<Vec<u64>>>()?;
            let bytes = shape
                .iter()
                .try_fold(buffer.dtype.size(), |bytes, extent| bytes.checked_mul(*extent));
            total = total.and_then(|total| total.checked_add(bytes?));
            // The host addresses at most isize::MAX bytes.
            if total.is_none_or(|total| total > i64::MAX as u64) {
                return Err(self.too_much(&format!("with `{name}` its buffers pass 2^63 bytes")));
            }
            places.insert(name.clone(), buffers.len());
            buffers.push(Buffer {
                name: name.clone(),
                dtype: buffer.dtype,
                shape,
                role: buffer.role,
                fill: match &buffer.fill {
                    Some(fill) => fill.get_ref().clone(),
                    None => Fill::Constant(0.0),
                },
                place: self.place(name),
            });
        }
        Ok((buffers, places))
    }

    /// Where the step wants a buffer.
    fn place(&self, buffer: &str) -> Place {
        let names = |list: &[Spanned<String>]| list.iter().any(|name| name.get_ref() == buffer);
        if names(&self.step.manifest.host) {
            Place::Host
        } else if names(&self.step.manifest.peer) {
            Place::Peer
        } else {
            Place::Device
        }
    }

    fn check(&self, notices: &mut Vec<String>) -> Result<Check> {
        let Some(name) = &self.ladder.manifest.reference else { return Ok(Check::Reference) };
        let name = name.get_ref();
        let Some(step) = self.ladder.steps.iter().find(|step| step.name() == name) else {
            return Ok(Check::Builtin(name.clone()));
        };
        if step.name() == self.step.name() {
            notices.push(format!(
                "Step `{name}` {IS_REFERENCE} its answer is taken as correct and not checked."
            ));
            return Ok(Check::Reference);
        }
        let reference = Planner {
            ladder: self.ladder,
            step,
            variant: None,
            size: self.size.clone(),
            sms: self.sms,
            tunables: step.tunables(),
            block: None,
        };
        let plan = reference.plan().map_err(|error| match error {
            Error::Usage(problem) => Error::Usage(format!(
                "`{}` is checked against step `{name}`, but {problem}",
                self.step.name()
            )),
            other => other,
        })?;
        Ok(Check::Step { plan: Box::new(plan), relative: self.relative() })
    }

    /// A check against this very plan.
    fn reference_check(&self) -> Result<Check> {
        Ok(Check::Step { plan: Box::new(self.plan()?), relative: self.relative() })
    }

    /// The tolerance of a check against a step.
    fn relative(&self) -> f64 {
        self.ladder.manifest.tolerance.as_ref().map_or(0.0, |given| given.get_ref().relative)
    }
}
