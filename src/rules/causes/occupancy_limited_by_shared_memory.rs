//! Shared memory holds resident warps down, and latency shows for it.

use crate::evidence::occupancy::{BY_SHARED, EXPLAINS, NEEDS, Resource, THRESHOLDS};
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Cure, Kind, Rule};
use crate::text::count;

const RESOURCE: Resource = Resource {
    name: "shared memory",
    limits: &[BY_SHARED],
    use_of: |launch| {
        launch
            .get("launch__shared_mem_per_block")
            .map_or_else(String::new, |each| format!(", a block takes {} bytes", count(each)))
    },
    at_most: |_| None,
    hint: "\
Take less shared memory a block so that {then} blocks fit an SM instead of {now}: a smaller tile, a \
narrower type, or registers and shuffles; or raise the carve-out \
(cudaFuncAttributePreferredSharedMemoryCarveout).",
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "occupancy-limited-by-shared-memory",
    kind: Kind::Cause,
    summary: "shared memory holds resident warps down, and latency shows for it",
    explanation: "\
Resident blocks share the SM's shared memory. Where it is what keeps further blocks out, warps are \
few, and schedulers idle for want of a ready warp, smaller tiles or a larger carve-out let more \
warps in. The rule is quiet where a unit is near its limit, so that by the time model more warps gain \
nothing there.",
    section: "Occupancy",
    thresholds: THRESHOLDS,
    needs: NEEDS,
    cure: Cure::MoreWarps,
    said_by_ncu: &[
        // The message lists every resource that is short.
        SaidByNcu::with("TheoreticalOccupancy", &["shared memory"], Acts::Latency),
    ],
    explains: EXPLAINS,
    check: |launch| crate::evidence::occupancy::check(launch, &RESOURCE),
    ..Rule::DEFAULT
};

#[cfg(test)]
mod tests {
    #[test]
    fn fires_where_shared_memory_is_the_smallest_limit() {
        crate::evidence::occupancy::assert_occupancy_rule(
            &super::RULE,
            super::BY_SHARED,
            super::RESOURCE.limits,
        );
    }
}
