//! The lines of memory that atomics go to at any one time.

use crate::frame::Launch;
use crate::hardware::{SECTOR_BYTES, SECTORS_PER_LINE};
use crate::model::residency::blocks_per_sm;
use crate::sass::Listing;
use crate::sass::questions::lanes::{bytes_to_next_block, is_one_place_per_block};

use super::is_on_global;

const SMS: &str = "launch__sm_count";

/// The lines that the blocks which run at once add to, where each block adds at a place of its own and the next block's is a
/// known step away: 528 blocks with a sum of four bytes each add to 17 lines. `None` where a block adds elsewhere, too.
pub(super) fn lines_at_once(launch: &Launch, listing: &Listing) -> Option<f64> {
    let grid = launch.row.grid.map(|extent| extent.max(1));
    let blocks: f64 = grid.iter().map(|&extent| f64::from(extent)).product();
    let at_once = (blocks_per_sm(launch)? * launch.get(SMS)?).min(blocks);
    let mut most = 0.0_f64;
    let executed = |&(at, _): &(usize, _)| listing.executed(at) > 0.0;
    for (at, _) in
        listing.entries().filter(|(_, entry)| is_on_global(entry.family)).filter(executed)
    {
        if !is_one_place_per_block(listing, at) {
            return None;
        }
        let mut steps = [0.0; 3];
        for direction in 0..3 {
            if grid[direction] > 1 {
                let bytes = bytes_to_next_block(listing, at, launch.row.block, grid, direction)?;
                // A step back is a large number.
                steps[direction] = f64::from(i32::try_from(bytes).ok()?);
            }
        }
        let line = SECTORS_PER_LINE * SECTOR_BYTES;
        most = most.max((span(grid, steps, at_once) / line + 1.0).floor().min(at_once));
    }
    (most >= 1.0).then_some(most)
}

/// Bytes from the first block's place to the farthest among so many blocks, which start in the order of their numbers.
fn span(grid: [u32; 3], steps: [f64; 3], blocks: f64) -> f64 {
    let [x, y] = [grid[0], grid[1]].map(f64::from);
    let along = |extent: f64, all: f64| (all.min(extent) - 1.0).max(0.0).floor();
    let rows = (blocks / x).ceil();
    along(x, blocks) * steps[0]
        + along(y, rows) * steps[1]
        + along(f64::INFINITY, (rows / y).ceil()) * steps[2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::OCCUPANCY_LIMITS;
    use crate::sass::code::listing::tests::launch;

    fn of(grid: [u32; 3], step: &'static str) -> Option<f64> {
        let mut launch = launch(&[
            ("S2R R4, SR_CTAID.X", 1.0),
            ("S2R R8, SR_TID.X", 1.0),
            ("LDC.64 R2, c[0x0][0x210]", 1.0),
            (step, 1.0),
            ("REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R6.64], R9", 1.0),
            ("EXIT", 1.0),
        ]);
        launch.row.grid = grid;
        launch.row.block = [128, 1, 1];
        launch.set(SMS, Some(132.0));
        launch.set(OCCUPANCY_LIMITS[0], Some(32.0));
        launch.set(OCCUPANCY_LIMITS[1], Some(4.0));
        lines_at_once(&launch, &launch.listing().unwrap())
    }

    #[test]
    fn neighbouring_blocks_share_lines() {
        let sum = "IMAD.WIDE.U32 R6, R4, 0x4, R2";
        // 528 sums of four bytes take 2,112 bytes.
        assert_eq!(of([6552, 1, 1], sum), Some(17.0));
        assert_eq!(of([100, 1, 1], sum), Some(4.0), "no more blocks than there are");
        assert_eq!(of([6552, 1, 1], "IMAD.WIDE.U32 R6, R4, 0x100, R2"), Some(528.0));
        assert_eq!(of([6552, 1, 1], "IMAD.WIDE R6, R8, 0x4, R2"), None, "a place per thread");
    }

    #[test]
    fn blocks_start_along_x_first() {
        let steps = [4.0, 12.0, 36.0];
        assert!((span([3, 3, 728], steps, 528.0) - 4.0 * 527.0).abs() < 40.0);
        assert!((span([3, 3, 728], steps, 2.0) - 4.0).abs() < 1e-12);
        assert!((span([64, 8, 1], [0.0, 4.0, 0.0], 512.0) - 28.0).abs() < 1e-12, "one sum per row");
    }
}
