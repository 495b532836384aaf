//! Which of a launch's pointers an access starts from: the parameter to which its address adds an index.

use std::collections::BTreeSet;

use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::instruction::{Instruction, Operand, OperandKind};
use crate::sass::parse::number;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;

/// Bytes of a pointer, and of its place among the parameters.
const POINTER_BYTES: i64 = 8;

/// Where the pointers stand in constant bank 0 of which the addresses of some accesses are sums: one where the code indexes an array
/// that is a parameter, none where the pointer was itself loaded from memory.
#[must_use]
pub fn base_pointers(
    listing: &Listing,
    reaching: &mut Reaching,
    accesses: &[usize],
) -> BTreeSet<i64> {
    let sass = listing.sass;
    let mut found = BTreeSet::new();
    let mut seen = Marks::new(sass.entries.len());
    let mut open: Vec<(usize, Use)> = Vec::new();
    for &access in accesses {
        let first = descriptor(listing.text(access));
        let descriptor = [first, first.and_then(|slot| slot.after(1))];
        let of_address =
            |each: &&Use| each.role == Role::Address && !descriptor.contains(&Some(each.slot));
        open.extend(sass.uses(access).iter().filter(of_address).map(|each| (access, *each)));
    }
    while let Some((reader, each)) = open.pop() {
        let makers: Vec<usize> =
            reaching.definitions(reader, each).map(|maker| maker as usize).collect();
        for maker in makers.into_iter().filter(|&maker| seen.insert(maker)) {
            let Some(instruction) = Instruction::parse(listing.text(maker)) else { continue };
            for term in terms(&instruction) {
                found.extend(constants(term.text));
                let of_term = |each: &&Use| term.slots().any(|(slot, _)| slot == each.slot);
                open.extend(sass.uses(maker).iter().filter(of_term).map(|each| (maker, *each)));
            }
        }
    }
    found
}

/// The first register of an access's descriptor, which says nothing of where it goes.
fn descriptor(text: &str) -> Option<Slot> {
    Slot::parse(text.split_once("desc[")?.1.split(']').next()?)
}

/// The operands of which an instruction makes a sum, not those that it multiplies, shifts, or compares.
fn terms<'a>(instruction: &Instruction<'a>) -> Vec<Operand<'a>> {
    let sources = instruction.operands.iter().skip(1);
    let sources: Vec<Operand> =
        sources.filter(|operand| operand.kind != OperandKind::Predicate).copied().collect();
    let only =
        |places: &[usize]| places.iter().filter_map(|&at| sources.get(at).copied()).collect();
    match instruction.base() {
        "IADD3" | "UIADD3" | "IADD" | "VIADD" | "MOV" | "UMOV" | "R2UR" | "ULDC" | "LDC"
        | "LDCU" => sources,
        "IMAD" | "UIMAD" if instruction.has("IADD") || instruction.has("X") => only(&[0, 2]),
        "IMAD" | "UIMAD" => only(&[2]),
        "LEA" | "ULEA" => only(&[1]),
        _ => Vec::new(),
    }
}

/// Where the pointers stand in constant bank 0 that a text reads.
fn constants(text: &str) -> impl Iterator<Item = i64> {
    let reads = text.split("c[0x0][").skip(1);
    let places = reads.filter_map(|rest| number::signed(rest.split(']').next()?));
    places.map(|place| place / POINTER_BYTES * POINTER_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    #[test]
    fn indices_strides_and_descriptors_are_no_bases() {
        let launch = launch(&[
            ("S2R R9, SR_TID.X", 8.0),
            ("LDC.64 R6, c[0x0][0x210]", 8.0),
            ("ULDC.64 UR4, c[0x0][0x208]", 8.0),
            ("IMAD R9, R9, c[0x0][0x228], RZ", 8.0),
            ("IMAD.WIDE R6, R9, 0x4, R6", 8.0),
            ("LDG.E R8, desc[UR4][R6.64]", 8.0),
            ("LEA R2, P0, R9, c[0x0][0x218], 0x2", 8.0),
            ("LEA.HI.X R3, R9, c[0x0][0x21c], RZ, 0x2, P0", 8.0),
            ("STG.E desc[UR4][R2.64], R8", 8.0),
            ("LDG.E.64 R10, desc[UR4][R6.64]", 8.0),
            ("LDG.E R12, desc[UR4][R10.64]", 8.0),
            ("EXIT", 8.0),
        ]);
        let listing = launch.listing().unwrap();
        let mut reaching = Reaching::new(listing.sass);
        let mut of = |access| {
            base_pointers(&listing, &mut reaching, &[access]).into_iter().collect::<Vec<_>>()
        };
        assert_eq!((of(5), of(8)), (vec![0x210], vec![0x218]));
        assert!(of(10).is_empty(), "a pointer that was loaded");
    }
}
