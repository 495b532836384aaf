//! Pipes of the SM that are as busy as tuned kernels make them.

use super::thresholds::PIPE_FULL;
use super::{Effect, Model};
use crate::term::Term;

/// The math pipes, and what feeds them: issue slots, the load/store unit and L1's data pipe. What all SMs share has
/// queues of its own, and more requests in flight fill it further.
const PIPES: [Term; 8] = [
    Term::Fma,
    Term::Alu,
    Term::Fp64,
    Term::Xu,
    Term::Tensor,
    Term::Issue,
    Term::Lsu,
    Term::L1Data,
];

impl Model {
    /// The time, as a share of the present time, in which the SM's busiest pipe would do its work at [`PIPE_FULL`].
    pub(super) fn full_pipe(&self) -> f64 {
        let busiest =
            PIPES.into_iter().filter_map(|pipe| self.utilization(pipe)).fold(0.0, f64::max);
        busiest / PIPE_FULL.value
    }

    /// True where some pipe of the SM does [`PIPE_FULL`] of what it can and the effect takes nothing from it.
    /// What is left there is the start and end of tiles and phases, between which warps wait for one
    /// another by design: no change of the waits alone is known to gain there.
    pub(super) fn stays_full(&self, effect: &Effect) -> bool {
        PIPES.into_iter().any(|pipe| {
            self.utilization(pipe).is_some_and(|busy| busy >= PIPE_FULL.value)
                && effect.share_of(pipe) <= 0.0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;
    use crate::metric::stall::StallReason;

    #[test]
    fn waits_alone_fill_a_pipe_no_further_than_tuned_kernels_do() {
        let issue = Term::Issue.counters()[0];
        let of = |busy: f64, effect: &Effect| {
            let mut launch = Launch::default();
            launch.set(issue, Some(busy));
            launch.set(&StallReason::LongScoreboard.ratio_metric(), Some(5.0));
            Model::new(&launch).without(effect).unwrap().factor
        };
        let waits = Effect::stalls([StallReason::LongScoreboard]);
        // 0.6 of the time at three quarters of what the issue slots can do.
        assert!((of(60.0, &waits) - 0.75 / 0.6).abs() < 1e-12);
        let with_work = Effect { removed: vec![(Term::Dram, 0.1)], ..waits };
        assert!((of(60.0, &with_work) - 1.0 / 0.6).abs() < 1e-12);
    }

    #[test]
    fn waits_alone_promise_nothing_beside_a_pipe_of_the_sm_at_three_quarters() {
        let gains = |pipe: &str, busy: f64, effect: &Effect| {
            let mut launch = Launch::default();
            let long = StallReason::LongScoreboard.ratio_metric();
            launch.set(pipe, Some(busy));
            launch.set(&long, Some(5.0));
            Model::new(&launch).without(effect).unwrap().factor > 1.05
        };
        let waits = Effect::stalls([StallReason::LongScoreboard]);
        for term in [Term::Issue, Term::L1Data, Term::Lsu, Term::Xu] {
            let pipe = term.counters()[0];
            // 0.75 / 0.72 are less than 1.05.
            assert!(!gains(pipe, 72.0, &waits), "{}", term.title());
            assert!(gains(pipe, 71.0, &waits), "{}", term.title());
            // The fault's own work is part of what keeps it busy.
            assert!(gains(pipe, 75.0, &Effect { removed: vec![(term, 0.1)], ..waits.clone() }));
        }
        let shared_by_all = Term::L2.counters()[0];
        assert!(gains(shared_by_all, 75.0, &waits), "more in flight fills it further");
    }
}
