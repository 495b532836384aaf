//! Lanes of the last warp of every block never work.

use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::hardware::WARP_LANES;
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Example, Kind, Rule};
use crate::term::Term;
use crate::text::{count, count_of, percent};

const BLOCK: &str = "launch__block_size";

/// The rule.
pub const RULE: Rule = Rule {
    name: "block-size-not-warp-multiple",
    kind: Kind::Cause,
    summary: "lanes of the last warp never work",
    explanation: "\
Threads run in warps of 32. If the size of a block is not a multiple of 32, its last warp has \
lanes that never work but take issue slots, registers and pipe slots like the others. Round the \
block up to a multiple of 32 and give the extra threads useful work, or make the block smaller.",
    examples: &[Example {
        fault: "\
// loudness_of<<<frames, 80>>>: 80 bands are two warps and a half, so
// 16 of the 96 lanes never work
int i = blockIdx.x * 80 + threadIdx.x;
loudness[i] = logf(energy[i] + 1e-6f);",
        repair: "\
// loudness_of<<<(frames * 80 + 255) / 256, 256>>>: eight full warps
int i = blockIdx.x * 256 + threadIdx.x;
if (i < frames * 80)
    loudness[i] = logf(energy[i] + 1e-6f);",
        note: "\
The block no longer follows the number of bands: all its lanes work, for one comparison per \
thread.",
    }],
    section: "LaunchStats",
    thresholds: &[Threshold {
        what: "threads per block, not a multiple of",
        value: WARP_LANES,
        unit: "thread",
        source: "the warp size of every CUDA device so far",
    }],
    needs: &[BLOCK],
    said_by_ncu: &[
        SaidByNcu::with("LaunchConfiguration", &["multiple of 32"], Acts::INSTRUCTIONS),
        SaidByNcu::with("LaunchConfiguration", &["not a multiple"], Acts::INSTRUCTIONS)
            .unless(&["multiple of 32"]),
    ],
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let threads = launch.need(BLOCK);
    let warps = (threads / WARP_LANES).ceil();
    let wasted = 1.0 - threads / (warps * WARP_LANES);
    if !(threads > 0.0 && wasted > 0.0) {
        return None;
    }
    // Rounded up to whole warps, the same threads make fewer blocks.
    let terms =
        [Term::Lsu, Term::Issue, Term::Fma, Term::Alu, Term::Fp64, Term::Xu, Term::BlockScheduler];
    let down = (warps - 1.0) * WARP_LANES;
    let sizes = if down > 0.0 {
        format!("{} or {}", count(down), count(warps * WARP_LANES))
    } else {
        count(warps * WARP_LANES)
    };
    Some(Draft {
        message: format!(
            "A block of {} takes {}, and the last has only {} of 32 lanes in use: {} of all lanes \
             never work.",
            count_of(threads, "thread"),
            count_of(warps, "warp"),
            count(threads - down),
            percent(wasted),
        ),
        evidence: vec![Evidence::new(BLOCK, threads, "thread")],
        locations: Vec::new(),
        hint: format!("Use {sizes} threads per block instead of {}.", count(threads)),
        effect: Effect {
            removed: terms.map(|term| (term, wasted)).to_vec(),
            stalls: StallReason::all().map(|reason| (reason, wasted)).collect(),
            ..Effect::default()
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{assert_sides, launch};

    #[test]
    fn sizes_between_multiples_waste_lanes() {
        let odd = launch(&[(BLOCK, 48.0)]);
        let draft =
            assert_sides(&RULE, &odd, &[&[(BLOCK, 64.0)], &[(BLOCK, 32.0)], &[(BLOCK, 0.0)]]);
        // 48 threads in two warps: 16 of 64 lanes never work.
        assert!((draft.effect.share_of(Term::Issue) - 0.25).abs() < 1e-12);
        assert!(draft.hint.contains("32 or 64"), "{}", draft.hint);
    }

    #[test]
    fn a_block_below_a_warp_can_only_grow() {
        let tiny = launch(&[(BLOCK, 8.0)]);
        let draft = assert_sides(&RULE, &tiny, &[]);
        assert!(draft.hint.starts_with("Use 32 threads"), "{}", draft.hint);
    }
}
