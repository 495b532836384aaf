//! Loops that bring operands to shared memory and multiply them, and whether they run ahead.

use super::behind::loads_behind;
use super::products::{is_group_product, is_product, members, opcode};
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;

/// How operands come to shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// A load to registers, then a store.
    Registers,
    /// `cp.async`, which a warp waits for by groups.
    Async,
    /// A bulk copy, which a barrier in shared memory counts.
    Bulk,
}

/// A loop that brings operands to shared memory and multiplies them on the tensor units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StagedLoop {
    /// Its executed instructions, in the order of their addresses.
    pub inside: Vec<usize>,
    /// What brings the operands: copies, or the loads whose values are stored.
    pub copies: Vec<usize>,
    /// The stores of loaded values.
    pub stores: Vec<usize>,
    /// How they come; where in several ways, the first of them in the order of [`Way`].
    pub way: Way,
    /// The copies that are waited for before the next product.
    pub in_turn: Vec<usize>,
    /// The instructions behind the last product and up to the first use of what was copied.
    pub waiting: Vec<usize>,
}

/// The smallest loops in which matrix instructions stand beside copies of operands to shared memory.
#[must_use]
pub fn staged(listing: &Listing) -> Vec<StagedLoop> {
    let sass = listing.sass;
    let products: Vec<usize> =
        (0..sass.entries.len()).filter(|&at| is_product(listing, at)).collect();
    if products.is_empty() {
        return Vec::new();
    }
    let mut reaching = Reaching::new(sass);
    let mut by_size: Vec<usize> = (0..sass.flow.loops.len()).collect();
    by_size.sort_by_key(|&at| sass.flow.loops[at].blocks.len());
    let mut found: Vec<StagedLoop> = Vec::new();
    for at in by_size {
        let inside = members(listing, at);
        let holds = |index: usize| inside.binary_search(&index).is_ok();
        let known = |each: &StagedLoop| holds(each.inside[0]);
        if products.iter().any(|&at| holds(at)) && !found.iter().any(known) {
            found.extend(StagedLoop::new(listing, &mut reaching, inside));
        }
    }
    found
}

impl StagedLoop {
    /// The loop with these instructions; `None` where nothing is copied in it.
    fn new(listing: &Listing, reaching: &mut Reaching, inside: Vec<usize>) -> Option<Self> {
        let sass = listing.sass;
        let of = |family: Family| -> Vec<usize> {
            inside.iter().copied().filter(|&at| sass.entries[at].family == family).collect()
        };
        let mut copies = of(Family::AsyncCopy);
        copies.retain(|&at| !opcode(listing, at).starts_with("UTMASTG"));
        let products = Marks::of(sass.entries.len(), |at| is_product(listing, at));
        let is_product = |at: usize| products[at];
        let (mut stores, mut loads) = (Vec::new(), Vec::new());
        for store in of(Family::Store(Space::Shared)) {
            let behind = loads_behind(sass, reaching, store);
            if behind.iter().any(|load| inside.contains(load)) {
                stores.push(store);
                loads.extend(behind.into_iter().filter(|load| inside.contains(load)));
            }
        }
        copies.extend(loads);
        copies.sort_unstable();
        copies.dedup();
        let ends_wait = |way: Way, at: usize| match way {
            Way::Registers => stores.contains(&at),
            way => ends_copies(listing, way, at),
        };
        let is_waited_for = |copy: usize| {
            let way = way(listing, copy);
            round(&inside, copy)
                .find(|&at| is_product(at) || ends_wait(way, at))
                .is_some_and(|at| !is_product(at))
        };
        let last = inside.iter().copied().rfind(|&at| is_product(at))?;
        let finished = finished(listing, &inside, last, &copies);
        let in_turn = copies
            .iter()
            .copied()
            .filter(|&copy| finished.is_some() && is_waited_for(copy))
            .collect();
        // What comes through registers may be put into another order on the way, through shared memory too: not by loads
        // of matrices, which bring operands.
        let through_registers = !stores.is_empty();
        let reads = |at: usize| {
            sass.entries[at].family == Family::Load(Space::Shared)
                && (!through_registers || opcode(listing, at).starts_with("LDSM"))
        };
        let uses = |at: usize| is_product(at) || reads(at);
        let behind: Vec<usize> = round(&inside, finished.unwrap_or(last)).collect();
        let first_use = behind.iter().position(|&at| uses(at)).map_or(behind.len(), |at| at + 1);
        let waiting = behind[..first_use].to_vec();
        let way = copies.iter().map(|&copy| way(listing, copy)).min()?;
        Some(Self { inside, copies, stores, way, in_turn, waiting })
    }

    /// True where each copy is waited for before the next product.
    #[must_use]
    pub fn is_in_turn(&self) -> bool {
        self.in_turn.len() == self.copies.len()
    }
}

