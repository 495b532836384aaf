//! What the lanes of a warp have in common of a value, and what shifts and sums leave of it.

use crate::sass::code::listing::Listing;
use crate::sass::parse::instruction::{Instruction, OperandKind};
use crate::sass::parse::number::word;
use crate::sass::parse::register::Slot;
use crate::sass::parse::system_register;

/// Bits of the index of a lane in its warp.
pub(super) const LANE_BITS: u32 = 5;

/// What lanes have in common, from nothing to all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Common {
    /// Each lane has a value of its own.
    Nothing,
    /// Each lane has its index, plus something that all share.
    ButIndex,
    /// Lanes whose indices agree but for so many of the lowest bits have the same.
    InGroups(u32),
    /// All have the same.
    All,
}

pub(super) fn of_register(text: &str) -> Common {
    if text.contains("SR_TID.X") || text.contains("SR_LANEID") {
        Common::ButIndex
    } else if text.contains("SR_TID.Y") || text.contains("SR_TID.Z") {
        Common::InGroups(LANE_BITS)
    } else if system_register::is_of_block(text) {
        Common::All
    } else {
        Common::Nothing
    }
}

/// By how many bits an instruction shifts a number to the right, or how many of the lowest bits it takes away.
pub(super) fn shift(listing: &Listing, at: usize) -> Option<u32> {
    let instruction = Instruction::parse(listing.text(at))?;
    let numbers = || {
        let others = instruction.operands.iter().filter(|each| each.kind == OperandKind::Other);
        others.filter_map(|each| word(each.text))
    };
    let bits = match instruction.base() {
        // Of two words in one, only the upper may bring in bits of its own; a rotation keeps them all.
        "SHF" | "USHF" if instruction.has("R") && !instruction.has("W") => {
            let low = instruction.operands.get(1)?.text;
            let is_whole = instruction.has("HI") == matches!(low, "RZ" | "URZ");
            numbers().next().filter(|_| is_whole)?
        }
        "LOP3" | "ULOP3" => {
            let [mask, 0xc0] = numbers().collect::<Vec<_>>()[..] else { return None };
            mask.trailing_zeros()
        }
        _ => return None,
    };
    (bits > 0).then_some(bits.min(LANE_BITS))
}

/// True for what leaves an index as it is, or adds to it.
pub(super) fn adds(listing: &Listing, at: usize, index: Slot) -> bool {
    let Some(instruction) = Instruction::parse(listing.text(at)) else { return false };
    // What is multiplied or shifted stands before what is added.
    let is_added = |place: usize| {
        let operand = instruction.operands.get(place);
        operand.is_some_and(|operand| operand.slots().any(|(slot, _)| slot == index))
    };
    match instruction.base() {
        "MOV" | "UMOV" | "R2UR" | "IADD3" | "UIADD3" | "VIADD" | "IADD" => true,
        "IMAD" => instruction.has("IADD") || !instruction.has("SHL") && is_added(3),
        "LEA" => is_added(2),
        _ => false,
    }
}
