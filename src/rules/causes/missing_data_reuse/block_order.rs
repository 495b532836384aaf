//! Blocks that share data and run far apart.

use super::{READ, WRITTEN};
use crate::evidence::modeled_launch::place;
use crate::evidence::removal::gains;
use crate::evidence::{Draft, ModeledLaunch};
use crate::finding::Evidence;
use crate::hardware::SECTOR_BYTES;
use crate::model::Effect;
use crate::sass::questions::sharing::addresses_by_blocks;
use crate::sass::{Family, Listing, Space};
use crate::term::Term;
use crate::text::{bytes, count};

/// The axes of a grid, the fastest first.
const AXES: [&str; 3] = ["x", "y", "z"];

/// The finding; `None` where no load asks for the same data in blocks that run one after another, or where a cache
/// holds it until then.
///
/// A load whose address does not go by one of the grid's axes asks for the same data once for each step along it. Blocks
/// start in the order of their index, x first, so that the steps along a later axis lie as far apart as there
/// are blocks in between. If those don't all run at once, and DRAM delivers more than all loads would need with that data
/// read once, it delivers that data again. What blocks that run at once share counts once.
pub(super) fn check(launch: &ModeledLaunch) -> Option<Draft> {
    let listing = launch.profile.listing()?;
    let grid = launch.profile.row.grid.map(f64::from);
    if grid[1] * grid[2] <= 1.0 {
        return None;
    }
    let at_once = launch.get("launch__sm_count")? * launch.blocks_per_sm()?;
    let (axis, loads) = shared_along(&listing, grid, at_once)?;
    let sectors = |at: usize| {
        listing.row(at).counters.l2_sectors_global_ideal / side_by_side(&listing, at, grid, at_once)
    };
    let theirs = SECTOR_BYTES * loads.iter().map(|&at| sectors(at)).sum::<f64>();
    let again = theirs * (1.0 - 1.0 / grid[axis]);
    let all = listing.entries().filter(|(_, entry)| reads(entry.family));
    let asked = SECTOR_BYTES * all.map(|(at, _)| sectors(at)).sum::<f64>();
    let (read, written) = (launch.need(READ), launch.get(WRITTEN).unwrap_or(0.0));
    let extra = (read - (asked - again)).min(again);
    if extra.is_nan() || extra <= 0.0 {
        return None;
    }
    let reordered = Effect::on(Term::Dram, (extra / (read + written)).min(1.0));
    // A block that keeps the data for all of them is as many fewer blocks.
    let mut effect = Effect { at_least: Some(Box::new(reordered.clone())), ..reordered };
    effect.removed.push((Term::BlockScheduler, 1.0 - 1.0 / grid[axis]));
    if !gains(launch, &effect) {
        return None;
    }
    let locations = launch.places_of("sectors that blocks share", |row| {
        let is_row = |&at: &usize| std::ptr::eq(listing.row(at), row);
        if loads.iter().any(is_row) { row.counters.l2_sectors_global_ideal } else { 0.0 }
    });
    let (at, name) = (place(&locations, "the loads"), AXES[axis]);
    let apart: f64 = grid[..axis].iter().product();
    Some(Draft {
        message: format!(
            "What {at} loads does not depend on blockIdx.{name}: {} blocks ask for the same {}, {} blocks apart. By then no \
             cache holds it any more, and DRAM delivers {} again.",
            count(grid[axis]),
            bytes(theirs / grid[axis]),
            count(apart),
            bytes(extra),
        ),
        evidence: vec![
            Evidence::new("bytes that blocks share", theirs, "byte"),
            Evidence::new(READ, read, "byte"),
        ],
        hint: format!(
            "Let one block take all {} of those that share what {at} loads, and keep the data; or let them run one after another: make \
             blockIdx.{name} the grid's first axis (blocks start with x first), which spares DRAM as much, but no block.",
            count(grid[axis]),
        ),
        locations,
        effect,
    })
}

fn reads(family: Family) -> bool {
    matches!(family, Family::Load(Space::Global | Space::Generic) | Family::AsyncCopy)
}

