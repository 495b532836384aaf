//! Hand-worked cases on both sides of what decides in a rule, beside those in the rules' own files.

use super::testing::{check, launch, line, samples, sass};
use super::{Draft, find};
use crate::export::SourceCounters;
use crate::frame::Launch;
use crate::metric::stall::StallReason;
use crate::term::Term;

const L1: &str = "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed";
const LSU: &str = "l1tex__lsuin_requests.avg.pct_of_peak_sustained_elapsed";
const SHARED: &str = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";
const ISSUE: &str = "smsp__issue_active.avg.pct_of_peak_sustained_active";
const LATENCY: &str = "smsp__average_warp_latency_per_inst_issued.ratio";
const LONG: &str = "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio";
const WAIT: &str = "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio";

fn found(rule: &str, launch: &Launch) -> Option<Draft> {
    check(find(rule).unwrap(), launch)
}

/// Asserts that a rule fires with the first value of a metric and not with the second.
#[track_caller]
fn assert_between(rule: &str, of: &Launch, metric: &str, fires: f64, quiet: f64) {
    let with = |value: f64| {
        let mut launch = of.clone();
        launch.set(metric, Some(value));
        found(rule, &launch).is_some()
    };
    assert!(with(fires), "{rule} fires with {metric} at {fires}");
    assert!(!with(quiet), "{rule} is quiet with {metric} at {quiet}");
}

#[track_caller]
fn assert_near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-9, "{value}, {expected} by hand");
}

const SECTORS: &str = "memory_l2_theoretical_sectors_global";
const IDEAL: &str = "memory_l2_theoretical_sectors_global_ideal";
const TAGS: &str = "memory_l1_tag_requests_global";
const FROM_L1: &str = "lts__t_sectors_srcunit_tex.sum";
const REQUESTS: &str = "lts__t_requests_srcunit_tex.sum";
const UNCOALESCED: &str = "uncoalesced-global-access";

#[test]
fn a_twentieth_of_the_sectors_is_excess_enough() {
    // 40 of 800 are 5%, 39 are less.
    assert_between(UNCOALESCED, &launch(&[(SECTORS, 800.0)]), IDEAL, 760.0, 761.0);
}

#[test]
fn excess_costs_each_level_what_it_moves_too_much() {
    let strided = launch(&[
        (SECTORS, 800.0),
        (IDEAL, 100.0),
        (FROM_L1, 400.0),
        (REQUESTS, 50.0),
        ("dram__bytes_read.sum", 3000.0),
        ("dram__bytes_write.sum", 1000.0),
    ]);
    let effect = found(UNCOALESCED, &strided).unwrap().effect;
    // L1 asks L2 for 400 sectors where 100 would do. DRAM moves 4000 bytes where 100 sectors are 3200.
    // 100 sectors need 25 dense requests of 50.
    assert_near(effect.share_of(Term::L2), 0.75);
    assert_near(effect.share_of(Term::Dram), 0.2);
    assert_near(effect.share_of(Term::L2Requests), 0.5);
}

#[test]
fn requests_count_where_a_twentieth_of_what_l1_asks_for_is_excess() {
    let requests = |ideal: f64| {
        let metrics = [(SECTORS, 800.0), (IDEAL, ideal), (FROM_L1, 100.0), (REQUESTS, 50.0)];
        found(UNCOALESCED, &launch(&metrics)).unwrap().effect.share_of(Term::L2Requests)
    };
    // 95 of 100 sectors need 23.75 of 50 requests. Of 96 only the 4% count.
    assert_near(requests(95.0), 1.0 - 23.75 / 50.0);
    assert_near(requests(96.0), 0.04);
}

#[test]
fn waits_shrink_with_the_look_ups_where_l1_holds_the_excess() {
    let metrics = [(SECTORS, 800.0), (IDEAL, 100.0), (TAGS, 800.0), (FROM_L1, 90.0)];
    let effect = found(UNCOALESCED, &launch(&metrics)).unwrap().effect;
    // 100 sectors need 25 look-ups of 800.
    assert_near(effect.share_of_stall(StallReason::LgThrottle), 1.0 - 25.0 / 800.0);
    assert_near(effect.share_of_stall(StallReason::Drain), 1.0 - 25.0 / 800.0);
}

