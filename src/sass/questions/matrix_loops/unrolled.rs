//! Products whose loop is unrolled as a whole: copies, waits, and products in a row, one step after another.

use super::behind::loads_behind;
use super::products::{is_group_product, is_product, opcode};
use super::staged::{StagedLoop, Way, ends_copies, waits_for_group, way};
use crate::sass::code::listing::Listing;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;

/// The steps of an unrolled loop as one turn, where at least two of them begin to copy when the products before are finished, and
/// wait for that before they go on; `None` otherwise.
#[must_use]
pub fn unrolled(listing: &Listing) -> Option<StagedLoop> {
    let sass = listing.sass;
    let is_outside = |at: &usize| listing.executed(*at) > 0.0 && sass.flow.innermost(*at).is_none();
    let inside: Vec<usize> = (0..sass.entries.len()).filter(is_outside).collect();
    let first = inside.iter().position(|&at| is_product(listing, at))?;
    let last = inside.iter().rposition(|&at| is_product(listing, at))?;
    let mut reaching = Reaching::new(sass);
    let (mut copies, mut stores, mut in_turn, mut waiting) = (vec![], vec![], vec![], vec![]);
    let (mut steps, mut gap, mut is_finished) = (0, Gap::default(), true);
    for &at in &inside[first..=last] {
        let family = sass.entries[at].family;
        if is_product(listing, at) {
            if !gap.in_turn.is_empty() {
                steps += 1;
                in_turn.append(&mut gap.in_turn);
                waiting.append(&mut gap.all);
            }
            gap = Gap::default();
            is_finished = !is_group_product(listing, at);
            continue;
        }
        if waits_for_group(listing, at) {
            is_finished = true;
        }
        if is_finished {
            gap.all.push(at);
        }
        if family == Family::AsyncCopy && !opcode(listing, at).starts_with("UTMASTG") {
            copies.push(at);
            gap.begun.extend(is_finished.then_some(at));
        } else if family == Family::Load(Space::Global) {
            gap.begun.extend(is_finished.then_some(at));
        } else if family == Family::Store(Space::Shared) {
            let behind = loads_behind(sass, &mut reaching, at);
            if !behind.is_empty() {
                stores.push(at);
                gap.in_turn.extend(behind.iter().filter(|load| gap.begun.contains(load)));
                copies.extend(behind);
            }
        }
        let is_over = |copy: &&usize| ends_copies(listing, way(listing, **copy), at);
        let over: Vec<usize> = gap.begun.iter().filter(is_over).copied().collect();
        gap.in_turn.extend(over);
    }
    for found in [&mut copies, &mut in_turn] {
        found.sort_unstable();
        found.dedup();
    }
    let inside = inside[first..=last].to_vec();
    let way = copies.iter().map(|&copy| way(listing, copy)).min().unwrap_or(Way::Registers);
    // One alone may end a pipeline.
    (steps > 1).then_some(StagedLoop { inside, copies, stores, way, in_turn, waiting })
}

/// What stands between the products of two steps.
#[derive(Default)]
struct Gap {
    /// All of it, from where the products before are finished.
    all: Vec<usize>,
    /// Loads and copies that begin in it.
    begun: Vec<usize>,
    /// Those of them that are waited for in it.
    in_turn: Vec<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    const LOAD: &str = "LDG.E.128 R4, desc[UR4][R2.64]";
    const STORE: &str = "STS.128 [R20], R4";
    const BARRIER: &str = "BAR.SYNC.DEFER_BLOCKING 0x0";
    const PRODUCT: &str = "HMMA.16816.F32 R12, R8, R10, R12";
    const GROUP: &str = "HGMMA.64x64x16.F32 R24, gdesc[UR12].tnspB, R24, gsb0";
    const DONE: &str = "WARPGROUP.DEPBAR.LE gsb0, 0x0";

    fn of(steps: &[&str]) -> Option<StagedLoop> {
        let code: Vec<(&str, f64)> =
            steps.iter().chain(&["EXIT"]).map(|text| (*text, 1.0)).collect();
        let launch = launch(&code);
        unrolled(&launch.listing().unwrap())
    }

    #[test]
    fn two_steps_in_turn_behind_the_first_are_an_unrolled_loop() {
        let step = [LOAD, STORE, BARRIER, PRODUCT];
        let found = of(&[step, step, step].concat()).unwrap();
        assert_eq!((found.way, found.copies), (Way::Registers, vec![4, 8]));
        assert_eq!((found.stores, found.in_turn), (vec![5, 9], vec![4, 8]));
        assert_eq!(found.waiting, [4, 5, 6, 8, 9, 10]);
        assert_eq!(of(&[step, step].concat()), None, "one step alone");
    }

    #[test]
    fn steps_of_warp_groups_begin_where_their_products_are_finished() {
        let other = "LDG.E.128 R8, desc[UR4][R6.64]";
        let second = "STS.128 [R21], R8";
        // One operand is loaded beside the products, the other behind them.
        let step = [LOAD, DONE, BARRIER, other, STORE, second, BARRIER, GROUP];
        let found = of(&[step, step, step].concat()).unwrap();
        assert_eq!(found.copies, [8, 11, 16, 19]);
        assert_eq!(found.in_turn, [11, 19]);
        let beside = [LOAD, DONE, BARRIER, STORE, BARRIER, GROUP];
        assert_eq!(of(&[beside, beside, beside].concat()), None, "all beside the products");
    }

    #[test]
    fn asynchronous_copies_are_in_turn_where_all_are_waited_for() {
        let copy = "LDGSTS.E.BYPASS.128 [R20], desc[UR4][R2.64]";
        let with = |wait| [copy, "LDGDEPBAR", wait, BARRIER, PRODUCT];
        let all = with("DEPBAR.LE SB0, 0x0");
        assert_eq!(of(&[all, all, all].concat()).map(|found| found.way), Some(Way::Async));
        let younger = with("DEPBAR.LE SB0, 0x2");
        assert_eq!(of(&[younger, younger, younger].concat()), None);
    }
}