/// How many of the blocks that run at once ask an access for the same data, at least 1: those side by side along axes by which its
/// address does not go. The first of them brings it to L2 for all.
fn side_by_side(listing: &Listing, at: usize, grid: [f64; 3], at_once: f64) -> f64 {
    let Some(by) = addresses_by_blocks(listing, at) else { return 1.0 };
    let mut apart = 1.0;
    let mut together = 1.0;
    for axis in 0..3 {
        if !by[axis] {
            together *= grid[axis].min(at_once / apart).max(1.0);
        }
        apart *= grid[axis];
    }
    together
}

/// The last axis by which some loads do not go, with these loads, where the steps along it are further apart than blocks
/// run at once.
fn shared_along(listing: &Listing, grid: [f64; 3], at_once: f64) -> Option<(usize, Vec<usize>)> {
    let far = |axis: &usize| grid[*axis] > 1.0 && grid[..*axis].iter().product::<f64>() > at_once;
    let axis = (1..3).rev().find(far)?;
    let loads: Vec<usize> = listing
        .entries()
        .filter(|(at, entry)| reads(entry.family) && listing.executed(*at) > 0.0)
        .map(|(at, _)| at)
        .filter(|&at| addresses_by_blocks(listing, at).is_some_and(|by| !by[axis]))
        .collect();
    (!loads.is_empty()).then_some((axis, loads))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::rules::testing::sass;

    /// 1000 by 8 blocks, of which 100 run at once; half of 64,000 bytes are loaded by x alone.
    fn of(read: f64, last: u32, address: &'static str) -> Option<Draft> {
        of_others(read, last, address, "IMAD.WIDE R4, R3, 0x4, R10")
    }

    /// The same, with another address of the other half.
    fn of_others(
        read: f64,
        last: u32,
        address: &'static str,
        other: &'static str,
    ) -> Option<Draft> {
        let code = [
            ("S2R R0, SR_CTAID.X", 10.0),
            ("S2R R1, SR_CTAID.Y", 10.0),
            ("LDC.64 R10, c[0x0][0x210]", 10.0),
            ("LDC.64 R12, c[0x0][0x218]", 10.0),
            ("IMAD R3, R1, 0x3e8, R0", 10.0),
            (other, 10.0),
            (address, 10.0),
            ("LDG.E R8, desc[UR4][R4.64]", 10.0),
            ("LDG.E R9, desc[UR4][R6.64]", 10.0),
            ("EXIT", 10.0),
        ];
        let metrics = [
            (READ, read),
            ("launch__sm_count", 50.0),
            ("launch__occupancy_limit_registers", 2.0),
            ("launch__occupancy_limit_shared_mem", 4.0),
            ("launch__occupancy_limit_blocks", 32.0),
            ("launch__occupancy_limit_warps", 16.0),
            ("dram__cycles_active.avg.pct_of_peak_sustained_elapsed", 90.0),
        ];
        let mut launch = sass(&metrics, &code);
        launch.row.grid = [1000, last, 1];
        for load in [7, 8] {
            launch.instructions[load].counters.l2_sectors_global = 1000.0;
            launch.instructions[load].counters.l2_sectors_global_ideal = 1000.0;
        }
        let model = Model::new(&launch);
        check(&ModeledLaunch { profile: &launch, model: &model })
    }

    #[test]
    fn what_does_not_go_by_the_last_axis_is_delivered_for_each_step() {
        let by_x = "IMAD.WIDE R6, R0, 0x4, R12";
        let draft = of(64_000.0, 8, by_x).unwrap();
        // Seven eighths of 32,000 bytes, of 64,000.
        assert!((draft.effect.share_of(Term::Dram) - 7.0 / 16.0).abs() < 1e-12);
        assert!(draft.message.contains("blockIdx.y") && draft.message.contains("line 9"));
        assert!(of(36_000.0, 8, by_x).is_none(), "a cache holds it");
        // A hundred blocks side by side share what goes by y alone: 320 of 32,000 bytes, beside 4,000.
        let draft = of_others(36_000.0, 8, by_x, "IMAD.WIDE R4, R1, 0x4, R10").unwrap();
        assert!((draft.effect.share_of(Term::Dram) - 28.0 / 36.0).abs() < 1e-12);
        assert!(of(64_000.0, 1, by_x).is_none(), "there is no such axis");
        assert!(of(64_000.0, 8, "IMAD.WIDE R6, R3, 0x4, R12").is_none(), "each block has its own");
    }
}
