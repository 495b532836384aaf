//! The shared-memory pipe is the limit without conflicts.
//!
//! Two faults bring that about, each with a check of its own: warps without work that sweep through
//! shared memory ([`idle_sweep`]), and work that touches it densely ([`dense_use`]).

mod dense_use;
mod idle_sweep;

use crate::evidence::modeled_launch::{BLOCKS_AT_ONCE, WAVES, place};
use crate::evidence::products::shared_memory_feeds_products;
use crate::evidence::removal::gains;
use crate::evidence::shared_pipe;
use crate::evidence::shared_pipe::{BUSY, IDLE_SWEEP, LEAST_BUSY, SharedPipe};
use crate::evidence::threshold::REGISTER_TILE_LIMIT;
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::frame::Reads;
use crate::hardware::MOST_REGISTERS;
use crate::rules::{Example, Kind, Rule};
use crate::sass::Listing;
use crate::sass::questions::shared_trees::steps_hand_out_results;
use crate::term::Term;
use crate::text::percent;

/// A share of conflicts that is not worth a word: other rules begin at a tenth.
const FEW_CONFLICTS: f64 = 0.1;

/// The rule.
pub const RULE: Rule = Rule {
    name: "shared-memory-pressure",
    kind: Kind::Cause,
    summary: "the shared-memory pipe is the limit without conflicts",
    explanation: "\
Every shared-memory instruction takes at least one wavefront of the L1 data pipe and one slot of \
the load/store unit, even where all lanes of its warp are predicated off. A tree reduction over a \
block (`if (id < w) s[id] += s[id + w]`) sends every warp through every step and so fills the pipe \
with accesses that move nothing: their wavefronts belong to neither loads nor stores nor shuffles. \
The rule leaves wavefronts of bank conflicts and queueing atomics to other rules, and fires where \
the rest is more work than any other unit has, or where the time model expects a gain without it. \
Let only warps with work take part, reduce within a warp by shuffles, keep partial results in \
registers, or move several values per access (float4).",
    examples: &[
        Example {
            fault: "\
// two reads of shared memory per multiply-add
float sum = 0.0f;
for (int k = 0; k < 32; ++k)
    sum = fmaf(a[row][k], b[k][col], sum);",
            repair: "\
// four rows per thread: five reads per four multiply-adds
float sum[4] = {};
for (int k = 0; k < 32; ++k) {
    float x = b[k][col];
    for (int j = 0; j < 4; ++j)
        sum[j] = fmaf(a[row + j][k], x, sum[j]);
}",
            note: "\
Each value of b serves four sums from a register, which takes three eighths of the reads away; a \
thread holds four sums, and a quarter of the threads remains.",
        },
        Example {
            fault: "\
// all 32 warps go through every step, most of them with idle lanes only
for (int w = 512; w > 0; w /= 2) {
    if (t < w) energy[t] += energy[t + w];
    __syncthreads();
}",
            repair: "\
for (int w = 16; w > 0; w /= 2) e += __shfl_down_sync(~0u, e, w);
if (t % 32 == 0) energy[t / 32] = e;      // one partial sum per warp
__syncthreads();
if (t < 32) {
    e = energy[t];
    for (int w = 16; w > 0; w /= 2) e += __shfl_down_sync(~0u, e, w);
}",
            note: "\
Warps reduce their own values by shuffles, and one warp adds up the 32 partial sums: two \
shared-memory accesses and one barrier per block instead of ten rounds of them. The sum is \
rounded in another order.",
        },
    ],
    section: "MemoryWorkloadAnalysis_Chart",
    thresholds: &[
        Threshold {
            what: "share of the wavefronts added by bank conflicts, for the message to say that they are not \
                   the reason, less than",
            value: FEW_CONFLICTS,
            unit: "share",
            source: "the rule on bank conflicts begins at a tenth; this decides only about the message",
        },
        Threshold {
            what: "time that shared-memory wavefronts, conflicts aside, keep the pipe busy, at \
                   least",
            value: LEAST_BUSY,
            unit: "%",
            source: "ncu's HighPipeUtilization rule calls a pipe below 20% low; the time that a \
                     unit takes bounds the gain from relieving it, here at 1/0.8 = 1.25",
        },
        Threshold {
            what: "share of the wavefronts that neither load nor store, for idle warps to be the cause, at \
                   least",
            value: IDLE_SWEEP,
            unit: "share",
            source: "definition: more than half",
        },
        idle_sweep::FREQUENT,
        idle_sweep::SAME_LOOP,
        REGISTER_TILE_LIMIT,
        dense_use::SERVES_SEVERAL,
        Threshold {
            what: "constant: registers of a thread; with the registers that one result takes now, they bound how \
                   many results a thread can hold, at most",
            value: MOST_REGISTERS,
            unit: "register",
            source: "CUDA C++ Programming Guide, technical specifications per compute capability",
        },
    ],
    needs: &[BUSY],
    sharpened_by: &[
        shared_pipe::WAVEFRONTS,
        shared_pipe::QUEUED,
        shared_pipe::LOOK_UPS,
        Reads::always(&[dense_use::REGISTERS, idle_sweep::BLOCK]),
        BLOCKS_AT_ONCE,
        WAVES,
    ],
    explains: &[
        "short-scoreboard-stalls",
        "mio-throttle",
        "barrier-stalls",
        "fixed-latency-stalls",
        "issue-slots-underused",
    ],
    in_triton: "\
a BLOCK no larger than what its mask leaves on; a larger tile per warp (BLOCK_M and BLOCK_N up, or num_warps \
down) reads less for each result; a tl.dot of floats with input_precision=\"ieee\" \
leaves the tensor units idle, and one with \"tf32\" uses them.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let pipe = SharedPipe::busy(launch)?;
    if launch.profile.listing().is_some_and(shared_memory_feeds_products) {
        return None;
    }
    let idle = pipe.idle_sweep();
    let hands_out = |listing: Listing| listing.is_whole() && steps_hand_out_results(&listing);
    let is_anothers =
        |listing: Listing| hands_out(listing) || idle_sweep::is_beyond_the_end(launch, &listing);
    if idle.is_some() && launch.profile.listing().is_some_and(is_anothers) {
        return None;
    }
    let effect = if idle.is_some() { idle_sweep::effect(&pipe) } else { dense_use::effect(&pipe) };
    if !(pipe.is_on_top(&effect) || gains(launch, &effect)) {
        return None;
    }
    let locations = pipe.locations();
    let at = place(&locations, "the hottest spot");
    let (seen, hint) = match idle {
        Some(idle) => (idle_sweep::seen(&pipe, idle), idle_sweep::hint(&pipe, &at)),
        None => (String::new(), dense_use::hint(&at)),
    };
    let lsu = launch
        .model
        .utilization(Term::Lsu)
        .map_or_else(String::new, |share| format!(" and the load/store unit {}", percent(share)));
    let at_line = locations.first().map_or_else(String::new, |location| {
        format!(
            " {} has {} of the stalls on shared memory.",
            location.title(),
            percent(location.share)
        )
    });
    let conflicts = if pipe.conflicts < FEW_CONFLICTS {
        "; bank conflicts are not the reason".to_owned()
    } else {
        let share = percent(pipe.conflicts);
        format!(
            "; bank conflicts and queueing atomics are {share} of that, and this finding is about the rest"
        )
    };
    Some(Draft {
        message: format!(
            "Shared-memory accesses keep the L1 data pipe busy {:.0}% of the \
             time{lsu}{conflicts}.{seen}{at_line}",
            pipe.busy,
        ),
        evidence: pipe.evidence(),
        locations,
        hint,
        effect,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::shared_pipe::{ALL, ATOMICS, LOADS, STORES};
    use crate::export::SourceCounters;
    use crate::frame::SHARED_ATOMICS;
    use crate::metric::stall::StallReason;
    use crate::model::Effect;
    use crate::rules::testing::{assert_sides, check, launch, line, samples, sass};

    const L1: &str = "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed";

    #[test]
    fn a_busy_pipe_counts_where_no_other_unit_is_busier() {
        let busy = launch(&[(BUSY, 20.0), (L1, 40.0)]);
        let draft = assert_sides(
            &RULE,
            &busy,
            &[
                &[(BUSY, 19.9)],
                &[("sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed", 41.0)],
                // Half of the wavefronts are conflicts: the rest is 10%.
                &[("memory_l1_wavefronts_shared", 2.0), ("memory_l1_wavefronts_shared_ideal", 1.0)],
            ],
        );
        // Half of the pipe is shared memory, of whose accesses a tile leaves an eighth.
        assert!((draft.effect.share_of(Term::L1Data) - 0.4375).abs() < 1e-12);
    }

    #[test]
    fn a_tile_takes_as_many_results_as_registers_allow() {
        let of = |registers: f64| {
            let metrics = [(BUSY, 57.0), (ALL, 1000.0), (LOADS, 900.0), (STORES, 90.0), (L1, 57.0)];
            let mut launch = launch(&metrics);
            launch.set("launch__registers_per_thread", Some(registers));
            check(&RULE, &launch).unwrap().effect.share_of(Term::L1Data)
        };
        // Of 255 registers 30 let a thread have 8.5 results, 102 let it have 2.5.
        assert!((of(30.0) - 0.875).abs() < 1e-12);
        assert!((of(102.0) - 0.6).abs() < 1e-12);
    }

    #[test]
    fn a_thread_of_several_results_prepares_and_waits_once() {
        let of = |waves: f64, readers: f64| {
            let code = [
                ("S2R R0, SR_TID.X", 80.0),
                ("LDG.E R4, desc[UR4][R2.64]", 80.0),
                ("STS [R0], R4", 80.0),
                ("LDS R6, [R0]", 400.0),
                ("FADD R5, R5, R6", 400.0),
                ("@P0 BRA 0x130", 400.0),
                ("STG.E desc[UR4][R8.64], R5", 80.0),
                ("EXIT", 80.0),
            ];
            let metrics = [
                (BUSY, 57.0),
                (ALL, 1000.0),
                (LOADS, 900.0),
                (STORES, 90.0),
                (L1, 57.0),
                ("launch__waves_per_multiprocessor", waves),
            ];
            let mut launch = sass(&metrics, &code);
            launch.instructions[2].counters.thread_inst_executed_pred_on = 100.0;
            launch.instructions[3].counters.thread_inst_executed_pred_on = 100.0 * readers;
            launch.instructions[2].counters.stall_samples[StallReason::LongScoreboard as usize] =
                10.0;
            let effect = check(&RULE, &launch).unwrap().effect;
            let waits = effect.share_of_stall(StallReason::LongScoreboard);
            (effect.share_of(Term::Issue), waits, effect.share_of(Term::BlockScheduler))
        };
        // Of 1,600 instructions 80 read the thread's index and 80 end it; no wavefronts are noted on the accesses.
        let (issue, waits, blocks) = of(8.0, 2.0);
        assert!((issue - 0.875 * 160.0 / 1600.0).abs() < 1e-12, "{issue}");
        assert!((waits - 0.875).abs() < 1e-12 && (blocks - 0.875).abs() < 1e-12);
        assert_eq!(of(7.9, 2.0), (0.0, 0.0, 0.0), "fewer blocks would not fill the device");
        assert_eq!(
            of(8.0, 1.9),
            (0.0, 0.0, 0.0),
            "values are handed on, and serve one result each"
        );
    }

    #[test]
    fn wavefronts_that_neither_load_nor_store_are_named() {
        let mut sweep = launch(&[(BUSY, 57.0), (ALL, 1000.0), (LOADS, 70.0), (STORES, 70.0)]);
        let counters = SourceCounters {
            wavefronts_shared: 10.0,
            ..samples(&[(StallReason::ShortScoreboard, 8.0)])
        };
        sweep.lines = vec![
            line(42, "s[id] = v;", SourceCounters { wavefronts_shared: 10.0, ..samples(&[]) }),
            line(43, "if (id < w) s[id] += s[id+w];", counters),
        ];
        let draft = check(&RULE, &sweep).unwrap();
        assert!(
            draft.message.contains("860 of 1,000 shared-memory wavefronts (86%)"),
            "{}",
            draft.message
        );
        assert_eq!(draft.locations[0].line, 43);
        assert!(draft.hint.contains("line 43") && draft.hint.contains("__shfl_down_sync"));
    }

    #[test]
    fn what_runs_as_often_as_an_unrolled_tree_is_no_part_of_it() {
        let mut code = vec![("FFMA R7, R7, R7, R5", 8.0); 60];
        for _ in 0..8 {
            code.extend([
                ("BAR.SYNC.DEFER_BLOCKING 0x0", 8.0),
                ("@!P0 LDS R0, [R8]", 8.0),
                ("@!P0 LDS R3, [R8+0x80]", 8.0),
                ("@!P0 FADD R3, R0, R3", 8.0),
                ("@!P0 STS [R8], R3", 8.0),
            ]);
        }
        code.push(("EXIT", 8.0));
        let metrics = [
            (BUSY, 57.0),
            (ALL, 1000.0),
            (LOADS, 70.0),
            (STORES, 70.0),
            (L1, 57.0),
            ("launch__block_size", 256.0),
        ];
        let mut sweep = sass(&metrics, &code);
        for row in &mut sweep.instructions {
            let lanes = if row.text.starts_with('@') { 4.0 } else { 32.0 };
            row.counters.thread_inst_executed_pred_on = 8.0 * lanes;
        }
        let effect = check(&RULE, &sweep).unwrap().effect;
        // Of 101 instructions 32 go, with 7/8 of the 7 barriers between them. Each of eight warps, and one of them twice, then
        // takes 5 shuffles, 5 additions, and an access for its result.
        let net = 32.0 + 7.0 * 7.0 / 8.0 - 1.125 * 11.0;
        assert!((effect.share_of(Term::Issue) - net / 101.0).abs() < 1e-12);
        // 24 wavefronts of each of 8 warps, and 6 instead, of 1,000.
        let wavefronts = 8.0 * (24.0 - 1.125 * 6.0) / 1000.0;
        assert!((effect.share_of(Term::L1Data) - wavefronts).abs() < 1e-12);
    }

    #[test]
    fn dense_use_gets_another_hint() {
        let tile = launch(&[(BUSY, 57.0), (ALL, 1000.0), (LOADS, 900.0), (STORES, 90.0)]);
        let draft = check(&RULE, &tile).unwrap();
        assert!(draft.hint.contains("registers"), "{}", draft.hint);
        assert!(!draft.message.contains("predicated"));
    }

    #[test]
    fn a_sweep_takes_its_barriers_along_and_dense_use_only_its_accesses_stalls() {
        let stalls = || samples(&[(StallReason::Wait, 4.0), (StallReason::Barrier, 4.0)]);
        let shared = || SourceCounters { wavefronts_shared: 10.0, ..stalls() };
        let effect = |loads: f64| {
            let metrics = [(BUSY, 57.0), (ALL, 1000.0), (LOADS, loads), (STORES, 0.0)];
            let mut launch = launch(&metrics);
            // One line, whose access has a quarter of the waits of its four instructions.
            launch.lines = vec![line(43, "v += s[id];", shared())];
            launch.instructions = vec![
                line(43, "LDS R1, [R2]", shared()),
                line(43, "FADD R0, R0, R1", stalls()),
                line(43, "FADD R0, R0, R3", stalls()),
                line(43, "FADD R0, R0, R4", stalls()),
            ];
            check(&RULE, &launch).unwrap().effect
        };
        let (sweep, dense) = (effect(140.0), effect(900.0));
        let share = |effect: &Effect, reason| effect.share_of_stall(reason);
        assert!((share(&sweep, StallReason::Wait) - 1.0).abs() < 1e-12, "its whole line");
        assert!((share(&sweep, StallReason::Barrier) - 1.0).abs() < 1e-12);
        let of_a_quarter = share(&dense, StallReason::Wait);
        assert!((of_a_quarter - 0.875 * 0.25).abs() < 1e-12, "the access alone");
        assert!(share(&dense, StallReason::Barrier).abs() < 1e-12);
        assert!((share(&sweep, StallReason::ShortScoreboard) - 1.0).abs() < 1e-12);
        assert!((share(&dense, StallReason::ShortScoreboard) - 0.875).abs() < 1e-12);
    }

    #[test]
    fn queueing_atomics_are_named_from_a_tenth_of_the_wavefronts() {
        let message = |atomics: f64| {
            // One atomic: what is beyond its wavefront is its queue.
            let metrics = [(BUSY, 57.0), (ALL, 1000.0), (ATOMICS, atomics), (SHARED_ATOMICS, 1.0)];
            check(&RULE, &launch(&metrics)).unwrap().message
        };
        let (few, many) = (message(100.0), message(101.0));
        assert!(few.contains("conflicts are not the reason"), "{few}");
        assert!(many.contains("queueing atomics are 10% of that"), "{many}");
    }
}
