//! Whose calls a finding blames, and from where they were made.

use std::collections::HashMap;
use std::sync::Arc;

use crate::survey::callers::Stack;
use crate::survey::record::{Call, Process};

/// Stacks of a finding that are looked at; of more, the last have next to no share.
const MOST_STACKS: usize = 64;

/// The calls that a finding blames, by their correlation, each with its weight.
#[derive(Debug, Default)]
pub(super) struct Blamed {
    calls: Vec<(u32, f64)>,
    of: &'static str,
}

impl Blamed {
    /// Nobody's calls.
    pub(super) fn none() -> Self {
        Self::default()
    }

    /// These calls, all alike.
    pub(super) fn calls<'a>(calls: impl Iterator<Item = &'a Call>) -> Self {
        Self::weighted(calls.map(|call| (call.correlation, 1.0)), "calls")
    }

    /// Calls by their correlation and weight, and what the weight is of.
    pub(super) fn weighted(calls: impl Iterator<Item = (u32, f64)>, of: &'static str) -> Self {
        Self { calls: calls.collect(), of }
    }

    /// The stacks of these calls, as far as they were recorded, the one with the most weight first.
    pub(super) fn callers(&self, process: &Process) -> Callers {
        let mut weights: HashMap<*const (), (Stack, f64)> = HashMap::new();
        for (correlation, weight) in &self.calls {
            if let Some((stack, calls)) = process.callers.of(*correlation) {
                let of_stack = weights.entry(Arc::as_ptr(stack).cast());
                of_stack.or_insert_with(|| (Arc::clone(stack), 0.0)).1 += weight * f64::from(calls);
            }
        }
        let total: f64 = weights.values().map(|(_, weight)| weight).sum();
        let mut stacks: Vec<(Stack, f64)> = weights.into_values().collect();
        let address = |stack: &Stack| stack.first().map(|frame| frame.address);
        stacks.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| address(&a.0).cmp(&address(&b.0))));
        stacks.truncate(MOST_STACKS);
        for (_, weight) in &mut stacks {
            *weight = if total > 0.0 { *weight / total } else { 0.0 };
        }
        Callers { stacks, of: self.of }
    }
}

/// From where a finding's calls were made.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Callers {
    /// Stacks, each with its share, 0 to 1.
    pub stacks: Vec<(Stack, f64)>,
    /// What the share is of: `calls`.
    pub of: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::callers::{Callers as Recorded, Frame};

    fn frame(address: u64) -> Frame {
        Frame { file: "app".into(), is_executable: true, address }
    }

    #[test]
    fn the_stack_with_the_most_weight_comes_first() {
        let (a, b) = ([frame(1)], [frame(2)]);
        let callers = Recorded::made(&[(1, &a), (2, &b), (3, &a)]);
        let process = Process { callers, ..Process::default() };
        // Two short copies of one place, one long copy of the other, and one that nobody recorded.
        let calls = [(1, 10.0), (2, 60.0), (3, 10.0), (4, 1000.0)];
        let found = Blamed::weighted(calls.into_iter(), "copy time").callers(&process);
        let first: Vec<(u64, f64)> =
            found.stacks.iter().map(|(stack, share)| (stack[0].address, *share)).collect();
        assert_eq!(first, [(2, 0.75), (1, 0.125), (1, 0.125)]);
        assert_eq!(found.of, "copy time");
        assert!(Blamed::none().callers(&process).stacks.is_empty());
    }
}
