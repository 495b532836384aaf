//! Lanes of the last warp of every block never work.

use crate::evidence::modeled_launch::{BLOCKS_AT_ONCE, WAVES};
use crate::evidence::rounds::{one_after_another, rounds_saved};
use crate::evidence::stalls::WAITS_FOR_OTHERS;
use crate::evidence::threshold::LATENCY;
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::frame::{Launch, Reads};
use crate::hardware::{SECTOR_BYTES, WARP_LANES};
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Example, Kind, Rule};
use crate::term::Term;
use crate::text::{count, count_of, percent};

const BLOCK: &str = "launch__block_size";
const L2_SECTORS: &str = "lts__t_sectors.sum";
const DRAM_READ: &str = "dram__bytes_read.sum";

/// Bytes of the element that a lane most often loads or stores.
const ELEMENT_BYTES: f64 = 4.0;

/// The rule.
pub const RULE: Rule = Rule {
    name: "block-size-not-warp-multiple",
    kind: Kind::Cause,
    summary: "lanes of the last warp never work",
    explanation: "\
Threads run in warps of 32. If the size of a block is not a multiple of 32, its last warp has \
lanes that never work but take issue slots, registers and pipe slots like the others. Round the \
block up to a multiple of 32 and give the extra threads useful work, or make the block smaller. In a \
block of fewer than 32 threads, each request to memory serves fewer lanes, too, and brings whole sectors of 32 bytes for \
them: full warps need fewer requests, fewer wavefronts and, if neighbouring threads use neighbouring elements, fewer \
sectors. Where the profile has no stalls, what warps wait for is taken to shrink with the rounds of blocks: if all \
warps run at once, fewer of them take as long.",
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
    thresholds: &[
        Threshold {
            what: "threads per block, not a multiple of",
            value: WARP_LANES,
            unit: "thread",
            source: "the warp size of every CUDA device so far",
        },
        Threshold {
            what: "constant: bytes of the element that a lane of a block below a warp loads or stores",
            value: ELEMENT_BYTES,
            unit: "byte",
            source: "definition: a float or an int; the range begins without what depends on it",
        },
    ],
    needs: &[BLOCK],
    sharpened_by: &[
        Reads::always(&[LATENCY]),
        BLOCKS_AT_ONCE,
        WAVES,
        WAITS_FOR_OTHERS,
        Reads::only_where(is_below_a_warp, &[L2_SECTORS, DRAM_READ]),
    ],
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
        effect: effect(launch, threads, wasted),
    })
}

/// True where a block does not fill a single warp.
fn is_below_a_warp(launch: &Launch) -> bool {
    launch.get(BLOCK).is_some_and(|threads| threads < WARP_LANES)
}

/// True where it is not known what warps wait for.
fn has_no_stalls(launch: &Launch) -> bool {
    launch.get(LATENCY).is_none()
}