#[test]
fn only_lines_with_more_than_a_twentieth_of_excess_wait_for_it() {
    let part = |sectors: f64| {
        let mut strided = launch(&[(SECTORS, 800.0), (IDEAL, 100.0)]);
        let row = |number, sectors, ideal| {
            let waits = samples(&[(StallReason::LongScoreboard, 5.0)]);
            let counters = SourceCounters {
                l2_sectors_global: sectors,
                l2_sectors_global_ideal: ideal,
                ..waits
            };
            line(number, "v = a[i];", counters)
        };
        strided.lines = vec![row(1, sectors, 100.0), row(2, 40.0, 40.0)];
        let effect = found(UNCOALESCED, &strided).unwrap().effect;
        effect.share_of_stall(StallReason::LongScoreboard)
            / effect.share_of_stall(StallReason::LgThrottle)
    };
    // Each line has half of the waits.
    assert_near(part(105.0), 0.0);
    assert_near(part(106.0), 0.5);
}

#[test]
fn each_request_needs_a_look_up_of_its_own() {
    let mut few = sass(&[(SECTORS, 100.0), (IDEAL, 40.0)], &[("LDG.E R4, desc[UR4][R2.64]", 20.0)]);
    let counters = &mut few.instructions[0].counters;
    counters.l1_tag_requests_global = 30.0;
    counters.l2_sectors_global = 100.0;
    counters.l2_sectors_global_ideal = 40.0;
    // 40 dense sectors fit 10 lines, but 20 requests need 20 of the 30 look-ups.
    let effect = found(UNCOALESCED, &few).unwrap().effect;
    assert_near(effect.share_of(Term::L1Data), 10.0 / 30.0);
}

const WAVEFRONTS: &str = "memory_l1_wavefronts_shared";
const WAVEFRONTS_IDEAL: &str = "memory_l1_wavefronts_shared_ideal";

#[test]
fn conflicts_of_atomics_are_not_those_of_banks() {
    let metrics = [(WAVEFRONTS, 150.0), (WAVEFRONTS_IDEAL, 100.0)];
    let mut queued = sass(&metrics, &[("ATOMS.ADD RZ, [R0], R1", 10.0)]);
    let counters = &mut queued.instructions[0].counters;
    (counters.wavefronts_shared, counters.wavefronts_shared_ideal) = (50.0, 10.0);
    // Atomics take 50 of the 150 wavefronts and need 10 of the 100: 100 are left where 90 would do.
    let effect = found("shared-bank-conflicts", &queued).unwrap().effect;
    assert_near(effect.share_of(Term::L1Data), 0.1);
    assert_near(effect.share_of_stall(StallReason::ShortScoreboard), 0.1);
}

const BUSY: &str = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum.pct_of_peak_sustained_elapsed";
const LOADS: &str = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
const STORES: &str = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum";
const ATOMICS: &str = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum";

/// What remains of L1's pipe and of the load/store unit, all of whose work is shared memory, once the
/// shared-memory pressure is away: bank conflicts and queues of atomics.
fn conflicts(of_banks: f64) -> (f64, f64) {
    let pressure = launch(&[
        (BUSY, 60.0),
        (L1, 60.0),
        (LSU, 60.0),
        (WAVEFRONTS, 100.0),
        (WAVEFRONTS_IDEAL, 100.0 - of_banks),
        (SHARED, 1000.0),
        (ATOMICS, 300.0),
        ("smsp__inst_executed_op_shared_atom.sum", 100.0),
    ]);
    let effect = found("shared-memory-pressure", &pressure).unwrap().effect;
    (1.0 - effect.share_of(Term::L1Data), 1.0 - effect.share_of(Term::Lsu))
}

#[test]
fn conflicts_and_queued_atomics_are_no_pressure() {
    // 200 of 1000 wavefronts are atomics in a queue; of the other 80% a quarter is conflicts. Of the 60% that are
    // neither, a register tile leaves an eighth.
    let (l1, lsu) = conflicts(25.0);
    assert_near(l1, 0.4 + 0.6 / 8.0);
    assert_near(lsu, 0.4 + 0.6 / 8.0);
    // Below a tenth conflicts do not count.
    let of_faults = 0.2 + 0.8 * 0.105;
    assert_near(conflicts(10.5).0, of_faults + (1.0 - of_faults) / 8.0);
    assert_near(conflicts(9.5).0, 0.2 + 0.8 / 8.0);
}

