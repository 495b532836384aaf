//! Where the next turn of a loop accesses memory.

use super::values::{Turn, Values};
use crate::sass::code::blocks::Loop;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;

/// Bytes from what an access of a loop reads or writes to what it does in the next turn, the same for all lanes: 4 for one that
/// goes through a row of 32-bit values. `None` where the address can't be followed, or goes by what turns load.
///
/// What is not known, such as where a row begins, is taken to be some number. It is in both addresses and leaves their
/// difference alone.
#[must_use]
pub fn bytes_to_next_turn(listing: &Listing, of: &Loop, access: usize) -> Option<u32> {
    let flow = &listing.sass.flow;
    let mut values = Values::new(listing, [1; 3], [1; 3]);
    values.guesses = true;
    values.turning = Some(Marks::of(listing.sass.entries.len(), |at| flow.is_in(of, at)));
    let first = values.address(access)?;
    values.turn = Turn::Second;
    let second = values.address(access)?;
    let apart = second[0].wrapping_sub(first[0]);
    let lanes = first.iter().zip(second);
    lanes.into_iter().all(|(first, second)| second.wrapping_sub(*first) == apart).then_some(apart)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn next(code: &[(&str, f64)], access: usize) -> Option<u32> {
        let launch = launch(code);
        let listing = launch.listing().unwrap();
        bytes_to_next_turn(&listing, &listing.sass.flow.loops[0], access)
    }

    const BEGINS: [(&str, f64); 3] = [
        ("S2R R0, SR_TID.X", 1.0),
        ("IMAD.WIDE R2, R0, 0x4, R10", 1.0),
        ("LDG.E R4, desc[UR4][R2.64]", 1.0), // where the run begins
    ];

    #[test]
    fn a_pointer_that_moves_through_a_copy_is_followed() {
        let moves = [
            ("IADD3 R6, P0, R4, c[0x0][0x210], RZ", 1.0),
            ("LDG.E.U8 R8, desc[UR4][R6.64+0x1]", 9.0), // 4
            ("IADD3 R9, P0, R6, 0x2, RZ", 9.0),
            ("MOV R6, R9", 9.0),
            ("@P1 BRA 0x140", 9.0),
            ("EXIT", 1.0),
        ];
        assert_eq!(next(&[&BEGINS[..], &moves].concat(), 4), Some(2));
    }

    #[test]
    fn an_index_that_counts_on_is_followed_and_one_that_is_loaded_is_not() {
        let counts = |read: &'static str| {
            let code = [
                ("MOV R5, R4", 1.0),
                ("IMAD.WIDE R6, R5, 0x4, R12", 9.0), // 4
                ("LDG.E R8, desc[UR4][R6.64]", 9.0),
                ("IMAD.WIDE R14, R8, 0x4, R12", 9.0),
                (read, 9.0), // 7
                ("VIADD R5, R5, 0x1", 9.0),
                ("@P1 BRA 0x140", 9.0),
                ("EXIT", 1.0),
            ];
            [BEGINS.to_vec(), code.to_vec()].concat()
        };
        let code = counts("LDG.E R9, desc[UR4][R14.64]");
        assert_eq!(next(&code, 5), Some(4));
        assert!(next(&code, 7).is_none_or(|bytes| bytes > 1024), "by what turns load");
    }
}
