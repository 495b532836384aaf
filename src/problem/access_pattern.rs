//! Diffusion along columns on the CPU.
//!
//! - field\[c\]\[k\]: level k of column c (C × K)
//! - diffused\[c\]\[k\] = here + ((below − here) + (above − here)) / 4, where the ends of a column are
//!   their own neighbours

use rayon::prelude::*;

use super::fill::Inputs;
use super::precision::{Bounds, F64_INTEGERS, F64_ROUNDOFF, gamma};
use super::reference::{Expected, Reference, all_threads, buffer, f64_input, with_threads};
use super::{HostBuffer, Tolerance};
use crate::error::{Error, Result};
use crate::plan::{DType, Plan, Role};

const NAME: &str = "access-pattern";

/// The reference `access-pattern`.
pub(crate) const REFERENCE: Reference = Reference {
    name: NAME,
    parameters: &["C", "K"],
    buffers: &[("field", Role::Input, DType::F64), ("diffused", Role::Output, DType::F64)],
    expected,
    versions: &[("plain", solve)],
};

/// With whole values of magnitude up to a, differences are whole and at most 2a, their sum 4a, its
/// quarter and the result multiples of 1/4 of at most 2a: exact in f64 where 8a ≤ 2^53, fused or not.
/// Otherwise a value passes at most five roundings, and one more covers the reference's own; the
/// terms' magnitudes come to at most |here| + (|below| + 2·|here| + |above|) / 4 ≤ 2a.
fn expected(plan: &Plan, inputs: &Inputs) -> Result<Vec<Expected>> {
    let bounds = Bounds::of(buffer(NAME, "field", plan)?);
    let exact = bounds.whole && 8.0 * bounds.magnitude <= F64_INTEGERS;
    let tolerance = if exact {
        Tolerance::EXACT
    } else {
        // The reference rounds too: twice five roundings.
        let gamma = gamma(10.0, F64_ROUNDOFF, "sums")?;
        Tolerance { absolute: gamma * 2.0 * bounds.magnitude, relative: 0.0 }
    };
    let values = solve(plan, inputs, all_threads())?;
    Ok(vec![Expected { buffer: "diffused".to_owned(), values, tolerance, exact }])
}

fn solve(plan: &Plan, inputs: &Inputs, threads: usize) -> Result<HostBuffer> {
    let field = f64_input(NAME, "field", inputs)?;
    let levels = plan.size.get("K").copied().unwrap_or(0) as usize;
    diffuse(field, levels, threads).map(HostBuffer::F64)
}

/// Diffuses a field of columns of `levels` values.
fn diffuse(field: &[f64], levels: usize, threads: usize) -> Result<Vec<f64>> {
    if levels == 0 || !field.len().is_multiple_of(levels) {
        return Err(Error::Usage(format!(
            "the reference `{NAME}` needs a `field` of C x K values; here are {} with K = {levels}: \
             correct the shapes in the manifest",
            field.len()
        )));
    }
    let mut diffused = vec![0.0; field.len()];
    with_threads(threads, || {
        let columns = diffused.par_chunks_exact_mut(levels).zip(field.par_chunks_exact(levels));
        columns.with_min_len(64).for_each(|(result, column)| {
            for (k, result) in result.iter_mut().enumerate() {
                let here = column[k];
                let below = if k > 0 { column[k - 1] } else { here };
                let above = column.get(k + 1).copied().unwrap_or(here);
                *result = here + 0.25 * ((below - here) + (above - here));
            }
        });
    })?;
    Ok(diffused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder::{Ladder, parse_overrides};
    use crate::problem::fill;

    #[test]
    fn columns_do_not_touch() {
        // (1, 5, 3): 1 + 4/4, 5 + (−4 − 2)/4, 3 + 2/4. (8, 0, 0): 8 − 8/4, 8/4, 0.
        let field = [1.0, 5.0, 3.0, 8.0, 0.0, 0.0];
        let diffused = [2.0, 3.5, 3.5, 6.0, 2.0, 0.0];
        assert_eq!(diffuse(&field, 3, 1).unwrap(), diffused);
        assert_eq!(diffuse(&field, 3, 2).unwrap(), diffused);
        // A column of one level has no neighbours.
        assert_eq!(diffuse(&field, 1, 1).unwrap(), field);
        assert!(diffuse(&field, 4, 1).is_err() && diffuse(&field, 0, 1).is_err());
    }

    #[test]
    fn the_ladders_field_is_exact() {
        let size = parse_overrides("C=37,K=53").unwrap();
        let plan = Ladder::builtin(NAME).unwrap().plan("a1", &size, 132).unwrap();
        let inputs = fill::inputs(&plan, 1).unwrap();
        let expected = expected(&plan, &inputs).unwrap().remove(0);
        assert!(expected.exact && expected.values.len() == 37 * 53);
    }
}
