//! Tiles that blocks multiply by instructions of warp groups.

use super::products::{is_group_product, opcode};
use super::staged::staged;
use crate::hardware::{GROUP_LANES, GROUP_ROW_BYTES, SECTOR_BYTES, WARP_LANES};
use crate::sass::code::listing::Listing;

/// A loop that copies operands to shared memory, where instructions of warp groups read them.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupTile {
    /// Its executed instructions, ascending.
    pub inside: Vec<usize>,
    /// The copies.
    pub copies: Vec<usize>,
    /// The matrix instructions.
    pub products: Vec<usize>,
    /// Bytes that the copies bring, in the whole launch.
    pub copied_bytes: f64,
    /// Multiply-adds for each element copied: M N / (M + N) for a tile of M x N.
    pub uses: f64,
}

/// The loops whose copies tell how much they bring: a bulk copy does not.
#[must_use]
pub fn group_tiles(listing: &Listing) -> Vec<GroupTile> {
    let bytes = |at: usize| {
        // Excess sectors are another fault.
        let sectors = listing.row(at).counters.l2_sectors_global_ideal;
        let asked = listing.executed(at) * WARP_LANES * f64::from(listing.sass.entries[at].width);
        if sectors > 0.0 { SECTOR_BYTES * sectors } else { asked }
    };
    let tile = |each: super::StagedLoop| {
        let is_product = |at: &usize| is_group_product(listing, *at);
        let products: Vec<usize> = each.inside.iter().copied().filter(is_product).collect();
        let (mut multiply_adds, mut row) = (0.0, 0.0);
        for &at in &products {
            let [rows, columns, depth] = shape(opcode(listing, at))?;
            multiply_adds +=
                listing.executed(at) * WARP_LANES / GROUP_LANES * rows * columns * depth;
            row = depth;
        }
        let brought: Vec<f64> = each.copies.iter().map(|&at| bytes(at)).collect();
        if products.is_empty() || brought.iter().any(|&bytes| bytes <= 0.0) {
            return None;
        }
        let copied_bytes: f64 = brought.iter().sum();
        let uses = multiply_adds * (GROUP_ROW_BYTES / row) / copied_bytes;
        let (inside, copies) = (each.inside, each.copies);
        Some(GroupTile { inside, copies, products, copied_bytes, uses })
    };
    staged(listing).into_iter().filter_map(tile).collect()
}

/// Rows, columns and depth of `HGMMA.64x128x16.F32`.
pub(super) fn shape(opcode: &str) -> Option<[f64; 3]> {
    opcode.split('.').find_map(|part| {
        let mut sides = part.split('x').map(|side| side.parse().ok());
        let [Some(rows), Some(columns), Some(depth), None] = std::array::from_fn(|_| sides.next())
        else {
            return None;
        };
        rows.zip(columns).zip(depth).map(|((rows, columns), depth)| [rows, columns, depth])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    #[test]
    fn a_tile_of_64_by_64_uses_each_element_32_times() {
        // Four warps copy 64 x 16 halves of each operand: 32 lanes of 16 bytes, in each turn.
        let code = [
            ("LDGSTS.E.BYPASS.128 [R2], desc[UR16][R18.64]", 40.0),
            ("LDGSTS.E.BYPASS.128 [R2+0x800], desc[UR16][R20.64]", 40.0),
            ("HGMMA.64x64x16.F32 R24, gdesc[UR12].tnspB, R24, gsb0", 40.0),
            ("WARPGROUP.DEPBAR.LE gsb0, 0x0", 40.0),
            ("@P0 BRA 0x100", 40.0),
            ("EXIT", 4.0),
        ];
        let tiles = group_tiles(&launch(&code).listing().unwrap());
        assert_eq!(tiles.len(), 1);
        assert_eq!((&tiles[0].copies[..], &tiles[0].products[..]), (&[0, 1][..], &[2][..]));
        assert!((tiles[0].copied_bytes - 2.0 * 40.0 * 512.0).abs() < 1e-9);
        assert!((tiles[0].uses - 32.0).abs() < 1e-12);
        let mut bulk = code;
        bulk[0].0 = "UTMALDG.2D [UR8], [UR4]";
        assert!(group_tiles(&launch(&bulk).listing().unwrap()).is_empty(), "bytes unknown");
    }

    #[test]
    fn shapes_are_read_from_opcodes() {
        assert_eq!(shape("HGMMA.64x128x16.F32"), Some([64.0, 128.0, 16.0]));
        assert_eq!(shape("QGMMA.64x8x32.F32.E4M3.E4M3"), Some([64.0, 8.0, 32.0]));
        assert_eq!(shape("HMMA.16816.F32"), None);
        assert_eq!(shape("HGMMA.64x128"), None);
    }
}
