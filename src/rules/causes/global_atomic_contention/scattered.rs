//! Atomics whose lanes scatter over so much memory that nobody has anything to combine.
//!
//! Lanes that go to sectors by chance meet now and then: of n lanes over so many sectors, n (n - 1) / 2 pairs do, each with a
//! chance of one in the number of sectors (the birthday problem). How seldom they meet therefore tells over how many sectors
//! they scatter, and that how few of a block's values share an address.

use crate::evidence::atomic_traffic::ATOMIC_SECTORS;
use crate::evidence::vectors::lanes;
use crate::evidence::{ModeledLaunch, Threshold, atomics};
use crate::hardware::{L1_BYTES, SECTOR_BYTES, WARP_LANES};
use crate::sass::Listing;
use crate::sass::questions::lanes::bytes_to_next_turn;
use crate::sass::questions::sharing::lanes_apart;
use crate::text::bytes;

/// Memory that no block can keep for itself.
pub(super) const BEYOND_SHARED: Threshold = Threshold {
    what: "bytes over which the lanes of atomics scatter, told by how seldom they meet in a sector, for no block to be able to collect \
           the values in shared memory, more than",
    value: L1_BYTES,
    unit: "byte",
    source: "NVIDIA, Hopper Tuning Guide, 2023: 256 KB of L1 and shared memory per SM, the most of all architectures so far",
};

/// Where atomics scatter.
pub(super) struct Scattered {
    /// Bytes over which the lanes go.
    over: f64,
    /// The share of the atomics that stays if each block combines what it has for the same address, 0 to 1.
    pub(super) stays: f64,
}

/// The same of a launch's atomics; `None` where lanes meet, where their own numbers send them apart, where a thread goes to
/// the same address again and again, and where nothing counted the sectors.
pub(super) fn scattered(launch: &ModeledLaunch) -> Option<Scattered> {
    let listing = launch.profile.listing()?;
    let counted: f64 = ATOMIC_SECTORS.iter().filter_map(|name| launch.get(name)).sum();
    let is_atomic =
        |at: &usize| atomics::is_global(listing.row(*at)) && listing.executed(*at) > 0.0;
    let all: Vec<usize> = listing.entries().map(|(at, _)| at).filter(is_atomic).collect();
    let executed: f64 = all.iter().map(|&at| listing.executed(at)).sum();
    let added: f64 = all.iter().map(|&at| lanes(&listing.row(at).counters)).sum();
    // L2 counts floats that lanes add to one address once per lane; the instruction counts the sector once.
    let asked: f64 = all.iter().map(|&at| listing.row(at).counters.l2_sectors_global).sum();
    let sectors = if asked > 0.0 { counted.min(asked) } else { counted };
    if sectors <= 0.0 || executed <= 0.0 || all.iter().any(|&at| is_fixed(&listing, at)) {
        return None;
    }
    let of_warp = (added / executed).min(WARP_LANES);
    let met = of_warp - sectors / executed;
    let over = of_warp * (of_warp - 1.0) / 2.0 / met * SECTOR_BYTES;
    let is_by_chance = met > 0.0 && of_warp > 1.0;
    if !is_by_chance || over <= BEYOND_SHARED.value {
        return None;
    }
    let width = all.iter().map(|&at| listing.sass.entries[at].width).max()?.max(1);
    let addresses = over / f64::from(width);
    let blocks: f64 =
        launch.profile.row.grid.iter().map(|&extent| f64::from(extent.max(1))).product();
    let of_block = (added / blocks).max(1.0);
    // Of so many values at addresses by chance, the addresses that any comes to.
    let stays = addresses / of_block * -(-of_block / addresses).exp_m1();
    Some(Scattered { over, stays: stays.clamp(0.0, 1.0) })
}

/// True where lanes are apart by their own numbers, or come to the same address in each turn of a loop.
fn is_fixed(listing: &Listing, at: usize) -> bool {
    let flow = &listing.sass.flow;
    let turn = |of: usize| bytes_to_next_turn(listing, &flow.loops[of], at);
    lanes_apart(listing, at).is_some() || flow.innermost(at).and_then(turn) == Some(0)
}

/// What to do about them.
pub(super) fn hint(at: &str, scattered: &Scattered) -> String {
    format!(
        "Sort or bin the items by where they add at {at}, so that neighbouring threads add to neighbouring addresses and a block can \
         combine what it has in shared memory; or gather: give each address a thread that adds up what belongs there. As it is, \
         neither a warp nor a block has anything to combine: its lanes scatter over some {}, as seldom as two of them meet in a sector.",
        bytes(scattered.over),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Launch;
    use crate::model::Model;
    use crate::rules::testing::sass;

    /// 100 atomics of 32 lanes each in 50 blocks, which touch so many sectors, by what this makes.
    fn made(made: &str, sectors: f64) -> Launch {
        let code = [
            ("S2R R0, SR_TID.X", 100.0),
            ("LDC.64 R10, c[0x0][0x210]", 100.0),
            ("LDC.64 R12, c[0x0][0x218]", 100.0),
            ("IMAD.WIDE R2, R0, 0x4, R10", 100.0),
            ("LDG.E R4, desc[UR4][R2.64]", 100.0),
            (made, 100.0),
            ("IMAD.WIDE R6, R5, 0x4, R12", 100.0),
            ("REDG.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R6.64], R8", 100.0),
            ("EXIT", 100.0),
        ];
        let mut launch = sass(&[(ATOMIC_SECTORS[0], sectors)], &code);
        launch.row.grid = [50, 1, 1];
        launch.instructions[7].counters.thread_inst_executed_pred_on = 3200.0;
        launch
    }

    fn stays(launch: &Launch) -> Option<f64> {
        let model = Model::new(launch);
        scattered(&ModeledLaunch { profile: launch, model: &model }).map(|found| found.stays)
    }

    fn of(index: &str, sectors: f64) -> Option<f64> {
        stays(&made(index, sectors))
    }

    #[test]
    fn lanes_that_seldom_meet_have_nothing_to_combine() {
        let loaded = "IADD3 R5, R4, 0x1, RZ";
        // 496 pairs of lanes, of which one in 20 warps meets: 9920 sectors of 8 floats. Of 64 values per block all but 32 in
        // 79,360 have an address of their own.
        let stays = of(loaded, 3195.0).unwrap();
        assert!((stays - (1.0 - 32.0 / 79_360.0)).abs() < 1e-6, "{stays}");
        assert_eq!(of(loaded, 3190.0), None, "4960 sectors fit in shared memory");
        assert_eq!(of(loaded, 3200.0), None, "never: not by chance");
        assert_eq!(of("IADD3 R5, R0, 0x1, RZ", 3195.0), None, "by the thread's number");
    }

    #[test]
    fn lanes_that_add_to_one_address_meet_however_often_l2_counts_it() {
        let asked = |sectors: f64| {
            let mut launch = made("IADD3 R5, R4, 0x1, RZ", 3195.0);
            launch.instructions[7].counters.l2_sectors_global = sectors;
            stays(&launch)
        };
        assert_eq!(asked(100.0), None, "each warp adds to one");
        assert!(asked(3195.0).is_some());
    }
}
