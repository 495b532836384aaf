//! What the two roof rules share: the busiest unit is near what the device achieves on it.

use crate::evidence::modeled_launch::opcode;
use crate::evidence::threshold::ROOF;
use crate::evidence::{Draft, ModeledLaunch, Threshold};
use crate::finding::{Bound, Evidence};
use crate::model::Effect;
use crate::model::thresholds::PIPE_FULL;
use crate::sass::Family;
use crate::term::Term;
use crate::text::{byte_rate, percent};

/// What matrix instructions of warp groups do more per cycle than those of a warp, on devices that have both.
pub(crate) const BY_GROUPS: Threshold = Threshold {
    what: "multiply-adds per cycle by matrix instructions of warp groups (wgmma), over those by matrix \
           instructions of a warp (mma.sync)",
    value: 1.5,
    unit: "",
    source: "measured: one of 16 x 8 x 16 halves, 16 x 8 x 8 TF32 numbers or 16 x 8 x 32 bytes keeps its \
             quarter of the tensor pipe busy for six cycles by the pipe's counter, and four would do at the \
             data sheet's rate (H200)",
};

/// The compute capability whose warps have both kinds.
const HAS_GROUPS: (u32, u32) = (9, 0);

/// Fires where the busiest unit belongs to this kind of bound and is at the roof. Whether some other
/// finding inflates that unit's term is for [`crate::diagnose`] to say: it sees them all. The
/// effect names the term with a share of 0.
pub(crate) fn check(launch: &ModeledLaunch, bound: Bound) -> Option<Draft> {
    let (busiest, its_share) = launch.model.busiest_at_work()?;
    if busiest.bound() != bound {
        return None;
    }
    // Tuned products of floats leave a quarter of the FMA pipe's turns to the edges of their tiles.
    let fma = launch.model.utilization(Term::Fma).filter(|&share| share >= PIPE_FULL.value);
    let (term, share) = match fma {
        Some(share) if bound == Bound::Compute && 100.0 * its_share < ROOF => (Term::Fma, share),
        _ if 100.0 * its_share >= ROOF => (busiest, its_share),
        _ => return None,
    };
    let subject = if term == busiest {
        format!("The busiest unit, {},", term.title())
    } else {
        format!("The {}", term.title())
    };
    let rate = (term == Term::Dram)
        .then(|| launch.quote("dram__bytes.sum.per_second"))
        .flatten()
        .map_or_else(String::new, |rate| format!(", at {}", byte_rate(rate)));
    let by_warps = term == Term::Tensor && multiplies_by_warps(launch);
    let achieved =
        if by_warps { "matrix instructions of a warp achieve" } else { "this device achieves" };
    let left = if by_warps { " for them" } else { "" };
    Some(Draft {
        message: format!(
            "{subject} works at {} of what {achieved}{rate}; at most {:.2}× is left to gain{left}.",
            percent(share),
            1.0 / share,
        ),
        evidence: term
            .counters()
            .iter()
            .filter_map(|name| Some(Evidence::new(*name, launch.quote(name)?, "%")))
            .chain([Evidence::new("share_of_achievable", 100.0 * share, "%")])
            .collect(),
        locations: Vec::new(),
        hint: if by_warps { by_groups() } else { hint(term) },
        effect: Effect::on(term, 0.0),
    })
}

/// True where all products on the tensor units are those of a warp, and this device's warp groups would be faster at
/// them: groups multiply no doubles and no bits.
fn multiplies_by_warps(launch: &ModeledLaunch) -> bool {
    let Some(listing) = launch.profile.listing() else { return false };
    let products: Vec<&str> = listing
        .entries()
        .filter(|(at, entry)| entry.family == Family::Tensor && listing.executed(*at) > 0.0)
        .map(|(at, _)| opcode(listing.text(at)))
        .collect();
    let is_slower =
        |product: &&str| ["HMMA", "IMMA", "QMMA"].iter().any(|one| product.starts_with(one));
    launch.profile.row.compute_capability == Some(HAS_GROUPS)
        && !products.is_empty()
        && products.iter().all(is_slower)
}

fn by_groups() -> String {
    format!(
        "Stop tuning this product, or compute it by warp groups (wgmma): matrix instructions of a warp \
         (mma.sync, wmma) keep the tensor pipe full, and on this device those of groups do {} times as many \
         multiply-adds per cycle. They take the second factor from shared memory and tiles of 64 rows or more; \
         CUTLASS, cuBLAS and Triton's tl.dot use them.",
        BY_GROUPS.value
    )
}

fn hint(term: Term) -> String {
    match term {
        Term::Dram => {
            "Stop tuning this kernel: it moves its bytes as fast as the device can. Only fewer \
             bytes would help: a narrower type, fusion with the kernel that produces or consumes \
             the data, or another algorithm."
                .to_owned()
        }
        term => format!(
            "Stop tuning this kernel as it is: its busiest unit, {}, is at its limit. Only less \
             work for that unit would help: another algorithm, cheaper instructions, or another \
             unit that is still free.",
            term.title()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::testing::sass;
    use crate::model::Model;

    /// What is said of a full tensor pipe, where this is the product and the device is of that capability.
    fn said(product: &str, compute_capability: (u32, u32)) -> Draft {
        let busy = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";
        let mut launch = sass(&[(busy, 96.0)], &[(product, 10.0), ("EXIT", 1.0)]);
        launch.row.compute_capability = Some(compute_capability);
        let model = Model::new(&launch);
        check(&ModeledLaunch { profile: &launch, model: &model }, Bound::Compute).unwrap()
    }

    #[test]
    fn where_warp_groups_multiply_faster_the_roof_is_that_of_a_warps_products() {
        let product = "HMMA.16816.F32 R4, R12, R22, R4";
        let slower = said(product, (9, 0));
        assert!(
            slower.hint.contains("wgmma") && slower.hint.contains("1.5 times"),
            "{}",
            slower.hint
        );
        assert!(slower.message.contains("matrix instructions of a warp"), "{}", slower.message);
        for (product, capability) in [
            (product, (8, 0)),
            ("DMMA.884 R4, R12, R22, R4", (9, 0)),
            ("HGMMA.64x64x16.F32 R24, gdesc[UR12], R24", (9, 0)),
        ] {
            let full = said(product, capability);
            assert!(!full.hint.contains("wgmma"), "{product}: {}", full.hint);
        }
    }
}
