use super::*;
use crate::sass::code::listing::tests::launch;

const GRID: [u32; 3] = [64, 8, 1];

/// A loop that adds up what it loads, from a row that R3 gives, which these instructions make, with this beside it and behind it.
fn of(row: &[&'static str], beside: &'static str, behind: &'static str) -> Vec<RepeatedLoop> {
    let mut code = vec![
        ("S2R R1, SR_TID.X", 2048.0),
        ("LDC.64 R10, c[0x0][0x210]", 2048.0),
        ("LDC.64 R12, c[0x0][0x218]", 2048.0),
        ("S2R R5, SR_CTAID.X", 2048.0),
    ];
    code.extend(row.iter().map(|text| (*text, 2048.0)));
    code.extend(vec![("NOP", 2048.0); 16 - code.len()]);
    code.extend([
        ("IMAD R2, R3, 0x100, R1", 2048.0),
        ("IMAD.WIDE R8, R2, 0x4, R10", 2048.0),
        ("MOV R7, RZ", 2048.0),
        ("MOV R6, RZ", 2048.0),
        ("LDG.E R4, desc[UR4][R8.64]", 204_800.0), // 0x240
        ("FADD R7, R7, R4", 204_800.0),
        (beside, 204_800.0),
        ("IADD3 R8, R8, 0x400, RZ", 204_800.0),
        ("IADD3 R6, R6, 0x1, RZ", 204_800.0),
        ("ISETP.NE.AND P0, PT, R6, c[0x0][0x220], PT", 204_800.0),
        ("@P0 BRA 0x240", 204_800.0),
        (behind, 2048.0),
        ("IMAD R5, R5, 0x80, R1", 2048.0),
        ("IMAD.WIDE R12, R5, 0x4, R12", 2048.0),
        ("STG.E desc[UR4][R12.64], R7", 2048.0),
        ("EXIT", 2048.0),
    ]);
    same_for_blocks(&launch(&code).listing().unwrap(), GRID)
}

fn blocks(row: &[&'static str]) -> Option<(f64, bool)> {
    let found = of(row, "NOP", "NOP");
    assert!(found.len() < 2);
    found.first().map(|each| (each.blocks, each.by_quotient))
}

#[test]
fn loops_that_no_block_index_goes_into_are_the_same_in_all_blocks() {
    assert_eq!(blocks(&["LDC R3, c[0x0][0x228]"]), Some((512.0, false)));
    let found = of(&["MOV R3, RZ"], "NOP", "NOP");
    assert_eq!(found[0].members, (20..27).collect::<Vec<_>>());
    assert!((found[0].comes - 2048.0).abs() < 1e-9 && (found[0].values - 2048.0).abs() < 1e-9);
    assert_eq!(blocks(&["S2R R3, SR_CTAID.Z"]), Some((512.0, false)), "one block deep");
    assert_eq!(blocks(&["S2R R3, SR_CTAID.X"]), Some((8.0, false)), "the rows of blocks share it");
    assert_eq!(blocks(&["S2R R2, SR_CTAID.Y", "IADD3 R3, R2, R5, RZ"]), None);
    assert_eq!(blocks(&["S2R R3, SR_SMID"]), None, "blocks run on different SMs");
    assert_eq!(blocks(&["CS2R R3, SR_CLOCKLO"]), None);
    assert_eq!(blocks(&["LDS R3, [R1]"]), None, "handed over in the block");
    assert_eq!(blocks(&["ATOMG.E.ADD R3, desc[UR4][R10.64], R1"]), None, "fetched by each block");
    assert_eq!(blocks(&["MOV R3, R30"]), None, "an argument");
}

#[test]
fn what_is_loaded_is_alike_where_its_address_is() {
    let loaded = |index: &'static str| {
        blocks(&[index, "IMAD.WIDE R14, R2, 0x4, R10", "LDG.E R3, desc[UR4][R14.64]"])
    };
    assert_eq!(loaded("MOV R2, R1"), Some((512.0, false)));
    assert_eq!(loaded("MOV R2, R5"), Some((8.0, false)));
}

#[test]
fn neighbouring_blocks_share_a_quotient() {
    let y = "S2UR UR6, SR_CTAID.Y";
    let add = "IADD3 R3, R2, UR6, RZ";
    assert_eq!(blocks(&[y, "SHF.R.U32.HI R2, RZ, 0x3, R5", add]), Some((8.0, false)));
    let copied = [y, "R2UR UR7, R5", "USHF.R.U32.HI UR8, URZ, 0x3, UR7", "IADD3 R3, UR8, UR6, RZ"];
    assert_eq!(blocks(&copied), Some((8.0, false)));
    // The index of a thread in the grid: each block has its own.
    let threads = [y, "IMAD R4, R5, 0x80, R1", "SHF.R.U32.HI R2, RZ, 0x7, R4", add];
    assert_eq!(blocks(&threads), None);
    assert_eq!(blocks(&[y, "SHF.L.U32 R2, R5, 0x3, RZ", add]), None, "a multiple");
    let remainder = [y, "LOP3.LUT R2, R5, 0x7, RZ, 0xc0, !PT", add];
    assert_eq!(blocks(&remainder), None, "a remainder");
    let both = ["SHF.R.U32.HI R2, RZ, 0x3, R5", "IADD3 R3, R2, R5, RZ"];
    assert_eq!(blocks(&both), Some((8.0, false)), "as many as rows");
}

/// The quotient of the index by an argument, as a division makes it, with this guarded step at its end.
fn division(step: &'static str) -> Vec<&'static str> {
    vec![
        "S2UR UR6, SR_CTAID.Y",
        "LDC R2, c[0x0][0x228]",
        "I2F.U32.RP R4, R2",
        "MUFU.RCP R4, R4",
        "F2I.FTZ.U32.TRUNC.NTZ R4, R4",
        "IMAD.HI.U32 R6, R4, R5, RZ",
        "IMAD.MOV R7, RZ, RZ, -R6",
        "IMAD R7, R2, R7, R5",
        "ISETP.GE.U32.AND P1, PT, R7, R2, PT",
        step,
        "IADD3 R3, R6, UR6, RZ",
    ]
}

#[test]
fn a_quotient_by_an_argument_is_shared_by_nobody_knows_how_many() {
    assert_eq!(blocks(&division("@P1 IADD3 R6, R6, 0x1, RZ")), Some((1.0, true)));
    assert_eq!(blocks(&division("@P1 IADD3 R6, R6, R7, RZ")), None, "the remainder");
    let mut parity = division("@P1 IADD3 R6, R6, 0x1, RZ");
    parity[8] = "ISETP.NE.AND P1, PT, R5, 0x1, PT";
    assert_eq!(blocks(&parity), None, "one more by another condition");
    parity[8] = "ISETP.GE.U32.AND P1, PT, R7, R2, PT";
    parity[10] = "IADD3 R3, R7, UR6, RZ";
    assert_eq!(blocks(&parity), None, "the remainder alone");
}

#[test]
fn what_others_see_of_the_turns_is_left_alone() {
    let beside = |beside| of(&["MOV R3, RZ"], beside, "NOP").len();
    assert_eq!(beside("FMUL R9, R4, R4"), 1);
    assert_eq!(beside("STG.E desc[UR4][R12.64], R7"), 0, "a store");
    assert_eq!(beside("STS [R1], R7"), 0, "shared memory");
    assert_eq!(beside("LDS R14, [R1]"), 0);
    assert_eq!(beside("REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R12.64], R4"), 0, "an atomic");
    assert_eq!(beside("BAR.SYNC.DEFER_BLOCKING 0x0"), 0, "a barrier");
    assert_eq!(beside("LDG.E.STRONG.GPU R14, desc[UR4][R8.64]"), 0, "what others may change");
    assert_eq!(beside("FMUL R14, R4, R5"), 1, "R5 is the block's along x: rows share it");
    assert_eq!(beside("CALL.REL.NOINC 0x1000"), 0, "a function");
}

#[test]
fn values_are_counted_that_are_used_behind_the_loop() {
    let more = of(&["MOV R3, RZ", "MOV R9, RZ"], "FADD R9, R9, R4", "FADD R7, R9, R7");
    assert!((more[0].values - 2.0 * 2048.0).abs() < 1e-9, "two sums");
    let none = of(&["MOV R3, RZ"], "NOP", "MOV R7, RZ");
    assert!(none.is_empty(), "nothing comes of it");
}

#[test]
fn what_the_kernel_writes_may_differ() {
    let to = "STG.E desc[UR4][R10.64], R1";
    assert!(of(&["MOV R3, RZ"], "NOP", to).is_empty(), "by the same pointer");
    let sized = ["LDC R3, c[0x0][0x228]", "IMAD R5, R5, R3, RZ"];
    assert_eq!(of(&sized, "NOP", "NOP").len(), 1, "a size may take part in both addresses");
}

#[test]
fn a_choice_by_the_blocks_index_tells_blocks_apart() {
    let chosen = |condition: &'static str| {
        blocks(&["LDC R3, c[0x0][0x228]", condition, "@P1 BRA 0x190", "NOP", "MOV R3, RZ"])
    };
    assert_eq!(chosen("ISETP.NE.AND P1, PT, R5, RZ, PT"), Some((8.0, false)), "rows share it");
    assert_eq!(chosen("ISETP.NE.AND P1, PT, R1, RZ, PT"), Some((512.0, false)), "by thread");
}
