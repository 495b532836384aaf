//! Cases worked out by hand.

use super::*;
use crate::evidence::modeled_launch::{GRID, SMS};
use crate::export::SourceCounters;
use crate::metric::stall::StallReason;
use crate::rules::testing::{assert_sides, check, launch, line, samples, sass};
use crate::term::Term;

/// Two thirds of the pipe's wavefronts are tags, one third shared memory.
const STRIDED: &[(&str, f64)] = &[(SECTORS, 800.0), (IDEAL, 100.0), (TAGS, 800.0), (SHARED, 400.0)];

#[test]
fn excess_counts_from_a_twentieth() {
    let strided = launch(STRIDED);
    let draft =
        assert_sides(&RULE, &strided, &[&[(IDEAL, 761.0)], &[(SECTORS, 0.0), (IDEAL, 0.0)]]);
    assert!(draft.message.contains("(8:1)") && draft.message.contains("700 (88%)"));
    // 800 tags where 25 would do, of 1200 wavefronts.
    assert!((draft.effect.share_of(Term::L1Data) - 775.0 / 1200.0).abs() < 1e-12);
    assert!((draft.effect.share_of(Term::L2) - 0.875).abs() < 1e-12, "no L1 counts: L2 pays too");
}

#[test]
fn excess_that_l1_holds_costs_l2_nothing() {
    let mut strided = launch(STRIDED);
    strided.set("lts__t_sectors_srcunit_tex.sum", Some(90.0));
    let draft = check(&RULE, &strided).unwrap();
    assert!(draft.effect.share_of(Term::L2).abs() < 1e-12);
    assert!(draft.message.contains("in L1, not L2"), "{}", draft.message);
}

#[test]
fn what_local_memory_asks_of_l2_is_not_excess() {
    let share = |local_stores: f64| {
        let mut strided = launch(STRIDED);
        strided.set(FROM_L1, Some(1000.0));
        strided.set(REQUESTS, Some(500.0));
        strided.set(local_memory::BEYOND_L1[0], Some(local_stores));
        strided.set(local_memory::BEYOND_L1[1], Some(100.0));
        let effect = check(&RULE, &strided).unwrap().effect;
        (effect.share_of(Term::L2), effect.share_of(Term::L2Requests))
    };
    // Of 1,000 sectors 600 are local memory's and 100 needed; of 500 requests 300, and 25 needed.
    let (sectors, requests) = share(500.0);
    assert!((sectors - 0.3).abs() < 1e-12 && (requests - 175.0 / 500.0).abs() < 1e-12);
    assert!(share(800.0).0.abs() < 1e-12, "nothing is left that is excess");
}

#[test]
fn the_line_with_most_excess_is_named_and_its_tags_counted() {
    let mut strided = launch(STRIDED);
    let counters = |sectors, ideal, tags| SourceCounters {
        l2_sectors_global: sectors,
        l2_sectors_global_ideal: ideal,
        l1_tag_requests_global: tags,
        ..SourceCounters::default()
    };
    strided.lines = vec![
        line(4, "s = a[i];", counters(40.0, 40.0, 10.0)),
        line(9, "v += in[k];", counters(760.0, 60.0, 760.0)),
    ];
    let draft = check(&RULE, &strided).unwrap();
    assert_eq!((draft.locations.len(), draft.locations[0].line), (1, 9));
    assert!(draft.hint.contains("line 9"), "{}", draft.hint);
    // 770 tags, 10 + 15 needed, 400 shared wavefronts.
    assert!((draft.effect.share_of(Term::L1Data) - 745.0 / 1170.0).abs() < 1e-12);
}

#[test]
fn dense_loads_queue_behind_those_with_excess() {
    let mut strided = launch(STRIDED);
    strided.set("l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed", Some(60.0));
    let counters = |sectors, tags| SourceCounters {
        l2_sectors_global: sectors,
        l2_sectors_global_ideal: 40.0,
        l1_tag_requests_global: tags,
        ..samples(&[(StallReason::LongScoreboard, 5.0)])
    };
    strided.lines = vec![
        line(4, "s = a[i];", counters(40.0, 10.0)),
        line(9, "v += in[k];", counters(760.0, 760.0)),
    ];
    let effect = check(&RULE, &strided).unwrap().effect;
    // Half of the waits are the strided load's own; the other half finds L1 busy 60% of the time.
    let share = effect.share_of_stall(StallReason::LongScoreboard)
        / effect.share_of_stall(StallReason::LgThrottle);
    assert!((share - (0.5 + 0.5 * 0.6)).abs() < 1e-12, "{share}");
}

