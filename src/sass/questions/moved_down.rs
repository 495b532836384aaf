//! Upper halves of words that are moved down.

use crate::sass::code::listing::Listing;
use crate::sass::code::sass::Use;

/// What takes part in an instruction's result. `PRMT R5, R4, 0x7632, R5` moves the upper half of `R4` down and leaves above it
/// whatever `R5` held, which nobody reads: a shift or a conversion of the lower half follows.
pub(super) fn taking_part<'a>(
    listing: &Listing<'a>,
    at: usize,
) -> impl Iterator<Item = &'a Use> + use<'a> {
    let sass = listing.sass;
    let text = listing.text(at);
    let moves_down = text.contains("PRMT") && text.contains("0x7632");
    let is_rest = move |each: &&Use| moves_down && sass.defs(at).contains(&each.slot);
    sass.uses(at).iter().filter(move |each| !is_rest(each))
}