/// The same threads in full warps. What a warp does one instruction after another takes as long as before.
fn effect(launch: &ModeledLaunch, threads: f64, wasted: f64) -> Effect {
    // Rounded up to whole warps, the same threads make fewer blocks.
    let terms =
        [Term::Lsu, Term::Issue, Term::Fma, Term::Alu, Term::Fp64, Term::Xu, Term::BlockScheduler];
    let full_warps = Effect {
        removed: terms.map(|term| (term, wasted)).to_vec(),
        stalls: StallReason::all().map(|reason| (reason, wasted)).collect(),
        // Where the stalls are not known, all waits go with the rounds of blocks.
        hidden: if has_no_stalls(launch.profile) { rounds_saved(launch, wasted) } else { 0.0 },
        least: one_after_another(launch, wasted),
        ..Effect::default()
    };
    if threads >= WARP_LANES {
        return full_warps;
    }
    let mut merged = full_warps.clone();
    // As many lanes in fewer requests, each of one wavefront where they are dense.
    merged.removed.extend([(Term::L1Data, wasted), (Term::L2Requests, wasted)]);
    let asked = threads * ELEMENT_BYTES / SECTOR_BYTES;
    let sectors = 1.0 - asked / asked.ceil();
    merged.removed.push((Term::L2, sectors));
    // What lanes ask for comes from DRAM once in any case. Where nothing was counted, each sector is taken to be
    // fetched for each of them.
    let of_dram =
        launch.get(L2_SECTORS).zip(launch.get(DRAM_READ)).map_or(sectors, |(all, read)| {
            let needed = (1.0 - sectors) * SECTOR_BYTES * all;
            (1.0 - needed / read.max(1.0)).clamp(0.0, sectors)
        });
    merged.removed.push((Term::Dram, of_dram));
    merged.at_least = Some(Box::new(full_warps));
    merged
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

    #[test]
    fn requests_of_a_lonely_thread_bring_sectors_that_full_warps_share() {
        let lonely = [(BLOCK, 1.0), (L2_SECTORS, 1000.0), (DRAM_READ, 16_000.0)];
        let effect = crate::rules::testing::check(&RULE, &launch(&lonely)).unwrap().effect;
        let goes = |term| effect.share_of(term);
        // One of 32 lanes: 31 of 32 requests and wavefronts go; of a sector's 32 bytes a float needs four.
        assert!((goes(Term::L1Data) - 0.96875).abs() < 1e-12, "{effect:?}");
        assert!((goes(Term::L2Requests) - 0.96875).abs() < 1e-12);
        assert!((goes(Term::L2) - 0.875).abs() < 1e-12);
        // 32,000 bytes asked of L2 hold 4,000 that lanes need, and DRAM brought 16,000.
        assert!((goes(Term::Dram) - 0.75).abs() < 1e-12);
        let least = effect.at_least.as_ref().unwrap();
        assert!(least.share_of(Term::L2).abs() < 1e-12, "neighbours may use other sectors");
        // 16 floats fill two sectors; from a warp on, requests are as they were.
        for threads in [16.0, 48.0] {
            let full = launch(&[(BLOCK, threads), (L2_SECTORS, 1000.0)]);
            let effect = crate::rules::testing::check(&RULE, &full).unwrap().effect;
            assert!(effect.share_of(Term::L2).abs() < 1e-12, "{threads}");
        }
    }

    #[test]
    fn a_lonely_warp_takes_as_long_with_full_lanes() {
        let waves = "launch__waves_per_multiprocessor";
        let not_selected = "smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio";
        let least = |waves_now: f64| {
            let metrics = [(BLOCK, 1.0), (waves, waves_now), (LATENCY, 10.0), (not_selected, 4.0)];
            crate::rules::testing::check(&RULE, &launch(&metrics)).unwrap().effect.least
        };
        // Of 10 cycles 4 are for a turn behind others; 64 rounds become two.
        assert!((least(0.5) - 0.6).abs() < 1e-12);
        assert!((least(64.0) - 0.6 / 32.0).abs() < 1e-12);
    }

    #[test]
    fn without_stalls_waits_shrink_with_the_rounds_of_blocks() {
        let waves = "launch__waves_per_multiprocessor";
        let hidden = |more: &[(&'static str, f64)]| {
            let metrics = [&[(BLOCK, 8.0)], more].concat();
            crate::rules::testing::check(&RULE, &launch(&metrics)).unwrap().effect.hidden
        };
        // Eight waves become two; what fits at once takes as long.
        assert!((hidden(&[(waves, 8.0)]) - 0.75).abs() < 1e-12);
        assert!(hidden(&[(waves, 1.0)]).abs() < 1e-12);
        assert!(hidden(&[]).abs() < 1e-12, "how many rounds there are is not known");
        // Stalls tell more.
        assert!(hidden(&[(waves, 8.0), (LATENCY, 10.0)]).abs() < 1e-12);
    }
}
