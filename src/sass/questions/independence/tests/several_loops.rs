//! Loops behind one another, and loops in loops.

use super::*;

#[test]
fn of_several_loops_the_largest_tells_the_turns() {
    let of = |first: f64, second: f64| {
        let code = [
            ("MOV R0, RZ", 10.0),
            ("FADD R0, R0, R4", 10.0 * first), // 0x110
            ("IADD3 R2, R2, 0x1, RZ", 10.0 * first),
            ("ISETP.NE.AND P0, PT, R2, R9, PT", 10.0 * first),
            ("@P0 BRA 0x110", 10.0 * first),
            ("MOV R3, RZ", 10.0),
            ("FADD R1, R1, R4", 10.0 * second), // 0x160
            ("IADD3 R3, R3, 0x1, RZ", 10.0 * second),
            ("ISETP.NE.AND P0, PT, R3, R9, PT", 10.0 * second),
            ("@P0 BRA 0x160", 10.0 * second),
            ("STG.E desc[UR4][R6.64], R0", 10.0),
            ("EXIT", 10.0),
        ];
        shareable(&launch(&code).listing().unwrap(), Shape::default()).unwrap()
    };
    for found in [of(40.0, 80.0), of(80.0, 40.0)] {
        assert!((found.turns - 80.0).abs() < 1e-12, "{found:?}");
        // 120 turns of four instructions, and four more.
        assert!((found.share - 480.0 / 484.0).abs() < 1e-12, "{found:?}");
    }
}

#[test]
fn a_loop_of_one_turn_leaves_it_to_those_in_it() {
    let nested = |inner: &str| {
        let code = [
            ("MOV R3, RZ", 10.0), // 0x100
            ("MOV R0, R3", 10.0), // 0x110: the outer head
            (inner, 400.0),       // 0x120: the inner one
            ("IADD3 R2, R2, 0x1, RZ", 400.0),
            ("ISETP.NE.AND P0, PT, R2, R9, PT", 400.0),
            ("@P0 BRA 0x120", 400.0),
            ("STG.E desc[UR4][R6.64], R0", 10.0),
            ("IADD3 R3, R3, 0x1, RZ", 10.0),
            ("ISETP.NE.AND P0, PT, R3, R8, PT", 10.0),
            ("@P0 BRA 0x110", 10.0),
            ("EXIT", 10.0),
        ];
        shareable(&launch(&code).listing().unwrap(), Shape::default()).unwrap().turns
    };
    assert!((nested("FADD R0, R0, R4") - 40.0).abs() < 1e-12);
    assert!((nested("FMUL R0, R0, R4") - 1.0).abs() < 1e-12);
}

#[test]
fn steps_over_an_array_that_change_it_in_place_need_one_another() {
    let share = |stored: &'static str| {
        let found = shareable(
            &launch(&[
                ("LDC.64 R2, c[0x0][0x210]", 10.0),
                ("MOV R9, R0", 400.0),                // 0x110
                ("IMAD.WIDE R6, R9, 0x4, R2", 800.0), // 0x120
                ("IMAD.WIDE R16, R9, 0x4, R14", 800.0),
                ("LDG.E R4, desc[UR4][R6.64]", 800.0),
                ("FMUL R5, R4, R4", 800.0),
                (stored, 800.0),
                ("IADD3 R9, R12, R9, RZ", 800.0),
                ("ISETP.GE.AND P1, PT, R9, R13, PT", 800.0),
                ("@!P1 BRA 0x120", 800.0),
                ("IADD3 R8, R8, 0x1, RZ", 400.0),
                ("ISETP.GE.AND P0, PT, R8, R11, PT", 400.0),
                ("@!P0 BRA 0x110", 400.0),
                ("EXIT", 10.0),
            ])
            .listing()
            .unwrap(),
            Shape::default(),
        );
        found.unwrap().share
    };
    assert!(
        share("STG.E desc[UR4][R6.64], R5") < 1e-12,
        "the next step loads what this one stored"
    );
    // All but two instructions of 8,020 are in the outer loop, ten times each.
    let apart = share("STG.E desc[UR4][R16.64], R5");
    assert!((apart - 8000.0 / 8020.0).abs() < 1e-12, "another array: {apart}");
}

#[test]
fn steps_of_a_recurrence_over_an_array_leave_their_elements_to_lanes() {
    // Each of 40 steps makes a row of 40 elements out of the row before it, which lies in this array.
    let of = |rows: &'static str| {
        let code = [
            ("LDC.64 R2, c[0x0][0x210]", 10.0),
            ("IADD3 R14, R14, R15, RZ", 400.0), // 0x110
            ("MOV R9, RZ", 400.0),
            ("IMAD.WIDE R6, R14, 0x4, R2", 16000.0), // 0x130
            (rows, 16000.0),
            ("IMAD.WIDE R10, R16, 0x4, R4", 16000.0),
            ("LDG.E R8, desc[UR4][R10.64]", 16000.0),
            ("FADD R8, R8, R8", 16000.0),
            ("STG.E desc[UR4][R6.64], R8", 16000.0),
            ("IADD3 R9, R9, 0x1, RZ", 16000.0),
            ("IADD3 R16, R14, R9, RZ", 16000.0),
            ("ISETP.NE.AND P0, PT, R9, R12, PT", 16000.0),
            ("@P0 BRA 0x130", 16000.0),
            ("ISETP.NE.AND P0, PT, R14, R13, PT", 400.0),
            ("@P0 BRA 0x110", 400.0),
            ("EXIT", 10.0),
        ];
        let found = shareable(&launch(&code).listing().unwrap(), Shape::default()).unwrap();
        (found.turns.round(), found.results)
    };
    assert_eq!(of("LDC.64 R4, c[0x0][0x210]"), (40.0, Results::OfStep), "the array of the results");
    assert_eq!(of("LDC.64 R4, c[0x0][0x218]"), (40.0, Results::Apart), "another one");
}
