//! Upper halves of words that are moved down.

use crate::sass::code::listing::Listing;
use crate::sass::code::sass::Use;

/// What takes part in an instruction's result. `PRMT R5, R4, 0x7632, R5` moves the upper half of `R4` down and leaves above it
/// whatever `R5` held, which nobody reads: a shift or a conversion of the lower half follows.
pub(super) fn taking_part<'a>(
    listing: &Listing<'a>,
    at: usize,
) -> impl Iterator<Item = &'a Use> + use<'a> {
    let uses = listing.sass.uses(at).iter();
    let listing = *listing;
    uses.filter(move |each| !is_rest(&listing, at, each))
}

/// True for what `PRMT` leaves above what it moves down.
pub(super) fn is_rest(listing: &Listing, at: usize, each: &Use) -> bool {
    let text = listing.text(at);
    let moves_down = text.contains("PRMT") && text.contains("0x7632");
    moves_down && listing.sass.defs(at).contains(&each.slot)
}
