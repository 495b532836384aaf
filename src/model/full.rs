//! Math pipes that are as busy as tuned kernels make them.

use super::thresholds::PIPE_FULL;
use super::{Effect, Model};
use crate::term::Term;

/// The pipes that do a kernel's arithmetic.
const PIPES: [Term; 5] = [Term::Fma, Term::Alu, Term::Fp64, Term::Xu, Term::Tensor];

impl Model {
    /// True where some math pipe does [`PIPE_FULL`] of what it can and the effect takes nothing from it.
    /// What is left there is the start and end of tiles and phases, between which warps wait for one
    /// another by design: no change of the waits alone is known to gain there.
    pub(super) fn stays_full(&self, effect: &Effect) -> bool {
        PIPES.into_iter().any(|pipe| {
            self.utilization(pipe).is_some_and(|busy| busy >= PIPE_FULL.value)
                && effect.share_of(pipe) <= 0.0
        })
    }
}
