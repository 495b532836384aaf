//! Indices that are loaded as 64 bits.

use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::{Instruction, Operand};
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;

/// The executed loads from global memory that bring nothing but indices of 64 bits: pairs of registers that are shifted or
/// multiplied by an element's size or a row's length, and lead to nothing but addresses and conditions. A pointer is only added to,
/// and what a hash or a long number is worked out from ends as data.
#[must_use]
pub fn wide_indices(listing: &Listing) -> Vec<usize> {
    let sass = listing.sass;
    let candidates: Vec<usize> = listing
        .entries()
        .filter(|(at, entry)| {
            entry.family == Family::Load(Space::Global)
                && listing.executed(*at) > 0.0
                && matches!(entry.width, 8 | 16)
        })
        .map(|(at, _)| at)
        .collect();
    if !are_scaled(listing, &candidates) {
        return Vec::new();
    }
    let readers = Readers::new(listing);
    let is_index = |at: usize, pair: &[Slot]| {
        let &[low, high] = pair else { return false };
        let of = |slot: Slot| readers.of(at, Some(slot));
        let is_scaled = of(low).any(|(reader, _)| shifts(listing, reader, [low, high]))
            || of(low).any(|(reader, _)| multiplies(listing, reader, low, "IMAD.WIDE.U32"))
                && of(high).any(|(reader, _)| multiplies(listing, reader, high, "IMAD"));
        is_scaled && readers.lead_to_addresses(listing, at)
    };
    let brings_indices = |at: &usize| {
        // Two registers for each.
        let slots = sass.defs(*at);
        !slots.is_empty()
            && slots.len().is_multiple_of(2)
            && slots.chunks(2).all(|pair| is_index(*at, pair))
    };
    candidates.into_iter().filter(brings_indices).collect()
}

/// True where what shifts or multiplies numbers of 64 bits reads one of some loads: what few kernels do, and is soon told.
fn are_scaled(listing: &Listing, loads: &[usize]) -> bool {
    let sass = listing.sass;
    let mut reaching = Reaching::with_guards(sass);
    (0..sass.entries.len()).filter(|_| !loads.is_empty()).any(|at| {
        let opcode = Instruction::opcode_of(listing.text(at)).unwrap_or_default();
        matches!(opcode, "LEA.HI.X" | "SHF.L.U64.HI" | "IMAD.WIDE.U32")
            && sass.uses(at).iter().any(|each| {
                let mut makers = reaching.definitions(at, *each);
                makers.any(|maker| loads.binary_search(&(maker as usize)).is_ok())
            })
    })
}

/// What reads the result of each instruction.
struct Readers {
    each: Vec<Vec<(usize, Use)>>,
}

impl Readers {
    fn new(listing: &Listing) -> Self {
        let sass = listing.sass;
        let mut reaching = Reaching::with_guards(sass);
        let mut each = vec![Vec::new(); sass.entries.len()];
        for at in 0..sass.entries.len() {
            // What a guard leaves as it was is not read.
            for used in sass.uses(at).iter().filter(|used| used.role != Role::Old) {
                for maker in reaching.definitions(at, *used) {
                    each[maker as usize].push((at, *used));
                }
            }
        }
        Self { each }
    }

    /// Those of one register, or of all that an instruction makes.
    fn of(&self, at: usize, slot: Option<Slot>) -> impl Iterator<Item = (usize, Role)> {
        let is_read = move |(_, used): &&(usize, Use)| slot.is_none_or(|slot| used.slot == slot);
        self.each[at].iter().filter(is_read).map(|(reader, used)| (*reader, used.role))
    }

    /// True where all that integer arithmetic makes of a result are addresses and conditions.
    fn lead_to_addresses(&self, listing: &Listing, from: usize) -> bool {
        let sass = listing.sass;
        let mut seen = Marks::new(sass.entries.len());
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            for (reader, role) in self.of(at, None) {
                let is_integer = matches!(
                    sass.entries[reader].family,
                    Family::Integer | Family::IntegerMultiply | Family::Move
                );
                if matches!(role, Role::Address | Role::Guard) || !seen.insert(reader) {
                    continue;
                }
                if !is_integer {
                    return false;
                }
                open.push(reader);
            }
        }
        true
    }
}

