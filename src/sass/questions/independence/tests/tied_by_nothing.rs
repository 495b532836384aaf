//! Loops whose turns only seem to need one another: lists that grow, sums in shared memory, halves of pointers, and called functions.

use super::*;

#[test]
fn sums_by_atomics_in_shared_memory_are_left_for_later() {
    let of = |atomic, beside| of_loop(&["LDS R4, [R6]", "FADD R0, R0, R4", atomic, beside, NEXT]);
    let count = "ATOMS.POPC.INC.32 RZ, [R3+URZ]";
    assert!(of(count, "NOP").turns > 1.0);
    assert!(of("ATOMS.ADD RZ, [R3], R8", "NOP").turns > 1.0);
    assert!(of(count, "BAR.SYNC.DEFER_BLOCKING 0x0").turns < 2.0, "others may read them");
    assert!(of("ATOMS.ADD R5, [R3], R8", "NOP").turns < 2.0, "a ticket");
    assert!(of("ATOMS.EXCH RZ, [R3], R8", "NOP").turns < 2.0, "the last one stays");
    assert!(of("STS [R3], R8", "NOP").turns < 2.0);
}

#[test]
fn halves_of_a_pointer_that_moves_hand_on_are_one_value() {
    let body = [
        "MOV R12, R20",
        "MOV R13, R23",
        "LDG.E R4, desc[UR4][R12.64]",
        "FADD R0, R0, R4",
        "IMAD.WIDE R12, R8, 0x4, R12",
        "MOV R20, R12",
        "MOV R23, R13",
        NEXT,
    ];
    assert!(of_loop(&body).turns > 1.0);
    let mut mixed = body;
    mixed[4] = "IMAD.WIDE R12, R12, 0x4, R8";
    assert!(of_loop(&mixed).turns < 2.0, "scaled, and not moved on");
}

#[test]
fn results_that_some_turns_store_behind_the_last_one_are_appended() {
    const COUNT: &str = "IADD3 R14, R14, 0x1, RZ";
    let of = |lanes: f64, next: &str, address: &str| {
        let store = format!("STG.E desc[UR4][{address}.64], R4");
        let code = [
            ("MOV R14, RZ", 10.0),
            ("LDG.E R4, desc[UR4][R2.64]", 400.0),
            ("ISETP.GT.AND P1, PT, R4, R7, PT", 400.0),
            ("@!P1 BRA 0x160", 400.0),
            ("IMAD.WIDE R16, R14, 0x4, R18", 400.0),
            (store.as_str(), 400.0),
            (next, 400.0),
            (NEXT, 400.0),
            ("ISETP.NE.AND P0, PT, R2, R9, PT", 400.0),
            ("@P0 BRA 0x110", 400.0),
            ("EXIT", 10.0),
        ];
        let mut launch = launch(&code);
        for (at, row) in launch.instructions.iter_mut().enumerate() {
            let of_all = if (4..7).contains(&at) { lanes } else { 1.0 };
            row.counters.thread_inst_executed_pred_on = row.counters.inst_executed * 32.0 * of_all;
        }
        shareable(&launch.listing().unwrap(), Shape::default()).unwrap()
    };
    assert_eq!(of(0.5, COUNT, "R16").results, Results::Appended);
    assert_eq!(of(1.0, COUNT, "R16").results, Results::Apart, "each turn stores one");
    assert_eq!(of(0.5, COUNT, "R20").results, Results::Apart, "a count that places nothing");
}

