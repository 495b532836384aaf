//! Threads are launched that do no work for most of the time.

mod beyond_the_end;

use crate::evidence::idle_lanes::{
    ACTIVE, AT_WORK, FULL_WARPS, RESTING, RESTING_LIMIT, UNIFORM, UNIFORM_ENOUGH, UNIFORM_LIMIT,
    effect, effect_of_full_warps, evidence, few, lanes, needed, resting,
};
use crate::evidence::idle_warps::IdleWarps;
use crate::evidence::modeled_launch::{BLOCK_SIZE, BLOCKS_AT_ONCE, WAVES, place};
use crate::evidence::removal::{MATTERS_LIMIT, gains};
use crate::evidence::shared_pipe;
use crate::evidence::stalls::{AT_BARRIERS, WAITS_FOR_OTHERS};
use crate::evidence::threshold::{LANES_LIMIT, LATENCY};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::frame::Reads;
use crate::hardware::WARP_LANES;
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::rules::said_by_ncu::{Acts, SaidByNcu};
use crate::rules::{Example, Kind, Rule};
use crate::sass::questions::bystanders::AT_WORK as AT_WORK_SHARE;
use crate::sass::questions::waits_for_few::waits_for_few;
use crate::text::{count_of, percent};
use beyond_the_end::elements_beyond_the_end;

/// The share of a warp's cycles, waiting for a few others, from which it does no work for most of the time.
const MOST_OF_THE_TIME: f64 = 0.5;

