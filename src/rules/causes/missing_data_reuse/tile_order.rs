//! Tiles of a matrix product in an order in which blocks that run at once share little.

use super::{READ, WRITTEN};
use crate::evidence::atomic_traffic::{ATOMIC_SECTORS, bytes_read_at_most};
use crate::evidence::modeled_launch::place;
use crate::evidence::removal::gains;
use crate::evidence::{Draft, ModeledLaunch};
use crate::finding::Evidence;
use crate::frame::{Launch, Reads};
use crate::hardware::SECTOR_BYTES;
use crate::model::Effect;
use crate::sass::questions::matrix_loops::staged;
use crate::sass::{Family, Listing};
use crate::term::Term;
use crate::text::{bytes, count, percent};

/// What tells how much of what DRAM reads may be for atomics.
pub(super) const ATOMICS: Reads = Reads::only_where(adds_up, &ATOMIC_SECTORS);

/// True for products whose sums are added up in memory.
fn adds_up(launch: &Launch) -> bool {
    let adds = |listing: Listing| {
        let families = || listing.entries().map(|(_, entry)| entry.family);
        families().any(|family| matches!(family, Family::Reduction(_)))
            && families().any(|family| family == Family::Tensor)
    };
    launch.listing().is_some_and(adds)
}

/// The finding; `None` where no loop brings operands to matrix instructions, or DRAM delivers about what blocks in a
/// square of tiles would need.
///
/// W blocks that run at once and lie in a square of √W by √W tiles need √W rows of operands and √W columns, where each of
/// them asks for a row and a column: L2 can deliver all but one part in √W of what they ask for. Tiles that are no
/// squares, in the best order, need less than that.
pub(super) fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let (all_read, written) = (launch.need(READ), launch.get(WRITTEN).unwrap_or(0.0));
    // What atomics add to is read as well, unless a cache holds it.
    let read = (all_read - bytes_read_at_most(launch)).max(0.0);
    let listing = launch.profile.listing()?;
    let loops = staged(&listing);
    let copies = || loops.iter().flat_map(|each| &each.copies).copied();
    let asked: f64 =
        copies().map(|at| SECTOR_BYTES * listing.row(at).counters.l2_sectors_global).sum();
    let blocks = launch.get("launch__grid_size")?;
    let at_once = launch.get("launch__sm_count")? * launch.blocks_per_sm()?;
    // Blocks that all run at once have no order.
    if blocks <= at_once {
        return None;
    }
    let needed = asked / at_once.max(1.0).sqrt();
    let of_dram = ((read - needed) / (all_read + written)).clamp(0.0, 1.0);
    let effect = Effect::on(Term::Dram, of_dram);
    if asked <= 0.0 || read > asked || !gains(launch, &effect) {
        return None;
    }
    let locations = launch.places_of("sectors of operands", |row| {
        let is_row = |at: usize| std::ptr::eq(listing.row(at), row);
        if copies().any(is_row) { row.counters.l2_sectors_global } else { 0.0 }
    });
    Some(Draft {
        message: format!(
            "Blocks ask for {} of operands, of which DRAM delivers {}. {} blocks run at once: in a square of tiles, \
             they would share rows and columns so that DRAM need deliver {} at most.",
            bytes(asked),
            bytes(read),
            count(at_once),
            bytes(needed),
        ),
        evidence: vec![
            Evidence::new("bytes of operands that blocks ask for", asked, "byte"),
            Evidence::new(READ, all_read, "byte"),
        ],
        hint: format!(
            "Change the order in which blocks take tiles, so that those that run at once lie close together: go down \
             a group of about 8 rows of tiles before the next column, not along a whole row of them. The operands \
             at {} then come from L2, and DRAM delivers {} less. Only the index of the tile changes.",
            place(&locations, "the loop with the products"),
            percent(((read - needed) / read).clamp(0.0, 1.0)),
        ),
        locations,
        effect,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::rules::testing::sass;

    /// 100 blocks at once that ask for 32,000 bytes of operands, of which DRAM delivers so many.
    fn order(read: f64, blocks: f64) -> Option<Draft> {
        let code = [
            ("MOV R1, RZ", 10.0),
            ("LDGSTS.E.BYPASS.128 [R20], desc[UR4][R2.64]", 100.0),
            ("LDSM.16.M88.4 R8, [R20]", 100.0),
            ("HMMA.16816.F32 R24, R8, R12, R24", 100.0),
            ("@P0 BRA 0x110", 100.0),
            ("EXIT", 10.0),
        ];
        let metrics = [
            (READ, read),
            ("launch__sm_count", 50.0),
            ("launch__grid_size", blocks),
            ("launch__occupancy_limit_registers", 2.0),
            ("launch__occupancy_limit_shared_mem", 4.0),
            ("launch__occupancy_limit_blocks", 32.0),
            ("launch__occupancy_limit_warps", 16.0),
            ("dram__cycles_active.avg.pct_of_peak_sustained_elapsed", 90.0),
        ];
        let mut launch = sass(&metrics, &code);
        launch.instructions[1].counters.l2_sectors_global = 1000.0;
        let model = Model::new(&launch);
        check(&ModeledLaunch { profile: &launch, model: &model })
    }

    #[test]
    fn blocks_in_a_square_of_tiles_need_a_tenth_from_dram() {
        let draft = order(16_000.0, 1000.0).unwrap();
        // 100 blocks: a square of 10 by 10 tiles, 3,200 of 32,000 bytes.
        assert!((draft.effect.share_of(Term::Dram) - 0.8).abs() < 1e-12);
        assert!(draft.message.contains("100 blocks run at once"), "{}", draft.message);
        assert!(draft.hint.contains("line 2"), "{}", draft.hint);
        assert!(order(3_200.0, 1000.0).is_none(), "as little as a square needs");
        assert!(order(16_000.0, 100.0).is_none(), "all run at once");
    }
}