#[test]
fn a_count_that_stops_at_a_bound_numbers_what_is_stored() {
    let of = |bound: &str| {
        let code = [
            ("MOV R14, RZ", 1.0),
            ("LDG.E R4, desc[UR4][R2.64]", 400.0),
            ("ISETP.NE.AND P1, PT, R4, R7, PT", 400.0),
            (bound, 400.0),
            ("IMAD.WIDE R16, R4, 0x4, R18", 400.0),
            ("@!P1 STG.E desc[UR4][R16.64], R14", 400.0),
            ("@!P1 VIADD R14, R14, 0x1", 400.0),
            (NEXT, 400.0),
            ("ISETP.NE.AND P0, PT, R2, R9, PT", 400.0),
            ("@P0 BRA 0x110", 400.0),
            ("EXIT", 1.0),
        ];
        let mut launch = launch(&code);
        for (at, row) in launch.instructions.iter_mut().enumerate() {
            let on = if (5..7).contains(&at) { 0.5 } else { 1.0 };
            row.counters.thread_inst_executed_pred_on = row.counters.inst_executed * on;
        }
        shareable(&launch.listing().unwrap(), Shape::default()).unwrap()
    };
    let found = of("ISETP.GE.OR P1, PT, R14, R8, P1");
    assert_eq!((found.results, found.turns), (Results::Appended, 400.0));
    let free = of("ISETP.GE.OR P1, PT, R6, R8, P1");
    assert_eq!((free.results, free.turns), (Results::Appended, 400.0));
    // What is loaded where the count says decides about the next step.
    let looked_up = of("LDG.E R7, desc[UR4][R14.64]");
    assert!(looked_up.turns < 2.0, "a chain of links");
}

#[test]
fn what_a_loop_calls_is_its_own() {
    let code = [
        ("MOV R0, RZ", 1.0),
        ("LDG.E R4, desc[UR4][R2.64]", 40.0),
        ("CALL.REL.NOINC 0x190", 40.0),
        ("FADD R0, R0, R4", 40.0),
        (NEXT, 40.0),
        ("ISETP.NE.AND P0, PT, R2, R9, PT", 40.0),
        ("@P0 BRA 0x110", 40.0),
        ("CALL.REL.NOINC 0x190", 1.0),
        ("EXIT", 1.0),
        ("FMUL R4, R4, R4", 41.0),
        ("RET.REL.NODEC R20 0x0", 41.0),
    ];
    let found = shareable(&launch(&code).listing().unwrap(), Shape::default()).unwrap();
    // Six instructions, and 40 of the function's 41 executions, of 325 in all.
    assert!((found.share - (240.0 + 80.0) / 325.0).abs() < 1e-12, "{}", found.share);
}

#[test]
fn what_a_call_hands_the_next_one_ties_turns_together() {
    let of = |load: &'static str, result: &'static str| {
        let code = [
            ("MOV R0, RZ", 1.0),
            (load, 40.0),
            ("CALL.REL.NOINC 0x190", 40.0),
            (result, 40.0),
            (NEXT, 40.0),
            ("ISETP.NE.AND P0, PT, R2, R9, PT", 40.0),
            ("@P0 BRA 0x110", 40.0),
            ("STG.E desc[UR4][R6.64], R0", 1.0),
            ("EXIT", 1.0),
            ("FMUL R5, R4, R4", 40.0),
            ("RET.REL.NODEC R20 0x0", 40.0),
        ];
        shareable(&launch(&code).listing().unwrap(), Shape::default()).unwrap().turns
    };
    assert!(of("LDG.E R4, desc[UR4][R2.64]", "FADD R0, R0, R5") > 1.0, "a sum of results");
    assert!(of("MOV R4, R2", "FADD R0, R0, R5") > 1.0, "made of the counter");
    assert!(of("MOV R4, R0", "MOV R0, R5") < 2.0, "each result is the next argument");
    assert!(of("FADD R4, R0, R8", "FFMA R0, R5, R5, R8") < 2.0, "on the way back, too");
}

#[test]
fn what_stands_above_a_zero_of_16_bits_is_lost() {
    let sum = ["@!P1 LDG.E.U16 R18, desc[UR4][R2.64]", "FMUL R18, R18, R18"];
    let of = |zero: &'static str| {
        let after = ["FADD R0, R0, R18", NEXT];
        of_loop(&[&[zero][..], &sum, &after].concat()).turns
    };
    assert!(of("PRMT R18, RZ, 0x7610, R18") > 1.0);
    assert!(of("PRMT R18, R5, 0x7610, R18") < 2.0, "a pair of halves");
}