/// How a copy brings what it copies.
pub(super) fn way(listing: &Listing, copy: usize) -> Way {
    match opcode(listing, copy) {
        opcode if opcode.starts_with("LDGSTS") => Way::Async,
        _ if listing.sass.entries[copy].family == Family::AsyncCopy => Way::Bulk,
        _ => Way::Registers,
    }
}

/// True for a wait that leaves no copy of this kind on its way.
pub(super) fn ends_copies(listing: &Listing, way: Way, at: usize) -> bool {
    match way {
        Way::Registers => false,
        Way::Async => waits_for_all(listing, at),
        Way::Bulk => listing.text(at).contains("SYNCS.PHASECHK"),
    }
}

/// Where the products of a turn are finished: behind the last of a warp at once, behind those of a warp group at the
/// wait for them. `None` where copies begin before that and run beside the products.
fn finished(listing: &Listing, inside: &[usize], last: usize, copies: &[usize]) -> Option<usize> {
    if !is_group_product(listing, last) {
        return Some(last);
    }
    round(inside, last)
        .find(|&at| waits_for_group(listing, at) || copies.contains(&at))
        .filter(|at| !copies.contains(at))
}

/// The members of a loop behind one of them, around the loop and back to it.
fn round(inside: &[usize], from: usize) -> impl Iterator<Item = usize> {
    let at = inside.partition_point(|&each| each <= from);
    inside[at..].iter().chain(&inside[..at]).copied()
}

/// True for a wait that leaves no group of copies on its way.
fn waits_for_all(listing: &Listing, index: usize) -> bool {
    let text = listing.text(index);
    text.contains("DEPBAR")
        && opcode(listing, index).starts_with("DEPBAR")
        && text.trim_end_matches(' ').ends_with(", 0x0")
}

