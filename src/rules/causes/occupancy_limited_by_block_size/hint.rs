//! Which block size to use instead.

use crate::evidence::ModeledLaunch;
use crate::evidence::occupancy::{BY_BLOCKS, BY_REGISTERS, BY_SHARED, BY_WARPS, THEORETICAL};
use crate::hardware::WARP_LANES;
use crate::text::{count, count_of};

/// Warps of the largest block.
const LARGEST: u32 = 32;

/// Larger blocks where an SM holds no more of them, others that fill its warp slots where whole ones leave some empty.
pub(super) fn hint(launch: &ModeledLaunch) -> String {
    let blocks = launch.need(BY_BLOCKS);
    let which = if blocks <= launch.need(BY_WARPS) {
        let size = warps(launch)
            .map(|warps| (warps.of_an_sm / blocks).ceil())
            .filter(|&least| least <= f64::from(LARGEST))
            .map_or_else(
                || "larger blocks".to_owned(),
                |least| format!("blocks of {} or more", count_of(least * WARP_LANES, "thread")),
            );
        format!("Use {size}, since an SM holds no more than {}", count_of(blocks, "block"))
    } else {
        let sizes = warps(launch).and_then(|warps| Some((sizes(launch, &warps)?, warps)));
        match sizes {
            Some((sizes, warps)) => format!(
                "Use blocks of {sizes} threads instead of {}, so that whole blocks fill the {} warp slots of an SM",
                count(warps.of_a_block * WARP_LANES),
                count(warps.of_an_sm)
            ),
            None => {
                "Use smaller blocks, so that whole ones fill the warp slots of an SM".to_owned()
            }
        }
    };
    format!(
        "{which}. Change the number of blocks in proportion, so that the number of threads and the work of each stay \
         the same."
    )
}

struct Warps {
    of_a_block: f64,
    of_an_sm: f64,
}

fn warps(launch: &ModeledLaunch) -> Option<Warps> {
    let shape = || launch.profile.row.block.iter().map(|&side| f64::from(side)).product();
    let threads: f64 = launch.quote("launch__block_size").unwrap_or_else(shape);
    let of_a_block = (threads / WARP_LANES).ceil();
    let resident = of_a_block * launch.need(BY_BLOCKS).min(launch.need(BY_WARPS));
    let of_an_sm = (100.0 * resident / launch.need(THEORETICAL)).round();
    (of_a_block >= 1.0 && of_an_sm.is_finite()).then_some(Warps { of_a_block, of_an_sm })
}

/// The next sizes that divide an SM's warp slots: below the present one, and above where the other resources have room
/// for as many warps.
fn sizes(launch: &ModeledLaunch, warps: &Warps) -> Option<String> {
    let fits = |size: &u32| warps.of_an_sm % f64::from(*size) == 0.0;
    let below = (1..=LARGEST).rev().filter(|&size| f64::from(size) < warps.of_a_block).find(fits);
    let room = warps.of_a_block * launch.need(BY_REGISTERS).min(launch.need(BY_SHARED));
    let above = (1..=LARGEST).filter(|&size| f64::from(size) > warps.of_a_block).find(fits);
    let above = above.filter(|_| room >= warps.of_an_sm);
    let sizes: Vec<String> =
        below.into_iter().chain(above).map(|size| count(f64::from(size) * WARP_LANES)).collect();
    (!sizes.is_empty()).then(|| sizes.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::testing::launch;
    use crate::model::Model;

    /// The hint where blocks have so many threads, and registers, block slots and warp slots allow so many of them.
    fn of(threads: f64, occupancy: f64, [registers, blocks, warps]: [f64; 3]) -> String {
        let launch = launch(&[
            (THEORETICAL, occupancy),
            (BY_REGISTERS, registers),
            (BY_SHARED, 32.0),
            (BY_BLOCKS, blocks),
            (BY_WARPS, warps),
            ("launch__block_size", threads),
        ]);
        hint(&ModeledLaunch { profile: &launch, model: &Model::new(&launch) })
    }

    #[test]
    fn blocks_of_a_warp_are_to_be_twice_as_large() {
        let hint = of(32.0, 50.0, [84.0, 32.0, 64.0]);
        let said = "Use blocks of 64 threads or more, since an SM holds no more than 32 blocks.";
        assert!(hint.starts_with(said), "{hint}");
    }

    #[test]
    fn coarse_blocks_are_to_divide_the_warp_slots() {
        let both = of(768.0, 75.0, [3.0, 32.0, 2.0]);
        assert!(
            both.starts_with("Use blocks of 512 or 1,024 threads instead of 768, so that whole"),
            "{both}"
        );
        assert!(both.contains("fill the 64 warp slots"), "{both}");
        let few_registers = of(768.0, 75.0, [2.0, 32.0, 2.0]);
        assert!(few_registers.starts_with("Use blocks of 512 threads instead of 768"));
        // 48 slots.
        let other = of(1024.0, 100.0 * 32.0 / 48.0, [2.0, 16.0, 1.0]);
        assert!(other.starts_with("Use blocks of 768 threads instead of 1,024"), "{other}");
    }
}
