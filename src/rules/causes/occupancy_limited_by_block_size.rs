//! The block size holds resident warps down, and latency shows for it.

mod hint;

use crate::evidence::occupancy::{
    BY_BLOCKS, BY_WARPS, EXPLAINS, GRID_SIZE, HIGH_ENOUGH_LIMIT, NEEDS, Resource,
    USUAL_BLOCK_LIMIT, WORTH_LIMIT,
};
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Cure, Example, Kind, Rule, Trial};
use crate::text::count_of;

const RESOURCE: Resource = Resource {
    name: "the block size",
    limits: &[BY_BLOCKS, BY_WARPS],
    use_of: |launch| {
        launch
            .quote("launch__block_size")
            .map_or_else(String::new, |each| format!(" of {}", count_of(each, "thread")))
    },
    at_most: |_| None,
    hint: hint::hint,
};

/// The rule.
pub const RULE: Rule = Rule {
    name: "occupancy-limited-by-block-size",
    kind: Kind::Cause,
    summary: "the block size keeps too few warps resident to hide latency",
    explanation: "\
An SM holds a limited number of blocks, and a limited number of warps, which only whole blocks can \
fill. Small blocks reach the first limit; blocks whose size does not divide an SM's threads leave \
part of the second unused. Where warps are few for this reason and schedulers idle because no warp \
is ready, another block size lets more warps in. The rule does not fire where the time model \
expects less than 5% from more warps.",
    examples: &[Example {
        fault: "\
// overlap<<<molecules, 32>>>: 32 blocks per SM are the limit, so that
// 32 of its 64 warps are resident
int molecule = blockIdx.x, lane = threadIdx.x;
unsigned bits = __popc(print[molecule * 32 + lane] & query[lane]);
bits = __reduce_add_sync(~0u, bits);
if (lane == 0) shared_bits[molecule] = bits;",
        repair: "\
// overlap<<<(molecules + 7) / 8, 256>>>: one molecule per warp, 64 warps
int molecule = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
if (molecule >= molecules) return;
unsigned bits = __popc(print[molecule * 32 + lane] & query[lane]);
bits = __reduce_add_sync(~0u, bits);
if (lane == 0) shared_bits[molecule] = bits;",
        note: "\
Eight warps per block instead of one: the limit on blocks no longer keeps warps out, and each \
warp still works alone.",
    }],
    section: "Occupancy",
    thresholds: &[HIGH_ENOUGH_LIMIT, WORTH_LIMIT, USUAL_BLOCK_LIMIT],
    needs: NEEDS,
    sharpened_by: &[GRID_SIZE],
    cure: Cure::MoreWarps,
    trials: &[Trial::Tunables],
    said_by_ncu: &[
        // The message lists every resource that is short.
        SaidByNcu::with("TheoreticalOccupancy", &["number of blocks"], Acts::Latency),
        SaidByNcu::with(
            "TheoreticalOccupancy",
            &["number of warps within each block"],
            Acts::Latency,
        ),
    ],
    explains: EXPLAINS,
    in_triton: "\
num_warps=4 or 8 makes larger blocks; with BLOCK of at least four elements per thread each \
has enough to do.",
    check: |launch| crate::evidence::occupancy::check(launch, &RESOURCE),
    ..Rule::DEFAULT
};

#[cfg(test)]
mod tests {
    use crate::evidence::occupancy::{BY_REGISTERS, BY_SHARED, THEORETICAL};
    use crate::evidence::threshold::ISSUE;
    use crate::rules::testing::{assert_occupancy_rule, check, launch};

    #[test]
    fn fires_where_block_slots_are_the_smallest_limit() {
        // The warp slots allow 4 blocks, but a coarser block could fill them all: full occupancy.
        assert_occupancy_rule(&super::RULE, super::BY_BLOCKS, super::RESOURCE.limits);
    }

    #[test]
    fn a_grid_of_just_as_many_blocks_as_fit_may_have_larger_ones() {
        let of = |blocks: f64| {
            let launch = launch(&[
                (THEORETICAL, 50.0),
                (BY_REGISTERS, 84.0),
                (BY_SHARED, 32.0),
                (super::BY_BLOCKS, 32.0),
                (super::BY_WARPS, 64.0),
                (ISSUE, 30.0),
                ("launch__grid_size", blocks),
                ("launch__sm_count", 132.0),
            ]);
            check(&super::RULE, &launch).map(|draft| draft.effect.hidden)
        };
        assert_eq!(of(32.0 * 132.0), Some(0.5));
        assert_eq!(of(32.0 * 132.0 - 1.0), None, "the grid has no more threads");
    }

    #[test]
    fn larger_blocks_gain_what_the_other_resources_leave() {
        let hidden = |warps: f64, [registers, shared, blocks, by_warps]: [f64; 4]| {
            let launch = launch(&[
                (THEORETICAL, warps),
                (BY_REGISTERS, registers),
                (BY_SHARED, shared),
                (super::BY_BLOCKS, blocks),
                (super::BY_WARPS, by_warps),
                (ISSUE, 30.0),
            ]);
            check(&super::RULE, &launch).unwrap().effect.hidden
        };
        let is = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}");
        // 32 blocks of a warp fill half of the slots. Registers leave 36 warps, or more than there are slots; shared
        // memory's limit is cut off at 32 and says nothing.
        is(hidden(50.0, [36.0, 32.0, 32.0, 64.0]), 1.0 - 32.0 / 36.0);
        is(hidden(50.0, [84.0, 32.0, 32.0, 64.0]), 0.5);
        // Two coarse blocks fill three quarters; registers would leave a part of a third one, which smaller blocks get.
        is(hidden(75.0, [2.0, 32.0, 32.0, 2.0]), 0.25);
    }

    #[test]
    fn fires_where_whole_blocks_leave_warp_slots_empty() {
        assert_occupancy_rule(&super::RULE, super::BY_WARPS, super::RESOURCE.limits);
    }
}