/// True where an instruction shifts two registers as one number of 64 bits.
fn shifts(listing: &Listing, at: usize, [low, high]: [Slot; 2]) -> bool {
    let opcode = Instruction::opcode_of(listing.text(at)).unwrap_or_default();
    let Some(instruction) = Instruction::parse(listing.text(at)) else { return false };
    let of = |place: usize| instruction.operands.get(place).and_then(Operand::slot);
    matches!(opcode, "LEA.HI.X" | "SHF.L.U64.HI") && of(1) == Some(low) && of(3) == Some(high)
}

/// True where such an instruction multiplies a register: of a number of 64 bits the halves are multiplied apart, the low one
/// without a sign.
fn multiplies(listing: &Listing, at: usize, slot: Slot, opcode: &str) -> bool {
    let Some(instruction) = Instruction::parse(listing.text(at)) else { return false };
    let factors = instruction.operands.iter().skip(1).take(2);
    Instruction::opcode_of(listing.text(at)) == Some(opcode)
        && factors.filter_map(Operand::slot).any(|factor| factor == slot)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn found(body: &[(&str, f64)]) -> Vec<usize> {
        let before = ("LDG.E.64 R4, desc[UR8][R2.64]", 8.0);
        let code: Vec<_> = [before].into_iter().chain(body.iter().copied()).collect();
        wide_indices(&launch(&code).listing().unwrap())
    }

    #[test]
    fn what_is_shifted_or_multiplied_as_one_number_is_an_index() {
        let scaled = [
            ("LEA R6, P0, R4, UR4, 0x2", 8.0),
            ("LEA.HI.X R7, R4, UR5, R5, 0x2, P0", 8.0),
            ("LDG.E R8, desc[UR8][R6.64]", 8.0),
        ];
        assert_eq!(found(&scaled), [0]);
        let row = [
            ("IMAD R9, R5, 0x300, RZ", 8.0),
            ("IMAD.WIDE.U32 R6, R4, 0x300, R10", 8.0),
            ("IADD3 R7, R7, R9, RZ", 8.0),
            ("LDG.E R8, desc[UR8][R6.64]", 8.0),
        ];
        assert_eq!(found(&row), [0]);
    }

    #[test]
    fn pointers_pairs_of_numbers_and_what_is_stored_are_none() {
        let pointer = [
            ("IADD3 R6, P0, R4, R10, RZ", 8.0),
            ("IADD3.X R7, R5, RZ, RZ, P0, !PT", 8.0),
            ("LDG.E R8, desc[UR8][R6.64]", 8.0),
        ];
        assert!(found(&pointer).is_empty());
        let two = [("IMAD.WIDE R6, R4, 0x4, R10", 8.0), ("IMAD.WIDE R12, R5, 0x4, R10", 8.0)];
        assert!(found(&two).is_empty());
        let row_and_column =
            [("IMAD.WIDE R6, R4, 0x4, R10", 8.0), ("IMAD R12, R5, 0x300, RZ", 8.0)];
        assert!(found(&row_and_column).is_empty());
        let stored =
            [("LEA.HI.X R7, R4, UR5, R5, 0x2, P0", 8.0), ("STG.E.64 desc[UR8][R12.64], R4", 8.0)];
        assert!(found(&stored).is_empty());
        let hash = [
            ("IMAD R9, R5, 0x300, RZ", 8.0),
            ("IMAD.WIDE.U32 R6, R4, 0x300, RZ", 8.0),
            ("IADD3 R7, R7, R9, RZ", 8.0),
            ("STG.E.64 desc[UR8][R12.64], R6", 8.0),
        ];
        assert!(found(&hash).is_empty());
    }
}
