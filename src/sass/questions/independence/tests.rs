//! Loops of a few instructions, worked out by hand.

mod several_loops;
mod shares_of_time;
mod tied_by_nothing;

use super::*;
use crate::sass::code::listing::tests::launch;

/// What could be shared out of a loop of 40 turns with this in it; its head is at 0x110.
fn of_loop(body: &[&str]) -> Shareable {
    turning(40.0, body)
}

fn turning(turns: f64, body: &[&str]) -> Shareable {
    let executed = 10.0 * turns;
    let back = format!("@P0 BRA {:#x}", 0x110);
    let mut code = vec![("MOV R0, RZ", 10.0)];
    code.extend(body.iter().map(|text| (*text, executed)));
    code.extend([("ISETP.NE.AND P0, PT, R2, R9, PT", executed), (back.as_str(), executed)]);
    code.extend([("STG.E desc[UR4][R6.64], R0", 10.0), ("EXIT", 10.0)]);
    shareable(&launch(&code).listing().unwrap(), Shape::default()).unwrap()
}

#[test]
fn what_nothing_counted_is_not_known() {
    let code = [("LDG.E R4, desc[UR4][R2.64]", 0.0), ("@P0 BRA 0x100", 0.0), ("EXIT", 0.0)];
    assert_eq!(shareable(&launch(&code).listing().unwrap(), Shape::default()), None);
}

const NEXT: &str = "IADD3 R2, R2, 0x1, RZ";

#[test]
fn what_turns_add_to_memory_is_a_sum_where_they_look_up_the_place() {
    let of = |index: &'static str| {
        let body = [
            index,
            "LDG.E R8, desc[UR4][R6.64]",
            "FADD R8, R8, R3",
            "STG.E desc[UR4][R6.64], R8",
            NEXT,
        ];
        of_loop(&body).results
    };
    assert_eq!(of("LDG.E R6, desc[UR4][R2.64]"), Results::Summed);
    assert_eq!(
        of("IMAD.WIDE R6, R2, 0x4, R12"),
        Results::Apart,
        "each turn has a place of its own"
    );
}

#[test]
fn counters_and_sums_leave_turns_independent() {
    let body = ["LDG.E R4, desc[UR4][R2.64]", "FFMA R0, R4, R5, R0", NEXT];
    let found = of_loop(&body);
    assert!((found.turns - 40.0).abs() < 1e-12);
    // The loop's five instructions, 400 times each, and three of 10.
    assert!((found.share - 2000.0 / 2030.0).abs() < 1e-12, "{}", found.share);
    let shifted = ["LEA R2, R8, R2, 0x8", "FADD R0, R0, R4"];
    assert!(of_loop(&shifted).turns > 1.0, "a counter that a shifted number is added to");
    let opposite = ["@P1 FMUL R3, R4, R5", "@!P1 FMUL R3, R4, R7", "FADD R0, R0, R3", NEXT];
    assert!(of_loop(&opposite).turns > 1.0, "one of two writes happens in every turn");
    let pointer = ["LDG.E R4, desc[UR4][R12.64]", "IMAD.WIDE R12, R8, 0x4, R12", NEXT];
    assert!(of_loop(&pointer).turns > 1.0, "a pointer of two registers");
    let moved_down = ["LDG.E R4, desc[UR4][R2.64]", "PRMT R14, R4, 0x7632, R14"];
    let upper =
        [&moved_down[..], &["SHF.L.U32 R14, R14, 0x10, RZ", "FADD R0, R0, R14", NEXT]].concat();
    assert!(of_loop(&upper).turns > 1.0, "what is above an upper half that was moved down is lost");
    let bins = ["LDL R4, [R8]", "FADD R4, R4, R5", "STL [R8], R4", NEXT];
    assert!(of_loop(&bins).turns > 1.0, "sums in an array of the thread's own");
    let powers = ["LDL R4, [R8]", "FMUL R4, R4, R4", "STL [R8], R4", NEXT];
    assert!(of_loop(&powers).turns < 2.0, "what is worked out from the last in such an array");
    let last_seen = ["LDL R4, [R8]", "IADD3 R5, R2, -R4, RZ", "STL [R8], R2", NEXT];
    assert!(of_loop(&last_seen).turns < 2.0, "what such an array held before matters");
    let copied = ["FADD R3, R0, R4", "IADD3 R2, R2, 0x1, RZ", "MOV R0, R3"];
    assert!(of_loop(&copied).turns > 1.0, "a sum by way of another register");
}

