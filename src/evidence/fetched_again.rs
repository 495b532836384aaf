//! What DRAM delivers more than once because L2 could not keep it.

use crate::evidence::ModeledLaunch;
use crate::frame::Reads;
use crate::hardware::SECTOR_BYTES;
use crate::sass::Family;
use crate::sass::questions::sharing;

const READ: &str = "dram__bytes_read.sum";
const WRITTEN: &str = "dram__bytes_write.sum";

/// What [`of_dram`] reads.
pub(crate) const DRAM_BYTES: Reads = Reads::always(&[READ, WRITTEN]);

/// The share of DRAM's traffic, 0 to 1, that fewer loads would spare where so much of all sectors asked of L2
/// goes: as much of the bytes read, but no byte that is at an address of its own. The addresses are told from the
/// instructions; what can't be told counts as needed. 0 where DRAM reads more than instructions ask for, as for bulk
/// copies, whose addresses no instruction has.
pub(crate) fn of_dram(launch: &ModeledLaunch, gone: f64) -> f64 {
    let (Some(listing), Some(read)) = (launch.profile.listing(), launch.get(READ)) else {
        return 0.0;
    };
    let sectors = |index: usize| listing.row(index).counters.l2_sectors_global;
    let reads =
        |family| !matches!(family, Family::Store(_) | Family::Atomic(_) | Family::Reduction(_));
    let all = listing.entries().filter(|(_, entry)| reads(entry.family));
    let asked = SECTOR_BYTES * all.map(|(index, _)| sectors(index)).sum::<f64>();
    let (grid, block) = (launch.profile.row.grid, launch.profile.row.block);
    let repeated: f64 = sharing::repetitions(listing, grid, block)
        .map(|(index, copies)| sectors(index) * (1.0 - 1.0 / copies.unwrap_or(1.0)))
        .sum();
    let moved = read + launch.get(WRITTEN).unwrap_or(0.0);
    if asked < read || moved <= 0.0 {
        return 0.0;
    }
    let needed = asked - SECTOR_BYTES * repeated;
    ((read - needed) / moved).min(gone * read / moved).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::testing::sass;
    use crate::model::Model;

    /// A load of 1,000 sectors whose address is made of these special registers, by 4 by 8 blocks of a warp, while DRAM
    /// reads so many bytes.
    fn of(special: &str, gone: f64, read: f64) -> f64 {
        let mut launch = sass(
            &[(READ, read), (WRITTEN, 0.0)],
            &[
                (special, 10.0),
                ("LDC.64 R6, c[0x0][0x210]", 10.0),
                ("IMAD.WIDE R2, R0, 0x4, R6", 10.0),
                ("LDG.E R4, desc[UR4][R2.64]", 10.0),
                ("EXIT", 10.0),
            ],
        );
        launch.instructions[3].counters.l2_sectors_global = 1000.0;
        (launch.row.grid, launch.row.block) = ([4, 8, 1], [32, 1, 1]);
        let model = Model::new(&launch);
        of_dram(&ModeledLaunch { profile: &launch, model: &model }, gone)
    }

    #[test]
    fn what_several_blocks_load_need_come_from_dram_but_once() {
        // Eight rows of blocks share an address that only the column makes: 4,000 of 32,000 bytes are needed.
        let column = "S2R R0, SR_CTAID.X";
        assert!((of(column, 0.5, 32_000.0) - 0.5).abs() < 1e-12, "as much as goes of the loads");
        assert!((of(column, 1.0, 32_000.0) - 0.875).abs() < 1e-12, "what is needed stays");
        assert!((of(column, 1.0, 8_000.0) - 0.5).abs() < 1e-12, "L2 kept three quarters");
        assert!(of(column, 1.0, 4_000.0).abs() < 1e-12, "L2 kept it all");
        assert!(of(column, 1.0, 33_000.0).abs() < 1e-12, "something else reads, too");
    }
}