#[test]
fn wavefronts_that_move_nothing_are_a_sweep_from_half_of_all() {
    let barriers_go = |loads: f64| {
        let metrics = [(BUSY, 57.0), (SHARED, 1000.0), (LOADS, loads), (STORES, 0.0)];
        let draft = found("shared-memory-pressure", &launch(&metrics)).unwrap();
        draft.effect.share_of_stall(StallReason::Barrier)
    };
    assert_near(barriers_go(500.0), 1.0);
    assert_near(barriers_go(501.0), 0.0);
}

#[test]
fn schedulers_are_idle_below_six_issues_in_ten_cycles() {
    let idle = launch(&[
        ("smsp__warps_active.avg.per_cycle_active", 12.7),
        ("smsp__warps_eligible.avg.per_cycle_active", 0.7),
        ("smsp__warps_active.avg.peak_sustained", 16.0),
        (WAIT, 3.0),
        (LATENCY, 10.0),
    ]);
    assert_between("issue-slots-underused", &idle, ISSUE, 59.9, 60.0);
    assert_between("low-instruction-parallelism", &idle, ISSUE, 59.9, 60.0);
}

#[test]
fn a_unit_is_saturated_from_seven_tenths_of_the_time() {
    let chain = launch(&[
        (WAIT, 3.0),
        (LATENCY, 10.0),
        (ISSUE, 25.0),
        ("smsp__warps_active.avg.per_cycle_active", 12.7),
        ("smsp__warps_active.avg.peak_sustained", 16.0),
    ]);
    assert_between("low-instruction-parallelism", &chain, L1, 69.9, 70.0);
    let blocks = [("launch__grid_size", 99.0), ("launch__sm_count", 10.0)];
    let small = launch(&[&blocks[..], &[("launch__waves_per_multiprocessor", 0.9)]].concat());
    assert_between("grid-too-small", &small, L1, 69.9, 70.0);
    let waves = "launch__waves_per_multiprocessor";
    assert_between("grid-too-small", &launch(&blocks), waves, 0.99, 1.0);
}

#[test]
fn a_stall_counts_while_a_fifth_of_the_issue_slots_is_free() {
    let waiting = launch(&[(WAIT, 40.0), (LATENCY, 100.0)]);
    assert_between("fixed-latency-stalls", &waiting, ISSUE, 79.9, 80.0);
}