#[test]
fn dense_lanes_that_begin_within_a_sector_are_told_so() {
    let mut shifted = launch(STRIDED);
    let counters = |sectors| SourceCounters {
        l2_sectors_global: sectors,
        l2_sectors_global_ideal: 400.0,
        ..SourceCounters::default()
    };
    shifted.lines = vec![line(9, "v += in[k];", counters(599.0))];
    assert!(check(&RULE, &shifted).unwrap().hint.contains("in the middle of a sector"));
    shifted.lines = vec![line(9, "v += in[k];", counters(600.0))];
    assert!(check(&RULE, &shifted).unwrap().hint.contains("give each warp a row"));
}

/// Accesses of one line, each of 32 lanes, that touch so many sectors each where one byte per lane would need one.
fn of_one_line(opcode: &'static str, accesses: usize, sectors: f64) -> Draft {
    let code = vec![(opcode, 40.0); accesses];
    let metrics = [
        (SECTORS, accesses as f64 * 40.0 * sectors),
        (IDEAL, accesses as f64 * 40.0),
        (crate::evidence::removal::ISSUE_BUSY, 20.0),
    ];
    let mut launch = sass(&metrics, &code);
    for row in &mut launch.instructions {
        row.line = Some(7);
        row.counters.l2_sectors_global = 40.0 * sectors;
        row.counters.l2_sectors_global_ideal = 40.0;
        row.counters.thread_inst_executed_pred_on = 1280.0;
    }
    check(&RULE, &launch).unwrap()
}

#[test]
fn bytes_side_by_side_that_begin_within_a_sector_are_told_so() {
    const STORE: &str = "STG.E.U8 desc[UR4][R2.64], R4";
    let is_shifted = |sectors| of_one_line(STORE, 1, sectors).hint.contains("middle of a sector");
    assert!(is_shifted(1.9));
    assert!(!is_shifted(2.0), "every other byte");
}

#[test]
fn neighbours_that_a_lane_moves_one_by_one_are_put_together() {
    const STORE: &str = "STG.E.U8 desc[UR4][R2.64], R4";
    let eight = of_one_line(STORE, 8, 8.0);
    assert!(eight.hint.contains("its 8 neighbouring elements"), "{}", eight.hint);
    assert!(eight.hint.contains("one access of 8 bytes"), "{}", eight.hint);
    // Seven of eight go.
    assert!((eight.effect.share_of(Term::Issue) - 0.875).abs() < 1e-12);
    let in_pieces = |accesses, sectors| {
        of_one_line(STORE, accesses, sectors).hint.contains("its 8 neighbouring elements")
    };
    assert!(in_pieces(16, 8.0), "a loop unrolled by two");
    assert!(!in_pieces(7, 8.0), "one is missing");
    assert!(!in_pieces(8, 32.0), "a row per lane");
}

#[test]
fn an_asynchronous_copy_of_a_sector_per_lane_is_told_where_to_write() {
    let hint = |sectors: f64| {
        let code = [("LDGSTS.E.BYPASS.128 [R1], desc[UR4][R2.64]", 40.0), ("EXIT", 40.0)];
        let mut launch = sass(&[(SECTORS, 40.0 * sectors), (IDEAL, 640.0)], &code);
        let counters = &mut launch.instructions[0].counters;
        counters.l2_sectors_global = 40.0 * sectors;
        counters.l2_sectors_global_ideal = 640.0;
        counters.thread_inst_executed_pred_on = 1280.0;
        check(&RULE, &launch).unwrap().hint
    };
    assert!(hint(32.0).contains("same line of 128 bytes"));
    assert!(!hint(24.0).contains("same line"), "some lanes share sectors");
}

/// A thread per row: of each access 32 lanes of 4 bytes touch so many sectors. The first quarter of the
/// SMs' time is all that they have warps for.
fn rows(body: [(&str, f64); 2], sectors: [f64; 2]) -> Launch {
    let next = [
        ("IADD3 R2, R2, 0x4, RZ", 40.0),
        ("ISETP.NE.AND P0, PT, R2, R9, PT", 40.0),
        ("@P0 BRA 0x110", 40.0),
        ("EXIT", 1.0),
    ];
    let code: Vec<_> = [("S2R R2, SR_TID.X", 1.0)].into_iter().chain(body).chain(next).collect();
    let metrics = [
        (SECTORS, 40.0 * (sectors[0] + sectors[1])),
        (IDEAL, 40.0 * 8.0),
        (GRID, 33.0),
        (SMS, 132.0),
        ("sm__cycles_active.avg", 25.0),
        ("sm__cycles_elapsed.max", 100.0),
        ("l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed", 25.0),
    ];
    let mut launch = sass(&metrics, &code);
    for (at, sectors) in [1, 2].into_iter().zip(sectors) {
        let counters = &mut launch.instructions[at].counters;
        counters.l2_sectors_global = 40.0 * sectors;
        counters.l2_sectors_global_ideal = 40.0 * 4.0;
        counters.l1_tag_requests_global = 40.0 * if sectors > 4.0 { sectors } else { 1.0 };
        counters.thread_inst_executed_pred_on = 40.0 * 32.0;
    }
    launch
}

