//! Remainders of floats by a value that stays the same in a loop, whose reciprocal can be worked out before.

use crate::evidence::Threshold;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::library::Cost;
use crate::sass::{Family, Listing};

/// How far behind the whole part its product is looked for.
pub(super) const PRODUCT_WITHIN: Threshold = Threshold {
    what: "instructions between the whole part of a remainder's quotient and the product that is taken off, at most",
    value: 4.0,
    unit: "instruction",
    source: "measured: it stands right behind in the code of nvcc 13.0 and of Triton 3.6; a few others may be moved between",
};

/// What a fast remainder by a value that stays the same in a loop takes there: a product, its whole part, and what that is taken off.
pub(super) const KNOWN_MODULUS: Cost = Cost { fma: 2.0, alu: 0.0, xu: 1.0, fp64: 0.0, all: 3.0 };

/// True where what a remainder in a loop is taken of a multiple of, by which the whole part of the quotient is multiplied, is made
/// before the loop.
pub(super) fn modulus_stays(listing: Listing, reaching: &mut Reaching, mark: usize) -> bool {
    let sass = listing.sass;
    let Some(around) = sass.flow.innermost(mark) else { return false };
    let Some(&quotient) = sass.defs(mark).first() else { return false };
    let factors = |at: usize| sass.uses(at).iter().take(2);
    let reads = |at: &usize| {
        let is_product = sass.entries[*at].family == Family::Fp32Fma;
        is_product && factors(*at).any(|each| each.slot == quotient)
    };
    let Some(product) = (mark + 1..sass.entries.len()).take(PRODUCT_WITHIN.whole()).find(reads)
    else {
        return false;
    };
    let blocks = &sass.flow.loops[around].blocks;
    let factors: Vec<Use> = factors(product).filter(|it| it.slot != quotient).copied().collect();
    // An argument of the launch may be loaded again in each turn.
    let is_argument =
        |at: usize| sass.entries[at].family == Family::Constant && sass.uses(at).is_empty();
    let stays = |at: usize| !blocks.contains(&sass.flow.block_of[at]) || is_argument(at);
    let mut made_before =
        |factor: &Use| reaching.definitions(product, *factor).all(|at| stays(at as usize));
    factors.iter().all(&mut made_before)
}
