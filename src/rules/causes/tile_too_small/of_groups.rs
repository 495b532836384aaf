//! Blocks whose tile is too small, where warp groups multiply from shared memory: what their warps load tells nothing, since
//! operands come there once for all of a block.

use super::{busy, feeding};
use crate::evidence::fetched_again::of_dram;
use crate::evidence::modeled_launch::{SMS, place};
use crate::evidence::products::{least, sectors_gone};
use crate::evidence::removal::{Removal, gains, locations};
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::Evidence;
use crate::sass::questions::matrix_loops::group_tiles;
use crate::term::Term;
use crate::text::{count, percent};

/// Multiply-adds for each element in a tile of 128 x 256.
const LARGE_TILE: f64 = 128.0 * 256.0 / (128.0 + 256.0);

/// [`LARGE_TILE`] as `explain` prints it.
pub(super) const USES: Threshold = Threshold {
    what: "constant: multiply-adds for each element that a block copies, in the largest tile of a block",
    value: LARGE_TILE,
    unit: "",
    source: "derivation: sums of 128 x 256 results take 128 of the 255 registers of each thread of two warp groups, and \
             each of 128 + 256 elements serves them at each step of the depth",
};

/// Multiply-adds for each element in a tile of 128 x 128.
const ENOUGH: f64 = 128.0 * 128.0 / (128.0 + 128.0);

/// [`ENOUGH`] as `explain` prints it.
pub(super) const USES_ENOUGH: Threshold = Threshold {
    what: "multiply-adds for each element that a block of warp groups copies, fewer than",
    value: ENOUGH,
    unit: "",
    source: "derivation: a tile of 128 x 128, whose sums leave room for a second block; two changes of other people's kernels from \
             it to 128 x 256 gained 1.07x each",
};

pub(super) fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let mut removal = Removal::new(launch)?;
    let listing = removal.listing;
    let tiles = group_tiles(&listing);
    let main = tiles.iter().max_by(|a, b| a.copied_bytes.total_cmp(&b.copied_bytes))?;
    if main.uses >= ENOUGH {
        return None;
    }
    // A tile takes as many blocks as the grid has beyond one for each SM, and is larger in both directions.
    let blocks: f64 = launch.profile.row.grid.iter().map(|&each| f64::from(each)).product();
    let by_grid = 1.0 - (launch.get(SMS).unwrap_or(1.0) / blocks).min(1.0).sqrt();
    let gone = (1.0 - main.uses / LARGE_TILE).min(by_grid);
    if gone <= 0.0 {
        return None;
    }
    let goes = |at: &usize| main.products.binary_search(at).is_err();
    main.inside.iter().filter(|at| goes(at)).for_each(|&at| removal.remove(at, gone));
    let mut effect = removal.effect(launch);
    let sectors =
        sectors_gone(listing, |at| if main.copies.binary_search(&at).is_ok() { gone } else { 0.0 });
    let again = of_dram(launch, sectors);
    effect.removed.extend([
        (Term::L2, sectors),
        (Term::L2Requests, sectors),
        (Term::Dram, again),
        (Term::BlockScheduler, 1.0 - (1.0 - gone).powi(2)),
    ]);
    effect.least = least(launch);
    let feeding = feeding(launch, again)?;
    if busy(launch, feeding) <= busy(launch, Term::Tensor) || !gains(launch, &effect) {
        return None;
    }
    let is_copy = |at: usize| main.copies.binary_search(&at).is_ok();
    let weight = |at: usize| if is_copy(at) { listing.executed(at) } else { 0.0 };
    let locations = locations(launch, listing, weight, "copies of operands");
    Some(Draft {
        message: format!(
            "Blocks copy {} to shared memory and use each element of it {:.0} times on average, where a tile of 128 x 256 results \
             would use it {LARGE_TILE:.0} times: bringing operands keeps {} busy {} of the time, multiplying them keeps the tensor pipe busy {}.",
            crate::text::bytes(main.copied_bytes),
            main.uses,
            feeding.title(),
            percent(busy(launch, feeding)),
            percent(busy(launch, Term::Tensor)),
        ),
        evidence: vec![
            Evidence::new("bytes copied as operands", main.copied_bytes, "byte"),
            Evidence::new("multiply-adds for each element", main.uses, ""),
            Evidence::new("blocks", blocks, "block"),
        ],
        hint: format!(
            "Let each block compute a larger tile at {}: up to 128 x 256 results by two warp groups (8 warps), {} fewer operand \
             bytes are copied with {} blocks. The sums take 128 registers of each thread, and fewer blocks run at once, so start \
             copies several iterations ahead.",
            place(&locations, "the loop with the products"),
            percent(gone),
            count((blocks * (1.0 - gone).powi(2)).round()),
        ),
        locations,
        effect,
    })
}

#[cfg(test)]
mod tests {
    use super::super::RULE;
    use super::*;
    use crate::evidence::removal::ISSUE_BUSY;
    use crate::frame::Launch;
    use crate::rules::testing::{assert_sides, check, sass};

    const TENSOR: &str = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";
    const L2: &str = "lts__t_sectors.avg.pct_of_peak_sustained_elapsed";

    /// Tiles of 64 x so many columns, by a grid of so many blocks.
    fn tile(product: &'static str, blocks: u32) -> Launch {
        let code = [
            ("LDGSTS.E.BYPASS.128 [R2], desc[UR16][R18.64]", 40.0),
            ("LDGSTS.E.BYPASS.128 [R2+0x800], desc[UR16][R20.64]", 40.0),
            (product, 40.0),
            ("WARPGROUP.DEPBAR.LE gsb0, 0x0", 40.0),
            ("@P0 BRA 0x100", 40.0),
            ("EXIT", 4.0),
        ];
        let mut launch =
            sass(&[(ISSUE_BUSY, 20.0), (L2, 80.0), (TENSOR, 20.0), (SMS, 132.0)], &code);
        for row in &mut launch.instructions[..2] {
            row.counters.l2_sectors_global = 40.0 * 16.0;
            row.counters.l2_sectors_global_ideal = 40.0 * 16.0;
        }
        launch.row.grid = [blocks, 1, 1];
        launch
    }

    #[test]
    fn small_tiles_count_where_bringing_operands_takes_longer_than_multiplying_them() {
        let small = tile("HGMMA.64x64x16.F32 R24, gdesc[UR12].tnspB, R24, gsb0", 4096);
        let draft = assert_sides(&RULE, &small, &[&[(TENSOR, 81.0)], &[(L2, 20.0)]]);
        // Of 32 uses to 85.3.
        assert!((draft.effect.share_of(Term::L2) - 0.625).abs() < 1e-12);
        assert!((draft.effect.share_of(Term::BlockScheduler) - (1.0 - 0.140_625)).abs() < 1e-12);
        // Copies of as many bytes whose elements serve 60 and 64 products.
        let fires = |product| check(&RULE, &tile(product, 4096)).is_some();
        assert!(fires("HGMMA.64x120x16.F32 R24, gdesc[UR12].tnspB, R24, gsb0"));
        assert!(!fires("HGMMA.64x128x16.F32 R24, gdesc[UR12].tnspB, R24, gsb0"));
    }

    #[test]
    fn a_tile_grows_no_further_than_the_grid_has_blocks() {
        let product = "HGMMA.64x64x16.F32 R24, gdesc[UR12].tnspB, R24, gsb0";
        let few = check(&RULE, &tile(product, 4 * 132)).unwrap();
        assert!((few.effect.share_of(Term::L2) - 0.5).abs() < 1e-12, "a quarter of the blocks");
        assert_eq!(check(&RULE, &tile(product, 132)), None);
    }
}
