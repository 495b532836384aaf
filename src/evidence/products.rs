//! What rules on loops with matrix instructions ask of a launch.

use crate::evidence::ModeledLaunch;
use crate::metric::stall::StallReason;
use crate::model::Effect;
use crate::model::thresholds::TENSOR_FULL;
use crate::sass::questions::matrix_loops::{StagedLoop, is_warp_product, operand_loads};
use crate::sass::questions::sums_of_products;
use crate::sass::{Family, Listing, Space};
use crate::term::Term;

/// How repeated products of a matrix and a vector use a value more than once, after a comma; empty where the machine code
/// has no such product.
pub(crate) fn one_matrix_product(launch: &ModeledLaunch) -> &'static str {
    if launch.profile.listing().is_some_and(|listing| !sums_of_products::has_any(&listing)) {
        return "";
    }
    ", or turn repeated matrix-vector products into one matrix product (a library GEMM)"
}

/// The stalls of a warp that waits for copies, or for the other warps that do.
pub(crate) const WAITS: [StallReason; 4] = [
    StallReason::LongScoreboard,
    StallReason::Barrier,
    StallReason::ShortScoreboard,
    StallReason::Sleeping,
];

/// The shares of the stalls that warps spend between the products of two turns of these loops.
pub(crate) fn waits(listing: Listing, loops: &[&StagedLoop]) -> Vec<(StallReason, f64)> {
    let share = |reason: StallReason| {
        let all = listing.sass.counts.stall_samples(reason);
        let waiting = loops.iter().flat_map(|each| &each.waiting);
        let theirs: f64 = waiting.map(|&at| listing.samples(at, reason)).sum();
        (reason, if all > 0.0 { (theirs / all).min(1.0) } else { 0.0 })
    };
    WAITS.into_iter().map(share).filter(|(_, share)| *share > 0.0).collect()
}

/// Lets copies begin turns ahead: in loops in which a picked copy is waited for before the next product, the waits between
/// two turns' products go, whatever else the effect takes from such waits. Nothing becomes faster than the products.
pub(crate) fn begin_ahead(
    effect: &mut Effect,
    launch: &ModeledLaunch,
    listing: Listing,
    loops: &[&StagedLoop],
    picked: impl Fn(usize) -> bool,
) {
    let in_turn: Vec<&StagedLoop> =
        loops.iter().copied().filter(|each| each.in_turn.iter().any(|&at| picked(at))).collect();
    if !in_turn.is_empty() {
        effect.stalls.retain(|(reason, _)| !WAITS.contains(reason));
        effect.stalls.extend(waits(listing, &in_turn));
    }
    effect.least = least(launch);
}

/// The share of all sectors that instructions ask of L2 which is gone, where so much of each goes.
pub(crate) fn sectors_gone(listing: Listing, gone: impl Fn(usize) -> f64) -> f64 {
    let (mut all, mut theirs) = (0.0, 0.0);
    for (index, _) in listing.entries() {
        let sectors = listing.row(index).counters.l2_sectors_global;
        all += sectors;
        if sectors > 0.0 {
            theirs += sectors * gone(index);
        }
    }
    if all > 0.0 { theirs / all } else { 0.0 }
}

/// The share of the time that the products themselves take, at the rate that tuned kernels reach.
pub(crate) fn least(launch: &ModeledLaunch) -> f64 {
    let busy = launch.model.utilization(Term::Tensor).unwrap_or(0.0);
    (busy / TENSOR_FULL.value).min(1.0)
}

/// True where shared memory serves matrix instructions: those of warp groups read it themselves, or at least
/// half of the loads from it stand beside those of warps. What feeds products is for rules on products.
pub(crate) fn shared_memory_feeds_products(listing: Listing) -> bool {
    let is_load = |at: usize| listing.sass.entries[at].family == Family::Load(Space::Shared);
    let (mut all, mut of_groups) = (0.0, false);
    for (index, entry) in listing.entries() {
        let executed = listing.executed(index);
        if is_load(index) {
            all += executed;
        }
        of_groups |=
            entry.family == Family::Tensor && executed > 0.0 && !is_warp_product(&listing, index);
    }
    let beside = |each: crate::sass::questions::matrix_loops::Operands| {
        each.loads.iter().filter(|&&at| is_load(at)).map(|&at| listing.executed(at)).sum::<f64>()
    };
    of_groups || all > 0.0 && operand_loads(&listing).map_or(0.0, beside) >= all * MOST
}

/// Half of the loads.
const MOST: f64 = 0.5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::testing::sass;
    use crate::model::Model;

    #[test]
    fn a_matrix_product_is_named_where_loaded_values_are_multiplied() {
        let clause = |factors: &'static str| {
            let code = [
                ("LDG.E R4, desc[UR4][R2.64]", 10.0),
                ("LDG.E R5, desc[UR4][R6.64]", 10.0),
                (factors, 10.0),
                ("@P0 BRA 0x100", 10.0),
                ("EXIT", 1.0),
            ];
            let launch = sass(&[], &code);
            one_matrix_product(&ModeledLaunch { profile: &launch, model: &Model::new(&launch) })
        };
        assert!(clause("FFMA R0, R4, R5, R0").contains("a library GEMM"));
        assert_eq!(clause("FFMA R0, R4, 0.25, R0"), "", "the weights of a stencil");
    }

    /// Matrix instructions in a loop beside as many loads, and so many loads in front of it.
    fn feeds(product: &str, outside: f64) -> bool {
        let launch = sass(
            &[],
            &[
                ("LDS R4, [R20]", outside),
                ("LDSM.16.M88.4 R8, [R21]", 10.0),
                (product, 10.0),
                ("@P0 BRA 0x110", 10.0),
                ("EXIT", 1.0),
            ],
        );
        shared_memory_feeds_products(launch.listing().unwrap())
    }

    #[test]
    fn shared_memory_feeds_products_by_half_of_its_loads() {
        let product = "HMMA.16816.F32 R24, R8, R12, R24";
        assert!(feeds(product, 10.0) && !feeds(product, 11.0));
        // Warp groups read it themselves.
        assert!(feeds("HGMMA.64x128x16.F32 R24, gdesc[UR8], R24", 100.0));
    }
}
