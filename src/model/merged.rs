//! Several launches that become one.

use super::thresholds::WORST_ERROR;
use super::{Effect, Estimate, Left, Model};

/// The speed-up of n launches that become one. Of what a launch takes beside its own cost, the
/// merged launch needs as much once for each round of blocks, or as long as the busiest unit does for
/// the work of all n, whichever is longer. At best the rounds overlap and the launch's start costs
/// nothing beyond the profiler's figure; at least rounds and busy time add up.
pub(super) fn estimate(model: &Model, left: &Left, effect: &Effect) -> Estimate {
    let launches = effect.merged;
    let rounds = effect.rounds.max(1.0);
    let lone = model.time_ns.map_or(0.0, |ns| model.lone_launch_ns / ns);
    let own = (left.time(left.likely()) - left.fixed).max(0.0);
    let (once, busy) = (own * rounds, left.longest.1 * launches);
    let factor = |time: f64| (launches / time).max(1.0);
    Estimate {
        factor: factor(left.fixed + lone + once.max(busy)),
        low: 1.0 + (1.0 - WORST_ERROR.value) * (factor(left.fixed + lone + once + busy) - 1.0),
        high: factor(left.fixed + own.max(busy)),
    }
}
