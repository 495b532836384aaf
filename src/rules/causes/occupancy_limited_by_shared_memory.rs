//! Shared memory holds resident warps down, and latency shows for it.

use crate::evidence::occupancy::{
    BY_SHARED, EXPLAINS, FEW_WARPS_LIMIT, GRID_SIZE, HIGH_ENOUGH_LIMIT, NEEDS, Resource,
    USUAL_BLOCK, WORTH_LIMIT,
};
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Cure, Example, Kind, Rule, Trial};
use crate::text::count;

const RESOURCE: Resource = Resource {
    name: "shared memory",
    limits: &[BY_SHARED],
    use_of: |launch| {
        launch
            .quote("launch__shared_mem_per_block")
            .map_or_else(String::new, |each| format!(", and a block takes {} bytes", count(each)))
    },
    at_most: |_| None,
    hint: |launch| {
        let threads: f64 = launch.profile.row.block.iter().map(|&side| f64::from(side)).product();
        let more_threads = if threads < USUAL_BLOCK {
            format!(
                "; or let {} threads work on what {} do, which takes no more shared memory",
                count(2.0 * threads),
                count(threads)
            )
        } else {
            String::new()
        };
        format!(
            "Use less shared memory per block, so that {{then}} blocks fit on an SM instead of {{now}}: a smaller tile, a narrower type, \
             or registers and shuffles{more_threads}; or raise the carve-out (cudaFuncAttributePreferredSharedMemoryCarveout)."
        )
    },
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "occupancy-limited-by-shared-memory",
    kind: Kind::Cause,
    summary: "shared memory keeps too few warps resident to hide latency",
    explanation: "\
Resident blocks share the SM's shared memory. Where it keeps further blocks out, warps are few and \
schedulers idle because no warp is ready; smaller tiles or a larger carve-out then let more warps \
in. The rule does not fire where a unit is so near its limit that the time model expects nothing \
from more warps.",
    examples: &[Example {
        fault: "\
constexpr int ROWS = 64;  // 48 KB per block of 192 threads: 24 of 64 warps
__shared__ float tile[ROWS][192];
for (int first = 0; first < rows; first += ROWS) {
    for (int r = 0; r < ROWS; ++r) tile[r][t] = in[(first + r) * 192 + t];
    __syncthreads();
    for (int r = 0; r < ROWS; ++r) sum += tile[r][t] * tile[r][191 - t];
    __syncthreads();
}",
        repair: "\
constexpr int ROWS = 16;  // 12 KB per block: 60 of 64 warps
__shared__ float tile[ROWS][192];
for (int first = 0; first < rows; first += ROWS) {
    for (int r = 0; r < ROWS; ++r) tile[r][t] = in[(first + r) * 192 + t];
    __syncthreads();
    for (int r = 0; r < ROWS; ++r) sum += tile[r][t] * tile[r][191 - t];
    __syncthreads();
}",
        note: "\
A quarter of the rows per tile lets ten blocks onto an SM instead of four; the price is four \
times as many barriers.",
    }],
    section: "Occupancy",
    thresholds: &[HIGH_ENOUGH_LIMIT, WORTH_LIMIT, FEW_WARPS_LIMIT],
    needs: NEEDS,
    sharpened_by: &[GRID_SIZE],
    cure: Cure::MoreWarps,
    trials: &[Trial::Carveout(100), Trial::Tunables],
    said_by_ncu: &[
        // The message lists every resource that is short.
        SaidByNcu::with("TheoreticalOccupancy", &["shared memory"], Acts::Latency),
    ],
    explains: EXPLAINS,
    in_triton: "\
shared memory holds num_stages pieces of the operands: one stage fewer or a smaller BLOCK_K \
takes less; twice the num_warps share the same tile.",
    check: |launch| crate::evidence::occupancy::check(launch, &RESOURCE),
    ..Rule::DEFAULT
};

#[cfg(test)]
mod tests {
    #[test]
    fn fires_where_shared_memory_is_the_smallest_limit() {
        crate::rules::testing::assert_occupancy_rule(
            &super::RULE,
            super::BY_SHARED,
            super::RESOURCE.limits,
        );
    }
}
