use super::*;
use crate::frame::Launch;
use crate::sass::code::listing::tests::launch;

/// Instructions with their executions and the lanes of an average one that are on.
fn code(lines: &[(&str, f64, f64)]) -> Launch {
    let counted: Vec<(&str, f64)> = lines.iter().map(|(text, runs, _)| (*text, *runs)).collect();
    let mut launch = launch(&counted);
    for (row, (_, runs, on)) in launch.instructions.iter_mut().zip(lines) {
        row.counters.thread_inst_executed = 32.0 * runs;
        row.counters.thread_inst_executed_pred_on = on * runs;
    }
    launch
}

fn found(launch: &Launch) -> Option<Bystanders> {
    find(&launch.listing().unwrap()).cloned()
}

#[test]
fn warps_that_leave_at_a_guard_do_nothing() {
    let early = |left: f64| {
        code(&[
            ("ISETP.GE.AND P0, PT, R0, UR4, PT", 100.0, 32.0),
            ("@P0 EXIT", 100.0, 0.0),
            ("LDG.E R4, desc[UR4][R2.64]", left, 32.0),
            ("STG.E desc[UR4][R6.64], R4", left, 32.0),
            ("EXIT", left, 32.0),
        ])
    };
    let seen = found(&early(25.0)).unwrap();
    assert!((seen.share - 0.75).abs() < 1e-12);
    // Of the guard's executions three quarters are theirs, of the load's none.
    assert_eq!(seen.of_executions, [0.75, 0.75, 0.0, 0.0, 0.0]);
    assert_eq!(seen.guard, Some(1));
    assert_eq!(found(&early(50.0)), None, "half of them work");
}

#[test]
fn warps_that_go_through_a_loop_with_their_accesses_off_do_nothing() {
    // Five turns; one in ten warps loads once before it.
    let mut stepping = code(&[
        ("@!P0 LDG.E R4, desc[UR4][R2.64]", 100.0, 3.2),
        ("IADD3 R0, R0, 0x1, RZ", 500.0, 32.0),
        ("@P1 BRA 0x140", 500.0, 29.0),
        ("STS [R7], R4", 50.0, 32.0),
        ("@P2 BRA 0x110", 500.0, 32.0),
        ("EXIT", 100.0, 32.0),
    ]);
    stepping.instructions[0].counters.l1_tag_requests_global = 10.0;
    let seen = found(&stepping).unwrap();
    assert!((seen.share - 0.9).abs() < 1e-12, "{}", seen.share);
    let expected = [0.9, 0.9, 0.9, 0.0, 0.9, 0.9];
    for (seen, expected) in seen.of_executions.iter().zip(expected) {
        assert!((seen - expected).abs() < 1e-12, "{seen} {expected}");
    }
    // Without the lines it touched the load may have been for 100 warps. What is found is kept, so that it takes a
    // launch of its own.
    let mut stepping = stepping.clone();
    stepping.instructions[0].counters.l1_tag_requests_global = 0.0;
    assert_eq!(found(&stepping), None);
}

#[test]
fn each_side_of_a_branch_has_warps_of_its_own() {
    let sides = code(&[
        ("@P0 BRA 0x130", 100.0, 16.0),
        ("LDG.E R4, desc[UR4][R2.64]", 40.0, 32.0),
        ("BRA 0x140", 40.0, 32.0),
        ("LDG.E R4, desc[UR4][R6.64]", 40.0, 32.0),
        ("EXIT", 100.0, 32.0),
    ]);
    assert_eq!(found(&sides), None, "80 of 100 work");
    let mut one = sides.clone();
    one.instructions[3].counters.thread_inst_executed_pred_on = 0.0;
    assert!((found(&one).unwrap().share - 0.6).abs() < 1e-12);
}

#[test]
fn a_bound_that_all_threads_load_alike_is_no_work() {
    let by = |address: &str| {
        code(&[
            ("S2R R0, SR_TID.X", 100.0, 32.0),
            ("LDC.64 R2, c[0x0][0x210]", 100.0, 32.0),
            ("IMAD.WIDE R8, R0, 0x4, R2", 100.0, 32.0),
            (address, 100.0, 32.0),
            ("ISETP.GE.AND P0, PT, R0, R4, PT", 100.0, 32.0),
            ("@P0 EXIT", 100.0, 0.0),
            ("LDG.E R4, desc[UR4][R8.64]", 25.0, 32.0),
            ("STG.E desc[UR4][R8.64], R4", 25.0, 32.0),
            ("EXIT", 25.0, 32.0),
        ])
    };
    let seen = found(&by("LDG.E R4, desc[UR4][R2.64]")).unwrap();
    assert!((seen.share - 0.75).abs() < 1e-12);
    assert_eq!(seen.guard, Some(5));
    assert_eq!(found(&by("LDG.E R4, desc[UR4][R8.64]")), None, "each thread has its own");
}

