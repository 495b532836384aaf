//! How often loops turn.

use crate::sass::code::blocks::Loop;
use crate::sass::code::listing::Listing;

/// Turns of a loop for an average warp that comes to it, at least 1. Where control may also pass the loop
/// by, more warps are counted as coming to it than enter it, and the turns come out low.
#[must_use]
pub fn turns(listing: &Listing, of: &Loop) -> f64 {
    let flow = &listing.sass.flow;
    let head = flow.block_of[of.head] as usize;
    let from = flow.blocks[head].before.iter().filter(|&&from| !of.holds(from));
    let come: f64 = from.map(|&from| listing.executed(flow.blocks[from as usize].end - 1)).sum();
    if come > 0.0 { (listing.executed(of.head) / come).max(1.0) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    #[test]
    fn turns_are_executions_of_the_head_for_each_that_comes() {
        let launch = launch(&[
            ("MOV R0, RZ", 8.0),
            ("IADD3 R0, R0, 0x1, RZ", 40.0),
            ("@P0 BRA 0x110", 40.0),
            ("EXIT", 8.0),
        ]);
        let listing = launch.listing().unwrap();
        assert!((turns(&listing, &listing.sass.flow.loops[0]) - 5.0).abs() < 1e-12);
    }
}
