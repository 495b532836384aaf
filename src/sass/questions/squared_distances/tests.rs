use super::*;
use crate::sass::code::listing::tests::launch;

/// Two rows in shared memory, by the upper and the lower bits of the index, and a loop over their features.
const PAIRS: [&str; 13] = [
    "S2R R0, SR_TID.X",
    "LOP3.LUT R1, R0, 0xf, RZ, 0xc0, !PT",
    "SHF.R.U32.HI R2, RZ, 0x4, R0",
    "MOV R6, RZ",
    "LDS R8, [R1]", // the loop's head
    "LDS R9, [R2+0x1000]",
    "FADD R10, R8, -R9",
    "FFMA R6, R10, R10, R6",
    "IADD3 R1, R1, 0x40, RZ",
    "IADD3 R2, R2, 0x40, RZ",
    "@P0 BRA 0x140",
    "STG.E desc[UR4][R12.64], R6",
    "EXIT",
];

/// The distances of a loop of so many turns at 0x140 or 0x150.
fn found(code: &[&str], turns: f64) -> Option<SquaredDistances> {
    let back = code.iter().position(|text| text.starts_with("@P0 BRA")).unwrap();
    let head = if code[back].ends_with("0x140") { 4 } else { 5 };
    let counted = |at: usize| if (head..=back).contains(&at) { turns } else { 1.0 };
    let code: Vec<(&str, f64)> =
        code.iter().enumerate().map(|(at, text)| (*text, counted(at))).collect();
    squared_distances(&launch(&code).listing().unwrap(), [256, 1, 1])
}