/// The rule.
pub const RULE: Rule = Rule {
    name: "idle-threads",
    kind: Kind::Cause,
    summary: "many of the launched threads have no work for most of the time",
    explanation: "\
Where a condition such as `if (id < w)` holds for some warps only, the others step through the \
same instructions with every lane predicated off: they take issue slots, load/store slots and \
shared-memory wavefronts for nothing. The sign is that few lanes work although warps do not \
diverge. In another form of the fault, whole warps skip the work of a few and wait for them at \
the next barrier. In a third, a block adds up fewer values than it has threads: most warps load nothing, \
and bring a zero to every shuffle and barrier of the sum. In a fourth, a tile is longer than the row that it holds, so that loads are \
switched off for many of its elements, in every block alike or by a length that each block loads, and zeros are multiplied, summed, and \
rounded in their place. Launch fewer threads and let each do more, let warps without work leave the \
loop, or reduce within a warp by shuffles. If all warps are resident at once, launching fewer of them saves \
only the time that they wait for one another.",
    examples: &[
        Example {
            fault: "\
if (t == 0) {                             // 255 threads wait for one
    total = 0;
    for (int k = 0; k < 256; ++k)
        total += wait[blockIdx.x * 256 + k];
}
__syncthreads();",
            repair: "\
if (t == 0) total = 0;
__syncthreads();
int sum = __reduce_add_sync(~0u, wait[blockIdx.x * 256 + t]);
if (t % 32 == 0) atomicAdd(&total, sum);
__syncthreads();",
            note: "\
Every thread brings one value, a warp adds up its 32 in one instruction, and eight shared \
atomics finish the sum.",
        },
        Example {
            fault: "\
// blend<<<dim3(outputs, frames), 256>>>: 32 weights, and seven of the
// eight warps add up zeros
float sum = 0.0f;
for (int k = t; k < 32; k += 256)
    sum += weight[o * 32 + k] * input[frame * 32 + k];
sum = block_sum(sum);                     // shuffles, a barrier
if (t == 0) out[frame * outputs + o] = sum;",
            repair: "\
// blend<<<dim3(outputs / 8, frames), 256>>>: a warp per result
int o = blockIdx.x * 8 + t / 32, k = t % 32;
float sum = weight[o * 32 + k] * input[frame * 32 + k];
for (int w = 16; w > 0; w /= 2)
    sum += __shfl_down_sync(~0u, sum, w);
if (k == 0) out[frame * outputs + o] = sum;",
            note: "\
Every lane has a value to add, a block makes eight results, and nothing waits at a barrier.",
        },
    ],
    section: "WarpStateStats",
    thresholds: &[
        LANES_LIMIT,
        UNIFORM_LIMIT,
        RESTING_LIMIT,
        Threshold {
            what: "share of a warp's cycles in which it waits at a barrier while at most half of \
                   the block's warps run the code before it, at least",
            value: MOST_OF_THE_TIME,
            unit: "share",
            source: "definition: most of the time; below that, barrier-stalls names the wait",
        },
        Threshold {
            what: "share of the launched warps that load or store anything, or bring more than a constant to an \
                   exchange, less than",
            value: AT_WORK_SHARE,
            unit: "share",
            source: "definition: most of the warps do nothing",
        },
        MATTERS_LIMIT,
    ],
    needs: &[ACTIVE, AT_WORK, UNIFORM],
    sharpened_by: &[
        BLOCK_SIZE,
        FULL_WARPS,
        AT_BARRIERS,
        BLOCKS_AT_ONCE,
        WAVES,
        WAITS_FOR_OTHERS,
        Reads::always(&[shared_pipe::BUSY]),
        shared_pipe::WAVEFRONTS,
        shared_pipe::QUEUED,
    ],
    said_by_ncu: &[
        // Its text offers early exits and predication beside divergent paths.
        SaidByNcu::any("ThreadDivergence", Acts::INSTRUCTIONS),
    ],
    explains: &[
        "issue-slots-underused",
        "barrier-stalls",
        "short-scoreboard-stalls",
        "fixed-latency-stalls",
    ],
    in_triton: "\
BLOCK is a power of two: where masks switch much of it off, use triton.next_power_of_2 of the row's length, index the array as one \
dimension, or loop over a smaller BLOCK.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    if let Some(draft) = warps_that_add_nothing(launch) {
        return Some(draft);
    }
    let (active, at_work) = lanes(launch);
    let uniform = launch.need(UNIFORM);
    let predicated = few(at_work) && !few(active) && uniform >= UNIFORM_ENOUGH;
    let left = few(active) && resting(launch) >= RESTING;
    if !(predicated || left) {
        return waiting_warps(launch).or_else(|| elements_beyond_the_end(launch));
    }
    if left {
        return Some(left_early(launch, active.min(at_work)));
    }
    let locations = launch.profile.top_places(3, "all predicated-off lanes", |counters| {
        counters.thread_inst_executed - counters.thread_inst_executed_pred_on
    });
    Some(Draft {
        message: format!(
            "On average, {:.1} of 32 lanes are active per instruction but only {:.1} do work, \
             while {} of the branches are uniform: whole warps run with all lanes \
             predicated off.",
            launch.need(ACTIVE),
            launch.need(AT_WORK),
            percent(uniform / 100.0),
        ),
        evidence: evidence(launch),
        hint: format!(
            "Let warps without work skip {} (branch on the warp's index, not the thread's), or \
             launch only {:.0}% of the threads and let each handle several elements.",
            place(&locations, "the guarded code"),
            100.0 * at_work / WARP_LANES,
        ),
        locations,
        // Warps that step through a part of the code are there for the rest of it.
        effect: Effect { hidden: 0.0, ..effect(launch, at_work) },
    })
}

