//! Most blocks or warps leave at a guard without doing anything.

use crate::evidence::idle_warps::IdleWarps;
use crate::evidence::modeled_launch::{BLOCKS_AT_ONCE, WAVES, place};
use crate::evidence::removal::{MATTERS_LIMIT, gains};
use crate::evidence::stalls::WAITS_FOR_OTHERS;
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::hardware::WARP_LANES;
use crate::rules::{Example, Kind, Rule, SourcePage};
use crate::sass::questions::bystanders::AT_WORK;
use crate::sass::questions::bystanders::searches::GUARD_STEPS;
use crate::text::{count_of, percent};

const GRID: &str = "launch__grid_size";

/// The share of lanes that work in the warps that do, below which threads are counted in place of warps.
const HALF_A_WARP: f64 = 0.5;

/// The rule.
pub const RULE: Rule = Rule {
    name: "idle-blocks",
    kind: Kind::Cause,
    summary: "most blocks or warps leave at a guard without doing anything",
    explanation: "\
A grid larger than the work has blocks that find nothing to do: they start, compare their index with the end, \
and leave. Starting them takes the block scheduler's time and the slots of warps that have work; if the guard \
is only around the accesses, they even run through all of the kernel's loops and barriers. The rule counts the \
warps in which at least one lane loads, stores or exchanges anything, not counting a bound that all threads of \
a block load alike. It fires if at least half of the launched warps never do. Launch only as many blocks as \
there is work. The usual reasons are a grid given in threads instead of blocks, an upper bound in place of the \
actual number, or one grid size for parts of different sizes.",
    examples: &[Example {
        fault: "\
// n threads are needed, but n blocks are launched
advance<<<n, 128>>>(out, in, n);

int i = blockIdx.x * blockDim.x + threadIdx.x;
if (i >= n) return;                       // 127 of 128 blocks",
        repair: "\
advance<<<(n + 127) / 128, 128>>>(out, in, n);

int i = blockIdx.x * blockDim.x + threadIdx.x;
if (i >= n) return;                       // the end of the last block",
        note: "\
The grid is given in blocks, not in threads; the guard is left for the last block alone.",
    }],
    section: "LaunchStats",
    thresholds: &[
        Threshold {
            what: "share of the launched warps that load, store or exchange anything, less than",
            value: AT_WORK,
            unit: "share",
            source: "definition: most of the warps do nothing",
        },
        Threshold {
            what: "constant: share of the other warps' lanes that work, for blocks to be counted by threads in place of \
                   warps, less than",
            value: HALF_A_WARP,
            unit: "share",
            source: "definition: most of the lanes do nothing",
        },
        Threshold {
            what: "constant: instructions that a warp executes to find out whether it has work, at most; more are a search, \
                   which is work",
            value: GUARD_STEPS,
            unit: "instruction",
            source: "derivation: four divisions take an index of five dimensions apart, and one is about 25 instructions \
                     (counted in nvcc 13.0's code for sm_90)",
        },
        MATTERS_LIMIT,
    ],
    needs: &[GRID],
    sharpened_by: &[BLOCKS_AT_ONCE, WAVES, WAITS_FOR_OTHERS],
    source_page: SourcePage::Needed,
    explains: &[
        "issue-slots-underused",
        "barrier-stalls",
        "fixed-latency-stalls",
        "short-scoreboard-stalls",
        "instruction-cache-misses",
        "constant-cache-misses",
    ],
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let blocks = launch.need(GRID);
    let idle = IdleWarps::find(launch)?;
    let found = idle.found;
    // Those that take part in an exchange are idle threads of blocks that work.
    if found.exchange.is_some() {
        return None;
    }
    let effect = idle.effect(launch);
    if !gains(launch, &effect) {
        return None;
    }
    let locations = idle.locations(launch, found.guard, "the guard");
    let warps = idle.launched();
    let at_work = warps * (1.0 - found.share);
    Some(Draft {
        message: format!(
            "Of {} launched ({}), {} never load, store or exchange anything: they leave at a guard, or run the \
             code with their accesses predicated off.",
            count_of(warps, "warp"),
            count_of(blocks, "block"),
            percent(found.share),
        ),
        evidence: vec![
            Evidence::new(GRID, blocks, "block"),
            Evidence::new("warps_launched", warps, "warp"),
            Evidence::new("warps_at_work", at_work, "warp"),
        ],
        hint: if found.lanes < HALF_A_WARP {
            format!(
                "Launch only as many threads as there is work: {} would hold all that have any. Where warps work, at \
                 most {:.0} of their 32 lanes do, so index the data as one dimension, in which neighbouring threads \
                 have neighbouring elements, in place of a block for each row. The others leave at {}.",
                count_of((blocks * idle.threads_at_work()).ceil(), "block"),
                (WARP_LANES * found.lanes).ceil(),
                place(&locations, "a comparison with the end"),
            )
        } else {
            format!(
                "Launch only as many blocks as there is work: {} would hold all warps that have any. The others \
                 leave at {}; compute the grid from the same bound.",
                count_of((blocks * (1.0 - found.share)).ceil(), "block"),
                place(&locations, "a comparison with the end"),
            )
        },
        locations,
        effect,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::stall::StallReason;
    use crate::rules::testing::{assert_sides, check, sass};
    use crate::term::Term;

    const BUSY: &str = "sm__issue_active.avg.pct_of_peak_sustained_elapsed";

    #[test]
    fn blocks_that_leave_at_a_guard_count_where_something_is_gained() {
        let code = |at_work: f64| {
            [
                ("ISETP.GE.AND P0, PT, R0, UR4, PT", 800.0),
                ("@P0 EXIT", 800.0),
                ("LDG.E R4, desc[UR4][R2.64]", at_work),
                ("STG.E desc[UR4][R6.64], R4", at_work),
                ("EXIT", at_work),
            ]
        };
        let few = sass(&[(GRID, 100.0), (BUSY, 60.0)], &code(200.0));
        let draft = assert_sides(&RULE, &few, &[&[(BUSY, 0.0)]]);
        // 75% of the first two instructions, which are 1600 of 2200.
        let gone = draft.effect.share_of(Term::Issue);
        assert!((gone - 0.75 * 1600.0 / 2200.0).abs() < 1e-12, "{gone}");
        assert!((draft.effect.share_of(Term::BlockScheduler) - 0.75).abs() < 1e-12);
        assert!(draft.message.contains("75% never load"), "{}", draft.message);
        assert!(
            draft.hint.contains("25 blocks") && draft.hint.contains("line 2"),
            "{}",
            draft.hint
        );
        let fires = |at_work: f64| {
            check(&RULE, &sass(&[(GRID, 100.0), (BUSY, 60.0)], &code(at_work))).is_some()
        };
        assert!(fires(399.0) && !fires(400.0), "half of 800 warps");
    }

    #[test]
    fn where_few_lanes_work_blocks_are_counted_by_threads() {
        let mut rows = sass(
            &[(GRID, 100.0), (BUSY, 60.0)],
            &[("@P0 EXIT", 800.0), ("LDG.E R4, desc[UR4][R2.64]", 200.0), ("EXIT", 200.0)],
        );
        let draft = |rows: &crate::frame::Launch| check(&RULE, rows).unwrap();
        rows.instructions[1].counters.thread_inst_executed_pred_on = 16.0 * 200.0;
        assert!(draft(&rows).hint.contains("25 blocks would hold all warps"), "half of the lanes");
        // What is found is kept, so that it takes a launch of its own.
        let mut rows = rows.clone();
        rows.instructions[1].counters.thread_inst_executed_pred_on = 4.0 * 200.0;
        let few = draft(&rows);
        // A quarter of the warps, and an eighth of their lanes.
        assert!(few.hint.contains("4 blocks would hold all that have any"), "{}", few.hint);
        assert!(few.hint.contains("at most 4 of their 32 lanes"), "{}", few.hint);
        let gone = few.effect.share_of(Term::BlockScheduler);
        assert!((gone - (1.0 - 0.25 / 8.0)).abs() < 1e-12, "{gone}");
    }

    #[test]
    fn nothing_is_at_work_while_blocks_start_that_come_last() {
        let phase = |index: &'static str, grid: [u32; 3]| {
            let code = [
                (index, 800.0),
                ("ISETP.GE.AND P0, PT, R0, UR4, PT", 800.0),
                ("@P0 EXIT", 800.0),
                ("LDG.E R4, desc[UR4][R2.64]", 200.0),
                ("EXIT", 200.0),
            ];
            // 1,000 blocks take 1,203 of 2,406 cycles to start.
            let cycles = ("gpc__cycles_elapsed.max", 2406.0);
            let mut launch = sass(&[(GRID, 1000.0), (BUSY, 60.0), cycles], &code);
            launch.row.grid = grid;
            check(&RULE, &launch).unwrap().effect.phase
        };
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(near(phase("S2R R0, SR_CTAID.X", [1000, 1, 1]), 0.75 * 0.5));
        assert!(near(phase("S2R R0, SR_CTAID.Y", [10, 100, 1]), 0.75 * 0.5));
        let ends_of_rows = phase("S2R R0, SR_CTAID.X", [10, 100, 1]);
        assert!(near(ends_of_rows, 0.0), "others start between them");
        assert!(near(phase("S2R R0, SR_TID.X", [1000, 1, 1]), 0.0), "in every block");
    }

    #[test]
    fn their_places_are_free_for_warps_with_work() {
        let mut few = sass(
            &[(GRID, 100.0), (BUSY, 60.0)],
            &[("@P0 EXIT", 800.0), ("LDG.E R4, desc[UR4][R2.64]", 80.0), ("EXIT", 80.0)],
        );
        for (index, samples) in [(0, 30.0), (1, 10.0)] {
            few.instructions[index].counters.stall_samples[StallReason::Wait as usize] = samples;
        }
        // Nine tenths of 30 samples of 40.
        let hidden = check(&RULE, &few).unwrap().effect.hidden;
        assert!((hidden - 27.0 / 40.0).abs() < 1e-12, "{hidden}");
    }

    #[test]
    fn accesses_switched_off_take_their_wavefronts_along() {
        let mut off = sass(
            &[(GRID, 100.0), (BUSY, 60.0)],
            &[
                ("ISETP.GE.AND P0, PT, R0, UR4, PT", 800.0),
                ("@!P0 LDG.E R4, desc[UR4][R2.64]", 800.0),
                ("EXIT", 800.0),
            ],
        );
        off.instructions[1].counters.thread_inst_executed_pred_on = 80.0;
        off.instructions[1].counters.l1_tag_requests_global = 2400.0;
        let draft = check(&RULE, &off).unwrap();
        // 80 warps have a lane switched on. The other 720 take a wavefront each of 2400.
        assert!((draft.effect.share_of(Term::L1Data) - 0.3).abs() < 1e-12, "{:?}", draft.effect);
        let at_work = draft.evidence.iter().find(|each| each.metric == "warps_at_work").unwrap();
        assert!((at_work.value - 80.0).abs() < 1e-9, "{}", at_work.value);
    }
}
