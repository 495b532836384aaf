//! Atomics that order other memory accesses around them although nobody looks at what they return.
//!
//! An atomic with acquire and release order is compiled into a fence, the atomic, and a statement that drops L1's lines once
//! the old value has come back. Where that value is thrown away, no decision of the thread can depend on it, and with it
//! nothing that the thread reads later.

use crate::sass::code::listing::Listing;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;

/// An atomic between fences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FencedAtomic {
    /// The atomic.
    pub atomic: usize,
    /// The instructions of the fences before and behind it.
    pub fences: Vec<usize>,
}

/// The executed atomics on global memory whose result nobody uses, but behind which L1's lines are dropped.
#[must_use]
pub fn fenced_atomics(listing: &Listing) -> Vec<FencedAtomic> {
    let sass = listing.sass;
    let is_atomic = |at: &usize| {
        let is_global =
            matches!(sass.entries[*at].family, Family::Atomic(Space::Global | Space::Generic));
        is_global && sass.defs(*at).is_empty() && listing.executed(*at) > 0.0
    };
    (0..sass.entries.len()).filter(is_atomic).filter_map(|at| fenced(listing, at)).collect()
}

fn fenced(listing: &Listing, atomic: usize) -> Option<FencedAtomic> {
    let entries = &listing.sass.entries;
    // What makes addresses may stand between; an access or a branch ends what belongs to the atomic.
    let goes_on = |at: &usize| {
        let family = entries[*at].family;
        family == Family::Fence || !(family.is_memory() || family == Family::Control)
    };
    let is_fence = |at: &usize| entries[*at].family == Family::Fence;
    let behind: Vec<usize> =
        (atomic + 1..entries.len()).take_while(goes_on).filter(is_fence).collect();
    if !behind.iter().any(|&at| listing.text(at).contains("CCTL.IVALL")) {
        return None;
    }
    let mut fences: Vec<usize> = (0..atomic).rev().take_while(goes_on).filter(is_fence).collect();
    // The next atomic's fence begins behind the dropping of this one's lines.
    let drops = behind.iter().position(|&at| listing.text(at).contains("CCTL.IVALL"))?;
    fences.retain(|&at| !listing.text(at).contains("CCTL.IVALL"));
    if counts_blocks_behind(listing, behind[drops]) {
        return None;
    }
    fences.reverse();
    fences.extend(&behind[..=drops]);
    Some(FencedAtomic { atomic, fences })
}

/// True where a fence stands before a barrier, behind which somebody asks an atomic for its old value: the last block to come reads
/// what all have added up.
fn counts_blocks_behind(listing: &Listing, fence: usize) -> bool {
    let sass = listing.sass;
    let mut after = fence + 1..sass.entries.len();
    let next = after.find(|&at| {
        let family = sass.entries[at].family;
        family.is_memory() || matches!(family, Family::Control | Family::Barrier)
    });
    let asks = |at: usize| {
        matches!(sass.entries[at].family, Family::Atomic(Space::Global | Space::Generic))
            && !sass.defs(at).is_empty()
            && listing.executed(at) > 0.0
    };
    next.is_some_and(|at| listing.is_block_barrier(at)) && after.any(asks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn of(code: &[&str]) -> Vec<FencedAtomic> {
        let code: Vec<(&str, f64)> = code.iter().map(|text| (*text, 8.0)).collect();
        fenced_atomics(&launch(&code).listing().unwrap())
    }

    const DROPPED: &str = "ATOMG.E.ADD.F32x4.FTZ.RN.STRONG.GPU PT, RZ, desc[UR8][R8.64], R4";

    #[test]
    fn each_atomic_has_its_own_fences() {
        let found = of(&[
            "STG.E desc[UR8][R2.64], R0",
            "MEMBAR.ALL.GPU",
            "ERRBAR",
            DROPPED,
            "CCTL.IVALL",
            "IADD3 R8, R8, 0x10, RZ",
            "MEMBAR.ALL.GPU",
            DROPPED,
            "CCTL.IVALL",
            "EXIT",
        ]);
        let fences: Vec<_> = found.into_iter().map(|each| (each.atomic, each.fences)).collect();
        assert_eq!(fences, [(3, vec![1, 2, 4]), (7, vec![6, 8])]);
    }

    #[test]
    fn what_orders_on_purpose_is_left_alone() {
        let used = "ATOMG.E.ADD.STRONG.GPU PT, R3, desc[UR8][R8.64], R5";
        assert!(of(&["MEMBAR.ALL.GPU", used, "CCTL.IVALL", "EXIT"]).is_empty(), "a ticket");
        let counted = [DROPPED, "CCTL.IVALL", "BAR.SYNC.DEFER_BLOCKING 0x0", used, "EXIT"];
        assert!(of(&counted).is_empty(), "for the last block to come");
        let barrier = [DROPPED, "CCTL.IVALL", "BAR.SYNC.DEFER_BLOCKING 0x0", "EXIT"];
        assert_eq!(of(&barrier).len(), 1);
        let reduces = "REDG.E.ADD.STRONG.GPU desc[UR8][R8.64], R5";
        assert!(of(&["MEMBAR.SC.GPU", reduces, "EXIT"]).is_empty(), "a release alone");
        let later = ["MEMBAR.SC.GPU", DROPPED, "LDG.E R4, desc[UR8][R2.64]", "CCTL.IVALL", "EXIT"];
        assert!(of(&later).is_empty(), "another access's fence");
    }
}
