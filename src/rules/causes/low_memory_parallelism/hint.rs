//! What to change, by what keeps the loads apart.

use crate::evidence::loads_in_flight::{Around, Behind, CHAINED_STAYS, Loads};
use crate::text::count_of;

/// What puts so many more loads in flight at that place.
pub(super) fn hint(loads: &Loads, chained: f64, at: &str, more: &str) -> String {
    if chained > CHAINED_STAYS {
        format!(
            "Let each thread follow two or more chains of loads side by side at {at}; or keep more warps \
             resident, or shorten the chains (a flatter structure, hot levels in shared memory). Unrolling \
             does not help: each load there needs the address that the previous one returned."
        )
    } else if loads.around == Around::Pipeline {
        format!(
            "The loop at {at} copies {} ahead of its products already: begin its copies an iteration earlier yet, with another \
             stage of shared memory. Where the loop is short, most of the waiting is for its first copies: let those of \
             the next tile begin before this one's results are stored.",
            count_of(loads.now, "iteration"),
        )
    } else if let Some(Behind::SlowPath(line)) = &loads.behind {
        format!(
            "Put {more} loads in flight at {at}: load several elements into local variables before using \
             the first. Unrolling alone changes nothing, because the compiler moves no load across the \
             slow path of the division or function{line}; with a form that has no slow path (see \
             slow-math-functions), the compiler can move them."
        )
    } else if let Some(Behind::Store(line)) = &loads.behind {
        format!(
            "Put {more} loads in flight at {at}: load several elements into local variables before the \
             first store{line}. Unrolling alone changes nothing, because as far as the compiler can tell \
             that store may write what the next loads read; if it never does, declare the pointers \
             __restrict__."
        )
    } else if loads.around == Around::NoLoop {
        format!(
            "Put {more} loads in flight at {at}: let a thread take several elements and load them all \
             before using the first, as one float4 where addresses allow; fewer blocks then do the same \
             work."
        )
    } else {
        format!(
            "Put {more} loads in flight at {at}: unroll the loop so that several independent \
             loads are issued before the first result is used (separate accumulators), load float4 \
             where addresses allow, or copy the next tile ahead (cp.async)."
        )
    }
}
