//! The address of each lane of a warp, worked out from the instructions that make it.
//!
//! The warp is the first of the first block, in the first turn of every loop: where the lanes lie to each other is
//! the same in most others. What was loaded and what a launch's parameters say is not known.

mod next_block;
mod next_turn;
mod values;

use std::collections::BTreeSet;

use crate::hardware::SECTOR_BYTES;
use crate::sass::questions::index_parts;
use crate::sass::{Listing, Marks};
use values::Values;

pub use next_block::{bytes_to_next_block, is_one_place_per_block};
pub use next_turn::bytes_to_next_turn;

/// A value of each lane.
pub type Lanes = [u32; 32];

/// Where the lanes of an access to shared memory go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addresses {
    /// In bytes, from the start of shared memory or a multiple of 1 KB behind it.
    pub bytes: Lanes,
    /// A number that is not known and that gives row and column by its bits is taken to count the lanes.
    pub counted: bool,
}

/// The addresses of an access in blocks of this shape and number; `None` where they depend on what is not known.
#[must_use]
pub fn addresses(
    listing: &Listing,
    access: usize,
    block: [u32; 3],
    grid: [u32; 3],
) -> Option<Addresses> {
    let mut values = Values::new(listing, block, grid);
    if let Some(bytes) = values.address(access) {
        return Some(Addresses { bytes, counted: false });
    }
    let number = values.number_of_row_and_column()?;
    let mut values = Values::new(listing, block, grid);
    values.counted = Some(number);
    Some(Addresses { bytes: values.address(access)?, counted: true })
}

/// The addresses of an access to whose index loaded values of each lane's own belong, with these values taken as zero:
/// where each lane's part begins. `None` where no such values take part, or the rest is not known either.
#[must_use]
pub fn without_data(
    listing: &Listing,
    access: usize,
    block: [u32; 3],
    grid: [u32; 3],
) -> Option<Lanes> {
    let of_data = index_parts::of_data_alone(listing, access);
    if of_data.are_none() {
        return None;
    }
    let mut values = Values::new(listing, block, grid);
    values.zero = Some(of_data);
    values.address(access)
}

/// How many places, each in a sector of its own, the lanes of an access would go to if the results of these instructions were the same
/// for all of them; 1 where that can't be told, and where some share a sector. What is not known otherwise is taken to be some number.
#[must_use]
pub fn places_apart_from(
    listing: &Listing,
    access: usize,
    same: impl Iterator<Item = usize>,
    block: [u32; 3],
    grid: [u32; 3],
) -> usize {
    let mut zero = Marks::new(listing.sass.entries.len());
    for at in same {
        zero.insert(at);
    }
    let mut values = Values::new(listing, block, grid);
    values.zero = Some(zero);
    values.guesses = true;
    let Some(bytes) = values.address(access) else { return 1 };
    let places: BTreeSet<u32> = bytes.into_iter().collect();
    let sectors: BTreeSet<u32> = bytes.iter().map(|byte| byte / SECTOR_BYTES as u32).collect();
    if places.len() == sectors.len() { places.len() } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn of(code: &[(&str, f64)], block: [u32; 3]) -> Option<Addresses> {
        let launch = launch(code);
        addresses(&launch.listing().unwrap(), code.len() - 1, block, [1, 1, 1])
    }

    #[test]
    fn a_column_of_reversed_rows_is_followed() {
        let code = [
            ("S2R R2, SR_TID.X", 1.0),
            ("S2UR UR4, SR_CgaCtaId", 1.0),
            ("UMOV UR15, 0x400", 1.0),
            ("ULEA UR15, UR4, UR15, 0x18", 1.0),
            ("LOP3.LUT R6, R2.reuse, 0x1f, RZ, 0xc0, !PT", 1.0),
            ("BREV R4, R6", 1.0),
            ("SHF.L.U32 R0, R2, 0x8, RZ", 1.0),
            ("LOP3.LUT R0, R0, 0xffffe000, RZ, 0xc0, !PT", 1.0),
            ("VIADD R3, R0, UR15", 1.0),
            ("LEA.HI R4, R4, R3, RZ, 0xd", 1.0),
            ("LDS.128 R48, [R4+0x10]", 1.0),
        ];
        let found = of(&code, [32, 1, 1]).unwrap();
        assert_eq!(found.bytes[..4], [0x410, 0x410 + 4096, 0x410 + 2048, 0x410 + 6144]);
        assert!(!found.counted);
    }

    #[test]
    fn lanes_of_narrow_blocks_lie_in_several_rows() {
        let code = [
            ("S2R R2, SR_TID.X", 1.0),
            ("S2R R3, SR_TID.Y", 1.0),
            ("IMAD R4, R3, c[0x0][0x0], R2", 1.0),
            ("STS [R4.X4+-0x4], R5", 1.0),
        ];
        let found = of(&code, [16, 4, 1]).unwrap().bytes;
        assert_eq!((found[1], found[17]), (0, 64));
    }

    #[test]
    fn a_number_that_gives_row_and_column_is_counted() {
        let code = |mask: &'static str| {
            [
                ("LDS R18, [R9]", 1.0),
                ("LDC R3, c[0x0][RZ]", 1.0),
                (mask, 1.0),
                ("SHF.R.U32.HI R18, RZ, 0x2, R18", 1.0),
                ("IMAD R16, R16, R3.reuse, R18", 1.0),
                ("IMAD R13, R16, 0x4, RZ", 1.0),
                ("STS [R13], R4", 1.0),
            ]
        };
        let found = of(&code("LOP3.LUT R16, R18, 0x3, RZ, 0xc0, !PT"), [128, 1, 1]).unwrap();
        assert!(found.counted);
        assert_eq!(found.bytes[..5], [0, 512, 1024, 1536, 4]);
        let other = code("LOP3.LUT R16, R18, 0x7, RZ, 0xc0, !PT");
        assert_eq!(of(&other, [128, 1, 1]), None, "a bit is in both");
    }

    #[test]
    fn each_lanes_part_begins_where_loaded_values_are_zero() {
        let code = [
            ("S2R R2, SR_TID.X", 1.0),
            ("IMAD.WIDE.U32 R6, R2, 0x4, R4", 1.0),
            ("LDG.E R8, desc[UR4][R6.64]", 1.0),
            ("LOP3.LUT R9, R8, 0x7c, RZ, 0xc0, !PT", 1.0),
            ("IMAD R10, R2, 0x80, R9", 1.0),
            ("LDS R11, [R10]", 1.0),
        ];
        let launch = launch(&code);
        let found = without_data(&launch.listing().unwrap(), 5, [128, 1, 1], [1, 1, 1]).unwrap();
        assert_eq!(found[..3], [0, 128, 256]);
        assert_eq!(of(&code, [128, 1, 1]), None);
    }

    #[test]
    fn what_is_loaded_is_not_known() {
        assert_eq!(of(&[("LDS R2, [R9]", 1.0), ("LDS R3, [R2]", 1.0)], [32, 1, 1]), None);
    }
}