/// The finding where most warps bring a constant to an exchange of their block.
fn warps_that_add_nothing(launch: &ModeledLaunch) -> Option<Draft> {
    let idle = IdleWarps::find(launch)?;
    let found = idle.found;
    let exchange = found.exchange?;
    let effect = idle.effect(launch);
    if !gains(launch, &effect) {
        return None;
    }
    let locations = idle.locations(launch, Some(exchange), "the exchange");
    let warps = idle.launched();
    let at = place(&locations, "the exchange");
    Some(Draft {
        message: format!(
            "Of {}, {} load nothing: they take part in the exchange at {at}, by shuffles or through shared \
             memory, with a constant.",
            count_of(warps, "launched warp"),
            percent(found.share),
        ),
        evidence: vec![
            Evidence::new("warps_launched", warps, "warp"),
            Evidence::new("warps_at_work", warps * (1.0 - found.share), "warp"),
        ],
        hint: format!(
            "Give a result only as many threads as it has values: let a warp, or a group of its lanes, make one \
             and add up by shuffles alone at {at}, so that a block makes several results and needs no barrier. \
             Where a result has only some ten values, a single thread adds them up with no exchange at all; \
             neighbouring threads then make neighbouring results."
        ),
        locations,
        effect,
    })
}

/// The finding where lanes rest because they returned or skip the work.
fn left_early(launch: &ModeledLaunch, lanes_on: f64) -> Draft {
    let needed = needed(launch);
    let at_work = lanes_on.min(needed);
    let only_step = if needed < lanes_on {
        format!(
            " At most {:.1} of them store or hand on anything: the rest step through loops and guards around that for nothing.",
            needed * launch.full_lanes() / WARP_LANES,
        )
    } else {
        String::new()
    };
    let locations = launch.profile.top_places(3, "lanes that rest", |counters| {
        WARP_LANES * counters.inst_executed - counters.thread_inst_executed
    });
    Draft {
        message: format!(
            "On average, {:.1} of 32 lanes are active per instruction: the others have returned, \
             or skip the work and have nothing else to do.{only_step}",
            launch.need(ACTIVE),
        ),
        evidence: evidence(launch),
        hint: if launch.waves().is_some_and(|waves| waves <= 1.0) {
            format!(
                "Give the idle lanes work at {}: all blocks run at once, so launching fewer threads would only \
                 leave SMs without warps. Let a group of lanes share each element's work, or let a block take \
                 more elements.",
                place(&locations, "the guarded code"),
            )
        } else {
            format!(
                "Launch only {:.0}% of the threads: let neighbouring threads, which fill their warps, \
                 do the work at {} instead of the first few of each group.",
                100.0 * at_work / WARP_LANES,
                place(&locations, "the guarded code"),
            )
        },
        locations,
        effect: effect_of_full_warps(launch, at_work),
    }
}

