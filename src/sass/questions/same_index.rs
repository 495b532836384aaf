//! Elements that one index leads to, each in an array or a plane of its own: the members of a particle that several arrays hold, or
//! the channels of a pixel that lie planes apart.
//!
//! Side by side in memory, a lane would fetch them together. Only arrays count whose address is another one before the index is added,
//! and turns of a loop that leaves the index as it is: what lies a constant away in the same array, as around a pixel, belongs to
//! another index. Unless all that is fetched by it are three planes or more, equally far apart, from the index on: neighbours lie on
//! both sides, or next to it.

mod ways;

use std::collections::{BTreeMap, BTreeSet};

use crate::hardware::SECTOR_BYTES;
use crate::sass::code::listing::Listing;
use crate::sass::parse::access::{self, Space};
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::opcode::Family;
use crate::sass::questions::lanes::places_apart_from;
use ways::{Origin, Way, Ways};

/// How many elements each of these accesses, whose lanes go where values send them, shares its index with, itself included, in blocks
/// of this shape and number; those alone are left out. Loads and stores count apart.
#[must_use]
pub fn elements_of_an_index(
    listing: &Listing,
    sent: &[usize],
    [block, grid]: [[u32; 3]; 2],
) -> BTreeMap<usize, f64> {
    if sent.is_empty() {
        return BTreeMap::new();
    }
    let mut ways = Ways::new(listing);
    // By kind, width and index: the arrays, each with how many elements of it turns go through.
    let mut arrays: BTreeMap<(Kind, BTreeSet<usize>), BTreeMap<Vec<Origin>, f64>> = BTreeMap::new();
    let mut members = Vec::new();
    let mut accesses: Vec<(usize, Kind, Way)> = Vec::new();
    // What is added to each address.
    let mut offsets: BTreeMap<(Kind, Vec<usize>), BTreeSet<i64>> = BTreeMap::new();
    for &access in sent {
        let Some(kind) = Kind::of(listing, access) else { continue };
        let Some(way) = ways.of(access) else { continue };
        let of_address = offsets.entry((kind, way.last.clone())).or_default();
        let parsed = Instruction::parse(listing.text(access));
        let offset = parsed.and_then(|parsed| access::address(&parsed)).map(|(_, offset)| offset);
        of_address.extend(offset);
        accesses.push((access, kind, way));
    }
    for (access, kind, way) in accesses {
        let index = way.index.iter().copied();
        let of_lanes = places_apart_from(listing, access, index, block, grid) as f64;
        let turns = ways.planes(access, &way);
        let elements = of_lanes * turns * equally_far(&offsets[&(kind, way.last.clone())]);
        // Steps of an unrolled loop go through further planes, each by a pointer of its own.
        let base = if turns > 1.0 { vec![Origin::Made(way.last)] } else { way.base };
        let key = (kind, way.index);
        let array = arrays.entry(key.clone()).or_default().entry(base).or_default();
        *array = array.max(elements);
        members.push((access, key));
    }
    let elements = |key| arrays[key].values().sum::<f64>();
    let each = members.iter().map(|(access, key)| (*access, elements(key)));
    each.filter(|(_, elements)| *elements > 1.0).collect()
}

/// What accesses must have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    is_store: bool,
    bytes: u8,
}

impl Kind {
    fn of(listing: &Listing, access: usize) -> Option<Self> {
        let entry = &listing.sass.entries[access];
        let is_store = match entry.family {
            Family::Load(Space::Global | Space::Generic) => false,
            Family::Store(Space::Global | Space::Generic) => true,
            _ => return None,
        };
        (listing.executed(access) > 0.0).then_some(Self { is_store, bytes: entry.width })
    }
}