#[test]
fn turns_that_store_go_on_from_earlier_ones_where_data_is_handed_on() {
    let store = "STG.E desc[UR4][R12.64], R4";
    let pointer = ["IADD3 R12, P2, R12, 0x100, RZ", "IMAD.X R13, RZ, RZ, R13, P2", NEXT];
    let own = [&["LDG.E R4, desc[UR4][R14.64]", store][..], &pointer].concat();
    assert_eq!(of_loop(&own).results, Results::Apart, "counters and pointers are known");
    let sum = [&["FADD R4, R4, R5", store][..], &pointer].concat();
    assert_eq!(of_loop(&sum).results, Results::Apart, "a counter of floats");
    let load = "LDG.E R5, desc[UR4][R14.64]";
    let sum = [&[load, "FADD R4, R4, R5", store][..], &pointer].concat();
    assert_eq!(of_loop(&sum).results, Results::HandedOn, "a running sum");
    let window = [&["FADD R4, R5, R6", store, "MOV R6, R5", load][..], &pointer].concat();
    assert_eq!(of_loop(&window).results, Results::HandedOn, "a window");
}

#[test]
fn the_number_of_a_stage_ties_no_turns_together() {
    let wraps = ["UIADD3 UR7, UR7, 0x1, URZ", "UISETP.GT.AND UP0, UPT, UR7, 0x2, UPT"];
    let stage = [&wraps[..], &["USEL UR7, UR7, URZ, !UP0", "FADD R0, R0, R4", NEXT]].concat();
    assert!(of_loop(&stage).turns > 1.0);
    let by_data = [
        "LDG.E R4, desc[UR4][R2.64]",
        "ISETP.GT.AND P1, PT, R4, R7, PT",
        "SEL R7, R4, R7, P1",
        NEXT,
    ];
    assert!(of_loop(&by_data).turns > 1.0, "the largest so far");
    let wide =
        ["IADD3 R12, P2, R12, 0x100, RZ", "IMAD.X R13, RZ, RZ, R13, P2", "FADD R0, R0, R4", NEXT];
    assert!(of_loop(&wide).turns > 1.0, "the upper half of a pointer, with a carry");
}

#[test]
fn a_value_that_the_next_is_worked_out_from_ties_turns_together() {
    for recurrence in [
        &["FFMA R0, R0, R5, R4", NEXT][..],            // multiplied
        &["FMUL R0, R0, R5", NEXT],                    // multiplied
        &["FFMA R0, R4, R0, c[0x0][0x160]", NEXT],     // multiplied, and a constant added
        &["FFMA R0, R4, R0, RZ", NEXT],                // multiplied, and nothing added
        &["LEA R0, R0, R5, 0x2", NEXT],                // shifted
        &["LDG.E R0, desc[UR4][R0.64]", NEXT],         // a walk
        &["FADD R3, R0, R4", "FMUL R0, R3, R5", NEXT], // in two steps
        &["FMUL R0, R1, R5", "FMUL R1, R0, R4", NEXT], // by turns
    ] {
        let none = Shareable {
            share: 0.0,
            time_share: 0.0,
            turns: 1.0,
            what: What::Nothing,
            results: Results::Apart,
        };
        assert_eq!(of_loop(recurrence), none, "{recurrence:?}");
    }
}

#[test]
fn a_value_that_goes_through_memory_ties_turns_together() {
    let of = |change| {
        let body = ["LDG.E R4, desc[UR4][R6.64]", change, "STG.E desc[UR4][R6.64], R5", NEXT];
        of_loop(&body).turns
    };
    assert!((of("FFMA R5, R4, R8, R10") - 1.0).abs() < 1e-12, "scaled");
    assert!((of("MUFU.EX2 R5, R4") - 1.0).abs() < 1e-12, "worked out");
    assert!((of("FADD R5, R4, R8") - 40.0).abs() < 1e-12, "a sum");
    assert!((of("FMUL R5, R10, R8") - 40.0).abs() < 1e-12, "made of something else");
}