/// The finding where whole warps skip the work of a few and wait for them at the next barrier.
fn waiting_warps(launch: &ModeledLaunch) -> Option<Draft> {
    let listing = launch.profile.listing()?;
    let share = waits_for_few(&listing);
    let (cycles, all) = (launch.stall(StallReason::Barrier), launch.get(LATENCY)?);
    if cycles * share / all < MOST_OF_THE_TIME {
        return None;
    }
    let locations = launch.stalled_places(&[StallReason::Barrier], "waits at barriers");
    Some(Draft {
        message: format!(
            "A warp spends {cycles:.1} of {all:.1} cycles between two instructions ({}) waiting at barriers, \
             {} of that for code that at most half of the block's warps run before the barrier.",
            percent(cycles / all),
            percent(share),
        ),
        evidence: vec![
            Evidence::new(StallReason::Barrier.ratio_metric(), cycles, "cycle"),
            Evidence::new(LATENCY, all, "cycle"),
        ],
        hint: format!(
            "Give every warp of the block an equal share of the work before the barrier at {}, or \
             launch only as many warps per block as have work there.",
            place(&locations, "the hottest spot"),
        ),
        locations,
        effect: Effect { stalls: vec![(StallReason::Barrier, share)], ..Effect::default() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{assert_sides, launch, sass};
    use crate::term::Term;

    const ISSUE: &str = "sm__issue_active.avg.pct_of_peak_sustained_elapsed";

    #[test]
    fn idle_lanes_without_divergence_count() {
        let sweep = launch(&[(ACTIVE, 31.9), (AT_WORK, 16.0), (UNIFORM, 99.8)]);
        let draft = assert_sides(
            &RULE,
            &sweep,
            &[&[(AT_WORK, 24.0)], &[(ACTIVE, 23.9)], &[(UNIFORM, 94.9)]],
        );
        assert!((draft.effect.share_of(Term::Lsu) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn warps_that_bring_zeros_to_a_sum_count() {
        let block = |load: f64| {
            let mut launch = sass(
                &[(ACTIVE, 32.0), (AT_WORK, 32.0), (UNIFORM, 100.0), (ISSUE, 60.0)],
                &[
                    ("MOV R0, RZ", 800.0),
                    ("@P0 BRA 0x130", 800.0),
                    ("LDG.E R0, desc[UR4][R2.64]", load),
                    ("SHFL.DOWN PT, R5, R0, 0x1, 0x1f", 800.0),
                    ("@P2 EXIT", 800.0),
                    ("STG.E desc[UR4][R6.64], R5", 100.0),
                    ("EXIT", 100.0),
                ],
            );
            for row in &mut launch.instructions {
                row.counters.thread_inst_executed_pred_on = 32.0 * row.counters.inst_executed;
            }
            launch
        };
        let draft = assert_sides(&RULE, &block(100.0), &[&[(ISSUE, 0.0)]]);
        // Of 3,500 executions 7/8 of 3,200 go.
        let gone = draft.effect.share_of(Term::Issue);
        assert!((gone - 0.875 * 3200.0 / 3500.0).abs() < 1e-12, "{gone}");
        assert!(draft.message.contains("88% load nothing") && draft.hint.contains("line 4"));
        let none = crate::rules::testing::check(&RULE, &block(400.0));
        assert!(none.is_none(), "half of them load");
    }

    #[test]
    fn warps_that_wait_for_a_few_for_most_of_the_time_count() {
        let mut launch = sass(
            &[(ACTIVE, 32.0), (AT_WORK, 32.0), (UNIFORM, 100.0), (LATENCY, 100.0)],
            &[
                ("@P0 BRA 0x120", 80.0),
                ("FADD R0, R1, R2", 10.0),
                ("BAR.SYNC.DEFER_BLOCKING 0x0", 80.0),
                ("EXIT", 80.0),
            ],
        );
        launch.instructions[2].counters.stall_samples[StallReason::Barrier as usize] = 9.0;
        launch.set(&StallReason::Barrier.ratio_metric(), Some(50.0));
        let draft =
            assert_sides(&RULE, &launch, &[&[(&StallReason::Barrier.ratio_metric(), 49.9)]]);
        assert!((draft.effect.share_of_stall(StallReason::Barrier) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn lanes_that_store_nothing_are_idle_however_many_step_through_loops() {
        let of = |lanes: f64| {
            let mut launch = sass(
                &[(ACTIVE, 8.0), (AT_WORK, 8.0), (UNIFORM, 100.0)],
                &[
                    ("S2R R8, SR_TID.X", 10.0),
                    ("ISETP.GE.AND P0, PT, R8, UR5, PT", 10.0),
                    ("@P0 BRA 0x140", 10.0),
                    ("STG.E desc[UR4][R2.64], R5", 10.0),
                    ("EXIT", 10.0),
                ],
            );
            for row in &mut launch.instructions {
                row.counters.thread_inst_executed = 32.0 * row.counters.inst_executed;
            }
            launch.instructions[3].counters.thread_inst_executed = lanes * 10.0;
            crate::rules::testing::check(&RULE, &launch).unwrap()
        };
        let one = of(1.0);
        assert!((one.effect.share_of(Term::Issue) - 31.0 / 32.0).abs() < 1e-12);
        assert!(one.message.contains("At most 1.0 of them store"), "{}", one.message);
        let more = of(16.0);
        assert!((more.effect.share_of(Term::Issue) - 0.75).abs() < 1e-12);
        assert!(!more.message.contains("of them store"), "{}", more.message);
    }
}
