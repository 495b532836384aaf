//! A captured launch: what its memory held before and must hold after it, bit by bit.

use std::time::Duration;

use rayon::prelude::*;

use crate::captured::{self, Memory, Replay};
use crate::error::{Error, Result};
use crate::launch::Prepared;
use crate::plan::Plan;
use crate::problem::HostBuffer;
use crate::problem::fill::Inputs;
use crate::text;

/// Bytes that one task compares.
const CHUNK: usize = 1 << 20;

/// What each stretch of memory held before the launch.
///
/// # Errors
/// [`Error::Input`] where a file is damaged.
pub(super) fn before(replay: &Replay) -> Result<Inputs> {
    let held = |memory: &Memory| {
        let bytes = captured::read(&replay.folder.join(&memory.before), memory.bytes)?;
        Ok((memory.name.clone(), HostBuffer::U8(bytes)))
    };
    replay.launch.memory.par_iter().map(held).collect()
}

/// Compares the memory with what it was in the program after the launch. Returns an error of 0 and the time of the
/// copies.
///
/// # Errors
/// [`Error::Kernel`] where a byte differs, [`Error::Input`] where a file is damaged.
pub(super) fn check(prepared: &Prepared, plan: &Plan, replay: &Replay) -> Result<(f64, Duration)> {
    let mut spent = Duration::ZERO;
    for (index, memory) in replay.launch.memory.iter().enumerate() {
        // What the launch left alone must stay as it was.
        let file = memory.after.as_ref().unwrap_or(&memory.before);
        let expected = captured::read(&replay.folder.join(file), memory.bytes)?;
        let (got, took) = prepared.download(index)?;
        spent += took;
        if let Some(problem) = differing(&expected, &got, memory) {
            return Err(Error::Kernel(format!("{}/{}: {problem}", plan.ladder, plan.step)));
        }
    }
    Ok((0.0, spent))
}

/// What differs, in one sentence; `None` where nothing does.
fn differing(expected: &[u8], got: &[u8], memory: &Memory) -> Option<String> {
    let pairs = expected.par_chunks(CHUNK).zip(got.par_chunks(CHUNK)).enumerate();
    let (count, first) = pairs
        .map(|(chunk, (expected, got))| {
            if expected == got {
                return (0, None);
            }
            let mut differing =
                expected.iter().zip(got).enumerate().filter(|(_, (a, b))| a != b).map(|(at, _)| at);
            let first = differing.next().map(|at| chunk * CHUNK + at);
            (usize::from(first.is_some()) + differing.count(), first)
        })
        .reduce(|| (0, None), |a, b| (a.0 + b.0, a.1.or(b.1)));
    let first = first?;
    Some(format!(
        "{} of the {} bytes of `{}` differ from what the launch wrote in the program; the first is byte {first}: \
         {:#04x} instead of {:#04x}. A kernel whose atomics add in any order does this with the right code",
        text::count(count as f64),
        text::count(expected.len() as f64),
        memory.name,
        got.get(first).copied().unwrap_or_default(),
        expected.get(first).copied().unwrap_or_default(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differing_bytes_are_counted_and_the_first_is_named() {
        let memory = Memory {
            name: "m1".into(),
            address: 1 << 40,
            bytes: 3 * CHUNK as u64,
            variable: None,
            before: "b".into(),
            after: Some("a".into()),
        };
        let expected = vec![7_u8; 3 * CHUNK];
        assert_eq!(differing(&expected, &expected, &memory), None);
        let mut got = expected.clone();
        (got[CHUNK + 5], got[CHUNK + 9], got[2 * CHUNK]) = (8, 9, 1);
        let text = differing(&expected, &got, &memory).unwrap();
        assert!(text.starts_with("3 of the 3,145,728 bytes of `m1` differ"), "{text}");
        assert!(text.contains("byte 1048581: 0x08 instead of 0x07"), "{text}");
    }
}