const LOAD: (&str, f64) = ("LDG.E R4, desc[UR4][R2.64]", 40.0);
const GATHER: (&str, f64) = ("LDG.E R6, desc[UR4][R4.64]", 40.0);

#[test]
fn rows_for_warps_fill_a_device_that_rows_for_threads_leave_idle() {
    let sums = check(&RULE, &rows([LOAD, ("FADD R0, R0, R4", 40.0)], [32.0, 4.0])).unwrap();
    assert!((sums.effect.idle - 0.75).abs() < 1e-12);
    assert!(sums.hint.contains("32 times as many warps"), "{}", sums.hint);
    let dense = sums.effect.at_least.unwrap();
    assert!(dense.idle.abs() < 1e-12 && dense.removed == sums.effect.removed);
    let walk = check(&RULE, &rows([LOAD, ("FMUL R0, R0, R4", 40.0)], [32.0, 4.0])).unwrap();
    assert!(walk.effect.idle.abs() < 1e-12, "each turn needs the one before");
    assert!(!walk.hint.contains("give each warp a row"), "{}", walk.hint);
}

#[test]
fn no_order_of_the_lanes_makes_a_gather_dense() {
    let by_values = rows([LOAD, GATHER], [4.0, 32.0]);
    let draft = check(&RULE, &by_values).unwrap();
    assert!(draft.hint.contains("address comes from a value that it loaded"), "{}", draft.hint);
    assert!(draft.effect.removed.iter().all(|(_, share)| *share < 1e-12), "{draft:?}");
    // Where the values themselves are a row apart, other lanes go elsewhere.
    let draft = check(&RULE, &rows([LOAD, GATHER], [32.0, 32.0])).unwrap();
    assert!((draft.effect.share_of(Term::L2) - 0.875).abs() < 1e-12, "{draft:?}");
}

#[test]
fn lanes_that_go_through_runs_of_their_own_could_share_them() {
    let launch = |moves: &str, turns: f64| {
        let code = [
            ("S2R R0, SR_TID.X", 1.0),
            ("IMAD.WIDE R2, R0, 0x4, R10", 1.0),
            ("LDG.E R4, desc[UR4][R2.64]", 1.0),
            ("IADD3 R6, P0, R4, c[0x0][0x210], RZ", 1.0),
            ("LDG.E.U8 R8, desc[UR4][R6.64]", turns), // 4
            ("IADD3 R12, R12, R8, RZ", turns),
            (moves, turns),
            ("@P1 BRA 0x40", turns),
            ("EXIT", 1.0),
        ];
        let mut launch = sass(&[(SECTORS, 32.0 * turns), (IDEAL, turns)], &code);
        for row in &mut launch.instructions {
            row.counters.thread_inst_executed = 32.0 * row.counters.inst_executed;
            row.counters.thread_inst_executed_pred_on = row.counters.thread_inst_executed;
        }
        let counters = &mut launch.instructions[4].counters;
        (counters.l2_sectors_global, counters.l2_sectors_global_ideal) = (32.0 * turns, turns);
        counters.l1_tag_requests_global = 32.0 * turns;
        check(&RULE, &launch).unwrap()
    };
    let strings = launch("IADD3 R6, P0, R6, 0x1, RZ", 320.0);
    assert!(strings.hint.contains("Give each run to a warp"), "{}", strings.hint);
    // 320 sectors of 10,240 hold them, and each of the 32 runs begins within one.
    assert!((strings.effect.share_of(Term::L2) - 9888.0 / 10240.0).abs() < 1e-12, "{strings:?}");
    let chosen = launch("IADD3 R6, P0, R6, R8, RZ", 320.0);
    assert!(chosen.hint.contains("address comes from a value that it loaded"), "{}", chosen.hint);
}

