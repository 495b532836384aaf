//! How many lanes of a warp leave anything behind.
//!
//! A loop around `for (int x = threadIdx.x; x < w; x += blockDim.x)` is stepped through by all lanes, although those
//! beyond `w` only count and compare: what they work out, nobody sees. Instructions with an effect beyond their thread
//! tell which lanes are needed: stores, atomics, and exchanges.

use std::collections::BTreeMap;

use crate::hardware::WARP_LANES;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;

use super::{Region, lanes, regions};

/// Lanes of an average warp that leave anything behind, at most; all of them where the listing does not tell. They
/// are told where each effect lies in code that the other lanes skip by a guard that is the same at every turn of
/// the loops around it: otherwise each lane may have its turn.
#[must_use]
pub fn needed_lanes(listing: &Listing) -> f64 {
    let mut reaching = Reaching::with_guards(listing.sass);
    let skipped: Vec<Region> = regions(listing)
        .into_iter()
        .filter(|region| region.lanes > 0.0 && is_lasting(listing, &mut reaching, region.branch))
        .collect();
    let effects = listing
        .entries()
        .filter(|(at, entry)| has_effect(entry.family) && listing.executed(*at) > 0.0);
    // With the most lanes that an effect there has: an early exit within a branch may seem to hold what lies behind both.
    let mut theirs: BTreeMap<usize, (&Region, f64)> = BTreeMap::new();
    for (at, _) in effects {
        // The innermost: regions come in the order of their branches.
        let Some(around) = skipped.iter().rfind(|region| region.holds(at)) else {
            return WARP_LANES;
        };
        let most = &mut theirs.entry(around.first).or_insert((around, 0.0)).1;
        *most = most.max(lanes(listing, at));
    }
    let (mut needed, mut end) = (0.0, 0);
    for (region, most) in theirs.values() {
        // Lanes of a region within another are among that one's; those of regions side by side may be others each.
        if region.end > end {
            needed += lanes(listing, region.first).max(*most);
            end = region.end;
        }
    }
    if theirs.is_empty() { WARP_LANES } else { f64::min(needed, WARP_LANES) }
}

impl Region {
    fn holds(&self, at: usize) -> bool {
        self.first <= at && at < self.end
    }
}

/// True for what others than the thread itself notice. At a barrier a lane may hand on to others, and what is not
/// known may do anything.
fn has_effect(family: Family) -> bool {
    match family {
        Family::Store(space) => space != Space::Local,
        Family::Atomic(_)
        | Family::Reduction(_)
        | Family::AsyncCopy
        | Family::Texture
        | Family::Tensor
        | Family::Shuffle
        | Family::Vote
        | Family::Barrier
        | Family::Other => true,
        _ => false,
    }
}

/// True where the condition of a branch is the same at every turn of the loops around it: nothing that makes it comes
/// from an instruction further down, and so from the turn before.
fn is_lasting(listing: &Listing, reaching: &mut Reaching, branch: usize) -> bool {
    let sass = listing.sass;
    let mut seen = Marks::new(sass.entries.len());
    let mut open = vec![branch];
    while let Some(at) = open.pop() {
        for each in sass.uses(at) {
            for definition in reaching.definitions(at, *each) {
                let definition = definition as usize;
                if definition >= at {
                    return false;
                }
                if seen.insert(definition) {
                    open.push(definition);
                }
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// The lanes needed of instructions, each with the lanes of its 10 executions.
    fn needed(lines: &[(&str, f64)]) -> f64 {
        let counted: Vec<(&str, f64)> = lines.iter().map(|(text, _)| (*text, 10.0)).collect();
        let mut launch = launch(&counted);
        for (row, (_, lanes)) in launch.instructions.iter_mut().zip(lines) {
            row.counters.thread_inst_executed = 10.0 * lanes;
        }
        needed_lanes(&launch.listing().unwrap())
    }

    fn assert_needs(lines: &[(&str, f64)], wanted: f64) {
        let found = needed(lines);
        assert!((found - wanted).abs() < 1e-12, "{found} lanes of {lines:?}");
    }

    const STORE: &str = "STG.E desc[UR4][R2.64], R5";

    #[test]
    fn lanes_that_only_go_round_a_loop_are_not_needed() {
        let turns = |guard: &'static str, count: &'static str| {
            [
                ("S2R R8, SR_TID.X", 32.0),
                ("MOV R9, RZ", 32.0),
                (guard, 32.0),
                ("@P0 BRA 0x150", 32.0),
                (STORE, 1.0),
                (count, 32.0),
                ("ISETP.GE.AND P1, PT, R9, UR4, PT", 32.0),
                ("@!P1 BRA 0x120", 32.0),
                ("EXIT", 32.0),
            ]
        };
        let (few, next) = ("ISETP.GE.AND P0, PT, R8, UR5, PT", "VIADD R9, R9, 0x1");
        assert_needs(&turns(few, next), 1.0);
        // Each lane has its turn.
        assert_needs(&turns("ISETP.NE.AND P0, PT, R8, R9, PT", next), 32.0);
        assert_needs(&turns(few, "VIADD R8, R8, 0x1"), 32.0);
    }

    #[test]
    fn lanes_with_effects_elsewhere_are_needed() {
        let after = |extra: (&'static str, f64)| {
            [
                ("S2R R8, SR_TID.X", 32.0),
                ("ISETP.GE.AND P0, PT, R8, UR5, PT", 32.0),
                ("@P0 BRA 0x140", 32.0),
                (STORE, 4.0),
                extra,
                ("EXIT", 32.0),
            ]
        };
        assert_needs(&after(("FADD R0, R1, R2", 32.0)), 4.0);
        for effect in [STORE, "SHFL.DOWN PT, R5, R0, 0x1, 0x1f", "BAR.SYNC.DEFER_BLOCKING 0x0"] {
            assert_needs(&after((effect, 32.0)), 32.0);
        }
    }

    #[test]
    fn lanes_of_parts_side_by_side_add_up() {
        let parts = |to: &'static str, come: f64| {
            [
                ("S2R R8, SR_TID.X", 32.0),
                ("ISETP.GE.AND P0, PT, R8, 0x4, PT", 32.0),
                (to, 32.0),
                (STORE, 4.0),
                ("ISETP.LT.AND P1, PT, R8, 0x1, PT", come),
                ("@P1 BRA 0x170", come),
                (STORE, 1.0),
                ("EXIT", 32.0),
            ]
        };
        // Within the first: among its lanes.
        assert_needs(&parts("@P0 BRA 0x170", 4.0), 4.0);
        // Behind it.
        assert_needs(&parts("@P0 BRA 0x140", 32.0), 5.0);
    }

    #[test]
    fn data_that_chooses_what_is_stored_needs_all_lanes() {
        let chosen = |source: &'static str| {
            [
                (source, 32.0),
                ("ISETP.NE.AND P0, PT, R8, RZ, PT", 32.0),
                ("@P0 BRA 0x140", 32.0),
                (STORE, 4.0),
                ("EXIT", 32.0),
            ]
        };
        assert_needs(&chosen("LDG.E R8, desc[UR4][R2.64]"), 32.0);
        assert_needs(&chosen("S2R R8, SR_TID.X"), 4.0);
    }
}
