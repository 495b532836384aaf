//! Too few bytes in flight to cover the latency.

mod for_results;
mod hint;
mod littles_law;

use crate::evidence::loads_in_flight::{
    A_STOP, Around, CHAINED_STAYS, FURTHER_AHEAD, HALF_THE_ROOM, IN_FLIGHT, IN_FLIGHT_WITHOUT_LOOP,
    LONG, chained_share, covered, loads_in_flight,
};
use crate::evidence::modeled_launch::{BLOCKS_AT_ONCE, WAVES, place};
use crate::evidence::stalls::AT_BARRIERS;
use crate::evidence::threshold::{
    LATENCY, ROOF, ROOF_LIMIT, STALL_GAIN_LIMIT, STALL_SHARE, STALL_SHARE_LIMIT,
};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::{Evidence, LEAST_GAIN};
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::rules::{Cure, Example, Kind, Rule, Trial};
use crate::term::Term;
use crate::text::percent;
use for_results::share_for_results;
use hint::hint;
use littles_law::in_flight;

/// The rule.
pub const RULE: Rule = Rule {
    name: "low-memory-parallelism",
    kind: Kind::Cause,
    summary: "too few bytes in flight to cover the latency (Little's law)",
    explanation: "\
A memory with latency t delivers at most the bytes in flight divided by t. Warps that each wait \
for one load before starting the next can leave it idle even where there are many. The rule fires \
where warps mostly wait for data from L1, L2 or DRAM and no unit is near its limit, so that the \
waiting itself is the limit. Start several independent loads before using the first result \
(unroll, several accumulators), load wider (float4), copy ahead asynchronously, or keep more \
warps resident. The compiler moves no load ahead of a store that might write what it reads: load into local \
variables first, or declare the pointers __restrict__. Nor does it move loads across the slow path of a \
division.",
    examples: &[Example {
        fault: "\
// out might overlap in, so each load waits for the store before it
for (int k = 0; k < 8; ++k)
    out[k * n + i] = gain * in[k * n + i];",
        repair: "\
float value[8];
#pragma unroll
for (int k = 0; k < 8; ++k)
    value[k] = in[k * n + i];             // eight loads in flight
#pragma unroll
for (int k = 0; k < 8; ++k)
    out[k * n + i] = gain * value[k];",
        note: "\
All loads start before the first value is used, so that their latencies overlap; it costs eight \
registers. With const float *__restrict__ in, the compiler does the same by itself.",
    }],
    section: "WarpStateStats",
    thresholds: &[
        STALL_SHARE_LIMIT,
        STALL_GAIN_LIMIT,
        ROOF_LIMIT,
        Threshold {
            what: "constant: loads in flight per thread once the fault is repaired",
            value: IN_FLIGHT,
            unit: "load",
            source: "derivation: eight words take eight registers, an eighth of the 64 with which \
                     two blocks of 512 threads fit on an SM",
        },
        Threshold {
            what: "constant: waves up to which a loop's loads in flight double once repaired, if that is more",
            value: HALF_THE_ROOM,
            unit: "wave",
            source: "derivation: where all blocks run at once in half of the room, twice the registers per thread \
                     cost no warps, and the loads of the next iteration go ahead of those of this one",
        },
        Threshold {
            what: "constant: loads in flight per thread once repaired, where no loop around the loads \
                   could be unrolled",
            value: IN_FLIGHT_WITHOUT_LOOP,
            unit: "load",
            source: "definition: one float4, or four elements per thread",
        },
        Threshold {
            what: "constant: iterations that a loop copies further ahead once repaired, where it copies operands of matrix \
                   instructions ahead already",
            value: FURTHER_AHEAD,
            unit: "iteration",
            source: "definition: one more stage of shared memory. By Little's law the waits of a loop with d iterations in \
                     flight shrink to d of d + 1 parts",
        },
        Threshold {
            what: "constant: share of the longest wait that an earlier wait must take to end the loads in flight, \
                   at least",
            value: A_STOP,
            unit: "share",
            source: "measured on the 839 recorded launches: at 0.5 the estimates of three change, and no \
                     finding comes or goes",
        },
        Threshold {
            what: "constant: share of the waits for a chain of loads that remains",
            value: CHAINED_STAYS,
            unit: "share",
            source: "derivation: unrolling does not help a chain; following two chains side by side, with \
                     twice the registers, halves the waits",
        },
    ],
    needs: &[LONG, LATENCY],
    sharpened_by: &[AT_BARRIERS, BLOCKS_AT_ONCE, WAVES],
    cure: Cure::MoreLoads,
    explains: &["long-scoreboard-stalls", "issue-slots-underused"],
    trials: &[Trial::Tunables],
    in_triton: "\
a larger BLOCK gives each thread several loads at once, and num_stages=3 or more (at the \
launch or in tl.range) starts those of the next iterations early.",
    check,
    ..Rule::DEFAULT
};

fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let (wait, all) = (launch.need(LONG), launch.need(LATENCY));
    let saturated = launch.model.busiest().is_some_and(|(_, busy)| 100.0 * busy >= ROOF);
    let chained = chained_share(launch);
    let effect = effect(launch, chained);
    let gain = launch.model.without(&effect).map_or(1.0, |estimate| estimate.factor);
    let large = 100.0 * wait / all >= STALL_SHARE || wait > 0.0 && gain >= LEAST_GAIN;
    if !large || saturated {
        return None;
    }
    let locations = launch.stalled_places(&[StallReason::LongScoreboard], "waits for data");
    let at = place(&locations, "the loop with the most loads");
    let loads = loads_in_flight(launch);
    let (little, more) = in_flight(launch).unwrap_or_else(|| (String::new(), "more".to_owned()));
    let dram = launch.model.utilization(Term::Dram).map_or_else(String::new, |share| {
        let others = launch.model.busiest().filter(|(term, _)| *term != Term::Dram);
        let busier = others.map_or_else(String::new, |(term, share)| {
            format!("; the busiest unit, {}, is busy {} of the time", term.title(), percent(share))
        });
        format!(" DRAM works at {} of its achievable rate{busier}.", percent(share))
    });
    Some(Draft {
        message: format!(
            "A warp waits {wait:.1} of {all:.1} cycles between two instructions ({}) for data from memory, \
             while no unit is at its limit.{dram}{little}",
            percent(wait / all),
        ),
        evidence: vec![Evidence::new(LONG, wait, "cycle"), Evidence::new(LATENCY, all, "cycle")],
        hint: hint(&loads, chained, &at, &more),
        locations,
        effect,
    })
}

/// The waits for data that go, and the blocks that fewer threads with more loads each take.
fn effect(launch: &ModeledLaunch, chained: f64) -> Effect {
    let loads = loads_in_flight(launch);
    let more_at_a_time = loads.more_at_a_time();
    let share = covered(launch, &loads, chained) * share_for_results(launch);
    // A thread that is given several elements leaves fewer for other threads.
    let fewer_blocks = if loads.around == Around::NoLoop { more_at_a_time } else { 0.0 };
    Effect {
        removed: vec![(Term::BlockScheduler, fewer_blocks)],
        stalls: vec![(StallReason::LongScoreboard, share)],
        ..Effect::default()
    }
}

#[cfg(test)]
mod tests {
    use super::littles_law::RATE;
    use super::*;
    use crate::rules::testing::{assert_sides, check, launch, line, samples, sass};

    const DRAM: &str = "dram__cycles_active.avg.pct_of_peak_sustained_elapsed";

    const WAIT: &str = "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio";
    const BARRIER: &str = "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio";

    #[test]
    fn waiting_for_data_counts_while_no_unit_is_full() {
        let waiting = launch(&[(LONG, 30.0), (LATENCY, 100.0), (DRAM, 80.0), (WAIT, 60.0)]);
        // 80.38% of the peak are 85% of the reachable 94.57%. At 80% of the peak latency is 0.154 of the
        // time; 7/8 of its 29.9/89.9 are 0.0448, which would gain 1.047.
        let draft = assert_sides(&RULE, &waiting, &[&[(LONG, 29.9)], &[(DRAM, 80.5)]]);
        assert!(draft.message.contains("30.0 of 100.0 cycles"), "{}", draft.message);
        // Of 29.9/79.9 they are 0.0504: 1.053.
        let worth_it = launch(&[(LONG, 29.9), (LATENCY, 100.0), (DRAM, 80.0), (WAIT, 50.0)]);
        assert!(check(&RULE, &worth_it).is_some());
    }

