//! Tests of what no regrouping fills.

use super::*;
use crate::rules::testing::sass;

/// What is not filled of code with so many executions and lanes per instruction.
fn of(code: &[(&'static str, f64, f64)]) -> Unfilled {
    let counted: Vec<(&str, f64)> = code.iter().map(|(text, runs, _)| (*text, *runs)).collect();
    let mut launch = sass(&[], &counted);
    for (row, (_, _, lanes)) in launch.instructions.iter_mut().zip(code) {
        row.counters.thread_inst_executed = lanes * row.counters.inst_executed;
    }
    unfilled(&launch.listing().unwrap())
}

/// A loop that skips a part of so many instructions by what this makes.
fn skipping(made: &'static str, skipped: usize) -> Unfilled {
    let end = format!("@P0 BRA {:#x}", 0x140 + 0x10 * skipped).leak();
    let mut code = vec![("MOV R0, RZ", 10.0, 32.0), (made, 100.0, 32.0)]; // the loop is at 0x110
    code.extend([("ISETP.GT.AND P0, PT, R4, R5, PT", 100.0, 32.0), (&*end, 100.0, 32.0)]);
    code.extend(vec![("FADD R1, R1, R2", 100.0, 16.0); skipped]);
    code.extend([("IADD3 R0, R0, 0x1, RZ", 100.0, 32.0), ("@P1 BRA 0x110", 100.0, 32.0)]);
    code.push(("EXIT", 10.0, 32.0));
    of(&code)
}

#[test]
fn lanes_that_each_turn_sends_away_anew_stay_away() {
    let fresh = "LDG.E R4, desc[UR4][R2.64]";
    let short = skipping(fresh, 12);
    assert!((short.share - 1.0).abs() < 1e-12, "{short:?}");
    assert_eq!(short.decided_anew, Some(3));
    // Half the lanes of 12 instructions, of 1720 executed.
    assert!((short.lanes - 12.0 * 100.0 * 16.0 / 1720.0).abs() < 1e-12, "{short:?}");
    // Of 96 with half the lanes, 48 would go, for 24 more in each turn.
    let long = skipping(fresh, 96);
    assert!((long.share - 0.5).abs() < 1e-12 && long.decided_anew.is_some(), "{long:?}");
    assert_eq!(skipping("IADD3 R4, R0, R6, RZ", 12).decided_anew, None, "by the counter");
    let drawn = skipping("IMAD R4, R4, 0x19660d, R7", 12);
    assert_eq!(drawn.decided_anew, Some(3), "by a random number");
    assert_eq!(skipping("IMAD R4, R6, 0x3, R4", 12).decided_anew, None, "by a sum");
}

#[test]
fn a_deal_at_the_start_leaves_what_chance_sends_away() {
    // Eight lanes turn, and one of twenty passes a test by the number that it drew.
    let found = |behind: usize| {
        let end = format!("@P0 BRA {:#x}", 0x140 + 0x10 * behind).leak();
        let mut code = vec![("MOV R0, RZ", 10.0, 32.0)];
        code.push(("IMAD R4, R4, 0x19660d, R7", 100.0, 8.0)); // 0x110
        code.push(("ISETP.GT.AND P0, PT, R4, R5, PT", 100.0, 8.0));
        code.push((&*end, 100.0, 8.0));
        code.extend(vec![("FADD R1, R1, R2", 20.0, 2.0); behind]);
        code.extend([("IADD3 R0, R0, 0x1, RZ", 100.0, 8.0), ("@P1 BRA 0x110", 100.0, 8.0)]);
        code.push(("EXIT", 10.0, 32.0));
        of(&code)
    };
    let short = found(4);
    assert_eq!(short.decided_anew, None, "most lanes are off before the loop");
    assert!((short.lanes - 4.0 * 20.0 * 30.0 / 600.0).abs() < 1e-12, "{short:?}");
    let long = found(2000);
    assert_eq!(long.decided_anew, Some(3), "most of the work is behind the test");
    // The 24 lanes that do not turn stay off in 500 of 40,520 instructions, and what collecting costs.
    let collecting = 6.0 * 32.0 * 24.0 / (6.0 * 2000.0);
    let off = 500.0 * 24.0 + 40_000.0 * collecting;
    assert!((long.lanes - off / 40_520.0).abs() < 1e-9, "{long:?}");
}

#[test]
fn what_a_count_of_such_tests_decides_is_decided_anew() {
    // A number is drawn, those that pass are counted, and the second branch asks for the count.
    let drawn = |made: &'static str| {
        let mut code = vec![("MOV R0, RZ", 10.0, 32.0), (made, 100.0, 32.0)]; // the loop is at 0x110
        code.push(("ISETP.GT.AND P0, PT, R4, R5, PT", 100.0, 32.0));
        code.push(("@P0 BRA 0x150", 100.0, 32.0));
        code.push(("IADD3 R8, R8, 0x1, RZ", 100.0, 30.0));
        code.push(("ISETP.NE.AND P2, PT, R8, 0x2, PT", 100.0, 32.0)); // 0x150
        code.push(("@P2 BRA 0x1d0", 100.0, 32.0));
        code.extend(vec![("FADD R1, R1, R2", 100.0, 4.0); 6]);
        code.extend([("@P1 BRA 0x110", 100.0, 32.0), ("EXIT", 10.0, 32.0)]);
        of(&code).decided_anew
    };
    assert_eq!(drawn("IMAD R4, R4, 0x19660d, R7"), Some(6));
    assert_eq!(drawn("IADD3 R4, R0, R6, RZ"), None, "by what is the same in each turn");
}

#[test]
fn called_functions_are_behind_the_test_that_leads_to_them() {
    let mut code = vec![("MOV R0, RZ", 10.0, 32.0), ("IMAD R4, R4, 0x19660d, R7", 100.0, 32.0)];
    code.push(("ISETP.GT.AND P0, PT, R4, R5, PT", 100.0, 32.0));
    code.push(("@P0 BRA 0x160", 100.0, 32.0));
    code.push(("MOV R20, 0x160", 100.0, 8.0));
    code.push(("CALL.REL.NOINC 0x180", 100.0, 8.0)); // 0x150
    code.extend([("@P1 BRA 0x110", 100.0, 32.0), ("EXIT", 10.0, 32.0)]);
    code.extend(vec![("FADD R1, R1, R2", 100.0, 8.0); 6]); // 0x180
    code.push(("RET.REL.NODEC R20 0x0", 100.0, 8.0));
    let found = of(&code);
    assert_eq!(found.decided_anew, Some(3));
    // All 24 lanes that are off in nine instructions: collecting would cost more.
    assert!((found.share - 1.0).abs() < 1e-12, "{found:?}");
}

#[test]
fn lanes_out_of_an_inner_loop_go_on_where_the_loop_around_has_little_besides() {
    let nested = |inner: &'static str, besides: usize| {
        let mut code = vec![
            ("MOV R3, RZ", 10.0, 32.0),
            ("MOV R0, R3", 100.0, 32.0), // 0x110
            (inner, 400.0, 16.0),        // 0x120
            ("IADD3 R2, R2, 0x1, RZ", 400.0, 16.0),
            ("IADD3 R5, R5, 0x1, RZ", 400.0, 16.0),
            ("@P0 BRA 0x120", 400.0, 16.0),
        ];
        code.extend(vec![("FADD R8, R8, R9", 100.0, 32.0); besides]);
        code.extend([("@P1 BRA 0x110", 100.0, 32.0), ("EXIT", 10.0, 32.0)]);
        of(&code)
    };
    let serial = "FMUL R0, R0, R4";
    // Half of 400 turns are enough, which spares 800 instructions; two besides come 100 times more often.
    let short = nested(serial, 0);
    assert!((short.share - 0.25).abs() < 1e-12, "{short:?}");
    assert_eq!(short.decided_anew, None);
    assert!((nested(serial, 6).share - 1.0).abs() < 1e-12);
    assert_eq!(nested("FADD R0, R0, R4", 6).share.to_bits(), 0, "a sum may be shared out");
}

#[test]
fn what_one_thread_does_for_a_block_fills_no_warp() {
    let share = |lanes: f64| {
        let code = [
            ("ISETP.NE.AND P0, PT, R3, RZ, PT", 40.0, 32.0),
            ("@P0 BRA 0x150", 40.0, 32.0),
            ("FADD R1, R1, R2", 10.0, lanes),
            ("FADD R1, R1, R2", 10.0, lanes),
            ("FADD R1, R1, R2", 10.0, lanes),
            ("EXIT", 40.0, 32.0), // 0x150
        ];
        of(&code).share
    };
    assert!((share(1.0) - 1.0).abs() < 1e-12);
    assert_eq!(share(2.0).to_bits(), 0, "two may be of several items");
}
