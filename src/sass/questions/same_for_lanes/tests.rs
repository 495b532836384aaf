use super::*;
use crate::sass::code::listing::tests::launch;

/// Code all of whose lanes are on.
fn all_lanes(code: &[(&'static str, f64)]) -> crate::frame::Launch {
    let mut launch = launch(code);
    for (row, (_, executed)) in launch.instructions.iter_mut().zip(code) {
        row.counters.thread_inst_executed_pred_on = executed * WARP_LANES;
    }
    launch
}

fn of(index: &'static str, shift: &'static str, block: [u32; 3]) -> SameForLanes {
    let launch = all_lanes(&[
        ("S2R R5, SR_CTAID.X", 4.0),
        ("SHF.R.U32.HI R20, RZ, 0x3, R5", 4.0),
        (index, 4.0),
        ("IMAD R4, R5, 0x80, R2", 4.0),
        (shift, 4.0),
        ("LDC.64 R6, c[0x0][0x210]", 4.0),
        ("IMAD.WIDE R6, R8, 0x4, R6", 4.0),
        ("LDG.E R9, desc[UR4][R6.64]", 4.0), // 7
        ("IMAD R10, R9, 0x27d4eb4f, RZ", 4.0),
        ("LOP3.LUT R11, R10, R9, RZ, 0x3c, !PT", 4.0),
        ("IADD3 R12, R11, R2, RZ", 4.0),
        ("STG.E desc[UR4][R6.64], R12", 4.0),
        ("EXIT", 4.0),
    ]);
    same_for_lanes(&launch.listing().unwrap(), block)
}

const INDEX: &str = "S2R R2, SR_TID.X";
/// The shift of an index that was moved up, masked and put into a block's part, as Triton does with elements of a flat tile.
#[test]
fn an_index_may_be_moved_up_before_it_is_shifted() {
    let of = |mask: &'static str, shift: &'static str| {
        let launch = all_lanes(&[
            ("S2R R2, SR_TID.X", 4.0),
            ("S2R R5, SR_CTAID.X", 4.0),
            ("IMAD.SHL.U32 R3, R2, 0x8, RZ", 4.0),
            ("IMAD.SHL.U32 R5, R5, 0x400, RZ", 4.0),
            (mask, 4.0),
            (shift, 4.0),
            ("IMAD R10, R8, 0x27d4eb4f, RZ", 4.0),
            ("IADD3 R12, R10, R2, RZ", 4.0),
            ("STG.E desc[UR4][R6.64], R12", 4.0),
            ("EXIT", 4.0),
        ]);
        let found = same_for_lanes(&launch.listing().unwrap(), [128, 1, 1]).repeated;
        found.into_iter().find(|(at, _)| *at == 6).map(|(_, lanes)| lanes)
    };
    let (mask, shift) = ("LOP3.LUT R4, R5, 0x3f8, R3, 0xf8, !PT", "SHF.R.S32.HI R8, RZ, 0x6, R4");
    assert_eq!(of(mask, shift), Some(8.0), "eight elements per lane, 64 per item");
    assert_eq!(of(mask, "SHF.R.S32.HI R8, RZ, 0x3, R4"), None, "an item for each lane");
    assert_eq!(of("LOP3.LUT R4, R5, 0x38, R3, 0xf8, !PT", shift), None, "eight lanes again");
    assert_eq!(of("LOP3.LUT R4, R5, 0x3c0, R3, 0xf8, !PT", shift), Some(8.0));
}

#[test]
fn a_guard_that_is_on_for_nearly_all_parts_no_group() {
    let of = |on: f64| {
        let mut launch = all_lanes(&[
            ("S2R R2, SR_TID.X", 4.0),
            ("SHF.R.U32.HI R8, RZ, 0x3, R2", 4.0),
            ("ISETP.GE.AND P1, PT, R2, c[0x0][0x220], PT", 4.0),
            ("LDC.64 R6, c[0x0][0x210]", 4.0),
            ("IMAD.WIDE R6, R8, 0x4, R6", 4.0),
            ("MOV R9, RZ", 4.0),
            ("@!P1 LDG.E R9, desc[UR4][R6.64]", 4.0), // 6
            ("FMUL R9, R9, R9", 4.0),
            ("IADD3 R12, R9, R2, RZ", 4.0),
            ("STG.E desc[UR4][R6.64], R12", 4.0),
            ("EXIT", 4.0),
        ]);
        launch.instructions[6].counters.thread_inst_executed_pred_on = on * 4.0 * WARP_LANES;
        same_for_lanes(&launch.listing().unwrap(), [128, 1, 1]).loads.len()
    };
    assert_eq!((of(0.95), of(0.8)), (1, 0));
}

const SHIFT: &str = "SHF.R.U32.HI R8, RZ, 0x3, R4";

#[test]
fn what_is_made_of_a_shifted_index_is_the_same_in_groups() {
    let found = of(INDEX, SHIFT, [128, 1, 1]);
    let at: Vec<usize> = found.repeated.iter().map(|(at, _)| *at).collect();
    assert_eq!(at, [4, 6, 8, 9], "and the index itself");
    assert!(found.repeated.iter().all(|(_, lanes)| (lanes - 8.0).abs() < 1e-12));
    assert_eq!(found.loads, [(7, 8.0)]);
    // The last mix is added to the thread's own index; both words of the address go to a store.
    assert!((found.handed_on - 12.0).abs() < 1e-12, "{}", found.handed_on);
    let masked = of(INDEX, "LOP3.LUT R8, R4, 0xfffffff0, RZ, 0xc0, !PT", [128, 1, 1]);
    assert!(masked.repeated.iter().all(|(_, lanes)| (lanes - 16.0).abs() < 1e-12));
    assert_eq!(masked.repeated.len(), 4);
}

#[test]
fn what_lanes_have_of_their_own_is_not() {
    assert!(of(INDEX, "IMAD.MOV.U32 R8, RZ, RZ, R4", [128, 1, 1]).repeated.is_empty());
    assert!(of(INDEX, "SHF.L.U32 R8, R4, 0x3, RZ", [128, 1, 1]).repeated.is_empty());
    assert!(of(INDEX, SHIFT, [16, 8, 1]).repeated.is_empty(), "two rows per warp");
    let rotated = "SHF.R.W.U32 R8, R4, 0x3, R4";
    assert!(of(INDEX, rotated, [128, 1, 1]).repeated.is_empty(), "no bit is lost");
    let data = "LDG.E R2, desc[UR4][R14.64]";
    assert!(of(data, SHIFT, [128, 1, 1]).repeated.is_empty(), "from an unknown address");
}

#[test]
fn lanes_that_went_different_ways_come_with_different_values() {
    let of = |condition: &'static str| {
        let launch = all_lanes(&[
            ("S2R R2, SR_TID.X", 4.0),
            ("SHF.R.U32.HI R8, RZ, 0x3, R2", 4.0),
            (condition, 4.0),
            ("MOV R9, 0x1", 4.0),
            ("@P0 BRA 0x160", 4.0),
            ("MOV R9, 0x2", 4.0),
            ("IMAD R10, R8, R9, RZ", 4.0), // 0x160
            ("IMAD R11, R10, R10, R8", 4.0),
            ("IADD3 R12, R11, R2, RZ", 4.0),
            ("STG.E desc[UR4][R6.64], R12", 4.0),
            ("EXIT", 4.0),
        ]);
        same_for_lanes(&launch.listing().unwrap(), [128, 1, 1]).repeated.len()
    };
    assert_eq!(of("ISETP.NE.AND P0, PT, R8, 0x4, PT"), 4, "groups part, their lanes don't");
    assert_eq!(of("ISETP.NE.AND P0, PT, R2, 0x4, PT"), 1, "the shift alone");
}

#[test]
fn a_function_is_given_what_its_callers_have() {
    let of = |argument: &'static str| {
        let launch = all_lanes(&[
            ("S2R R2, SR_TID.X", 4.0),
            ("SHF.R.U32.HI R8, RZ, 0x3, R2", 4.0),
            (argument, 4.0),
            ("CALL.REL.NOINC 0x170", 4.0),
            ("IADD3 R12, R10, R2, RZ", 4.0),
            ("STG.E desc[UR4][R6.64], R12", 4.0),
            ("EXIT", 4.0),
            ("IMAD R10, R9, 0x5, RZ", 4.0), // 0x170
            ("RET.REL.NODEC R20 0x0", 4.0),
        ]);
        same_for_lanes(&launch.listing().unwrap(), [128, 1, 1]).repeated
    };
    let of_group = of("IMAD R9, R8, 0x3, RZ");
    assert_eq!(of_group.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [1, 2, 7]);
    assert_eq!(of("IMAD R9, R2, 0x3, RZ").len(), 1, "the shift alone");
}

#[test]
fn an_index_that_a_loop_moves_up_comes_to_an_end() {
    let launch = all_lanes(&[
        ("S2R R2, SR_TID.X", 4.0),
        ("IADD3 R3, R2, 0x1, RZ", 4.0),
        ("IMAD.SHL.U32 R3, R3, 0x2, RZ", 40.0), // 0x120
        ("@P0 BRA 0x120", 40.0),
        ("SHF.R.U32.HI R8, RZ, 0x3, R3", 4.0),
        ("IMAD R10, R8, 0x27d4eb4f, RZ", 4.0),
        ("STG.E desc[UR4][R6.64], R10", 4.0),
        ("EXIT", 4.0),
    ]);
    assert!(same_for_lanes(&launch.listing().unwrap(), [128, 1, 1]).repeated.is_empty());
}
