//! Work that touches shared memory so densely that its pipe is full.

use crate::evidence::shared_pipe::{SharedPipe, executed_on, stall_on, uses_shared_alone};
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::term::Term;

/// The accesses go, with their own instructions and stalls and with what waits for them. The loop's
/// arithmetic is the work itself and stays. The time model knows that warps at barriers wait for warps
/// that do.
pub(super) fn effect(pipe: &SharedPipe) -> Effect {
    let instructions = &pipe.launch.profile.instructions;
    let mut removed = pipe.units();
    if !instructions.is_empty() {
        removed
            .extend(executed_on(instructions, uses_shared_alone).map(|share| (Term::Issue, share)));
    }
    let stalls = StallReason::all().map(|reason| {
        let goes = match reason {
            StallReason::LongScoreboard | StallReason::LgThrottle | StallReason::Barrier => 0.0,
            StallReason::ShortScoreboard | StallReason::MioThrottle => 1.0,
            _ => stall_on(instructions, reason),
        };
        (reason, goes)
    });
    Effect { removed, stalls: stalls.collect(), ..Effect::default() }
}

/// The advice for the accesses at a place.
pub(super) fn hint(at: &str) -> String {
    format!(
        "Access shared memory less often at {at}: let each thread keep a tile of results in registers, \
         move a float4 at a time, or exchange values within a warp by shuffles."
    )
}