/// Pairs with some lines changed.
fn of(changes: &[(usize, &'static str)]) -> Option<SquaredDistances> {
    let mut code = PAIRS;
    for &(at, text) in changes {
        code[at] = text;
    }
    found(&code, 8.0)
}

#[test]
fn all_rows_of_two_matrices_from_eight_floats_on() {
    let pairs = of(&[]).unwrap();
    assert_eq!(pairs.differences.iter().collect::<Vec<_>>(), [6]);
    assert_eq!(pairs.squares.iter().collect::<Vec<_>>(), [7]);
    assert_eq!(pairs.element, Element::Single);
    assert!((pairs.depth - 8.0).abs() < 1e-12 && (pairs.distances - 1.0).abs() < 1e-12);
    assert_eq!(found(&PAIRS, 7.0), None);
    assert!(of(&[(6, "FADD R10, -R8, R9"), (7, "FFMA R6, -R10, R10, R6")]).is_some(), "by signs");
    let by_blocks = [(1, "S2R R1, SR_CTAID.X"), (2, "S2R R2, SR_CTAID.Y")];
    assert!(of(&by_blocks).is_some());
}

#[test]
fn rows_of_one_side_alone_are_no_product() {
    assert_eq!(of(&[(2, "LOP3.LUT R2, R0, 0xf, RZ, 0xc0, !PT")]), None, "row by row");
    assert_eq!(of(&[(2, "MOV R2, RZ")]), None, "one row given");
    assert_eq!(of(&[(2, "MOV R2, R0")]), None, "windows that slide over one row");
    assert_eq!(of(&[(5, "LDS R9, [R20]")]), None, "what can't be followed");
    assert_eq!(of(&[(9, "NOP")]), None, "a mean, the same for all features");
    let mean = [(4, "FADD R8, R10, R2"), (1, "LDS R10, [R0]")];
    assert_eq!(of(&mean), None, "what was computed");
}

#[test]
fn a_difference_is_squared_and_nothing_else() {
    assert_eq!(of(&[(6, "FADD R10, R8, R9")]), None, "a sum");
    assert_eq!(of(&[(6, "FADD R10, |R8|, -R9")]), None);
    assert_eq!(of(&[(7, "FFMA R6, R10, R8, R6")]), None, "no square");
    assert_eq!(of(&[(7, "FFMA R6, R10, c[0x0][0x160], R10")]), None);
    assert_eq!(of(&[(11, "STG.E desc[UR4][R12.64], R10")]), None, "a force needs it as well");
}

#[test]
fn widened_features_are_sixteen() {
    let mut code = PAIRS.to_vec();
    code.splice(
        4..6,
        [
            "LDS.U16 R14, [R1]",
            "LDS.U16 R15, [R2+0x1000]",
            "HADD2.F32 R8, -RZ, R14.H0_H0",
            "HADD2.F32 R9, -RZ, R15.H0_H0",
        ],
    );
    assert_eq!(found(&code, 15.0), None);
    assert_eq!(found(&code, 16.0).unwrap().element, Element::Half);
}

/// Rows of the first side stay in registers, those of the other one come by in a loop that takes the smallest distance.
#[test]
fn a_loop_over_rows_makes_a_distance_in_each_turn() {
    let rows = |pairs: usize, end: &'static [&'static str]| {
        let registers = [["R20", "R30"], ["R21", "R31"], ["R22", "R32"], ["R23", "R33"]];
        let more = [["R24", "R34"], ["R25", "R35"], ["R26", "R36"], ["R27", "R37"]];
        let mut code: Vec<String> = [
            "S2R R0, SR_TID.X",
            "LDS.128 R20, [R0]",
            "LDS.128 R24, [R0+0x10]",
            "MOV R1, RZ",
            "MOV R7, RZ",
        ]
        .map(str::to_owned)
        .to_vec();
        code.extend(["LDS.128 R30, [R1]", "LDS.128 R34, [R1+0x10]"].map(str::to_owned));
        for (at, [x, y]) in registers.iter().chain(&more).take(pairs).enumerate() {
            code.push(format!("FADD R10, {x}, -{y}"));
            code.push(format!("FFMA R6, R10, R10, {}", if at == 0 { "RZ" } else { "R6" }));
        }
        code.extend(end.iter().map(|&text| text.to_owned()));
        let tail =
            ["IADD3 R1, R1, 0x20, RZ", "@P0 BRA 0x150", "STG.E desc[UR4][R12.64], R7", "EXIT"];
        code.extend(tail.map(str::to_owned));
        let code: Vec<&str> = code.iter().map(String::as_str).collect();
        found(&code, 50.0)
    };
    let nearest = rows(8, &["FMNMX R7, R7, R6, PT"]).unwrap();
    assert!((nearest.depth - 8.0).abs() < 1e-12 && (nearest.distances - 50.0).abs() < 1e-12);
    assert_eq!(rows(3, &["FMNMX R7, R7, R6, PT"]), None, "points in space");
    assert_eq!(rows(7, &["FMNMX R7, R7, R6, PT"]), None);
    assert_eq!(rows(8, &["FADD R7, R7, R6"]), None, "one sum over all rows");
}

/// Each lane has one of eight features, and a tile of two rows by two.
fn tile(sides: [[&str; 2]; 4], end: &[&'static str], turns: f64) -> Option<SquaredDistances> {
    let mut code: Vec<String> =
        ["S2R R0, SR_TID.X", "MOV R1, RZ", "MOV R7, RZ", "NOP"].map(str::to_owned).to_vec();
    code.extend(
        ["LDS.64 R20, [R0]", "LDS.64 R22, [R0+0x1000]", "LDS.64 R24, [R0+0x2000]"]
            .map(str::to_owned),
    );
    for (at, [x, y]) in sides.into_iter().enumerate() {
        let [difference, square, other] = [40 + at, 50 + at, 60 + at].map(|at| format!("R{at}"));
        code.push(format!("FADD {difference}, {x}, -{y}"));
        code.push(format!("FMUL {square}, {difference}, {difference}"));
        code.push(format!("SHFL.BFLY PT, {other}, {square}, 0x4, 0x1f"));
        code.push(format!("FFMA {square}, {difference}, {difference}, {other}"));
        for by in ["0x2", "0x1"] {
            code.push(format!("SHFL.BFLY PT, {other}, {square}, {by}, 0x1f"));
            code.push(format!("FADD {square}, {square}, {other}"));
        }
    }
    code.extend(end.iter().map(|&text| text.to_owned()));
    code.extend(["@P0 BRA 0x140", "EXIT"].map(str::to_owned));
    let code: Vec<&str> = code.iter().map(String::as_str).collect();
    found(&code, turns)
}

const GRID: [[&str; 2]; 4] = [["R20", "R22"], ["R20", "R23"], ["R21", "R22"], ["R21", "R23"]];

#[test]
fn lanes_and_shared_memory_finish_a_sum() {
    let stored = ["STG.E desc[UR4][R12.64], R50"];
    let by_lanes = tile(GRID, &stored, 2.0).unwrap();
    assert!((by_lanes.depth - 8.0).abs() < 1e-12, "{}", by_lanes.depth);
    assert_eq!((by_lanes.differences.iter().count(), by_lanes.squares.iter().count()), (4, 8));
    assert_eq!(by_lanes.sums.iter().count(), 20, "three exchanges and two additions");
    let through_shared = [
        "STS [R1], R50",
        "STS [R1+0x4], R51",
        "STS [R1+0x8], R52",
        "STS [R1+0xc], R53",
        "BAR.SYNC.DEFER_BLOCKING 0x0",
        "LDS R9, [R1]",
        "FADD R7, R7, R9",
    ];
    let of_turns = tile(GRID, &through_shared, 2.0).unwrap();
    assert!((of_turns.depth - 16.0).abs() < 1e-12, "{}", of_turns.depth);
}

#[test]
fn a_tile_has_whole_rows_in_common() {
    let stored = ["STG.E desc[UR4][R12.64], R50"];
    let apart = [["R20", "R22"], ["R21", "R23"], ["R20", "R22"], ["R21", "R23"]];
    assert_eq!(tile(apart, &stored, 2.0), None, "row by row");
    let chain = [["R20", "R22"], ["R22", "R21"], ["R21", "R23"], ["R23", "R20"]];
    assert_eq!(tile(chain, &stored, 2.0), None, "neighbours, as in a stencil");
    let one_sided = [["R20", "R22"], ["R20", "R23"], ["R20", "R24"], ["R20", "R25"]];
    assert_eq!(tile(one_sided, &stored, 2.0), None, "one row and several");
}

#[test]
fn sums_in_a_tile_with_some_values_in_common_are_windows() {
    let sums = |second: [[&str; 2]; 4]| {
        let first = [["R20", "R24"], ["R21", "R25"], ["R22", "R26"], ["R23", "R27"]];
        let mut code: Vec<String> =
            ["S2R R0, SR_TID.X", "S2R R1, SR_CTAID.X", "MOV R6, RZ", "MOV R7, RZ"]
                .map(str::to_owned)
                .to_vec();
        code.extend(
            ["LDS.128 R20, [R0]", "LDS.128 R24, [R1]", "LDS.128 R28, [R1+0x10]"].map(str::to_owned),
        );
        for (sum, sides) in [("R6", first), ("R7", second)] {
            for [x, y] in sides {
                code.push(format!("FADD R10, {x}, -{y}"));
                code.push(format!("FFMA {sum}, R10, R10, {sum}"));
            }
        }
        let tail = [
            "IADD3 R0, R0, 0x20, RZ",
            "IADD3 R1, R1, 0x20, RZ",
            "@P0 BRA 0x140",
            "STG.E desc[UR4][R12.64], R6",
            "EXIT",
        ];
        code.extend(tail.map(str::to_owned));
        let code: Vec<&str> = code.iter().map(String::as_str).collect();
        found(&code, 2.0)
    };
    let apart = [["R20", "R28"], ["R21", "R29"], ["R22", "R30"], ["R23", "R31"]];
    assert!(sums(apart).is_some(), "two rows of the second side");
    let slid = [["R20", "R25"], ["R21", "R26"], ["R22", "R27"], ["R23", "R28"]];
    assert_eq!(sums(slid), None);
}