#[test]
fn loads_ask_again_from_one_and_a_half_times_what_dram_gives() {
    let asked = [("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 3000.0)];
    let waiting = launch(&[&asked[..], &[(LONG, 30.0), (LATENCY, 100.0)]].concat());
    // 3000 sectors are 96,000 bytes.
    assert_between("missing-data-reuse", &waiting, "dram__bytes_read.sum", 64_000.0, 64_100.0);
}

#[test]
fn occupancy_counts_from_a_gap_of_ten_points() {
    let gap =
        launch(&[("sm__maximum_warps_per_active_cycle_pct", 100.0), (ISSUE, 30.0), (L1, 20.0)]);
    let achieved = "sm__warps_active.avg.pct_of_peak_sustained_active";
    assert_between("achieved-occupancy-below-theoretical", &gap, achieved, 89.9, 90.0);
}

#[test]
fn more_warps_are_worth_a_twentieth() {
    // Twice the warps cover half of what the unit leaves: 10% leave 0.95 of the time, a gain of 1.053;
    // 9% a gain of 1.047.
    let half = launch(&[
        ("sm__maximum_warps_per_active_cycle_pct", 50.0),
        ("launch__occupancy_limit_registers", 4.0),
        ("launch__occupancy_limit_shared_mem", 2.0),
        ("launch__occupancy_limit_blocks", 4.0),
        ("launch__occupancy_limit_warps", 4.0),
        (ISSUE, 30.0),
    ]);
    let l2 = "lts__t_sectors.avg.pct_of_peak_sustained_elapsed";
    assert_between("occupancy-limited-by-shared-memory", &half, l2, 90.0, 91.0);
}

/// What goes of the waits for data of a kernel with this code, whose instructions have so many samples of
/// them.
fn waits_that_go(code: &[(&str, f64)]) -> f64 {
    let executed: Vec<(&str, f64)> = code.iter().map(|(text, _)| (*text, 10.0)).collect();
    let dram = "dram__cycles_active.avg.pct_of_peak_sustained_elapsed";
    let mut launch = sass(&[(LONG, 80.0), (LATENCY, 100.0), (dram, 50.0)], &executed);
    for (row, (_, waits)) in launch.instructions.iter_mut().zip(code) {
        row.counters.stall_samples[StallReason::LongScoreboard as usize] = *waits;
    }
    let draft = found("low-memory-parallelism", &launch).unwrap();
    draft.effect.share_of_stall(StallReason::LongScoreboard)
}

#[test]
fn without_a_loop_four_loads_can_be_in_flight() {
    let load = "LDG.E R4, desc[UR4][R2.64]";
    let one = [(load, 0.0), ("FADD R0, R0, R4", 8.0), ("EXIT", 0.0)];
    assert_near(waits_that_go(&one), 1.0 - 1.0 / 4.0);
    // An earlier wait is a stop of its own from a quarter of the longest one on.
    let two = |first: f64| {
        let second = "LDG.E R5, desc[UR4][R6.64]";
        let code = [
            (load, 0.0),
            ("FADD R0, R0, R4", first),
            (second, 0.0),
            ("FADD R0, R0, R5", 8.0),
            ("EXIT", 0.0),
        ];
        waits_that_go(&code)
    };
    assert_near(two(2.0), 1.0 - 1.0 / 4.0);
    assert_near(two(1.9), 1.0 - 2.0 / 4.0);
}

#[test]
fn half_of_the_waits_in_a_chain_of_loads_stays() {
    let walk = [
        ("IMAD.WIDE R4, R0, 0x4, R2", 0.0),
        ("LDG.E R0, desc[UR8][R4.64]", 0.0),
        ("ISETP.NE.AND P0, PT, R0, RZ, PT", 9.0),
        ("@P0 BRA 0x100", 0.0),
        ("EXIT", 0.0),
    ];
    assert_near(waits_that_go(&walk), 0.5);
}

#[test]
fn lanes_that_rest_are_idle_from_half_of_those_missing() {
    // Of a part that some lanes skip, and of a loop that half of them have left: lanes that skip rest, those
    // that left the loop are on another path.
    let metrics = [
        ("smsp__thread_inst_executed_per_inst_executed.ratio", 20.0),
        ("smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", 20.0),
        ("smsp__sass_average_branch_targets_threads_uniform.pct", 50.0),
    ];
    let names = |in_part: f64| {
        let code = [
            ("@P0 BRA 0x130", 32.0),
            ("FADD R0, R1, R2", in_part),
            ("FMUL R0, R1, R2", in_part),
            ("FADD R8, R8, R2", 32.0),
            ("FADD R3, R3, R2", 16.0),
            ("@P1 BRA 0x140", 16.0),
            ("EXIT", 32.0),
        ];
        let executed: Vec<(&str, f64)> = code.iter().map(|(text, _)| (*text, 10.0)).collect();
        let mut launch = sass(&metrics, &executed);
        for (row, (_, lanes)) in launch.instructions.iter_mut().zip(code) {
            row.counters.thread_inst_executed = 10.0 * lanes;
        }
        ["idle-threads", "thread-divergence"].map(|rule| found(rule, &launch).is_some())
    };
    // 2 × 16 lanes skip and 2 × 16 left the loop; then 2 × 15 skip.
    assert_eq!(names(16.0), [true, false]);
    assert_eq!(names(17.0), [false, true]);
}

#[test]
fn a_tensor_fragment_uses_what_it_loads_eight_times() {
    let issue = "sm__issue_active.avg.pct_of_peak_sustained_elapsed";
    let fma = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed";
    let code = [
        ("LDS.U16 R0, [R20]", 100.0),
        ("LDS.U16 R2, [R22]", 100.0),
        ("HADD2.F32 R4, -RZ, R0.H0_H0", 100.0),
        ("HADD2.F32 R5, -RZ, R2.H0_H0", 100.0),
        ("FFMA R6, R4, R5, R6", 100.0),
        ("@P0 BRA 0x100", 100.0),
        ("STG.E.U16 desc[UR4][R20.64], R6", 200.0),
    ];
    let mut product = sass(&[(issue, 60.0), (fma, 30.0)], &code);
    product.row.compute_capability = Some((9, 0));
    let effect = found("tensor-cores-unused", &product).unwrap().effect;
    // 7 of 8 of the 200 loads go, of 400 accesses.
    assert_near(effect.share_of(Term::Lsu), 175.0 / 400.0);
}
