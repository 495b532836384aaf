//! From a step and a problem size to a plan.

use std::collections::BTreeMap;

use super::expression::Values;
use super::manifest::{self, Argument, Formula};
use super::nearest::hint;
use super::overrides::Overrides;
use super::plan::{self, Buffer, Check, DType, Fill, Plan};
use super::{Ladder, Step};
use crate::error::{Error, Result};
use crate::problem::reference;
use crate::text::{self, printable};

/// Launches that a step may come to with its repeats; more is a mistake in a formula.
const MOST_LAUNCHES: u64 = 100_000;
/// Limits that every device with compute capability 3.0 or later has (CUDA C++ Programming Guide,
/// "Technical Specifications per Compute Capability").
const GRID_LIMITS: [u64; 3] = [0x7fff_ffff, 0xffff, 0xffff];
const BLOCK_LIMITS: [u64; 3] = [1024, 1024, 64];
const THREADS_PER_BLOCK: u64 = 1024;

/// Plans a step at its own defaults with the user's overrides.
pub(super) fn plan(ladder: &Ladder, step: &Step, given: &Overrides, sms: u32) -> Result<Plan> {
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
    let reduced = step.defaults.iter().any(|(name, _)| !given.contains_key(name));
    let mut plan = Planner { ladder, step, size, sms }.plan()?;
    if reduced && !step.note().is_empty() {
        plan.notices.insert(0, step.note().to_owned());
    }
    Ok(plan)
}

/// A step at a size.
struct Planner<'a> {
    ladder: &'a Ladder,
    step: &'a Step,
    size: BTreeMap<String, u64>,
    sms: u32,
}