/// How many planes these bytes from an address lie in: three or more that are equally far apart, and further than a sector; else 1.
fn equally_far(offsets: &BTreeSet<i64>) -> f64 {
    let mut each = offsets.iter();
    let (Some(0), Some(&pitch), Some(_)) = (each.next(), each.next(), each.next()) else {
        return 1.0;
    };
    let is_plane = |(place, offset): (i64, &i64)| *offset == place * pitch;
    let all = pitch as f64 > SECTOR_BYTES && (0..).zip(offsets).all(is_plane);
    if all { offsets.len() as f64 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn elements(code: &[(&str, f64)], sent: &[usize]) -> BTreeMap<usize, f64> {
        elements_of_an_index(&launch(code).listing().unwrap(), sent, [[256, 1, 1], [64, 1, 1]])
    }

    const LOADS: [(&str, f64); 3] = [
        ("S2R R0, SR_TID.X", 1.0),
        ("IMAD.WIDE R4, R0, 0x4, R2", 1.0),
        ("LDG.E R6, desc[UR8][R4.64]", 1.0), // the index
    ];

    #[test]
    fn addresses_that_lanes_exchange_are_followed_back() {
        let of = |second: &'static str| {
            let exchanged = [
                ("IMAD.WIDE R8, R6, 0x4, c[0x0][0x210]", 1.0),
                ("STS.64 [R20], R8", 1.0),
                ("BAR.SYNC.DEFER_BLOCKING 0x0", 1.0),
                ("LDS.64 R10, [R21]", 1.0),
                ("LDG.E R12, desc[UR8][R10.64]", 1.0), // 7
                ("BAR.SYNC.DEFER_BLOCKING 0x0", 1.0),
                (second, 1.0),
                ("STS.64 [R20], R14", 1.0),
                ("BAR.SYNC.DEFER_BLOCKING 0x0", 1.0),
                ("LDS.64 R16, [R21]", 1.0),
                ("LDG.E R18, desc[UR8][R16.64]", 1.0), // 13
            ];
            let own = [("S2R R20, SR_TID.X", 1.0), ("IMAD.SHL.U32 R21, R20, 0x4, RZ", 1.0)];
            elements(&[&own[..], &LOADS[..], &exchanged].concat(), &[9, 15]).len()
        };
        assert_eq!(of("IMAD.WIDE R14, R6, 0x4, c[0x0][0x218]"), 2);
        assert_eq!(of("IMAD.WIDE R14, R12, 0x4, c[0x0][0x218]"), 0, "another index");
        assert_eq!(of("MOV R14, R6"), 0, "no address of an array");
    }

    #[test]
    fn planes_are_equally_far_apart() {
        let of = |offsets: &[i64]| equally_far(&offsets.iter().copied().collect());
        assert!((of(&[0, 0x23184, 0x46308]) - 3.0).abs() < 1e-12);
        for others in [&[0, 0x1000][..], &[0, 4, 8], &[-0x1000, 0, 0x1000], &[0, 0x1000, 0x3000]] {
            assert!((of(others) - 1.0).abs() < 1e-12, "{others:?}");
        }
    }

    #[test]
    fn arrays_that_one_index_goes_through_lie_apart() {
        let arrays = [
            ("IMAD.WIDE R8, R6, 0x4, c[0x0][0x210]", 1.0),
            ("LDG.E R10, desc[UR8][R8.64]", 1.0), // 4
            ("IMAD.WIDE R12, R6, 0x4, c[0x0][0x218]", 1.0),
            ("LDG.E R14, desc[UR8][R12.64]", 1.0), // 6
            ("LEA R16, P0, R6, c[0x0][0x220], 0x2", 1.0),
            ("LEA.HI.X R17, R6, c[0x0][0x224], R7, 0x2, P0", 1.0),
            ("LDG.E R18, desc[UR8][R16.64]", 1.0),       // 9
            ("LDG.E R19, desc[UR8][R8.64+0x1000]", 1.0), // 10: the first array again
        ];
        let found = elements(&[&LOADS[..], &arrays].concat(), &[4, 6, 9, 10]);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [4, 6, 9, 10].map(|at| (at, 3.0)));
        let another = [
            arrays[0],
            arrays[1],
            ("IADD3 R11, R6, UR4, RZ", 1.0),
            ("IMAD.WIDE R12, R11, 0x4, c[0x0][0x210]", 1.0),
            arrays[3],
        ];
        let found = elements(&[&LOADS[..], &another].concat(), &[4, 7]);
        assert_eq!(found, BTreeMap::new(), "the row below in the same array");
        let two =
            [arrays[0], arrays[1], ("IMAD.WIDE R12, R10, 0x4, c[0x0][0x218]", 1.0), arrays[3]];
        assert_eq!(
            elements(&[&LOADS[..], &two].concat(), &[4, 6]),
            BTreeMap::new(),
            "other values"
        );
        let wider = [arrays[0], arrays[1], arrays[2], ("LDG.E.64 R14, desc[UR8][R12.64]", 1.0)];
        assert_eq!(elements(&[&LOADS[..], &wider].concat(), &[4, 6]), BTreeMap::new(), "wider");
    }

    #[test]
    fn lanes_that_share_an_index_go_to_planes() {
        let of = |plane: &'static str, stride: &'static str| {
            let code = [
                ("SHF.R.U32.HI R1, RZ, 0x3, R0", 1.0),
                (plane, 1.0),
                (stride, 1.0),
                ("IMAD.WIDE R12, R11, 0x4, c[0x0][0x218]", 1.0),
                ("IMAD.WIDE R14, R6, 0x4, R12", 1.0),
                ("LDG.E R10, desc[UR8][R14.64]", 1.0), // 8
            ];
            elements(&[&LOADS[..], &code].concat(), &[8]).get(&8).copied()
        };
        let (eighths, strided) = ("LOP3.LUT R1, R1, 0x3, RZ, 0xc0, !PT", "IMAD R11, R1, UR4, RZ");
        assert_eq!(of(eighths, strided), Some(4.0));
        assert_eq!(of(eighths, "MOV R11, R1"), None, "side by side");
        assert_eq!(of("MOV R1, RZ", strided), None, "one plane");
    }

    #[test]
    fn turns_go_through_planes_by_the_index_that_stays() {
        let planes = |step: &'static str| {
            let code = [
                ("IMAD.WIDE R8, R6, 0x4, c[0x0][0x210]", 1.0),
                ("LDG.E R10, desc[UR8][R8.64]", 12.0), // 4
                (step, 12.0),
                ("IMAD.X R9, R9, 0x1, UR5, P0", 12.0),
                ("@P1 BRA 0x140", 12.0),
                ("EXIT", 1.0),
            ];
            elements(&[&LOADS[..], &code].concat(), &[4]).get(&4).copied()
        };
        assert_eq!(planes("IADD3 R8, P0, R8, 0x1000, RZ"), Some(12.0));
        assert_eq!(
            planes("IADD3 R8, P0, R8, UR4, RZ"),
            Some(12.0),
            "as many bytes as the host says"
        );
        assert_eq!(planes("IADD3 R8, P0, R8, 0x4, RZ"), None, "side by side");
        let unrolled = [
            ("IMAD.WIDE R8, R6, 0x4, c[0x0][0x210]", 1.0),
            ("LDG.E R10, desc[UR8][R8.64]", 3.0), // 4
            ("IADD3 R12, P0, R8, UR4, RZ", 3.0),
            ("LDG.E R14, desc[UR8][R12.64]", 3.0), // 6
            ("IADD3 R8, P0, R12, UR4, RZ", 3.0),
            ("@P1 BRA 0x140", 3.0),
            ("EXIT", 1.0),
        ];
        let found = elements(&[&LOADS[..], &unrolled].concat(), &[4, 6]);
        assert_eq!(found.into_values().collect::<Vec<_>>(), [6.0; 2], "two planes in a turn");
        assert_eq!(planes("IMAD.WIDE R8, R10, 0x4, c[0x0][0x210]"), None, "a list");
    }
}
