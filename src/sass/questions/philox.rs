//! Random numbers of Philox-4x32 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011), and how many of
//! the four that each call makes are used.
//!
//! A round multiplies two of the four words by constants of its own and takes both halves of each product: the upper ones are
//! mixed with another word and the key, the lower ones pass as they are. So what no further round takes are the
//! four results; those that nobody uses are not there, since the compiler drops them.

use std::collections::BTreeMap;

use crate::sass::code::listing::Listing;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;

/// What a kernel's calls of Philox take.
#[derive(Debug, Clone, PartialEq)]
pub struct Philox {
    /// The products and the mixing of their halves.
    pub rounds: Vec<usize>,
    /// Warp-wide calls.
    pub calls: f64,
    /// Results that are used of each call's four, on average.
    pub used: f64,
}

/// The factors of the two products of a round, as they are printed when taken for signed numbers (without the minus) and
/// for unsigned ones.
const FACTORS: [[&str; 2]; 2] = [["0x2daee0ad", "0xd2511f53"], ["0x326172a9", "0xcd9e8d57"]];

/// A product of a round.
struct Product {
    at: usize,
    /// Which of the two factors.
    factor: usize,
    lower: Option<Slot>,
    upper: Option<Slot>,
}

/// The calls of Philox; `None` where there are none.
#[must_use]
pub fn philox(listing: &Listing) -> Option<Philox> {
    let executed = (0..listing.sass.entries.len()).filter(|&at| listing.executed(at) > 0.0);
    let products: Vec<Product> = executed.filter_map(|at| product(listing, at)).collect();
    if products.is_empty() {
        return None;
    }
    let mut reaching = Reaching::new(listing.sass);
    let places: Vec<usize> = products.iter().map(|each| each.at).collect();
    let readers_of_products = readers(listing, &mut reaching, &places);
    let reads = |by: usize, slot: Option<Slot>| {
        let of_half = readers_of_products.get(&by).into_iter().flatten();
        of_half.filter(move |each| Some(each.slot) == slot).map(|each| each.at)
    };
    let of_upper = products.iter().flat_map(|each| reads(each.at, each.upper));
    let mut mixes: Vec<usize> = of_upper.filter(|&at| listing.text(at).contains("LOP3")).collect();
    mixes.sort_unstable();
    mixes.dedup();
    let readers_of_mixes = readers(listing, &mut reaching, &mixes);
    // What a mix makes is a result where somebody reads it, and no next round.
    let is_result = |mix: usize| {
        readers_of_mixes.get(&mix).is_some_and(|readers| {
            readers.iter().all(|each| places.binary_search(&each.at).is_err())
        })
    };
    let is_mix = |at: &usize| mixes.binary_search(at).is_ok();
    // By factor and half.
    let mut ends = [[0.0; 2]; 2];
    for each in &products {
        let upper = reads(each.at, each.upper).filter(is_mix).any(is_result);
        let mut of_lower = reads(each.at, each.lower).peekable();
        let lower = of_lower.peek().is_some() && !of_lower.any(|at| is_mix(&at));
        let [of_upper, of_lower] = &mut ends[each.factor];
        *of_upper += if upper { listing.executed(each.at) } else { 0.0 };
        *of_lower += if lower { listing.executed(each.at) } else { 0.0 };
    }
    let calls = ends.iter().flatten().copied().fold(0.0, f64::max);
    let used = ends.iter().flatten().sum::<f64>() / calls;
    let mut rounds = places;
    rounds.extend(mixes);
    (calls > 0.0).then_some(Philox { rounds, calls, used })
}

/// An instruction that reads what another one made, and where that is.
struct Reader {
    slot: Slot,
    at: usize,
}

/// The instructions that read the results of some, by which of them.
fn readers(
    listing: &Listing,
    reaching: &mut Reaching,
    of: &[usize],
) -> BTreeMap<usize, Vec<Reader>> {
    let sass = listing.sass;
    let mut found: BTreeMap<usize, Vec<Reader>> = BTreeMap::new();
    for at in (0..sass.entries.len()).filter(|&at| listing.executed(at) > 0.0) {
        for each in sass.uses(at).iter().filter(|each| each.role == Role::Data) {
            for by in reaching.definitions(at, *each).map(|by| by as usize) {
                if of.binary_search(&by).is_ok() {
                    found.entry(by).or_default().push(Reader { slot: each.slot, at });
                }
            }
        }
    }
    found
}

fn product(listing: &Listing, at: usize) -> Option<Product> {
    let text = listing.text(at);
    if !text.contains("IMAD") && !text.contains("IMUL") {
        return None;
    }
    let has = |factor: &[&str; 2]| factor.iter().any(|digits| text.contains(digits));
    let factor = FACTORS.iter().position(has)?;
    let made = listing.sass.defs(at);
    let first = made.first().copied();
    let (lower, upper) = if text.contains(".WIDE") {
        (first, made.get(1).copied())
    } else if text.contains(".HI") {
        (None, first)
    } else {
        (first, None)
    };
    Some(Product { at, factor, lower, upper })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// Two rounds, of which the last makes only what is stored.
    fn of(last: &[&str]) -> Option<Philox> {
        let mut code = vec![
            "IMAD.WIDE.U32 R4, R0, -0x2daee0ad, RZ", // 0: A*c0
            "IMAD.WIDE.U32 R6, R2, -0x326172a9, RZ", // 1: B*c2
            "LOP3.LUT R8, R1, UR4, R7, 0x96, !PT",   // 2: c0
            "LOP3.LUT R10, R3, UR5, R5, 0x96, !PT",  // 3: c2; c1 is R6, c3 is R4
        ];
        code.extend(last);
        code.push("EXIT");
        let code: Vec<(&str, f64)> = code.into_iter().map(|text| (text, 8.0)).collect();
        philox(&launch(&code).listing().unwrap())
    }

    #[test]
    fn results_are_what_no_round_takes() {
        let one = of(&[
            "IMAD.HI.U32 R12, R10, -0x326172a9, RZ",
            "LOP3.LUT R12, R6, UR6, R12, 0x96, !PT",
            "LOP3.LUT R13, R12, R15, RZ, 0x3c, !PT",
            "STG.E desc[UR8][R2.64], R13",
        ]);
        let one = one.unwrap();
        assert!((one.calls - 8.0).abs() < 1e-12 && (one.used - 1.0).abs() < 1e-12, "{one:?}");
        assert_eq!(one.rounds, [0, 1, 4, 2, 3, 5]);
        let all = of(&[
            "IMAD.WIDE.U32 R12, R10, -0x326172a9, RZ",
            "IMAD.WIDE.U32 R14, R8, 0xd2511f53, RZ",
            "LOP3.LUT R16, R6, UR6, R13, 0x96, !PT",
            "LOP3.LUT R17, R4, UR7, R15, 0x96, !PT",
            "STG.E desc[UR8][R2.64], R16",
            "STG.E desc[UR8][R2.64+0x4], R12",
            "STG.E desc[UR8][R2.64+0x8], R17",
            "STG.E desc[UR8][R2.64+0xc], R14",
        ]);
        let all = all.unwrap();
        assert!((all.calls - 8.0).abs() < 1e-12 && (all.used - 4.0).abs() < 1e-12, "{all:?}");
    }

    #[test]
    fn other_products_are_none() {
        assert_eq!(
            philox(&launch(&[("IMAD R4, R0, 0x12, RZ", 8.0), ("EXIT", 8.0)]).listing().unwrap()),
            None
        );
    }
}