/// True for a wait that leaves no product of the warp group running.
pub(super) fn waits_for_group(listing: &Listing, index: usize) -> bool {
    let text = listing.text(index);
    opcode(listing, index).starts_with("WARPGROUP.DEPBAR") && text.trim_end().ends_with(", 0x0")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// The only staged loop of code that each instruction of runs once.
    fn only(code: &[&str]) -> Option<StagedLoop> {
        let code: Vec<(&str, f64)> = code.iter().map(|text| (*text, 1.0)).collect();
        let launch = launch(&code);
        let mut found = staged(&launch.listing().unwrap());
        assert!(found.len() <= 1);
        found.pop()
    }

    const LOAD: &str = "LDG.E.128.CONSTANT R4, desc[UR4][R2.64]";
    const STORE: &str = "STS.128 [R20], R4";
    const BARRIER: &str = "BAR.SYNC.DEFER_BLOCKING 0x0";
    const OPERAND: &str = "LDSM.16.M88.4 R8, [R21]";
    const PRODUCT: &str = "HMMA.16816.F32 R12, R8, R10, R12";
    const BACK: &str = "@P0 BRA 0x100";

    #[test]
    fn a_store_before_the_next_product_waits_in_turn() {
        let turn = only(&[LOAD, BARRIER, STORE, BARRIER, OPERAND, PRODUCT, BACK]).unwrap();
        assert_eq!((turn.way, turn.is_in_turn()), (Way::Registers, true));
        assert_eq!((turn.copies, turn.stores), (vec![0], vec![2]));
        assert_eq!(
            turn.waiting,
            [6, 0, 1, 2, 3, 4],
            "behind the product, up to the operand's load"
        );
        let ahead = only(&[STORE, BARRIER, LOAD, OPERAND, PRODUCT, BACK]).unwrap();
        assert!(!ahead.is_in_turn(), "the product stands between the load and the store");
    }

    #[test]
    fn what_is_put_into_another_order_is_waited_for_up_to_the_product() {
        let (read, product) = ("LDS.64 R6, [R22]", "HGMMA.64x64x16.F32 R12, gdesc[UR8], R12");
        let code = [LOAD, STORE, BARRIER, read, "STS.64 [R23], R6", BARRIER, product, BACK];
        assert_eq!(
            only(&code).map(|turn| turn.waiting.len()),
            Some(8),
            "all but the product, and it"
        );
    }

    #[test]
    fn asynchronous_copies_wait_in_turn_where_none_may_stay_on_its_way() {
        let copy = "LDGSTS.E.BYPASS.128 [R20], desc[UR4][R2.64]";
        let of = |wait: &str| {
            only(&[copy, "LDGDEPBAR", wait, BARRIER, OPERAND, PRODUCT, BARRIER, BACK]).unwrap()
        };
        let turn = of("DEPBAR.LE SB0, 0x0");
        assert_eq!((turn.way, turn.is_in_turn()), (Way::Async, true));
        assert_eq!(turn.waiting, [6, 7, 0, 1, 2, 3, 4]);
        assert!(!of("DEPBAR.LE SB0, 0x2").is_in_turn(), "two groups may stay");
        let ahead = only(&["DEPBAR.LE SB0, 0x0", BARRIER, copy, OPERAND, PRODUCT, BACK]).unwrap();
        assert!(!ahead.is_in_turn(), "copied while the piece before is multiplied");
    }

    #[test]
    fn bulk_copies_wait_at_a_barrier_in_shared_memory() {
        let copy = "UBLKCP.S.G [UR14], [UR8], UR10";
        let wait = "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR14+0x9000], R3";
        let turn = only(&[copy, wait, OPERAND, PRODUCT, BARRIER, BACK]).unwrap();
        assert_eq!((turn.way, turn.is_in_turn()), (Way::Bulk, true));
        let ring = only(&[wait, BARRIER, copy, OPERAND, PRODUCT, BACK]).unwrap();
        assert!(!ring.is_in_turn());
    }

    #[test]
    fn products_without_copies_are_no_staged_loop() {
        assert_eq!(only(&[OPERAND, PRODUCT, BACK]), None);
    }

    #[test]
    fn loads_are_found_behind_conversions() {
        let narrow = ["LDG.E.U16 R4, desc[UR4][R2.64]", "LDG.E.U16 R5, desc[UR4][R2.64]"];
        let rest = ["PRMT R6, R4, 0x5410, R5", "STS [R20], R6", OPERAND, PRODUCT, BACK];
        let turn = only(&[&narrow[..], &rest[..]].concat()).unwrap();
        assert_eq!(turn.copies, [0, 1]);
    }

    #[test]
    fn the_smallest_loop_around_copies_and_products_is_the_staged_one() {
        let inner = [LOAD, STORE, BARRIER, OPERAND, PRODUCT, "@P0 BRA 0x110"];
        let around = ["IADD3 R22, R22, 0x1, RZ", "@P1 BRA 0x100"];
        let code = [&["MOV R20, R22"][..], &inner[..], &around[..]].concat();
        assert_eq!(only(&code).unwrap().inside, [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn copies_are_those_of_the_loop_that_come_in() {
        // The first piece is loaded before the loop, the next ones in it.
        let turn = [STORE, BARRIER, LOAD, OPERAND, PRODUCT, "@P0 BRA 0x110"];
        assert_eq!(only(&[&[LOAD][..], &turn[..]].concat()).unwrap().copies, [3]);
        assert_eq!(only(&["UTMASTG.2D [UR8], [UR14]", OPERAND, PRODUCT, BACK]), None, "results");
    }

    const GROUP_PRODUCT: &str = "HGMMA.64x64x16.F32 R24, gdesc[UR12].tnspB, R24, gsb0";

    #[test]
    fn products_of_a_warp_group_are_over_where_they_are_waited_for() {
        let done = "WARPGROUP.DEPBAR.LE gsb0, 0x0";
        let turn = only(&[LOAD, STORE, BARRIER, GROUP_PRODUCT, done, BACK]).unwrap();
        assert!(turn.is_in_turn());
        assert_eq!(turn.waiting, [5, 0, 1, 2, 3], "behind the wait for the products");
        let beside = only(&[GROUP_PRODUCT, LOAD, done, STORE, BARRIER, BACK]).unwrap();
        assert!(!beside.is_in_turn(), "loaded while the product runs");
        let younger = "WARPGROUP.DEPBAR.LE gsb0, 0x1";
        let one_runs_on = only(&[LOAD, STORE, BARRIER, GROUP_PRODUCT, younger, BACK]).unwrap();
        assert!(!one_runs_on.is_in_turn());
        let never = only(&[LOAD, STORE, BARRIER, GROUP_PRODUCT, BACK]).unwrap();
        assert!(!never.is_in_turn(), "waited for behind the loop");
    }

    #[test]
    fn one_operand_may_come_ahead_and_the_other_in_turn() {
        let copy = "LDGSTS.E.BYPASS.128 [R22], desc[UR4][R6.64]";
        let wait = "DEPBAR.LE SB0, 0x2";
        let both = only(&[copy, wait, LOAD, STORE, BARRIER, OPERAND, PRODUCT, BACK]).unwrap();
        assert_eq!((both.copies.as_slice(), both.in_turn.as_slice()), (&[0, 2][..], &[2][..]));
        assert!(!both.is_in_turn());
    }

    #[test]
    fn three_steps_may_stand_between_a_load_and_its_store() {
        let staged = |steps: usize| {
            let mut code = vec!["LDG.E R4, desc[UR4][R2.64]"];
            code.extend(vec!["PRMT R4, R4, 0x5410, R9"; steps]);
            code.extend(["STS [R20], R4", BARRIER, OPERAND, PRODUCT, BACK]);
            only(&code).is_some()
        };
        assert!(staged(3) && !staged(4));
    }

    #[test]
    fn what_was_loaded_before_the_loop_is_no_copy_of_a_turn() {
        let copy = "LDGSTS.E.BYPASS.128 [R20], desc[UR4][R2.64]";
        let code = [LOAD, copy, STORE, "DEPBAR.LE SB0, 0x0", OPERAND, PRODUCT, "@P0 BRA 0x110"];
        let turn = only(&code).unwrap();
        assert_eq!((turn.copies, turn.stores), (vec![1], vec![]));
    }
}
