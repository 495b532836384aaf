//! Where the next block accesses memory.

use super::values::Values;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::questions::alike::is_own_in_itself;
use crate::sass::{Listing, Marks};

/// Bytes from what a thread accesses to what the thread at its place accesses in the next block along a direction: 4 for a
/// block per column of a matrix of 32-bit values. `None` where the address can't be followed, or there is no next block.
///
/// What is not known of the launch, such as a row's length, is taken to be some number. It is in both addresses and leaves their
/// difference alone, unless it is what blocks lie apart.
#[must_use]
pub fn bytes_to_next_block(
    listing: &Listing,
    access: usize,
    block: [u32; 3],
    grid: [u32; 3],
    direction: usize,
) -> Option<u32> {
    if *grid.get(direction)? < 2 {
        return None;
    }
    let address = |at: u32| {
        let mut values = Values::new(listing, block, grid);
        values.guesses = true;
        values.place[direction] = at;
        Some(values.address(access)?[0])
    };
    Some(address(1)?.wrapping_sub(address(0)?))
}

/// True where an access goes to one place for each block, whatever the thread: its address is made outside of loops of the
/// block's place and the launch's parameters alone.
#[must_use]
pub fn is_one_place_per_block(listing: &Listing, access: usize) -> bool {
    let sass = listing.sass;
    let mut reaching = Reaching::with_guards(sass);
    let mut seen = Marks::new(sass.entries.len());
    let mut open = vec![access];
    while let Some(at) = open.pop() {
        let counts =
            |role: Role| if at == access { role == Role::Address } else { role != Role::Guard };
        for each in sass.uses(at).iter().filter(|each| counts(each.role)) {
            let mut made = reaching.definitions(at, *each).map(|by| by as usize).peekable();
            if made.peek().is_none() && each.slot.is_general() {
                return false;
            }
            for by in made {
                let family = sass.entries[by].family;
                let is_loaded = family.is_memory() && family != Family::Constant;
                if is_loaded || is_own_in_itself(listing, by) || sass.flow.innermost(by).is_some() {
                    return false;
                }
                if seen.insert(by) {
                    open.push(by);
                }
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// A block per column: each of its threads takes a row in turn.
    fn column(index: [(&'static str, f64); 2]) -> Vec<(&'static str, f64)> {
        let mut code = vec![
            ("S2R R9, SR_TID.X", 1.0),
            ("S2R R4, SR_CTAID.X", 1.0),
            ("LDC R11, c[0x0][0x224]", 1.0),
            ("ULDC.64 UR6, c[0x0][0x210]", 1.0),
        ];
        code.extend(index);
        code.extend([
            ("LEA.HI.X R7, R2, UR7, R3, 0x2, P0", 1.0),
            ("LDG.E R7, desc[UR8][R6.64+0x8]", 1.0),
        ]);
        code
    }

    fn next(code: &[(&str, f64)], grid: [u32; 3]) -> [Option<u32>; 2] {
        let launch = launch(code);
        let listing = launch.listing().unwrap();
        [0, 1].map(|to| bytes_to_next_block(&listing, code.len() - 1, [128, 1, 1], grid, to))
    }

    #[test]
    fn a_block_per_column_has_its_neighbours_beside_it() {
        let index = ("IMAD.WIDE.U32 R2, R9, R11, R4", 1.0);
        let code = column([index, ("LEA R6, P0, R2, UR6, 0x2", 1.0)]);
        assert_eq!(next(&code, [64, 2, 1]), [Some(4), Some(0)]);
        assert_eq!(next(&code, [1, 2, 1]), [None, Some(0)], "a single block");
    }

    #[test]
    fn a_block_per_row_has_its_neighbours_a_row_away() {
        let index = ("IMAD R2, R4, R11, R9", 1.0);
        let code = column([index, ("IMAD.WIDE R6, R2, 0x4, R12", 1.0)]);
        let [along, _] = next(&code, [64, 1, 1]);
        assert!(along.unwrap() > 4096, "{along:?}");
    }
    #[test]
    fn a_place_per_block_follows_from_its_index_alone() {
        let of = |index: &'static str, between: &'static str, end: &'static str| {
            let launch = launch(&[
                ("S2R R9, SR_TID.X", 1.0),
                ("S2UR UR4, SR_CTAID.X", 1.0),
                ("LDC.64 R2, c[0x0][0x210]", 1.0),
                (between, 1.0),
                (index, 1.0),
                ("REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR6][R6.64], R9", 1.0),
                (end, 1.0),
                ("EXIT", 1.0),
            ]);
            is_one_place_per_block(&launch.listing().unwrap(), 5)
        };
        let (sum, block) = ("IMAD.WIDE.U32 R6, R4, 0x4, R2", "MOV R4, UR4");
        assert!(of(sum, block, "NOP"));
        assert!(of("IMAD.WIDE.U32 R6, R2, 0x4, R2", "NOP", "NOP"), "the same for all blocks");
        assert!(!of(sum, "LDG.E R4, desc[UR6][R2.64]", "NOP"), "what is loaded");
        assert!(!of("IMAD.WIDE.U32 R6, R9, 0x4, R2", "NOP", "NOP"), "the thread's own");
        assert!(!of(sum, "NOP", "NOP"), "a register that nothing here fills");
        assert!(!of(sum, block, "@P0 BRA 0x130"), "a loop that makes the address anew");
    }
}
