//! Running sums along rows on the CPU.
//!
//! - values\[r\]\[k\] (R × K)
//! - sums\[r\]\[k\] = values\[r\]\[0\] + … + values\[r\]\[k\]

use rayon::prelude::*;

use super::fill::Inputs;
use super::precision::{Bounds, F64_INTEGERS, F64_ROUNDOFF, gamma};
use super::reference::{Expected, Reference, all_threads, buffer, f64_input, with_threads};
use super::{HostBuffer, Tolerance};
use crate::error::{Error, Result};
use crate::plan::{DType, Plan, Role};

const NAME: &str = "padding";

/// The reference `padding`.
pub(crate) const REFERENCE: Reference = Reference {
    name: NAME,
    parameters: &["R", "K"],
    buffers: &[("values", Role::Input, DType::F64), ("sums", Role::Output, DType::F64)],
    expected,
    versions: &[("plain", solve)],
};

/// With whole values of magnitude up to a, every partial sum is whole and at most a·K: exact in f64
/// where that is at most 2^53, in any order. Otherwise each side rounds at most K − 1 times, and the
/// terms' magnitudes come to at most a·K.
fn expected(plan: &Plan, inputs: &Inputs) -> Result<Vec<Expected>> {
    let bounds = Bounds::of(buffer(NAME, "values", plan)?);
    let length = length(plan) as f64;
    let largest = bounds.magnitude * length;
    let exact = bounds.whole && largest <= F64_INTEGERS;
    let tolerance = if exact {
        Tolerance::EXACT
    } else {
        let gamma = gamma(2.0 * length, F64_ROUNDOFF, "the rows")?;
        Tolerance { absolute: gamma * largest, relative: 0.0 }
    };
    let values = solve(plan, inputs, all_threads())?;
    Ok(vec![Expected { buffer: "sums".to_owned(), values, tolerance, exact }])
}

fn length(plan: &Plan) -> usize {
    plan.size.get("K").copied().unwrap_or(0) as usize
}

fn solve(plan: &Plan, inputs: &Inputs, threads: usize) -> Result<HostBuffer> {
    let values = f64_input(NAME, "values", inputs)?;
    running_sums(values, length(plan), threads).map(HostBuffer::F64)
}

/// The running sums of rows of `length` values.
fn running_sums(values: &[f64], length: usize, threads: usize) -> Result<Vec<f64>> {
    if length == 0 || !values.len().is_multiple_of(length) {
        return Err(Error::Usage(format!(
            "the reference `{NAME}` needs R x K `values`; here are {} with K = {length}: correct the \
             shapes in the manifest",
            values.len()
        )));
    }
    let mut sums = vec![0.0; values.len()];
    with_threads(threads, || {
        let rows = sums.par_chunks_exact_mut(length).zip(values.par_chunks_exact(length));
        rows.with_min_len(64).for_each(|(sums, values)| {
            let mut sum = 0.0;
            for (to, value) in sums.iter_mut().zip(values) {
                sum += value;
                *to = sum;
            }
        });
    })?;
    Ok(sums)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::{Ladder, parse_overrides};
    use crate::problem::fill;

    #[test]
    fn every_row_starts_anew() {
        let values = [1.0, 2.0, 3.0, 10.0, -4.0, 0.5];
        let sums = [1.0, 3.0, 6.0, 10.0, 6.0, 6.5];
        assert_eq!(running_sums(&values, 3, 1).unwrap(), sums);
        assert_eq!(running_sums(&values, 3, 2).unwrap(), sums);
        assert_eq!(running_sums(&values, 1, 1).unwrap(), values);
        assert!(running_sums(&values, 5, 1).is_err() && running_sums(&values, 0, 1).is_err());
    }

    #[test]
    fn the_ladders_values_are_exact() {
        let size = parse_overrides("R=37,K=53").unwrap();
        let plan = Ladder::builtin(NAME).unwrap().plan("p1", &size, 132).unwrap();
        let inputs = fill::inputs(&plan, 1).unwrap();
        let expected = expected(&plan, &inputs).unwrap().remove(0);
        assert!(expected.exact && expected.values.len() == 37 * 53);
    }
}