#[test]
fn one_warp_that_writes_what_all_have_read_is_no_sign() {
    let sum = code(&[
        ("LDG.E R4, desc[UR4][R2.64]", 80.0, 32.0),
        ("@P0 EXIT", 80.0, 28.0),
        ("STG.E desc[UR4][R6.64], R4", 10.0, 1.0),
        ("EXIT", 10.0, 1.0),
    ]);
    assert_eq!(found(&sum), None);
}

#[test]
fn warps_that_bring_a_zero_to_a_sum_do_nothing() {
    let of = |load: f64| {
        code(&[
            ("MOV R0, RZ", 100.0, 32.0),
            ("@P0 BRA 0x130", 100.0, 32.0),
            ("LDG.E R0, desc[UR4][R2.64]", load, 16.0),
            ("SHFL.DOWN PT, R5, R0, 0x1, 0x1f", 100.0, 32.0),
            ("@!P1 STS [R7], R5", 100.0, 1.0),
            ("BAR.SYNC.DEFER_BLOCKING 0x0", 100.0, 32.0),
            ("@P2 EXIT", 100.0, 32.0),
            ("STG.E desc[UR4][R6.64], R0", 10.0, 1.0),
            ("EXIT", 10.0, 1.0),
        ])
    };
    let seen = found(&of(10.0)).unwrap();
    assert!((seen.share - 0.9).abs() < 1e-12, "{}", seen.share);
    assert_eq!(seen.exchange, Some(3));
    assert_eq!(found(&of(50.0)), None, "half of them have something to add");
}

#[test]
fn what_a_part_of_the_code_does_is_not_known() {
    let part =
        code(&[("FADD R0, R1, R2", 100.0, 32.0), ("LDG.E R4, desc[UR4][R2.64]", 25.0, 32.0)]);
    assert_eq!(found(&part), None, "it ends nowhere");
}

#[test]
fn stores_to_shared_memory_are_made_by_no_more_warps_than_have_wavefronts() {
    let mut off = code(&[("@!P0 STS [R7], R4", 100.0, 3.2), ("EXIT", 100.0, 32.0)]);
    off.instructions[0].counters.wavefronts_shared = 10.0;
    assert!((found(&off).unwrap().share - 0.9).abs() < 1e-12);
}

#[test]
fn a_few_warps_that_load_a_bound_work_and_spills_are_no_work() {
    let few = code(&[
        ("LDC.64 R2, c[0x0][0x210]", 100.0, 32.0),
        ("STL [R1], R4", 100.0, 32.0),
        ("@P0 EXIT", 100.0, 0.0),
        ("LDG.E R4, desc[UR4][R2.64]", 25.0, 32.0),
        ("EXIT", 25.0, 32.0),
    ]);
    assert!((found(&few).unwrap().share - 0.75).abs() < 1e-12);
}

#[test]
fn who_enters_an_inner_loop_comes_from_the_outer_one() {
    // A tenth of the warps works; each of all makes five turns of the outer loop and four of the inner one.
    let mut nested = code(&[
        ("@!P0 LDG.E R4, desc[UR4][R2.64]", 100.0, 3.2),
        ("IADD3 R0, R0, 0x1, RZ", 500.0, 32.0),
        ("IADD3 R5, R5, 0x1, RZ", 2000.0, 32.0),
        ("@P1 BRA 0x120", 2000.0, 32.0),
        ("@P2 BRA 0x110", 500.0, 32.0),
        ("EXIT", 100.0, 32.0),
    ]);
    nested.instructions[0].counters.l1_tag_requests_global = 10.0;
    for share in found(&nested).unwrap().of_executions {
        assert!((share - 0.9).abs() < 1e-12, "{share}");
    }
}

#[test]
fn warps_with_several_guards_are_no_more_than_came_there() {
    // A quarter of the warps comes to four accesses, each with a guard of its own.
    let guarded = code(&[
        ("@P4 EXIT", 100.0, 24.0),
        ("@!P0 LDG.E R4, desc[UR4][R2.64]", 25.0, 32.0),
        ("@!P1 LDG.E R5, desc[UR4][R2.64+0x4]", 25.0, 32.0),
        ("@!P2 LDG.E R6, desc[UR4][R2.64+0x8]", 25.0, 32.0),
        ("@!P3 STG.E desc[UR4][R6.64], R4", 25.0, 32.0),
        ("EXIT", 25.0, 32.0),
    ]);
    assert!((found(&guarded).unwrap().share - 0.75).abs() < 1e-12);
}