    #[test]
    fn a_loop_with_other_work_can_ask_ahead() {
        let code = [
            ("LDG.E R4, desc[UR4][R2.64]", 10.0),
            ("FADD R0, R0, R4", 10.0),
            ("IADD3 R2, R2, 0x4, RZ", 10.0),
            ("ISETP.NE.AND P0, PT, R2, RZ, PT", 10.0),
            ("@P0 BRA 0x100", 10.0),
            ("EXIT", 1.0),
        ];
        let goes = |long: f64, barrier: f64| {
            let metrics = [(LONG, long), (LATENCY, 100.0), (BARRIER, barrier), (DRAM, 50.0)];
            let mut launch = sass(&metrics, &code);
            launch.instructions[1].counters.stall_samples[StallReason::LongScoreboard as usize] =
                9.0;
            check(&RULE, &launch).unwrap().effect.share_of_stall(StallReason::LongScoreboard)
        };
        // One load in flight of eight: 7/8; or 20 cycles of other work for 80 of waiting.
        assert!((goes(80.0, 0.0) - 0.875).abs() < 1e-12);
        assert!((goes(40.0, 0.0) - 1.0).abs() < 1e-12, "60 cycles cover 40");
        // 25 cycles of a warp's own 65, and as much of the 35 at barriers, stay: 38.46 for 40.
        assert!((goes(40.0, 35.0) - (25.0 + 35.0 * 25.0 / 65.0) / 40.0).abs() < 1e-12);
    }

    #[test]
    fn littles_law_in_numbers() {
        let mut waiting = launch(&[
            (LONG, 80.0),
            (LATENCY, 100.0),
            (DRAM, 50.0),
            (RATE, 1e12),
            ("gpc__cycles_elapsed.avg.per_second", 1e9),
            ("sm__warps_active.avg.per_cycle_active", 46.6),
            ("launch__sm_count", 100.0),
        ]);
        waiting.row.compute_capability = Some((8, 0));
        waiting.lines = vec![line(3, "v += a[i];", samples(&[(StallReason::LongScoreboard, 9.0)]))];
        let draft = check(&RULE, &waiting).unwrap();
        // 1e12 B/s x 466 ns = 466 kB over 4660 warps = 100 bytes each.
        assert!(draft.message.contains("means 100 bytes in flight"), "{}", draft.message);
        assert!(draft.hint.contains("line 3"), "{}", draft.hint);
    }

    /// Waits of so many statements in a row that load, work and store; the first waits most.
    fn statements(count: usize, load: &str) -> Draft {
        let load = format!("{load} R4, desc[UR4][R2.64]");
        let mut code = Vec::new();
        for _ in 0..count {
            code.push((load.as_str(), 10.0));
            code.push(("FADD R0, R4, R5", 10.0));
            code.push(("STG.E desc[UR4][R6.64], R0", 10.0));
        }
        code.push(("EXIT", 10.0));
        let metrics = [
            (LONG, 80.0),
            (LATENCY, 100.0),
            (DRAM, 50.0),
            ("launch__waves_per_multiprocessor", 2.0),
        ];
        let mut launch = sass(&metrics, &code);
        launch.instructions[1].counters.stall_samples[StallReason::LongScoreboard as usize] = 9.0;
        check(&RULE, &launch).unwrap()
    }

    #[test]
    fn loads_that_stay_behind_a_store_need_more_than_unrolling() {
        let six = statements(6, "LDG.E");
        assert!(six.hint.contains("__restrict__") && six.hint.contains("line 3"), "{}", six.hint);
        // One load in flight of the six that there are.
        assert!((six.effect.share_of_stall(StallReason::LongScoreboard) - 5.0 / 6.0).abs() < 1e-12);
        let many = statements(20, "LDG.E");
        assert!((many.effect.share_of_stall(StallReason::LongScoreboard) - 0.875).abs() < 1e-12);
        let constant = statements(6, "LDG.E.CONSTANT");
        assert!(
            !constant.hint.contains("__restrict__"),
            "what no store changes moves up by itself"
        );
    }
    /// What is said of this code, whose second instruction waits most.
    fn of(code: &[&str]) -> Draft {
        let code: Vec<(&str, f64)> = code.iter().map(|text| (*text, 10.0)).collect();
        let mut launch = sass(
            &[
                (LONG, 80.0),
                (LATENCY, 100.0),
                (DRAM, 50.0),
                ("launch__waves_per_multiprocessor", 2.0),
            ],
            &code,
        );
        launch.instructions[1].counters.stall_samples[StallReason::LongScoreboard as usize] = 9.0;
        check(&RULE, &launch).unwrap()
    }

    #[test]
    fn waits_until_an_atomic_has_read_its_operands_stay() {
        let goes = |access: &str| {
            let code = [access, "IADD3 R4, R4, 0x1, RZ", "BRA 0x100", "EXIT"];
            of(&code).effect.share_of_stall(StallReason::LongScoreboard)
        };
        assert!(goes("ATOMG.E.ADD.STRONG.GPU PT, R4, desc[UR4][R2.64], R4") > 0.5, "the old value");
        assert!(goes("REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R4").abs() < 1e-12);
    }

