use super::*;
use crate::sass::code::listing::tests::launch;

fn of(code: &[&str]) -> Vec<Option<Element>> {
    let code: Vec<(&str, f64)> = code.iter().map(|text| (*text, 1.0)).collect();
    let launch = launch(&code);
    let listing = launch.listing().unwrap();
    let products = products(&listing);
    let of = |index| element(listing.sass, index).filter(|_| products[index]);
    (0..code.len()).map(of).collect()
}

#[test]
fn half_factors_widened_to_float_are_a_product() {
    let code = [
        "LDG.E.U16 R0, desc[UR4][R20.64]",
        "LDG.E.U16 R2, desc[UR4][R22.64]",
        "HADD2.F32 R4, -RZ, R0.H0_H0",
        "HADD2.F32 R5, -RZ, R2.H0_H0",
        "FFMA R6, R4, R5, R6",
        "@P0 BRA 0x100",
    ];
    assert_eq!(of(&code)[4], Some(Element::Half));
    assert_eq!(of(&code[..5])[4], None, "no loop");
}

#[test]
fn floats_constants_and_scaled_factors_are_none() {
    let loads = ["LDS R0, [R20]", "LDS R2, [R22]"];
    let ends = "@P0 BRA 0x100";
    for (line, expected) in [
        ("FFMA R6, R0, R2, R6", None),
        ("HFMA2 R6, R0, R2, R6", Some(Element::Half)),
        ("HFMA2 R6, R0, R0, R6", None),
        ("HFMA2 R6, R0, c[0x0][0x160], R6", None),
        ("HFMA2 R6, R0, R2, R8", None),
        ("IDP.4A.S8.S8 R6, R0, R2, R6", Some(Element::Byte)),
    ] {
        assert_eq!(of(&[loads[0], loads[1], line, ends])[2], expected, "{line}");
    }
    let copied = ["LDS R0, [R20]", "LDS R2, [R22]", "MOV R8, R0", "FFMA R6, R8, R2, R6", ends];
    assert_eq!(of(&copied)[3], None, "a copy is no conversion");
    let doubles = ["LDS.64 R0, [R20]", "LDS.64 R2, [R22]", "DFMA R6, R0, R2, R6", ends];
    assert_eq!(of(&doubles)[2], Some(Element::Double));
}

#[test]
fn sums_may_change_registers_and_gather_two_products() {
    let loads = ["LDS R0, [R20]", "LDS R2, [R22]"];
    // Unrolled by two: the sum goes from R6 to R7 and back.
    let renamed = ["HFMA2 R7, R0, R2, R6", "HFMA2 R6, R0, R2, R7", "@P0 BRA 0x100"];
    let found = of(&[&loads[..], &renamed[..]].concat());
    assert_eq!(found[2..4], [Some(Element::Half); 2]);
    let gathered =
        ["HMUL2 R7, R0, R2", "HFMA2 R8, R0, R2, R7", "HADD2 R6, R8, R6", "@P0 BRA 0x100"];
    let found = of(&[&loads[..], &gathered[..]].concat());
    assert_eq!(found[2..5], [Some(Element::Half); 3], "the addition is part of it");
    let stored = ["HMUL2 R7, R0, R2", "HFMA2 R8, R0, R2, R7", "STG.E desc[UR4][R2.64], R8"];
    let found = of(&[&loads[..], &stored[..], &["@P0 BRA 0x100"]].concat());
    assert_eq!(found[2..4], [None; 2], "a product of complex numbers sums nothing up");
}

#[test]
fn an_unrolled_sum_is_a_product_where_its_factors_serve_a_tile() {
    // Two words are loaded for five multiply-adds of four bytes each: four of one sum, one of another.
    let chain = [
        "LDS R0, [R20]",
        "LDS R2, [R22]",
        "IDP.4A.S8.S8 R6, R0, R2, RZ",
        "IDP.4A.S8.S8 R6, R0, R2, R6",
        "IDP.4A.S8.S8 R6, R0, R2, R6",
        "IDP.4A.S8.S8 R6, R0, R2, R6",
        "IDP.4A.S8.S8 R9, R0, R2, RZ",
        "STS [R24], R6",
        "@P0 BRA 0x100",
    ];
    let found = of(&chain);
    assert_eq!(found[2..6], [Some(Element::Byte); 4]);
    assert_eq!(found[6], None, "a chain of one");
    let shallow: Vec<&str> =
        chain.iter().enumerate().filter(|(at, _)| *at != 3).map(|(_, line)| *line).collect();
    assert_eq!(of(&shallow)[2..5], [None; 3], "not as deep as a fragment");
    let vectors = [&["LDS.128 R28, [R20]", "LDS.128 R32, [R22]"][..], &chain[..]].concat();
    assert_eq!(of(&vectors)[4..8], [None; 4], "ten words for four multiply-adds");
}