#[test]
fn warps_that_only_hear_of_what_few_loaded_do_nothing() {
    // All add up by shuffles and read the block's sum, one in ten has loaded anything.
    let block = |start: &'static str, load: f64| {
        code(&[
            (start, 100.0, 32.0),
            ("@P0 BRA 0x130", 100.0, 28.8),
            ("LDG.E R0, desc[UR4][R2.64]", load, 32.0),
            ("SHFL.BFLY PT, R5, R0, 0x1, 0x1f", 100.0, 32.0),
            ("FADD R5, R5, R0", 100.0, 32.0),
            ("@!P2 STS [R7], R5", 100.0, 1.0),
            ("BAR.SYNC.DEFER_BLOCKING 0x0", 100.0, 32.0),
            ("LDS R9, [R8]", 100.0, 32.0),
            ("SHFL.DOWN PT, R10, R9, 0x1, 0x1f", 100.0, 32.0),
            ("@P0 EXIT", 100.0, 28.8),
            ("STG.E desc[UR4][R12.64], R10", load, 32.0),
            ("EXIT", load, 32.0),
        ])
    };
    let seen = found(&block("MOV R0, RZ", 10.0)).unwrap();
    assert!((seen.share - 0.9).abs() < 1e-12, "{}", seen.share);
    assert_eq!(seen.exchange, Some(3));
    assert_eq!(found(&block("MOV R0, RZ", 60.0)), None, "most load");
    assert_eq!(found(&block("S2R R0, SR_TID.X", 10.0)), None, "a value of each thread's own");
}

#[test]
fn a_guard_that_changes_with_the_turns_lets_other_warps_through() {
    // A sum over 16 warps: eight add at the first of four turns, then four, two, and one.
    let tree = |bound: &'static str| {
        code(&[
            ("MOV R9, 0x8", 160.0, 32.0),
            ("ISETP.GE.AND P0, PT, R0, R9, PT", 640.0, 32.0),
            ("@P0 BRA 0x150", 640.0, 24.5),
            ("LDG.E R4, desc[UR4][R2.64]", 150.0, 32.0),
            ("STG.E desc[UR4][R6.64], R4", 150.0, 32.0),
            (bound, 640.0, 32.0),
            ("ISETP.NE.AND P1, PT, R9, RZ, PT", 640.0, 32.0),
            ("@P1 BRA 0x110", 640.0, 24.0),
            ("EXIT", 160.0, 32.0),
        ])
    };
    assert_eq!(found(&tree("SHF.R.U32.HI R9, RZ, 0x1, R9")), None, "the loop carries it");
    assert_eq!(found(&tree("LDS R9, [R20]")), None, "the loop loads it");
    let seen = found(&tree("IADD3 R8, R8, 0x1, RZ")).unwrap();
    assert!((seen.share - (1.0 - 150.0 / 640.0)).abs() < 1e-12, "{}", seen.share);
}

/// Warps of which one in a thousand finds what it looks for, in a loop of so many iterations; `kept` stands between the loop and the
/// comparison, which is of `R7`.
fn searching(iterations: f64, kept: &[&'static str]) -> Launch {
    let turns = 1000.0 * iterations;
    let mut lines = vec![
        ("S2R R5, SR_TID.X", 1000.0, 32.0),
        ("LOP3.LUT R7, R7, R5, RZ, 0x3c, !PT", turns, 32.0),
        ("IADD3 R6, R6, 0x1, RZ", turns, 32.0),
        ("ISETP.NE.AND P1, PT, R6, 0x40, PT", turns, 32.0),
        ("@P1 BRA 0x110", turns, 32.0),
    ];
    lines.extend(kept.iter().map(|text| (*text, 1000.0, 32.0)));
    lines.extend([
        ("ISETP.NE.AND P0, PT, R7, UR4, PT", 1000.0, 32.0),
        ("@P0 EXIT", 1000.0, 32.0),
        ("STG.E desc[UR4][R8.64], R7", 1.0, 1.0),
        ("EXIT", 1.0, 32.0),
    ]);
    code(&lines)
}

#[test]
fn warps_that_search_have_done_their_work() {
    let found = |iterations: f64| found(&searching(iterations, &[]));
    assert!(found(98.0).is_some(), "a step in each iteration, the comparison, and the index");
    assert_eq!(found(99.0), None);
}

#[test]
fn what_a_search_works_out_may_lie_in_an_array_of_its_own() {
    let kept = ["STL [R1+0x8], R7", "LDL.U8 R7, [R1+0x8]"];
    let found = |iterations: f64| found(&searching(iterations, &kept));
    // The store and the load beside what the other search takes.
    assert!(found(96.0).is_some());
    assert_eq!(found(97.0), None);
}
