//! Who made a process's calls of CUDA: stacks of return addresses, for some of the calls.

use std::collections::HashMap;
use std::sync::Arc;

/// Where a function is that called another: an address in a file of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The file as the process names it.
    pub file: Arc<str>,
    /// True for the file that the process runs, not one of its libraries.
    pub is_executable: bool,
    /// Where the call returns to, as the file counts addresses.
    pub address: u64,
}

/// Frames, the innermost first.
pub type Stack = Arc<[Frame]>;

/// The callers of a process.
#[derive(Debug, Clone, Default)]
pub struct Callers {
    /// For a call's correlation, its stack and for how many calls it stands.
    by_call: HashMap<u32, (Stack, u32)>,
}

impl Callers {
    /// The stack of a call by its correlation, and for how many calls it stands; `None` where it was not recorded.
    #[must_use]
    pub fn of(&self, correlation: u32) -> Option<(&Stack, u32)> {
        self.by_call.get(&correlation).map(|(stack, calls)| (stack, *calls))
    }

    pub(crate) fn new(stacks: Stacks, name_of: impl Fn(u64) -> String) -> Self {
        let mut files: HashMap<u64, Arc<str>> = HashMap::new();
        let mut frame = |(file, address): (u64, u64)| Frame {
            file: Arc::clone(files.entry(file).or_insert_with(|| Arc::from(name_of(file)))),
            is_executable: stacks.executable == Some(file),
            address,
        };
        let of_stack = |(number, frames): (u64, Vec<(u64, u64)>)| {
            (number, frames.into_iter().map(&mut frame).collect())
        };
        let by_number: HashMap<u64, Stack> = stacks.frames.into_iter().map(of_stack).collect();
        let by_call = stacks.calls.into_iter().filter_map(|(correlation, calls, stack)| {
            Some((correlation, (Arc::clone(by_number.get(&stack)?), calls)))
        });
        Self { by_call: by_call.collect() }
    }

    /// Callers that a test names: for each correlation, frames of the executable.
    #[cfg(test)]
    pub(crate) fn made(calls: &[(u32, &[Frame])]) -> Self {
        let of = |&(correlation, frames): &(u32, &[Frame])| (correlation, (frames.into(), 1));
        Self { by_call: calls.iter().map(of).collect() }
    }
}

/// What a file has of callers, before names are known.
#[derive(Default)]
pub(crate) struct Stacks {
    frames: HashMap<u64, Vec<(u64, u64)>>,
    calls: Vec<(u32, u32, u64)>,
    executable: Option<u64>,
}

impl Stacks {
    /// A stack by its number: each frame's file and address.
    pub(crate) fn stack(&mut self, number: u64, frames: Vec<(u64, u64)>) {
        self.frames.insert(number, frames);
    }

    /// A call's correlation, for how many calls it stands, and its stack's number.
    pub(crate) fn caller(&mut self, correlation: u32, calls: u32, stack: u64) {
        self.calls.push((correlation, calls, stack));
    }

    /// The name of the file that the process runs.
    pub(crate) fn executable(&mut self, name: u64) {
        self.executable = Some(name);
    }
}