#[test]
fn what_was_widened_before_it_was_shared_is_a_half() {
    let product = |stored: &'static str| {
        of(&[
            "LDG.E.U16 R0, desc[UR4][R20.64]",
            "HADD2.F32 R4, -RZ, R0.H0_H0",
            stored,
            "LDS R2, [R22]",
            "LDS R3, [R23]",
            "FFMA R6, R2, R3, R6",
            "@P0 BRA 0x100",
        ])[5]
    };
    assert_eq!(product("STS [R24], R4"), Some(Element::Half));
    assert_eq!(product("STS [R24], R0"), None);
}

#[test]
fn halves_are_summed_over_eight() {
    let chain = |count: usize| {
        let mut code = vec!["LDS R0, [R20]", "LDS R2, [R22]", "HFMA2 R6, R0, R2, RZ"];
        code.extend(vec!["HFMA2 R6, R0, R2, R6"; count - 1]);
        code.extend(["STS [R24], R6", "@P0 BRA 0x100"]);
        of(&code)[2]
    };
    assert_eq!((chain(7), chain(8)), (None, Some(Element::Half)));
}

#[test]
fn one_load_can_bring_both_factors() {
    let of = |second: &'static str| {
        of(&[
            "LDG.E R0, desc[UR4][R20.64]",
            "HADD2.F32 R4, -RZ, R0.H0_H0",
            "HADD2.F32 R5, -RZ, R0.H1_H1",
            second,
            "@P0 BRA 0x100",
        ])[3]
    };
    assert_eq!(of("FFMA R6, R4, R5, R6"), Some(Element::Half));
    assert_eq!(of("FFMA R6, R4, R4, R6"), None, "a square");
}

#[test]
fn factors_are_loaded_in_a_loop_and_near() {
    let outside = ["LDS R0, [R20]", "LDS R2, [R22]", "HFMA2 R6, R0, R2, R6", "@P0 BRA 0x120"];
    assert_eq!(of(&outside)[2], None);
    // A conversion and so many copies stand between the load and the product.
    let copied = |count: usize| {
        let mut code = vec!["LDS R2, [R22]", "LDS R0, [R20]"];
        code.extend(vec!["MOV R0, R0"; count]);
        code.extend(["HFMA2 R6, R0, R2, R6", "@P0 BRA 0x100"]);
        of(&code)[count + 2]
    };
    assert_eq!((copied(5), copied(6)), (Some(Element::Half), None));
}

#[test]
fn what_a_loop_around_carries_is_no_sum_of_the_inner_one() {
    let inner = |summand: &'static str| {
        of(&[
            "LDS R0, [R20]", // 0x100: the heads of both loops, an instruction apart
            "LDS R0, [R20]", // 0x110
            "LDS R2, [R22]",
            summand,
            "@P0 BRA 0x110",
            "MOV R6, R8",
            "@P1 BRA 0x100",
        ])[3]
    };
    assert_eq!(inner("HFMA2 R6, R0, R2, R6"), Some(Element::Half));
    assert_eq!(inner("HFMA2 R7, R0, R2, R6"), None);
}

#[test]
fn what_is_computed_beside_widened_halves_may_be_rounded_as_they_were() {
    let with = |other: &'static [&'static str]| {
        let mut code = vec![
            "LDG.E.U16 R0, desc[UR4][R20.64]",
            "IMAD.U32 R0, R0, 0x10000, RZ",
            "STS [R24], R0",
        ];
        code.extend(other);
        code.extend(["LDS R2, [R25]", "LDS R3, [R26]", "FFMA R6, R2, R3, R6", "@P0 BRA 0x100"]);
        of(&code)[code.len() - 2]
    };
    assert_eq!(with(&["FMUL R8, R6, R6", "STS [R24+0x800], R8"]), Some(Element::Half));
    let floats = with(&["LDG.E R8, desc[UR4][R22.64]", "STS [R24+0x800], R8"]);
    assert_eq!(floats, None, "floats from memory may not");
}