#[test]
fn sums_of_products_come_together_although_each_turn_scales_them() {
    let product = "HMMA.16816.F32.BF16 R20, R12, R36, R20";
    let softmax = [
        "FMNMX R8, R4, R9, !PT",
        "FADD R5, -R8, R9",
        "MUFU.EX2 R5, R5",
        "FMUL R20, R5, R20",
        product,
        "FFMA R0, R0, R5, R4",
        "MOV R9, R8",
        NEXT,
    ];
    let found = of_loop(&softmax);
    assert!(found.turns > 1.0 && found.results == Results::Scaled, "{found:?}");
    let plain = of_loop(&[product, NEXT]);
    assert!(plain.turns > 1.0 && plain.results == Results::Summed, "{plain:?}");
    let without: Vec<&str> = softmax.into_iter().filter(|text| *text != product).collect();
    assert!(of_loop(&without).turns > 1.0, "its products are sums of lanes");
    let decay = ["MUFU.EX2 R5, R4", "FFMA R0, R0, R5, R4", NEXT];
    assert!(of_loop(&decay).turns <= 1.0, "scaled by no largest value");
    let mut stored = softmax.to_vec();
    stored.push("STG.E desc[UR4][R6.64], R20");
    assert!(of_loop(&stored).turns <= 1.0, "each turn's state is wanted");
    let squared = [product, "FMUL R0, R0, R0", NEXT];
    assert!(of_loop(&squared).turns <= 1.0, "scaled by itself");
}

#[test]
fn a_value_that_is_kept_by_a_condition_ties_turns_together() {
    let kept = ["FSETP.LT.AND P1, PT, R4, R0, PT", "@P1 MOV R0, R5", NEXT];
    assert!((of_loop(&kept).turns - 1.0).abs() < 1e-12);
    let sum = ["FSETP.LT.AND P1, PT, R4, R5, PT", "@P1 FADD R0, R0, R4", NEXT];
    assert!(of_loop(&sum).turns > 1.0, "some are added, whatever the sum");
}

#[test]
fn the_best_so_far_and_where_it_was_tie_no_turns_together() {
    // The best is in R0, and what is noted beside it in R1.
    let of = |body: &[&str]| {
        let mut code = vec![("MOV R0, RZ", 10.0), ("LDG.E R4, desc[UR4][R2.64]", 400.0)];
        code.extend(body.iter().map(|text| (*text, 400.0)));
        code.extend([
            (NEXT, 400.0),
            ("ISETP.NE.AND P0, PT, R2, R9, PT", 400.0),
            ("@P0 BRA 0x110", 400.0),
            ("STG.E desc[UR4][R6.64], R0", 10.0),
            ("STG.E desc[UR4][R6.64+0x4], R1", 10.0),
            ("EXIT", 10.0),
        ]);
        shareable(&launch(&code).listing().unwrap(), Shape::default()).unwrap()
    };
    let compare = "FSETP.GT.AND P1, PT, R4, R0, PT";
    let largest = "FMNMX R0, R0, R4, !PT";
    assert!(of(&[largest]).turns > 1.0);
    for (value, place) in [
        (largest, "@P1 MOV R1, R2"),
        ("@P1 MOV R0, R4", "@P1 IADD3 R1, R2, R9, RZ"),
        ("FSEL R0, R4, R0, P1", "SEL R1, R2, R1, P1"),
    ] {
        let found = of(&[compare, value, place]);
        assert!(found.turns > 1.0 && found.results == Results::Summed, "{value}: {found:?}");
    }
    // Two values per turn, where one of the choices between places takes both conditions.
    let again = ["FSETP.GT.AND P1, PT, R4, R0, PT", "FSEL R5, R4, R0, P1"];
    let unrolled = [
        "FSETP.GT.AND P2, PT, R8, R5, PT",
        "FSEL R0, R8, R5, P2",
        "SEL R10, R2, R1, P1",
        "SEL R1, R9, R10, P2",
    ];
    let found = of(&[again, [unrolled[0], unrolled[1]], [unrolled[2], unrolled[3]]].concat());
    assert!(found.turns > 1.0 && found.results == Results::Summed, "{found:?}");
    let both =
        of(&[&again[..], &unrolled[..2], &["MOV R1, R9", "@!P2 SEL R1, R2, R1, P1"]].concat());
    assert!(both.turns > 1.0, "{both:?}");
    let alone = |body: &[&str]| (of(body).turns - 1.0).abs() < 1e-12;
    assert!(alone(&["FMNMX R5, R0, R4, !PT", "FMNMX R0, R5, R8, PT"]), "a clamp");
    let first_used = [&again[..], &unrolled[..2], &["STG.E desc[UR4][R6.64], R5"]].concat();
    assert!(alone(&first_used), "the best of the first value is wanted");
    assert!(alone(&[compare, largest, "@P1 BRA 0x110"]), "what is passed over goes by the best");
    assert!(alone(&[compare, "@P1 MOV R0, R8", "@P1 MOV R1, R2"]), "another value takes its place");
    let used = [largest, "FADD R5, R0, R4", "STG.E desc[UR4][R6.64], R5"];
    assert!(alone(&used), "each turn's best is wanted");
}

