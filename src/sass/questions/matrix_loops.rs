//! Loops that multiply on the tensor units: what brings their operands, and whether it runs ahead.

use crate::sass::code::listing::Listing;
use crate::sass::code::sass::Sass;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::thresholds::REARRANGING_STEPS;

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

/// The executed instructions of a loop, those of loops in it included.
#[must_use]
pub fn members(listing: &Listing, of: usize) -> Vec<usize> {
    let flow = &listing.sass.flow;
    let blocks = flow.loops[of].blocks.iter().map(|&block| &flow.blocks[block as usize]);
    blocks
        .flat_map(|block| block.start..block.end)
        .filter(|&index| listing.executed(index) > 0.0)
        .collect()
}

/// True for an executed matrix instruction whose operands are a warp's registers. Those of warp groups and
/// of tensor memory read shared memory themselves and run beside the warp.
#[must_use]
pub fn is_warp_product(listing: &Listing, index: usize) -> bool {
    is_executed_as(listing, index, &["HMMA", "IMMA", "DMMA", "BMMA", "QMMA", "OMMA"])
}

/// True for an executed matrix instruction of a warp group: it reads its second operand, and often both, from
/// shared memory, and runs on while the warps go on to [`waits_for_group`].
fn is_group_product(listing: &Listing, index: usize) -> bool {
    is_executed_as(listing, index, &["HGMMA", "IGMMA", "QGMMA", "BGMMA"])
}

/// True for an executed matrix instruction of a warp or of a warp group.
fn is_product(listing: &Listing, index: usize) -> bool {
    is_warp_product(listing, index) || is_group_product(listing, index)
}

/// True for an executed instruction of the tensor units with one of these names.
fn is_executed_as(listing: &Listing, index: usize, names: &[&str]) -> bool {
    listing.sass.entries[index].family == Family::Tensor
        && listing.executed(index) > 0.0
        && names.iter().any(|name| opcode(listing, index).starts_with(name))
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
        let is_product = |at: usize| is_product(listing, at);
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
        let way = |copy: usize| match opcode(listing, copy) {
            opcode if opcode.starts_with("LDGSTS") => Way::Async,
            _ if sass.entries[copy].family == Family::AsyncCopy => Way::Bulk,
            _ => Way::Registers,
        };
        let ends_wait = |copy: usize, at: usize| match way(copy) {
            Way::Registers => stores.contains(&at),
            Way::Async => waits_for_all(listing, at),
            Way::Bulk => opcode(listing, at).starts_with("SYNCS.PHASECHK"),
        };
        let is_waited_for = |copy: usize| {
            round(&inside, copy)
                .find(|&at| is_product(at) || ends_wait(copy, at))
                .is_some_and(|at| !is_product(at))
        };
        let last = inside.iter().copied().rfind(|&at| is_product(at))?;
        let finished = finished(listing, &inside, last, &copies);
        let in_turn = copies
            .iter()
            .copied()
            .filter(|&copy| finished.is_some() && is_waited_for(copy))
            .collect();
        let uses =
            |at: usize| is_product(at) || sass.entries[at].family == Family::Load(Space::Shared);
        let behind: Vec<usize> = round(&inside, finished.unwrap_or(last)).collect();
        let first_use = behind.iter().position(|&at| uses(at)).map_or(behind.len(), |at| at + 1);
        let waiting = behind[..first_use].to_vec();
        let way = copies.iter().map(|&copy| way(copy)).min()?;
        Some(Self { inside, copies, stores, way, in_turn, waiting })
    }

    /// True where each copy is waited for before the next product.
    #[must_use]
    pub fn is_in_turn(&self) -> bool {
        self.in_turn.len() == self.copies.len()
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
    opcode(listing, index).starts_with("DEPBAR") && text.trim_end_matches(' ').ends_with(", 0x0")
}

/// True for a wait that leaves no product of the warp group running.
fn waits_for_group(listing: &Listing, index: usize) -> bool {
    let text = listing.text(index);
    opcode(listing, index).starts_with("WARPGROUP.DEPBAR") && text.trim_end().ends_with(", 0x0")
}

