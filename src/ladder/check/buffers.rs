//! Buffers, their fills, and the reference that reads them.

use toml::Spanned;

use super::Checker;
use crate::error::Result;
use crate::ladder::manifest::Buffer;
use crate::plan::{DType, Fill, Role};
use crate::problem::catalogue;
use crate::problem::precision::Range;
use crate::text::nearest::hint;
use crate::text::printable;

impl Checker<'_> {
    pub(super) fn buffers(&self) {
        let manifest = self.manifest;
        for buffer in &manifest.buffers {
            self.keep(self.buffer(buffer));
        }
        let has_output = manifest.buffers.iter().any(|buffer| buffer.role == Role::Output);
        if !has_output && !manifest.buffers.is_empty() {
            let problem = "no buffer has the role \"output\": mark the one that holds the answer";
            self.keep::<()>(self.fail(&manifest.name, problem));
        }
    }

    fn buffer(&self, buffer: &Buffer) -> Result<()> {
        let name = buffer.name.get_ref();
        if buffer.shape.get_ref().is_empty() {
            return self.fail(&buffer.shape, format!(
                "the shape of `{name}` is empty: give its extents, slowest first, such as [\"N\", \"M\"]"
            ));
        }
        let needs_fill = matches!(buffer.role, Role::Input | Role::State);
        match &buffer.fill {
            None if needs_fill => self.fail(
                &buffer.name,
                format!(
                    "`{name}` is {} {} without a `fill`: add one, such as fill = {{ choice = [1, 2] }}",
                    if buffer.role == Role::Input { "an" } else { "a" },
                    buffer.role.word()
                ),
            ),
            Some(fill) if !needs_fill => self.fail(fill, format!(
                "`{name}` is {}, which is overwritten with a poison pattern before a checked run: remove `fill`, or make its role \"state\"",
                if buffer.role == Role::Output { "an output" } else { "scratch" }
            )),
            Some(fill) => self.fill(buffer, fill),
            None => Ok(()),
        }
    }

    /// A fill's values fit the type.
    fn fill(&self, buffer: &Buffer, fill: &Spanned<Fill>) -> Result<()> {
        let dtype = buffer.dtype;
        let values: Vec<f64> = match fill.get_ref() {
            Fill::Choice(values) if values.is_empty() => {
                return self
                    .fail(fill, "`choice` has no values: give one at least, such as [1, 2]");
            }
            Fill::Choice(values) => values.clone(),
            Fill::Constant(value) => vec![*value],
            Fill::Uniform { low, high } if low.is_nan() || high.is_nan() || low >= high => {
                return self.fail(
                    fill,
                    format!("`uniform` from {low} to {high} is empty: `low` must be below `high`"),
                );
            }
            // An integer's `high` is excluded, so 256 will do for u8.
            Fill::Uniform { low, high } if !dtype.is_float() => vec![*low, high - 1.0],
            Fill::Uniform { low, high } => vec![*low, *high],
            Fill::Encode { of, low, high } => {
                return self.encoded(buffer, fill, of, low.zip(*high));
            }
            Fill::Index => Vec::new(),
        };
        match values.into_iter().find(|value| !fits(dtype, *value)) {
            None => Ok(()),
            Some(value) => self.fail(
                fill,
                format!(
                    "{value} is not a value of type {}: change the fill or the `dtype`",
                    dtype.word()
                ),
            ),
        }
    }

    /// A compressed copy is made of an f32 input with values of its own, and its range holds them.
    fn encoded(
        &self,
        buffer: &Buffer,
        fill: &Spanned<Fill>,
        of: &str,
        range: Option<(f64, f64)>,
    ) -> Result<()> {
        let source = self.manifest.buffers.iter().find(|other| other.name.get_ref() == of);
        let values = source
            .filter(|source| source.dtype == DType::F32 && source.role == Role::Input)
            .and_then(|source| source.fill.as_ref())
            .and_then(|fill| Range::of(fill.get_ref()));
        let Some(values) = values else {
            let inputs: Vec<&str> = self
                .manifest
                .buffers
                .iter()
                .filter(|other| other.role == Role::Input && other.dtype == DType::F32)
                .map(|other| other.name.get_ref().as_str())
                .collect();
            return self.fail(fill, format!(
                "`{}` can't be a copy of `{}`{}: name an input of type f32 with a `choice`, `uniform` or `constant` fill",
                buffer.name.get_ref(),
                printable(of),
                hint(of, &inputs)
            ));
        };
        match (buffer.dtype.is_float(), range) {
            (true, None) => Ok(()),
            (true, Some(_)) => self.fail(fill, format!(
                "type {} keeps values as they are, so `low` and `high` have no meaning: remove \
                 them",
                buffer.dtype.word()
            )),
            (false, None) => self.fail(fill, format!(
                "a code of type {} needs a range: add `low` and `high`, such as low = {}, high = {}",
                buffer.dtype.word(),
                values.low,
                values.high
            )),
            (false, Some((low, high))) if low <= values.low && values.high <= high && low < high => {
                Ok(())
            }
            (false, Some((low, high))) => self.fail(fill, format!(
                "the codes stand for {low} to {high}, but the values of `{}` go from {} to {}: widen the range",
                printable(of),
                values.low,
                values.high
            )),
        }
    }

    /// The reference is a step, or one that the program carries and that fits the buffers.
    pub(super) fn reference(&self) -> Result<()> {
        let manifest = self.manifest;
        let Some(reference) = &manifest.reference else { return Ok(()) };
        let name = reference.get_ref();
        if manifest.steps.iter().any(|step| step.name.get_ref() == name) {
            let Some(tolerance) = &manifest.tolerance else {
                return self.fail(reference, format!(
                    "answers are compared with step `{name}`: add tolerance = {{ relative = 1e-5 }}, or 0 for equality"
                ));
            };
            let relative = tolerance.get_ref().relative;
            if !(0.0..1.0).contains(&relative) {
                return self.fail(tolerance, format!(
                    "a relative tolerance of {relative} has no meaning: write a number from 0 to below 1"
                ));
            }
            return Ok(());
        }
        let Some(builtin) = catalogue::find(name) else {
            let known: Vec<&str> = catalogue::REFERENCES
                .iter()
                .map(|reference| reference.name)
                .chain(manifest.steps.iter().map(|step| step.name.get_ref().as_str()))
                .collect();
            return self.fail(
                reference,
                format!(
                    "no step and no built-in reference is called `{}`{}",
                    printable(name),
                    hint(name, &known)
                ),
            );
        };
        if let Some(tolerance) = &manifest.tolerance {
            return self.fail(
                tolerance,
                format!(
                    "the built-in reference `{name}` derives its own tolerance: remove this one"
                ),
            );
        }
        for parameter in builtin.parameters {
            if !self.parameters().any(|known| known == *parameter) {
                return self.fail(reference, format!(
                    "the reference `{name}` needs a parameter `{parameter}`: add it to [parameters]"
                ));
            }
        }
        for (needed, role, dtype) in builtin.buffers {
            let fits = |buffer: &&Buffer| {
                buffer.name.get_ref() == needed && buffer.role == *role && buffer.dtype == *dtype
            };
            if !manifest.buffers.iter().any(|buffer| fits(&buffer)) {
                return self.fail(reference, format!(
                    "the reference `{name}` needs a buffer `{needed}` of role \"{}\" and dtype \"{}\": add it",
                    role.word(),
                    dtype.word()
                ));
            }
        }
        Ok(())
    }
}

/// True where a type holds a value: finite, in range, and whole for integers. A fraction may be
/// rounded to the floating-point type.
fn fits(dtype: DType, value: f64) -> bool {
    let (low, high) = dtype.range();
    (low..=high).contains(&value) && (dtype.is_float() || value.fract() == 0.0)
}
