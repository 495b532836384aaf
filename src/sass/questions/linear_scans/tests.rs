//! Scans of lists, worked out by hand.

use super::*;
use crate::sass::code::listing::tests::launch;

/// A loop that counts the entries up to a lane's value.
fn of(changes: &[(usize, &'static str)]) -> Vec<LinearScan> {
    let mut code = vec![
        ("S2R R15, SR_TID.X", 10.0),
        ("LDC.64 R4, c[0x0][0x210]", 10.0),
        ("LDG.E R0, desc[UR6][R4.64]", 500.0),
        ("MOV R20, RZ", 500.0),
        ("ISETP.GE.AND P0, PT, R15, R0, PT", 500.0),
        ("@P0 IADD3 R6, R6, 0x1, RZ", 500.0),
        ("IADD3 R9, R9, 0x1, RZ", 500.0),
        ("IADD3 R4, R4, 0x4, RZ", 500.0),
        ("ISETP.GE.AND P1, PT, R4, c[0x0][0x218], PT", 500.0),
        ("@!P1 BRA 0x120", 500.0),
        ("STG.E desc[UR6][R10.64], R6", 10.0),
        ("EXIT", 10.0),
    ];
    for &(at, text) in changes {
        code[at].0 = text;
    }
    linear_scans(&launch(&code).listing().unwrap())
}

#[test]
fn numbers_and_last_places_of_entries_are_what_a_search_finds() {
    let expected = LinearScan {
        inside: (2..10).collect(),
        loads: vec![2],
        entries: 50.0,
        searches: 1.0,
        in_a_turn: 1.0,
        asks: Asks::Side,
    };
    assert_eq!(of(&[]), [expected]);
    let one = |changes: &[(usize, &'static str)]| assert_eq!(of(changes).len(), 1, "{changes:?}");
    one(&[(5, "SEL R6, R9, R6, P0")]);
    one(&[(5, "SEL R6, R6, R0, !P0")]);
    one(&[(5, "@P0 IMAD.MOV.U32 R6, RZ, RZ, R9")]);
    one(&[(5, "@P0 IADD3 R6, R9, 0x1, RZ")]);
    one(&[(5, "SEL R7, RZ, 0x1, !P0"), (6, "IADD3 R6, R6, R7, RZ")]);
    one(&[(4, "FSETP.GE.AND P0, PT, R15, R0, PT")]);
    // The register of the entry takes over what is kept.
    one(&[(5, "@!P0 SEL R0, R6, R6, P1"), (6, "IMAD.MOV.U32 R6, RZ, RZ, R0")]);
    // What another list has at the same place.
    one(&[(3, "LDG.E R21, desc[UR6][R4.64+0x100]"), (5, "SEL R6, R21, R6, P0")]);
}

#[test]
fn two_values_of_a_lane_are_two_searches() {
    let two = of(&[
        (3, "ISETP.GE.AND P2, PT, R16, R0, PT"),
        (6, "@P2 IADD3 R8, R8, 0x1, RZ"),
        (10, "IADD3 R16, R15, 0x80, RZ"),
    ]);
    assert!(two.is_empty(), "R16 comes from nowhere of the lane's own");
    let two = of(&[
        (1, "IADD3 R16, R15, 0x80, RZ"),
        (3, "ISETP.GE.AND P2, PT, R16, R0, PT"),
        (6, "@P2 IADD3 R8, R8, 0x1, RZ"),
    ]);
    assert!((two[0].searches - 2.0).abs() < 1e-12);
    assert!((two[0].entries - 50.0).abs() < 1e-12);
}

#[test]
fn long_values_are_compared_in_two_halves() {
    let long = of(&[
        (1, "IMAD.WIDE R14, R15, 0x4, R12"),
        (2, "LDG.E.64 R0, desc[UR6][R4.64]"),
        (3, "ISETP.GE.U32.AND P0, PT, R14, R0, PT"),
        (4, "ISETP.GE.AND.EX P0, PT, R15, R1, PT, P0"),
    ]);
    assert_eq!(long.len(), 1);
    assert!((long[0].searches - 1.0).abs() < 1e-12);
}

#[test]
fn other_results_and_other_comparisons_are_no_search() {
    let none = |changes: &[(usize, &'static str)]| assert!(of(changes).is_empty(), "{changes:?}");
    none(&[(4, "ISETP.NE.AND P0, PT, R15, R0, PT")]);
    // Sums, also of what was chosen or of turns; the largest.
    none(&[(5, "@P0 IADD3 R6, R6, R0, RZ")]);
    none(&[(5, "@P0 IADD3 R6, R6, R9, RZ")]);
    none(&[(5, "SEL R7, R0, RZ, P0"), (6, "IADD3 R6, R6, R7, RZ")]);
    none(&[(5, "@P0 FADD R6, R6, R7")]);
    none(&[(5, "SEL R7, R0, RZ, P0"), (6, "IMNMX R6, R6, R7, !PT")]);
    none(&[(3, "IADD3 R20, R20, R0, RZ")]);
    none(&[(3, "STG.E desc[UR6][R12.64], R0")]);
    // The nearest so far, and a value that moves on.
    none(&[(4, "ISETP.GE.AND P0, PT, R6, R0, PT"), (5, "SEL R6, R0, R6, P0")]);
    none(&[(3, "IADD3 R15, R15, 0x20, RZ")]);
    // Two conditions on the entries.
    none(&[(3, "ISETP.GE.AND P2, PT, R15, R0, PT"), (4, "ISETP.GE.AND P0, PT, R15, R0, P2")]);
    none(&[(5, "ISETP.GE.AND P0, PT, R0, RZ, P0"), (6, "@P0 IADD3 R6, R6, 0x1, RZ")]);
    // Entries of each lane's own, one entry only, and entries that name the next.
    none(&[(1, "IMAD R4, R15, 0x4, R5")]);
    none(&[(2, "LDG.E R0, desc[UR6][R12.64]")]);
    none(&[(7, "IADD3 R4, R0, 0x4, RZ")]);
    // One value for all lanes, and what is only done where the outcome says so.
    none(&[(0, "S2R R15, SR_CTAID.X")]);
    none(&[(5, "@P0 BRA 0x170")]);
}