    #[test]
    fn a_wide_load_brings_as_many_words_as_several_narrow_ones() {
        let goes = |load: &str| {
            let code = [load, "FADD R4, R4, R5", "STG.E desc[UR4][R6.64], R4", "EXIT"];
            of(&code).effect.share_of_stall(StallReason::LongScoreboard)
        };
        assert!((goes("LDG.E R4, desc[UR4][R2.64]") - 0.75).abs() < 1e-12);
        assert!((goes("LDG.E.U8 R4, desc[UR4][R2.64]") - 0.75).abs() < 1e-12, "a register");
        assert!((goes("LDG.E.64 R4, desc[UR4][R2.64]") - 0.5).abs() < 1e-12);
        assert!(goes("LDG.E.128 R4, desc[UR4][R2.64]").abs() < 1e-12, "a float4");
    }

    #[test]
    fn bytes_side_by_side_fill_a_quarter_of_what_a_load_can_bring() {
        let goes = |sectors: f64| {
            let code = [
                ("LDG.E.U8 R4, desc[UR4][R2.64]", 10.0),
                ("IADD3 R4, R4, R5, RZ", 10.0),
                ("STG.E.U8 desc[UR4][R6.64], R4", 10.0),
                ("EXIT", 10.0),
            ];
            let waves = ("launch__waves_per_multiprocessor", 2.0);
            let mut launch = sass(&[(LONG, 80.0), (LATENCY, 100.0), (DRAM, 50.0), waves], &code);
            launch.instructions[0].counters.l2_sectors_global = sectors;
            launch.instructions[1].counters.stall_samples[StallReason::LongScoreboard as usize] =
                9.0;
            check(&RULE, &launch).unwrap().effect.share_of_stall(StallReason::LongScoreboard)
        };
        // 32 bytes of a warp are a sector. A byte of the 16 that a load could bring, or one word of four.
        assert!((goes(10.0) - 0.9375).abs() < 1e-12);
        assert!((goes(20.0) - 0.75).abs() < 1e-12, "bytes that lie apart");
    }

    #[test]
    fn a_loop_doubles_its_loads_where_all_blocks_run_in_half_of_the_room() {
        let goes = |waves: f64| {
            let mut code = vec![("LDG.E.128 R4, desc[UR4][R2.64]", 10.0); 3];
            code.extend([
                ("FADD R0, R0, R4", 10.0),
                ("IADD3 R2, R2, 0x4, RZ", 10.0),
                ("@P0 BRA 0x100", 10.0),
                ("EXIT", 1.0),
            ]);
            let waves = ("launch__waves_per_multiprocessor", waves);
            let mut launch = sass(&[(LONG, 80.0), (LATENCY, 81.0), (DRAM, 50.0), waves], &code);
            launch.instructions[3].counters.stall_samples[StallReason::LongScoreboard as usize] =
                9.0;
            check(&RULE, &launch).unwrap().effect.share_of_stall(StallReason::LongScoreboard)
        };
        assert!((goes(0.5) - 0.5).abs() < 1e-12, "24 words in place of 12");
        // One cycle of other work covers one of 80.
        assert!((goes(0.51) - 1.0 / 80.0).abs() < 1e-12);
    }

    #[test]
    fn loads_before_all_stores_stay_behind_none() {
        const LOAD: &str = "LDG.E R4, desc[UR4][R2.64]";
        const STORE: &str = "STG.E desc[UR4][R6.64], R0";
        const ADD: &str = "FADD R0, R4, R5";
        let all = [LOAD, ADD, LOAD, LOAD, LOAD, LOAD, ADD, STORE, STORE, STORE, STORE, "EXIT"];
        let before = of(&all);
        assert!(!before.hint.contains("__restrict__"), "{}", before.hint);
        // One load of the four of a float4, and no more by any order of the statements.
        assert!((before.effect.share_of_stall(StallReason::LongScoreboard) - 0.75).abs() < 1e-12);
        let mut one_first = all;
        one_first.swap(2, 7);
        assert!(of(&one_first).hint.contains("first store at line 3"), "{}", of(&one_first).hint);
        // A store on the other way of a branch comes before none of them.
        let other_way =
            [LOAD, ADD, "@P0 BRA 0x150", STORE, "EXIT", LOAD, LOAD, LOAD, LOAD, STORE, "EXIT"];
        assert!(!of(&other_way).hint.contains("__restrict__"), "{}", of(&other_way).hint);
    }
}