impl Planner<'_> {
    fn plan(&self) -> Result<Plan> {
        let values = self.values();
        self.requirements(&values)?;
        let (buffers, places) = self.buffers(&values)?;
        let launches = self.launches(&values, &places)?;
        let mut notices = Vec::new();
        let check = self.check(&mut notices)?;
        let manifest = &self.ladder.manifest;
        Ok(Plan {
            ladder: self.ladder.name().to_owned(),
            step: self.step.name().to_owned(),
            title: self.step.title().to_owned(),
            size: self.size.clone(),
            buffers,
            launches,
            source: self.step.source.clone(),
            flags: self.step.manifest.flags.clone(),
            check,
            bytes: self.whole("bytes", &manifest.bytes, &values)?,
            flops: self.whole("flops", &manifest.flops, &values)?,
            metric: plan::Metric {
                unit: manifest.metric.unit.clone(),
                work: self.whole("work", &manifest.metric.work, &values)? as f64,
            },
            notices,
        })
    }

    /// What the names in expressions stand for.
    fn values(&self) -> Values {
        let sizes = self.size.iter().map(|(name, value)| (name.clone(), *value as f64));
        sizes.chain([("SMS".to_owned(), f64::from(self.sms))]).collect()
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
        formula
            .get_ref()
            .whole(values)
            .map_err(|problem| self.senseless(what, formula, &problem))
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
            .launches
            .get_ref()
            .iter()
            .flat_map(|launch| &launch.args)
            .filter_map(|argument| match argument.get_ref() {
                Argument::Buffer(name) => Some(name.as_str()),
                Argument::Scalar(_) => None,
            })
            .collect();
        let builtin = reference::find(self.ladder.manifest.reference.get_ref());
        let checked = |name: &str| {
            builtin.is_some_and(|builtin| builtin.buffers.iter().any(|(needed, _)| *needed == name))
        };
        let mut buffers = Vec::new();
        let mut places = BTreeMap::new();
        let mut total: Option<u64> = Some(0);
        for buffer in &self.ladder.manifest.buffers {
            let name = buffer.name.get_ref();
            if !passed.contains(&name.as_str()) && !checked(name) {
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
                        &format!("`{}` comes to 0 at {}", extent.get_ref().text(), self.at()),
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
            });
        }
        Ok((buffers, places))
    }

    fn launches(
        &self,
        values: &Values,
        places: &BTreeMap<String, usize>,
    ) -> Result<Vec<plan::Launch>> {
        let mut launches = Vec::new();
        for launch in self.step.manifest.launches.get_ref() {
            let Some(repeat) = &launch.repeat else {
                launches.push(self.launch(launch, values, places)?);
                continue;
            };
            let count = self.whole("repeat", repeat, values)?;
            if count > MOST_LAUNCHES {
                return Err(self.senseless(
                    "repeat",
                    repeat,
                    &format!("{} launches are too many", text::count(count as f64)),
                ));
            }
            let mut values = values.clone();
            for index in 0..count {
                values.insert("i".to_owned(), index as f64);
                launches.push(self.launch(launch, &values, places)?);
            }
        }
        if launches.is_empty() {
            return Err(self.too_much("all its launches are repeated 0 times"));
        }
        Ok(launches)
    }

    fn launch(
        &self,
        launch: &manifest::Launch,
        values: &Values,
        places: &BTreeMap<String, usize>,
    ) -> Result<plan::Launch> {
        let kernel = launch.kernel.get_ref();
        let grid = self.extents(kernel, "grid", launch.grid.get_ref(), GRID_LIMITS, values)?;
        let block = self.extents(kernel, "block", launch.block.get_ref(), BLOCK_LIMITS, values)?;
        let threads: u64 = block.iter().map(|extent| u64::from(*extent)).product();
        if threads > THREADS_PER_BLOCK {
            return Err(self.too_much(&format!(
                "`{kernel}` would have blocks of {threads} threads, and a block holds {THREADS_PER_BLOCK}"
            )));
        }
        let shared = match &launch.shared {
            Some(shared) => self.whole("shared", shared, values)?,
            None => 0,
        };
        let shared_bytes = u32::try_from(shared).map_err(|_| {
            self.too_much(&format!(
                "`{kernel}` would need {} of shared memory a block",
                text::bytes(shared as f64)
            ))
        })?;
        let arguments = launch
            .args
            .iter()
            .filter_map(|argument| match argument.get_ref() {
                // Every passed buffer has a place: the manifest was checked.
                Argument::Buffer(name) => {
                    places.get(name).map(|place| Ok(plan::Argument::Buffer(*place)))
                }
                Argument::Scalar(scalar) => Some(self.scalar(kernel, scalar, values)),
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(plan::Launch { kernel: kernel.clone(), grid, block, shared_bytes, arguments })
    }

    /// A grid or a block; extents that aren't given are 1.
    fn extents(
        &self,
        kernel: &str,
        what: &str,
        formulas: &[Formula],
        limits: [u64; 3],
        values: &Values,
    ) -> Result<[u32; 3]> {
        let mut extents = [1; 3];
        for (axis, formula) in formulas.iter().enumerate().take(3) {
            let extent = self.whole(what, formula, values)?;
            if extent == 0 {
                let text = formula.get_ref().text();
                let problem = format!("`{text}` comes to 0 at {}", self.at());
                return Err(self.senseless(what, formula, &problem));
            }
            if extent > limits[axis] {
                return Err(self.too_much(&format!(
                    "`{kernel}` would have a {what} of {extent} in {}, and the most is {}",
                    ['x', 'y', 'z'][axis],
                    limits[axis]
                )));
            }
            extents[axis] = extent as u32;
        }
        Ok(extents)
    }

    fn scalar(
        &self,
        kernel: &str,
        scalar: &manifest::Scalar,
        values: &Values,
    ) -> Result<plan::Argument> {
        let value = scalar
            .value
            .get_ref()
            .value(values)
            .map_err(|problem| self.senseless("argument", &scalar.value, &problem))?;
        if represents(scalar.dtype, value) {
            return Ok(plan::Argument::Scalar(scalar.dtype, value));
        }
        Err(self.too_much(&format!(
            "`{kernel}` takes `{}` as {}, which does not hold {value}",
            scalar.value.get_ref().text(),
            scalar.dtype.word()
        )))
    }

    fn check(&self, notices: &mut Vec<String>) -> Result<Check> {
        let name = self.ladder.manifest.reference.get_ref();
        let Some(step) = self.ladder.steps.iter().find(|step| step.name() == name) else {
            return Ok(Check::Builtin(name.clone()));
        };
        if step.name() == self.step.name() {
            notices.push(format!(
                "Step `{name}` is the reference of the ladder: its answer is taken as right, not checked."
            ));
            return Ok(Check::Reference);
        }
        let reference = Planner { ladder: self.ladder, step, size: self.size.clone(), sms: self.sms };
        let plan = reference.plan().map_err(|error| match error {
            Error::Usage(problem) => Error::Usage(format!(
                "`{}` is checked against step `{name}`, but {problem}",
                self.step.name()
            )),
            other => other,
        })?;
        let relative =
            self.ladder.manifest.tolerance.as_ref().map_or(0.0, |given| given.get_ref().relative);
        Ok(Check::Step { plan: Box::new(plan), relative })
    }
}

/// True where a type holds exactly this value.
#[expect(clippy::float_cmp, reason = "the question is whether a conversion keeps every bit")]
fn represents(dtype: DType, value: f64) -> bool {
    let (low, high) = dtype.range();
    let in_range = (low..=high).contains(&value);
    in_range
        && match dtype {
            DType::F64 => true,
            DType::F32 => f64::from(value as f32) == value,
            DType::F16 => {
                crate::problem::half::to_f64(crate::problem::half::from_f64(value)) == value
            }
            DType::I32 | DType::U32 | DType::U64 | DType::U8 => value.fract() == 0.0,
        }
}
