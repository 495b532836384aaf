//! Loops of products whose rows go by the turn and the thread in different ways.

use super::*;
use crate::sass::code::listing::tests::launch;

/// The loop's rows, in blocks of four warps: a warp takes a value of the depth, a lane four columns.
fn found(number: &[&'static str], fetches: &[&'static str]) -> Option<RepeatedRows> {
    let before = [
        "S2R R0, SR_TID.X",
        "LDC.64 R30, c[0x0][0x210]",
        "LOP3.LUT R2, R0, 0x1f, RZ, 0xc0, !PT",
        "IMAD.WIDE.U32 R32, R2, 0x10, R30",
        "SHF.R.U32.HI R3, RZ, 0x5, R0",
        "MOV R8, RZ",
    ];
    let mut code: Vec<(&str, f64)> = before.iter().map(|text| (*text, 4.0)).collect();
    // 0x160
    code.push(("IMAD.IADD R4, R3, 0x1, R8", 40.0));
    code.extend(number.iter().chain(fetches).map(|text| (*text, 40.0)));
    let rest = ["LDS.128 R12, [R21]", "SHF.R.S32.HI R12, RZ, R22, R12", PRODUCT, STEP];
    code.extend(rest.iter().map(|text| (*text, 40.0)));
    code.extend([("@P0 BRA 0x160", 40.0), ("EXIT", 4.0)]);
    let mut launch = launch(&code);
    for row in &mut launch.instructions {
        row.line = Some(1);
    }
    repeated_rows(&launch.listing().unwrap(), 128).pop()
}

const PRODUCT: &str = "HMMA.16816.F32 R24, R16, R12, R24";
const STEP: &str = "IADD3 R8, R8, 0x20, RZ";
const ADDRESS: [&str; 2] = ["IMAD R5, R5, UR4, RZ", "IMAD.WIDE R6, R5, 0x4, R32"];
const COPIES: [&str; 2] = [
    "LDGSTS.E.BYPASS.128 [R20], desc[UR6][R6.64]",
    "LDGSTS.E.BYPASS.128 [R20+0x800], desc[UR6][R6.64]",
];

fn by(shift: &'static str) -> [&'static str; 3] {
    [shift, ADDRESS[0], ADDRESS[1]]
}

#[test]
fn warps_and_copies_of_one_row_fetch_the_same() {
    let rows = found(&by("SHF.R.S32.HI R5, RZ, 0x7, R4"), &COPIES).unwrap();
    assert_eq!((rows.group, rows.depth), (128.0, 32.0));
    let times: Vec<f64> = rows.fetches.iter().map(|fetch| fetch.times).collect();
    assert_eq!(times, [8.0, 8.0], "two copies of each of four warps");
    assert_eq!(rows.reads, [(12, 0.0)], "one read of a thread");
    assert_eq!(rows.made.len(), 1, "the shift, not the product");
}

#[test]
fn neighbouring_places_have_the_same_row_though_each_number_is_worked_out() {
    let next = ["IADD3 R9, R4, 0x4, RZ", "SHF.R.S32.HI R9, RZ, 0x7, R9"];
    let then = ["IMAD R9, R9, UR4, RZ", "IMAD.WIDE R10, R9, 0x4, R32"];
    let number = [&by("SHF.R.S32.HI R5, RZ, 0x7, R4")[..], &next, &then].concat();
    let copies = [COPIES[0], "LDGSTS.E.BYPASS.128 [R20+0x800], desc[UR6][R10.64]"];
    let rows = found(&number, &copies).unwrap();
    assert_eq!(rows.fetches.iter().map(|fetch| fetch.times).collect::<Vec<_>>(), [8.0, 8.0]);
}

#[test]
fn a_place_that_takes_part_otherwise_has_bytes_of_its_own() {
    let shift = "SHF.R.S32.HI R5, RZ, 0x7, R4";
    let within = "LOP3.LUT R9, R4, 0x7f, RZ, 0xc0, !PT";
    let both = [shift, within, "IMAD R5, R5, UR4, R9", ADDRESS[1]];
    assert_eq!(found(&both, &COPIES[..1]), None, "a row and a column of a convolution");
    let part = [shift, "IMAD R5, R5, UR4, R3", ADDRESS[1]];
    assert_eq!(found(&part, &COPIES[..1]), None, "the thread's part of the place");
    let scalar = [shift, "IMAD.WIDE R6, R5, 0x4, R30"];
    assert_eq!(found(&scalar, &COPIES[..1]), None, "a table's entry");
    let each = by("IMAD.MOV.U32 R5, RZ, RZ, R4");
    assert_eq!(found(&each, &COPIES[..1]), None, "a row for each place");
}

#[test]
fn rows_serve_more_values_than_a_word_holds() {
    let of = |shift| found(&by(shift), &COPIES[..1]);
    assert!(of("SHF.R.S32.HI R5, RZ, 0x5, R4").is_some());
    assert_eq!(of("SHF.R.S32.HI R5, RZ, 0x4, R4"), None, "packed numbers");
}

#[test]
fn copies_from_one_address_are_the_same_whatever_it_goes_by() {
    let copies = [COPIES, COPIES, COPIES].concat();
    let of_turn = by("SHF.R.S32.HI R5, RZ, 0x7, R8");
    let alike = found(&of_turn, &copies).unwrap();
    assert_eq!((alike.group, alike.fetches[0].times), (0.0, 24.0), "six of each of four warps");
    assert_eq!(found(&of_turn, &copies[..4]), None, "16 may be words of packed numbers");
    assert_eq!(found(&by("LDS R5, [R23]"), &copies), None, "each warp may have its own");
    let many = copies.repeat(3);
    let times = found(&by("LDS R5, [R23]"), &many).unwrap().fetches[0].times;
    assert!((times - 18.0).abs() < 1e-12, "{times}");
}
