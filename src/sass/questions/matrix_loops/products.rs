//! Matrix instructions of a warp and of a warp group.

use crate::sass::code::listing::Listing;
use crate::sass::parse::opcode::Family;

/// True for an executed matrix instruction whose operands are a warp's registers. Those of warp groups and
/// of tensor memory read shared memory themselves and run beside the warp.
#[must_use]
pub fn is_warp_product(listing: &Listing, index: usize) -> bool {
    is_executed_as(listing, index, &["HMMA", "IMMA", "DMMA", "BMMA", "QMMA", "OMMA"])
}

/// True for an executed matrix instruction of a warp group: it reads its second operand, and often both, from
/// shared memory, and runs on while the warps go on to [`waits_for_group`].
pub(super) fn is_group_product(listing: &Listing, index: usize) -> bool {
    is_executed_as(listing, index, &["HGMMA", "IGMMA", "QGMMA", "BGMMA"])
}

/// True for an executed matrix instruction of a warp or of a warp group.
pub(super) fn is_product(listing: &Listing, index: usize) -> bool {
    is_warp_product(listing, index) || is_group_product(listing, index)
}

/// True for an executed instruction of the tensor units with one of these names.
fn is_executed_as(listing: &Listing, index: usize, names: &[&str]) -> bool {
    listing.sass.entries[index].family == Family::Tensor && listing.executed(index) > 0.0 && {
        let opcode = opcode(listing, index);
        names.iter().any(|name| opcode.starts_with(name))
    }
}

/// The opcode with its modifiers.
pub(super) fn opcode<'a>(listing: &Listing<'a>, index: usize) -> &'a str {
    let mut words = listing.text(index).split_whitespace();
    words.find(|word| !word.starts_with('@')).unwrap_or_default()
}

/// The executed instructions of a loop, those of loops in it included.
#[must_use]
pub fn members(listing: &Listing, of: usize) -> Vec<usize> {
    let flow = &listing.sass.flow;
    flow.places(&flow.loops[of]).filter(|&index| listing.executed(index) > 0.0).collect()
}