#[test]
fn a_value_that_some_turns_leave_as_it_was_ties_turns_together() {
    // A turn reads what an earlier one found; so many of the 400 turns find something.
    let of = |finds: f64| {
        let code = [
            ("MOV R0, RZ", 10.0),
            ("LDG.E R4, desc[UR4][R2.64]", 400.0), // 0x110
            ("FMUL R5, R0, R4", 400.0),
            ("STG.E desc[UR4][R8.64], R5", 400.0),
            ("@P1 BRA 0x160", 400.0),
            ("MOV R0, R9", finds),
            ("IADD3 R2, R2, 0x1, RZ", 400.0), // 0x160
            ("ISETP.NE.AND P0, PT, R2, R9, PT", 400.0),
            ("@P0 BRA 0x110", 400.0),
            ("EXIT", 10.0),
        ];
        shareable(&launch(&code).listing().unwrap(), Shape::default()).unwrap().turns
    };
    // Nine in ten are all but those in which a loop was left.
    assert!((of(359.0) - 1.0).abs() < 1e-12);
    assert!((of(360.0) - 40.0).abs() < 1e-12);
}

#[test]
fn a_value_that_a_condition_replaces_ties_turns_together() {
    let of = |last| {
        let read = ["FMUL R5, R0, R4", "STG.E desc[UR4][R8.64], R5", "MOV R0, R9", last, NEXT];
        of_loop(&read).turns
    };
    assert!((of("@P1 MOV R0, R10") - 1.0).abs() < 1e-12);
    assert!((of("MOV R0, R10") - 40.0).abs() < 1e-12);
}

#[test]
fn a_guarded_copy_is_no_sum() {
    // Turns read what the last one left whose condition held; the condition reads something else.
    let of = |writes: &[&str]| {
        let mut body = vec!["FMUL R5, R0, R4", "STG.E desc[UR4][R8.64], R5"];
        body.extend(writes);
        body.push(NEXT);
        of_loop(&body).turns
    };
    assert!((of(&["ISETP.LT.AND P1, PT, R4, R5, PT", "@P1 MOV R0, R9"]) - 1.0).abs() < 1e-12);
    assert!((of(&["@P1 IADD3 R0, R0, 0x1, RZ"]) - 40.0).abs() < 1e-12, "a guarded sum is one");
    let through = ["IADD3 R3, R0, 0x1, RZ", "@P1 MOV R0, R3"];
    assert!((of(&through) - 40.0).abs() < 1e-12, "a guarded copy of a sum");
    assert!((of(&["@P1 MOV R0, R9", "@!P1 MOV R0, R10"]) - 40.0).abs() < 1e-12, "always one");
}