#[test]
fn no_order_of_the_lanes_makes_a_rounded_position_dense() {
    let round = ("F2I.FLOOR.NTZ R4, R8", 40.0);
    let launch = |made| {
        let code = [
            ("S2R R0, SR_TID.X", 1.0),
            ("LDG.E R6, desc[UR4][R2.64]", 1.0),
            ("I2FP.F32.S32 R7, R0", 1.0),
            made,
            round,
            ("LDG.E.U8 R10, desc[UR4][R4.64]", 40.0),
            ("EXIT", 1.0),
        ];
        let mut launch = sass(&[(SECTORS, 1280.0), (IDEAL, 40.0)], &code);
        let counters = &mut launch.instructions[5].counters;
        counters.l2_sectors_global = 1280.0;
        counters.l2_sectors_global_ideal = 40.0;
        counters.l1_tag_requests_global = 1280.0;
        counters.thread_inst_executed_pred_on = 1280.0;
        check(&RULE, &launch).unwrap()
    };
    let sampled = launch(("FMUL R8, R7, R6", 1.0));
    assert!(sampled.hint.contains("in floating point"), "{}", sampled.hint);
    assert!(sampled.effect.removed.iter().all(|(_, share)| *share < 1e-12), "{sampled:?}");
    assert!(sampled.message.contains("Another order of the threads"), "{}", sampled.message);
    let index = launch(("FMUL R8, R7, 0.03125", 1.0));
    assert!((index.effect.share_of(Term::L2) - 1240.0 / 1280.0).abs() < 1e-12, "{index:?}");
    assert!(index.hint.contains("one sector per 32 lanes of 1 byte."), "{}", index.hint);
}

#[test]
fn the_ideal_is_that_of_the_lines_width() {
    for (load, ideal) in [
        ("LDG.E.64 R4, desc[UR4][R2.64]", "per 4 lanes of 8 bytes"),
        ("LDG.E.128 R4, desc[UR4][R2.64]", "per 2 lanes of 16 bytes"),
        (LOAD.0, "per 8 lanes of 4 bytes"),
    ] {
        let draft = check(&RULE, &rows([(load, 40.0), ("FADD R0, R0, R4", 40.0)], [32.0, 4.0]));
        let hint = draft.unwrap().hint;
        assert!(hint.contains(ideal), "{hint}");
    }
}

#[test]
fn excess_of_accesses_that_a_register_would_spare_is_another_rules() {
    let of = |store: &'static str| {
        let code = [
            ("LDC.64 R2, c[0x0][0x210]", 10.0),
            ("LDG.E R4, desc[UR4][R2.64]", 400.0), // 0x110
            ("FFMA R4, R4, R8, R9", 400.0),
            (store, 400.0),
            ("@P0 BRA 0x110", 400.0),
            ("EXIT", 10.0),
        ];
        let registers = (crate::evidence::kept_state::REGISTERS, 32.0);
        let mut strided = sass(&[(SECTORS, 6400.0), (IDEAL, 800.0), registers], &code);
        for at in [1, 3] {
            strided.instructions[at].counters.l2_sectors_global = 3200.0;
            strided.instructions[at].counters.l2_sectors_global_ideal = 400.0;
        }
        check(&RULE, &strided)
    };
    // Of 5,600 a fortieth stays, less than a twentieth of all.
    assert!(of("STG.E desc[UR4][R2.64], R4").is_none());
    assert!(of("STG.E desc[UR4][R6.64], R4").is_some(), "another place: no state");
}

#[test]
fn where_starting_blocks_takes_longest_a_tile_has_several_elements_per_thread() {
    let draft = |sectors: f64, grid: f64| {
        let code = [("LDG.E R4, desc[UR4][R2.64]", 100.0), ("EXIT", 100.0)];
        let mut strided = sass(
            &[
                (SECTORS, 100.0 * sectors),
                (IDEAL, 400.0),
                ("sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_elapsed", 20.0),
                (GRID, grid),
                ("launch__waves_per_multiprocessor", 50.0),
                ("gpc__cycles_elapsed.max", 120_300.0 / 0.9),
                ("sm__cycles_active.avg", 0.8 * 120_300.0 / 0.9),
            ],
            &code,
        );
        strided.row.compute_capability = Some((9, 0));
        let counters = &mut strided.instructions[0].counters;
        counters.thread_inst_executed = 3200.0;
        counters.l2_sectors_global = 100.0 * sectors;
        counters.l2_sectors_global_ideal = 400.0;
        check(&RULE, &strided).unwrap()
    };
    let apart = draft(32.0, 1e5);
    assert!((apart.effect.share_of(Term::BlockScheduler) - 0.75).abs() < 1e-12);
    assert!(apart.hint.contains("starting 100,000 blocks"), "{}", apart.hint);
    // Lanes that share sectors, and blocks that start in time.
    for other in [draft(31.0, 1e5), draft(32.0, 1e4)] {
        assert!(other.effect.share_of(Term::BlockScheduler).abs() < 1e-12, "{}", other.hint);
    }
}