/// The opcode with its modifiers.
fn opcode<'a>(listing: &Listing<'a>, index: usize) -> &'a str {
    let mut words = listing.text(index).split_whitespace();
    words.find(|word| !word.starts_with('@')).unwrap_or_default()
}

/// The loads from global memory whose values a store takes, whether or not something rearranges or converts
/// them on the way.
pub(super) fn loads_behind(sass: &Sass, reaching: &mut Reaching, index: usize) -> Vec<usize> {
    let is_load = |family| matches!(family, Family::Load(Space::Global | Space::Generic));
    let mut loads = Vec::new();
    let mut open = vec![(index, 0_u32)];
    while let Some((at, steps)) = open.pop() {
        for each in sass.uses(at).iter().filter(|each| each.role == Role::Data) {
            for from in
                reaching.definitions(at, *each).map(|from| from as usize).collect::<Vec<_>>()
            {
                let family = sass.entries[from].family;
                if is_load(family) {
                    loads.push(from);
                } else if f64::from(steps) < REARRANGING_STEPS.value && rearranges(family) {
                    open.push((from, steps + 1));
                }
            }
        }
    }
    loads
}

/// True for what changes the form of a value.
pub(super) fn rearranges(family: Family) -> bool {
    matches!(
        family,
        Family::HalfConvert
            | Family::Convert
            | Family::Move
            | Family::Integer
            | Family::IntegerMultiply
    )
}

/// What a kernel loads for its matrix instructions, over all its loops with such.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operands {
    /// The matrix instructions.
    pub products: Vec<usize>,
    /// The loads that bring their operands to registers: from shared memory, or where there are none there,
    /// from global memory.
    pub loads: Vec<usize>,
    /// The executed instructions of their loops and of the loops around them that copy, ascending.
    pub inside: Vec<usize>,
}

/// What is loaded for a warp's matrix instructions; `None` where no loop has such.
#[must_use]
pub fn operand_loads(listing: &Listing) -> Option<Operands> {
    let sass = listing.sass;
    let mut products = Vec::new();
    let mut loops: Vec<usize> = Vec::new();
    for index in (0..sass.entries.len()).filter(|&at| is_warp_product(listing, at)) {
        if let Some(of) = sass.flow.innermost(index) {
            products.push(index);
            if !loops.contains(&of) {
                loops.push(of);
            }
        }
    }
    let mut around: Vec<usize> = loops.iter().flat_map(|&of| members(listing, of)).collect();
    let of = |space: Space| -> Vec<usize> {
        let is_load = |at: &usize| sass.entries[*at].family == Family::Load(space);
        around.iter().copied().filter(is_load).collect()
    };
    let mut loads = of(Space::Shared);
    if loads.is_empty() {
        loads = of(Space::Global);
    }
    if products.is_empty() || loads.is_empty() {
        return None;
    }
    around.extend(staged(listing).into_iter().flat_map(|each| each.inside));
    around.sort_unstable();
    around.dedup();
    Some(Operands { products, loads, inside: around })
}

impl Operands {
    /// Bytes per lane of what a matrix instruction multiplies, its sums left out.
    #[must_use]
    pub fn operand_bytes(&self, listing: &Listing, index: usize) -> f64 {
        let sass = listing.sass;
        let read = sass.uses(index).iter().filter(|each| each.role == Role::Data).count();
        4.0 * read.saturating_sub(sass.defs(index).len()) as f64
    }
}

/// Values that a loop turns into the operands of its matrix instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversions {
    /// The instructions that convert or put together what was loaded.
    pub conversions: Vec<usize>,
    /// Those of them whose results are operands: a register each.
    pub last: Vec<usize>,
    /// The loads of what is converted.
    pub loads: Vec<usize>,
    /// True where floats are rounded; else halves or bytes are put together.
    pub rounds: bool,
}

