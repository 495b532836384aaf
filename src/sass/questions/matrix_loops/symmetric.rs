//! Products of a matrix with its own transpose: half of the results are the other half, mirrored.

use std::collections::BTreeSet;

use super::group_tiles::{GroupTile, group_tiles, shape};
use super::products::opcode;
use crate::hardware::GROUP_LANES;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::flow::turns::turns;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::operands::Role;
use crate::sass::thresholds::TO_THE_LOOP;

/// The loops of blocks of so many threads, by warp groups, that multiply rows of a matrix by other rows of the same one: both operands are copied in the loop,
/// from places that are made of the same arguments, and neither is transposed on the way.
#[must_use]
pub fn symmetric(listing: &Listing, threads: f64) -> Vec<GroupTile> {
    let mut reaching = Reaching::new(listing.sass);
    let is_plain = |&at: &usize| !listing.text(at).contains("tnsp");
    group_tiles(listing)
        .into_iter()
        .filter(|tile| tile.products.iter().all(is_plain))
        .filter(|tile| copies_both(listing, tile, threads) && is_for_all(listing, tile))
        .filter(|tile| {
            let mut from = tile.copies.iter().map(|&at| arguments(listing, &mut reaching, at));
            let first = from.next().flatten().filter(|first| !first.is_empty());
            first.is_some() && from.all(|other| other == first)
        })
        .collect()
}

/// True where as much is copied as a block's results need of both operands: M + N rows for M x N results, which is at least
/// twice the square root of M N. One operand alone would be N rows, about half as many; the first turns' copies stand before
/// the loop, so that the line lies between the two.
fn copies_both(listing: &Listing, tile: &GroupTile, threads: f64) -> bool {
    let sums: BTreeSet<&str> =
        tile.products.iter().filter_map(|&at| sum(listing.text(at))).collect();
    let Some([rows, columns, _]) = tile.products.first().and_then(|&at| shape(opcode(listing, at)))
    else {
        return false;
    };
    let results = rows * columns * sums.len() as f64 * (threads / GROUP_LANES).max(1.0);
    results / tile.uses >= 2.0_f64.sqrt() * results.sqrt()
}

/// True where most warps come to the loop: those of blocks below the diagonal have not left before.
fn is_for_all(listing: &Listing, tile: &GroupTile) -> bool {
    let of = tile.products.first().and_then(|&at| listing.sass.flow.innermost(at));
    let come = of.map(|of| {
        let of = &listing.sass.flow.loops[of];
        listing.executed(of.head) / turns(listing, of).max(1.0)
    });
    let all = listing.executed(0);
    come.is_some_and(|come| come > TO_THE_LOOP.value * all)
}

/// The register in which a matrix instruction adds up.
fn sum(text: &str) -> Option<&str> {
    Some(Instruction::parse(text)?.operands.first()?.text)
}

/// The arguments that an address is made of, by their places in the constant bank; `None` where loaded values take part.
fn arguments<'a>(
    listing: &Listing<'a>,
    reaching: &mut Reaching,
    access: usize,
) -> Option<BTreeSet<&'a str>> {
    let sass = listing.sass;
    let mut found = BTreeSet::new();
    let mut seen = Marks::new(sass.entries.len());
    // The descriptor of an access stands in uniform registers.
    let is_address = |each: &&Use| each.role == Role::Address && each.slot.is_general();
    let mut open: Vec<(usize, Use)> =
        sass.uses(access).iter().filter(is_address).map(|each| (access, *each)).collect();
    while let Some((at, each)) = open.pop() {
        for by in reaching.definitions(at, each).map(|by| by as usize).collect::<Vec<_>>() {
            if sass.entries[by].family.is_memory() {
                return None;
            }
            if seen.insert(by) {
                let text = listing.text(by);
                found.extend(text.split([' ', ',']).filter(|word| word.starts_with("c[")));
                open.extend(sass.uses(by).iter().map(|each| (by, *each)));
            }
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// A warp group that copies 64 rows of either operand for 64 x 64 results.
    fn found(second: &str, product: &str) -> usize {
        found_in(4.0, second, product)
    }

    fn found_in(warps: f64, second: &str, product: &str) -> usize {
        let code = [
            ("ULDC.64 UR4, c[0x0][0x210]", warps),
            (second, warps),
            ("LEA R18, P0, R1, UR4, 0x1", 4.0),
            ("LEA R20, P0, R3, UR6, 0x1", 4.0),
            ("LDGSTS.E.BYPASS.128 [R2], desc[UR16][R18.64]", 40.0), // 0x140
            ("LDGSTS.E.BYPASS.128 [R2+0x800], desc[UR16][R20.64]", 40.0),
            (product, 40.0),
            ("WARPGROUP.DEPBAR.LE gsb0, 0x0", 40.0),
            ("@P0 BRA 0x140", 40.0),
            ("EXIT", 4.0),
        ];
        symmetric(&launch(&code).listing().unwrap(), 128.0).len()
    }

    const PRODUCT: &str = "HGMMA.64x64x16.F32 R24, gdesc[UR12], R24, gsb0";

    #[test]
    fn both_operands_are_rows_of_one_matrix() {
        let same = "ULDC.64 UR6, c[0x0][0x210]";
        assert_eq!(found(same, PRODUCT), 1);
        assert_eq!(found_in(7.0, same, PRODUCT), 0, "most below the diagonal have left");
        assert_eq!(found("ULDC.64 UR6, c[0x0][0x218]", PRODUCT), 0, "another matrix");
        let transposed = "HGMMA.64x64x16.F32 R24, gdesc[UR12].tnspB, R24, gsb0";
        assert_eq!(found(same, transposed), 0, "rows by columns");
        let wider = "HGMMA.64x256x16.F32 R24, gdesc[UR12], R24, gsb0";
        assert_eq!(found(same, wider), 0, "not all that it needs is copied here");
    }
}
