//! Moves of a register to itself, which only a compiler that does not optimize leaves in the code.

use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Sass;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::opcode::Family;

/// The moves of a register to itself.
#[must_use]
pub fn self_moves(listing: &Listing) -> Marks {
    let entries = &listing.sass.entries;
    Marks::of(entries.len(), |at| {
        entries[at].family == Family::Move
            && reads_what_it_writes(listing.sass, at)
            && is_to_itself(listing.text(at))
    })
}

/// False where the registers alone tell that a move goes elsewhere: most do, and their text need not be read.
fn reads_what_it_writes(sass: &Sass, at: usize) -> bool {
    let written = sass.defs(at).first();
    written.is_none_or(|slot| sass.uses(at).iter().any(|each| each.slot == *slot))
}

/// True for `MOV R4, R4`.
fn is_to_itself(text: &str) -> bool {
    let is_move = Instruction::base_of(text) == Some("MOV");
    let Some((_, operands)) = text.split_once("MOV") else { return false };
    let mut registers = operands.trim_end_matches([';', ' ']).split(',').map(str::trim);
    let (to, from) = (registers.next(), registers.next());
    is_move && to.is_some() && to == from.map(|from| from.trim_end_matches(".reuse"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    #[test]
    fn a_move_to_another_register_is_none() {
        let code = launch(&[
            ("MOV R4, R4", 3.0),
            ("MOV R4, R5", 3.0),
            ("@P0 MOV R6, R6.reuse", 3.0),
            ("IMAD.MOV.U32 R4, RZ, RZ, R4", 3.0),
            ("EXIT", 3.0),
        ]);
        let found = self_moves(&code.listing().unwrap());
        assert_eq!(found.iter().collect::<Vec<_>>(), [0, 2]);
    }
}
