//! What the lanes of a warp have in common of a value, and what shifts and sums leave of it.

use std::cmp::Reverse;

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
    /// Each lane has its index, so many bits further up, and something that all share beside it.
    ButIndex(Reverse<u32>),
    /// Lanes whose indices agree but for so many of the lowest bits have the same.
    InGroups(u32),
    /// All have the same.
    All,
}

/// The index of a lane as it is.
pub(super) const INDEX: Common = Common::ButIndex(Reverse(0));

pub(super) fn of_register(text: &str) -> Common {
    if text.contains("SR_TID.X") || text.contains("SR_LANEID") {
        INDEX
    } else if text.contains("SR_TID.Y") || text.contains("SR_TID.Z") {
        Common::InGroups(LANE_BITS)
    } else if system_register::is_of_block(text) {
        Common::All
    } else {
        Common::Nothing
    }
}

/// What lanes have in common of a result that is made of their index, so many bits further up than it was, and of what all of them
/// have: nothing, where it is made in a way that is not known.
pub(super) fn of_index(listing: &Listing, at: usize, index: Slot, up: u32) -> Common {
    let Some(instruction) = Instruction::parse(listing.text(at)) else { return Common::Nothing };
    let numbers: Vec<u32> = numbers(&instruction).collect();
    let holds = |place: usize| {
        let operand = instruction.operands.get(place);
        operand.is_some_and(|operand| operand.slots().any(|(slot, _)| slot == index))
    };
    // A loop may move it up again and again, until nothing of it is left.
    let moved = |bits: u32| match up.saturating_add(bits) {
        up if up < u32::BITS => Common::ButIndex(Reverse(up)),
        _ => Common::Nothing,
    };
    match (instruction.base(), &numbers[..]) {
        ("MOV" | "UMOV" | "R2UR" | "IADD3" | "UIADD3" | "VIADD" | "IADD", _)
        | ("LOP3" | "ULOP3", [.., 0xfc | 0xfe]) => moved(0),
        // What is multiplied or shifted stands before what is added.
        ("IMAD", _) if instruction.has("IADD") || holds(3) && !instruction.has("SHL") => moved(0),
        ("IMAD" | "UIMAD", [by]) if by.is_power_of_two() && holds(1) => moved(by.trailing_zeros()),
        ("LEA", _) if holds(2) => moved(0),
        ("LEA" | "ULEA", [bits]) if holds(1) && !instruction.has("HI") => moved(*bits),
        ("SHF" | "USHF", [bits]) if instruction.has("L") && holds(1) => moved(*bits),
        ("SHF" | "USHF", [bits]) if shifts_down(&instruction) => below(up, *bits),
        // a | (b & c): what is taken in under the mask, or into what.
        ("LOP3" | "ULOP3", [_, 0xf8]) if holds(1) => moved(0),
        ("LOP3" | "ULOP3", [mask, 0xc0 | 0xf8]) => masked(up, *mask),
        _ => Common::Nothing,
    }
}

/// The index that many bits up, and shifted that many down.
fn below(up: u32, down: u32) -> Common {
    if down <= up {
        Common::ButIndex(Reverse(up - down))
    } else {
        Common::InGroups((down - up).min(LANE_BITS))
    }
}

/// The index that many bits up, of which a mask takes bits away.
fn masked(up: u32, mask: u32) -> Common {
    let of_lanes = ((1 << LANE_BITS) - 1_u32).checked_shl(up).unwrap_or(0);
    let lowest = mask.trailing_zeros();
    if of_lanes != 0 && mask & of_lanes == of_lanes {
        Common::ButIndex(Reverse(up))
    } else if lowest > up {
        Common::InGroups((lowest - up).min(LANE_BITS))
    } else {
        Common::Nothing
    }
}

/// True for what may bring lanes together: a shift to the right, or a mask.
pub(super) fn brings_together(listing: &Listing, at: usize) -> bool {
    let Some(instruction) = Instruction::parse(listing.text(at)) else { return false };
    shifts_down(&instruction) || matches!(instruction.base(), "LOP3" | "ULOP3")
}

/// True for a shift to the right. Of two words in one, only the upper may bring in bits of its own; a rotation keeps them all.
fn shifts_down(instruction: &Instruction) -> bool {
    let low = instruction.operands.get(1).map_or("", |low| low.text);
    matches!(instruction.base(), "SHF" | "USHF")
        && instruction.has("R")
        && !instruction.has("W")
        && instruction.has("HI") == matches!(low, "RZ" | "URZ")
}

/// The numbers among an instruction's operands.
fn numbers(instruction: &Instruction) -> impl Iterator<Item = u32> {
    let others = instruction.operands.iter().filter(|each| each.kind == OperandKind::Other);
    others.filter_map(|each| word(each.text))
}