/// Operands of a warp's matrix instructions that the same loop rounds from floats, or puts together from
/// narrower loads; `None` where none are. Narrow numbers that are widened, and values that the loop itself
/// works out, need their conversions and are left out.
#[must_use]
pub fn conversions(listing: &Listing) -> Option<Conversions> {
    let sass = listing.sass;
    let mut reaching = Reaching::new(sass);
    let mut found =
        Conversions { conversions: Vec::new(), last: Vec::new(), loads: Vec::new(), rounds: false };
    for product in (0..sass.entries.len()).filter(|&at| is_product(listing, at)) {
        let Some(around) = sass.flow.innermost(product) else { continue };
        let uses: Vec<_> =
            sass.uses(product).iter().filter(|each| each.role == Role::Data).copied().collect();
        for each in uses {
            let made: Vec<usize> =
                reaching.definitions(product, each).map(|from| from as usize).collect();
            for last in made {
                if found.last.contains(&last) || sass.flow.innermost(last) != Some(around) {
                    continue;
                }
                let Some((chain, loads)) = narrowed(listing, &mut reaching, last) else { continue };
                found.rounds |= rounds(listing, last);
                found.last.push(last);
                found.conversions.extend(chain);
                found.loads.extend(loads);
            }
        }
    }
    for list in [&mut found.conversions, &mut found.last, &mut found.loads] {
        list.sort_unstable();
        list.dedup();
    }
    (!found.last.is_empty()).then_some(found)
}

/// True for a rounding of floats to something narrower.
fn rounds(listing: &Listing, index: usize) -> bool {
    let opcode = opcode(listing, index);
    opcode.starts_with("F2FP") && opcode.contains(".F32")
}

/// A rounding of loaded floats, or a permutation that puts narrow loads together, with what stands before it
/// back to the loads.
fn narrowed(
    listing: &Listing,
    reaching: &mut Reaching,
    last: usize,
) -> Option<(Vec<usize>, Vec<usize>)> {
    let sass = listing.sass;
    let rounds = rounds(listing, last);
    if !rounds && !opcode(listing, last).starts_with("PRMT") {
        return None;
    }
    let (mut chain, mut loads) = (vec![last], Vec::new());
    let mut open = vec![(last, 0_u32)];
    while let Some((at, steps)) = open.pop() {
        for each in sass.uses(at).iter().filter(|each| each.role == Role::Data) {
            let made: Vec<usize> =
                reaching.definitions(at, *each).map(|from| from as usize).collect();
            for from in made {
                let entry = &sass.entries[from];
                match entry.family {
                    Family::Load(_) if rounds == (entry.width >= 4) => loads.push(from),
                    Family::Move | Family::Integer | Family::IntegerMultiply
                        if f64::from(steps) < REARRANGING_STEPS.value && from != at =>
                    {
                        if !chain.contains(&from) {
                            chain.push(from);
                            open.push((from, steps + 1));
                        }
                    }
                    _ => return None,
                }
            }
        }
    }
    (!loads.is_empty()).then_some((chain, loads))
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

    fn converted(code: &[&str]) -> Option<Conversions> {
        let code: Vec<(&str, f64)> = code.iter().map(|text| (*text, 1.0)).collect();
        conversions(&launch(&code).listing().unwrap())
    }

    #[test]
    fn what_is_as_wide_as_it_is_multiplied_needs_no_conversion() {
        let product = "HMMA.16816.F32 R24, R8, R12, R24";
        let put = |load| converted(&[load, "PRMT R12, R4, 0x5410, R4", product, BACK]).is_some();
        assert!(put("LDS.U16 R4, [R20]") && !put("LDS R4, [R20]"));
        let unpacked = ["LDS R4, [R20]", "F2FP.F16.E4M3.UNPACK_B R12, R4", product, BACK];
        assert_eq!(converted(&unpacked), None, "bytes that become halves");
        let rounded = "F2FP.F16.F32.PACK_AB R12, R5, R4";
        assert!(converted(&["LDS.64 R4, [R20]", rounded, product, BACK]).is_some());
        let once = ["LDS.64 R4, [R20]", rounded, product, "@P0 BRA 0x120"];
        assert_eq!(converted(&once), None, "rounded before the loop");
    }

    #[test]
    fn operands_may_come_from_global_memory_at_once() {
        let code = [("LDG.E.128 R8, desc[UR4][R2.64]", 1.0), (PRODUCT, 1.0), (BACK, 1.0)];
        let launch = launch(&code);
        let found = operand_loads(&launch.listing().unwrap()).unwrap();
        assert_eq!((found.products, found.loads), (vec![1], vec![0]));
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
}