#[test]
fn a_pointer_that_a_stride_of_the_data_moves_on_is_a_counter() {
    let load = "LDG.E R5, desc[UR4][R6.64]";
    let moved = |upper| [load, "FADD R0, R0, R5", "IADD3 R6, P2, R6, R10, RZ", upper, NEXT];
    let turns = |upper| of_loop(&moved(upper)).turns;
    assert!(turns("IADD3.X R7, R7, R11, RZ, P2, !PT") > 1.0);
    assert!(turns("IMAD.X R7, R7, 0x1, R11, P2") > 1.0, "a sum by the multiplier");
    assert!(turns("IMAD.X R7, R7, 0x3, R11, P2") <= 1.0, "a product");
}

#[test]
fn two_values_that_are_worked_out_from_each_other_tie_turns_together() {
    let of = |second| of_loop(&["MOV R8, R0", "FMUL R0, R1, R5", second, NEXT]).turns;
    assert!((of("FMUL R1, R8, R4") - 1.0).abs() < 1e-12);
    assert!((of("FMUL R1, R9, R4") - 40.0).abs() < 1e-12, "the one from the other alone");
}

#[test]
fn statements_behind_a_loop_are_left_to_it() {
    let of = |turns: f64| {
        let executed = 10.0 * turns;
        let mut code = vec![
            ("MOV R0, 0x1".to_owned(), 10.0),
            ("FMUL R0, R0, R5".to_owned(), executed), // 0x110
            ("ISETP.NE.AND P0, PT, R2, R9, PT".to_owned(), executed),
            ("@P0 BRA 0x110".to_owned(), executed),
        ];
        code.extend((0..32).map(|at| (format!("STG.E desc[UR4][R6.64+{at:#x}], R8"), 10.0)));
        code.push(("EXIT".to_owned(), 10.0));
        let code: Vec<(&str, f64)> = code.iter().map(|(text, ran)| (text.as_str(), *ran)).collect();
        shareable(&launch(&code).listing().unwrap(), Shape::default()).unwrap().what
    };
    assert_eq!(of(40.0), What::Nothing);
    assert_eq!(of(1.0), What::Statements(4), "a loop of one turn is none");
}

#[test]
fn a_part_of_the_code_tells_nothing() {
    let loads = launch(&[("LDG.E R4, desc[UR4][R2.64]", 9.0)]);
    assert_eq!(shareable(&loads.listing().unwrap(), Shape::default()), None);
}

#[test]
fn a_short_sum_is_not_worth_adding_up_afterwards() {
    let sum = ["LDG.E R4, desc[UR4][R2.64]", "FADD R0, R0, R4", NEXT];
    assert!((turning(32.0, &sum).turns - 32.0).abs() < 1e-12);
    assert!((turning(31.0, &sum).turns - 1.0).abs() < 1e-12);
    let add = "FADD R0, R0, R4";
    let unrolled = ["LDG.E R4, desc[UR4][R2.64]", add, add, add, add, NEXT];
    assert!((turning(8.0, &unrolled).turns - 8.0).abs() < 1e-12, "four steps in a turn");
    assert!((turning(7.0, &unrolled).turns - 1.0).abs() < 1e-12);
    let stride = ["LDC R8, c[0x0][0x10]", "IMAD R2, R8, R9, R2", "FMUL R0, R4, R5"];
    assert!((turning(2.0, &stride).turns - 2.0).abs() < 1e-12, "a step read in every turn");
    let elements = ["LDG.E R4, desc[UR4][R2.64]", "STG.E desc[UR4][R8.64], R4", NEXT];
    assert!((turning(2.0, &elements).turns - 2.0).abs() < 1e-12, "there is nothing to add up");
    assert!((turning(1.9, &elements).turns - 1.0).abs() < 1e-12, "less than two turns");
}

#[test]
fn shared_memory_that_is_read_first_holds_what_earlier_turns_wrote() {
    let row = ["LDS R4, [R7]", "FADD R4, R4, R5", "STS [R7], R4", NEXT];
    assert!((of_loop(&row).turns - 1.0).abs() < 1e-12);
    let tile = ["STS [R7], R5", "BAR.SYNC 0x0", "LDS R4, [R8]", "FADD R0, R0, R4", NEXT];
    assert!(of_loop(&tile).turns > 1.0);
    let table = ["LDS R4, [R7]", "FADD R0, R0, R4", NEXT];
    assert!(of_loop(&table).turns > 1.0, "filled before the loop");
}
