//! What takes part in an instruction's result: not what is left above or behind it that nobody reads.

use crate::sass::code::listing::Listing;
use crate::sass::code::sass::Use;
use crate::sass::flow::slice::old_is_read;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;

/// What takes part in an instruction's result. `PRMT R5, R4, 0x7632, R5` moves the upper half of `R4` down and leaves above it
/// whatever `R5` held, which nobody reads: a shift or a conversion of the lower half follows. What a guarded instruction leaves
/// in its destination where it does not run is not read either where the next reader has the same guard.
pub(super) fn taking_part<'a>(
    listing: &Listing<'a>,
    at: usize,
) -> impl Iterator<Item = &'a Use> + use<'a> {
    let uses = listing.sass.uses(at).iter();
    let listing = *listing;
    uses.filter(move |each| {
        let is_left = each.role == Role::Old && !old_is_read(&listing, at, each.slot);
        !is_left && !is_rest(&listing, at, each)
    })
}

/// True for what `PRMT` leaves above what it moves down, or above a zero of 16 bits (`PRMT R5, RZ, 0x7610, R5`): its last operand,
/// where that is the register that it writes.
pub(super) fn is_rest(listing: &Listing, at: usize, each: &Use) -> bool {
    // It is asked of every use on many ways.
    if !listing.sass.defs(at).contains(&each.slot) {
        return false;
    }
    let text = listing.text(at);
    if !text.contains("PRMT") {
        return false;
    }
    let Some(instruction) = Instruction::parse(text) else { return false };
    let [written, moved, selector, rest] = &instruction.operands[..] else { return false };
    let leaves_above = match selector.text {
        "0x7632" => true,
        // Of a register's lower half that is a pair of halves put together.
        "0x7610" => moved.text == "RZ",
        _ => false,
    };
    let is_each = |slot: Option<Slot>| slot == Some(each.slot);
    leaves_above && is_each(rest.slot()) && is_each(written.slot()) && !is_each(moved.slot())
}
