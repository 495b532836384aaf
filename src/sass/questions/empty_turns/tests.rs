//! Tests of loops that make turns for nothing.

use super::*;
use crate::frame::Launch;
use crate::sass::code::listing::tests::launch;

/// No branch leads a lane past anything.
fn all_lanes_come(launch: &mut Launch) {
    for row in &mut launch.instructions {
        row.counters.thread_inst_executed = 32.0 * row.counters.inst_executed;
    }
}

/// A loop of 40 turns that loads under a condition in lanes on average.
fn of(length: &str, compare: &str, lanes: f64) -> Vec<EmptyTurns> {
    let mut launch = launch(&[
        ("S2R R3, SR_TID.X", 8.0),
        ("LDC.64 R10, c[0x0][0x210]", 8.0),
        ("MOV R2, R3", 8.0),
        (length, 8.0),
        ("IADD3 R2, R2, 0x80, RZ", 320.0), // 4
        (compare, 320.0),
        ("IMAD.WIDE R12, R2, 0x4, R10", 320.0),
        ("@!P1 LDG.E R4, desc[UR4][R12.64]", 320.0), // 7
        ("FADD R5, R5, R4", 320.0),
        ("ISETP.GE.AND P0, PT, R2, c[0x0][0x220], PT", 320.0),
        ("@!P0 BRA 0x140", 320.0),
        ("STG.E desc[UR4][R10.64], R5", 8.0),
        ("EXIT", 8.0),
    ]);
    all_lanes_come(&mut launch);
    launch.instructions[7].counters.thread_inst_executed_pred_on = 320.0 * lanes;
    empty_turns(&launch.listing().unwrap())
}

#[test]
fn lanes_that_never_came_are_not_switched_off() {
    let of_lane = |lanes: f64| {
        let mut launch = launch(&[
            ("LDC.64 R10, c[0x0][0x210]", 8.0),
            ("MOV R2, RZ", 8.0),
            (LENGTH, 8.0),
            ("IADD3 R2, R2, 0x1, RZ", 320.0), // 3
            (COMPARE, 320.0),
            ("IMAD.WIDE R12, R2, 0x4, R10", 320.0),
            ("@!P1 LDG.E R4, desc[UR4][R12.64]", 320.0), // 6
            ("ISETP.GE.AND P0, PT, R2, c[0x0][0x220], PT", 320.0),
            ("@!P0 BRA 0x130", 320.0),
            ("EXIT", 8.0),
        ]);
        for row in &mut launch.instructions {
            row.counters.thread_inst_executed = row.counters.inst_executed;
        }
        launch.instructions[6].counters.thread_inst_executed_pred_on = 320.0 * lanes;
        empty_turns(&launch.listing().unwrap()).len()
    };
    assert_eq!(of_lane(1.0), 0, "one thread loads in all turns");
    assert_eq!(of_lane(0.5), 1);
}

const LENGTH: &str = "LDG.E R6, desc[UR4][R10.64]";
const COMPARE: &str = "ISETP.GE.AND P1, PT, R2, R6, PT";

#[test]
fn turns_behind_the_end_are_empty() {
    let found = of(LENGTH, COMPARE, 16.0);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].loads, [7]);
    assert!((found[0].turns - 40.0).abs() < 1e-12);
    // Half of the lanes, less one turn that runs ahead and half of the last one.
    assert!((found[0].empty - (0.5 - 1.5 / 40.0)).abs() < 1e-12, "{}", found[0].empty);
    assert!(of(LENGTH, COMPARE, 31.0).is_empty(), "the last turn");
}

#[test]
fn turns_that_load_behind_a_branch_are_not_empty() {
    let empty = |loads: f64| {
        let mut launch = launch(&[
            ("LDC.64 R10, c[0x0][0x210]", 8.0),
            (LENGTH, 8.0),
            ("IADD3 R2, R2, 0x80, RZ", 320.0), // 2
            (COMPARE, 320.0),
            ("@!P1 LDG.E R4, desc[UR4][R10.64]", 320.0), // 4
            ("@!P1 BRA 0x180", 320.0),
            ("LDG.E R4, desc[UR4][R10.64+0x400]", loads), // 6
            ("MOV R7, R4", loads),
            ("FADD R5, R5, R4", 320.0), // 8
            ("ISETP.GE.AND P0, PT, R2, c[0x0][0x220], PT", 320.0),
            ("@!P0 BRA 0x120", 320.0),
            ("EXIT", 8.0),
        ]);
        all_lanes_come(&mut launch);
        launch.instructions[4].counters.thread_inst_executed_pred_on = 160.0 * 32.0;
        empty_turns(&launch.listing().unwrap()).len()
    };
    assert_eq!(empty(160.0), 0, "the other half of the turns loads elsewhere");
    assert_eq!((empty(0.0), empty(320.0)), (1, 1), "never, and in every turn");
}

#[test]
fn turns_that_only_ask_are_empty() {
    let of = |body: &str| {
        let launch = launch(&[
            ("S2R R3, SR_CTAID.X", 8.0),
            ("IADD3 R2, R2, 0x80, RZ", 320.0), // 1
            ("ISETP.GE.AND P1, PT, R2, R3, PT", 320.0),
            ("@P1 BRA 0x170", 320.0),
            ("LDG.E R4, desc[UR4][R12.64]", 32.0),
            (body, 32.0),
            ("FADD R5, R5, R4", 32.0),
            ("ISETP.GE.AND P0, PT, R2, c[0x0][0x220], PT", 320.0), // 7
            ("@!P0 BRA 0x110", 320.0),
            ("EXIT", 8.0),
        ]);
        empty_turns(&launch.listing().unwrap())
    };
    let found = of("BAR.SYNC.DEFER_BLOCKING 0x0");
    assert!(found[0].how == How::Tested && (found[0].empty - 0.9).abs() < 1e-12);
    let going: Vec<usize> = found[0].going.iter().map(|(at, _)| *at).collect();
    assert_eq!((going, &found[0].loads[..]), (vec![1, 2, 3, 7, 8], &[4][..]));
    assert!(of("NOP").is_empty(), "each warp may have turns of its own");
}

#[test]
fn other_conditions_leave_no_turn_empty() {
    let own = "LDG.E R6, desc[UR4][R12.64]";
    let by_thread = "IMAD R6, R3, 0x4, RZ";
    assert!(of(by_thread, COMPARE, 16.0).is_empty(), "each thread has its own length");
    assert!(of(own, "ISETP.GE.AND P1, PT, R4, R6, PT", 16.0).is_empty(), "by what is loaded");
    assert!(of("ISETP.GE.AND P1, PT, R3, 0x10, PT", "NOP", 16.0).is_empty(), "in all turns");
}
