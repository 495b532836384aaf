//! The increment on the CPU: incremented\[i\] = values\[i\] + 1.

use rayon::prelude::*;

use super::fill::Inputs;
use super::reference::{Expected, Reference, all_threads, f32_input, with_threads};
use super::{HostBuffer, Tolerance};
use crate::error::Result;
use crate::plan::{DType, Plan, Role};

/// The reference `increment`.
pub(crate) const REFERENCE: Reference = Reference {
    name: "increment",
    parameters: &["N"],
    buffers: &[("values", Role::Input, DType::F32), ("incremented", Role::Output, DType::F32)],
    expected,
    versions: &[("plain", |_, inputs, threads| incremented(inputs, threads))],
};

/// Values that one task works on.
const CHUNK: usize = 1 << 16;

/// One correctly rounded addition a value, on the CPU as on the GPU: the answers are the same bits.
fn expected(_: &Plan, inputs: &Inputs) -> Result<Vec<Expected>> {
    Ok(vec![Expected {
        buffer: "incremented".to_owned(),
        values: incremented(inputs, all_threads())?,
        tolerance: Tolerance::EXACT,
        exact: true,
    }])
}

fn incremented(inputs: &Inputs, threads: usize) -> Result<HostBuffer> {
    let values = f32_input("increment", "values", inputs)?;
    let mut incremented = vec![0.0_f32; values.len()];
    with_threads(threads, || {
        incremented.par_chunks_mut(CHUNK).zip(values.par_chunks(CHUNK)).for_each(|(to, from)| {
            for (to, from) in to.iter_mut().zip(from) {
                *to = from + 1.0;
            }
        });
    })?;
    Ok(HostBuffer::F32(incremented))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_one_and_rounds_once() {
        // 2^24 + 1 lies halfway between 2^24 and 2^24 + 2: ties go to the even one.
        let values = HostBuffer::F32(vec![-1.0, 0.5, 16_777_216.0]);
        let inputs = Inputs::from([("values".to_owned(), values)]);
        for threads in [1, 2] {
            let got = incremented(&inputs, threads).unwrap();
            assert_eq!(got, HostBuffer::F32(vec![0.0, 1.5, 16_777_216.0]));
        }
        assert!(incremented(&Inputs::new(), 1).is_err());
    }
}
