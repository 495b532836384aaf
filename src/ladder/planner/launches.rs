//! Launches with their grids, blocks and arguments evaluated.

use std::collections::BTreeMap;

use super::Planner;
use crate::error::Result;
use crate::ladder::expression::Values;
use crate::ladder::manifest::{self, Argument, Formula, Texture};
use crate::plan;
use crate::plan::DType;
use crate::problem::half;
use crate::text;

/// Launches that a step may come to with its repeats; more is a mistake in a formula.
const MOST_LAUNCHES: u64 = 100_000;
/// Limits that every device with compute capability 3.0 or later has (CUDA C++ Programming Guide,
/// "Technical Specifications per Compute Capability").
const GRID_LIMITS: [u64; 3] = [0x7fff_ffff, 0xffff, 0xffff];
const BLOCK_LIMITS: [u64; 3] = [1024, 1024, 64];
const THREADS_PER_BLOCK: u64 = 1024;

impl Planner<'_> {
    pub(super) fn launches(
        &self,
        values: &Values,
        places: &BTreeMap<String, usize>,
    ) -> Result<Vec<plan::PlannedLaunch>> {
        let mut launches = Vec::new();
        let own = self.variant.and_then(|variant| variant.manifest.launches.as_ref());
        let own = own.map(|launches| launches.get_ref().as_slice());
        for launch in own.unwrap_or_else(|| self.step.manifest.launches()) {
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
        launch: &manifest::DeclaredLaunch,
        values: &Values,
        places: &BTreeMap<String, usize>,
    ) -> Result<plan::PlannedLaunch> {
        let kernel = launch.kernel.get_ref();
        let grid = self.extents(kernel, "grid", launch.grid.get_ref(), GRID_LIMITS, values)?;
        let mut block =
            self.extents(kernel, "block", launch.block.get_ref(), BLOCK_LIMITS, values)?;
        if let Some(x) = self.block {
            if x == 0 {
                return Err(self.too_much("a block of 0 threads does nothing"));
            }
            block[0] = x;
        }
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
                "`{kernel}` would need {} of shared memory per block",
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
                Argument::Texture(Texture { buffer, channels }) => {
                    let place = places.get(buffer)?;
                    let texture = plan::Texture { buffer: *place, channels: *channels };
                    Some(Ok(plan::Argument::Texture(texture)))
                }
                Argument::Scalar(scalar) => Some(self.scalar(kernel, scalar, values)),
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(plan::PlannedLaunch { kernel: kernel.clone(), grid, block, shared_bytes, arguments })
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
                let problem = format!("`{text}` evaluates to 0 at {}", self.at());
                return Err(self.senseless(what, formula, &problem));
            }
            if extent > limits[axis] {
                return Err(self.too_much(&format!(
                    "`{kernel}` would have a {what} of {extent} in {}, and at most {} are possible",
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
        if takes(scalar.dtype, value) {
            return Ok(plan::Argument::Scalar(scalar.dtype, value));
        }
        Err(self.too_much(&format!(
            "`{kernel}` takes `{}` as {}, which does not hold {value}",
            scalar.value.get_ref().text(),
            scalar.dtype.word()
        )))
    }
}

/// True where a type takes this value: a whole number exactly, since a count that is rounded is another
/// count; a fraction as the nearest that there is, as a literal in the source would be.
#[expect(clippy::float_cmp, reason = "the question is whether a conversion keeps every bit")]
fn takes(dtype: DType, value: f64) -> bool {
    let (low, high) = dtype.range();
    let whole = value.fract() == 0.0;
    (low..=high).contains(&value)
        && match dtype {
            DType::F64 => true,
            DType::F32 => !whole || f64::from(value as f32) == value,
            DType::F16 => !whole || half::to_f64(half::from_f64(value)) == value,
            DType::I32 | DType::U32 | DType::U64 | DType::U8 => whole,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_rounded_and_whole_numbers_are_not() {
        assert!(takes(DType::F32, 0.4) && takes(DType::F16, -0.4));
        assert!(takes(DType::F32, 16_777_216.0) && !takes(DType::F32, 16_777_217.0));
        assert!(takes(DType::F16, 2048.0) && !takes(DType::F16, 2049.0));
        assert!(!takes(DType::F32, 1e39) && !takes(DType::F16, 65_520.5));
        assert!(!takes(DType::I32, 0.5) && !takes(DType::U8, 256.0) && takes(DType::U8, 255.0));
    }
}
