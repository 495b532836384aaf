//! Stores to one address in a row, of which only the last one counts.
//!
//! A result that is built up in memory is stored after each step. As far as the compiler can tell each store may change what the next
//! step loads, so that loads stay behind it, and what was loaded before is loaded again. Asked of code without branches, in which one
//! step follows the other: a loop that the compiler has unrolled. An address is the same where the same instructions made its registers.

use foldhash::{HashMap, HashMapExt};

use crate::sass::code::blocks::Block;
use crate::sass::code::listing::Listing;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;

/// What a row of stores holds up.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StoredAgain {
    /// Stores that a later one of the same thread writes over, ascending.
    pub overwritten: Vec<usize>,
    /// Loads behind the first of them of what the thread had loaded before, ascending.
    pub repeated: Vec<usize>,
    /// The other loads between the first and the last store of a row, ascending, each with the share of its waits that goes where all
    /// are issued together, 0 to 1.
    pub held_up: Vec<(usize, f64)>,
    /// Into how many groups, one behind the other, the longest row divides its loads.
    pub groups: usize,
}

/// Where an access goes: its address as it is written, and the instructions that made the registers in there.
type Place<'a> = (&'a str, Vec<u32>);

/// The rows of stores; `None` where there are none.
#[must_use]
pub fn stored_again(listing: &Listing) -> Option<StoredAgain> {
    let mut reaching = Reaching::with_guards(listing.sass);
    let mut found = StoredAgain::default();
    for block in &listing.sass.flow.blocks {
        if block.start < block.end && listing.executed(block.start) > 0.0 {
            for part in parts(listing, block) {
                add(listing, &mut reaching, &part, &mut found);
            }
        }
    }
    (!found.overwritten.is_empty()).then_some(found)
}

/// The accesses of global memory in a block of code, parted where other threads may come in between.
fn parts(listing: &Listing, block: &Block) -> Vec<Vec<usize>> {
    let is_access = |at: &usize| {
        matches!(
            listing.sass.entries[*at].family,
            Family::Load(Space::Global) | Family::Store(Space::Global)
        )
    };
    // A function may store as well.
    let parts_them = |at: &usize| {
        let text = listing.text(*at);
        listing.meets_others(*at) || text.contains("STRONG") || text.contains("CALL")
    };
    let places: Vec<usize> = (block.start..block.end).collect();
    let of_part = |part: &[usize]| part.iter().copied().filter(is_access).collect();
    let mut parts: Vec<Vec<usize>> = places.split(parts_them).map(of_part).collect();
    parts.retain(|part| part.len() > 1);
    parts
}

/// Stores in a row that all go to one address.
struct Row<'a> {
    place: Place<'a>,
    /// Ascending.
    stores: Vec<usize>,
    repeated: Vec<usize>,
    held_up: Vec<usize>,
    /// Groups of loads, each in front of a store.
    groups: usize,
    /// True where the first store has one in front of it.
    begins_with_loads: bool,
}

impl<'a> Row<'a> {
    fn new(place: Place<'a>, store: usize, begins_with_loads: bool) -> Self {
        Self {
            place,
            stores: vec![store],
            repeated: Vec::new(),
            held_up: Vec::new(),
            groups: usize::from(begins_with_loads),
            begins_with_loads,
        }
    }

    /// True where a store of so many bytes by all threads goes where the others went.
    fn goes_on(&self, listing: &Listing, store: usize, to: &Place) -> bool {
        let entries = &listing.sass.entries;
        let is_as_wide =
            self.stores.iter().all(|&before| entries[before].width == entries[store].width);
        self.place == *to && is_as_wide && !entries[store].conditional
    }

    /// Adds what the row holds up to what was found, unless no loads stand between its stores.
    fn close(mut self, found: &mut StoredAgain) {
        if self.stores.len() < 2 || self.groups < 2 {
            return;
        }
        let last = self.stores.pop();
        let is_between = |at: &usize| Some(*at) < last;
        self.held_up.retain(is_between);
        self.repeated.retain(is_between);
        // One group is waited for in any case: the one in front of the row, or the first one in it.
        let goes = if self.begins_with_loads { 1.0 } else { 1.0 - 1.0 / self.groups as f64 };
        found.held_up.extend(self.held_up.into_iter().map(|at| (at, goes)));
        found.overwritten.append(&mut self.stores);
        found.repeated.append(&mut self.repeated);
        found.groups = found.groups.max(self.groups);
    }
}

/// Adds what such accesses have of rows in which all stores go to one address.
fn add(listing: &Listing, reaching: &mut Reaching, part: &[usize], found: &mut StoredAgain) {
    let entries = &listing.sass.entries;
    let mut loaded: HashMap<Place, usize> = HashMap::new();
    let mut row: Option<Row> = None;
    // The last store of the row before, and whether loads stand in front of the next one.
    let (mut stored_elsewhere, mut has_loads) = (0, false);
    for &at in part {
        let place = place(listing, reaching, at);
        if matches!(entries[at].family, Family::Store(_)) {
            match &mut row {
                Some(row) if row.goes_on(listing, at, &place) => {
                    row.groups += usize::from(has_loads);
                    row.stores.push(at);
                }
                _ => {
                    let before = row.replace(Row::new(place, at, has_loads));
                    if let Some(before) = before {
                        stored_elsewhere = before.stores.last().copied().unwrap_or(0);
                        before.close(found);
                    }
                }
            }
            has_loads = false;
            continue;
        }
        has_loads = true;
        // What another address's store may have changed since is loaded anew.
        let first = *loaded.get(&place).filter(|&&first| first >= stored_elsewhere).unwrap_or(&at);
        loaded.insert(place, first);
        if let Some(row) = &mut row {
            let is_repeated = first != at && entries[first].width >= entries[at].width;
            if is_repeated { &mut row.repeated } else { &mut row.held_up }.push(at);
        }
    }
    if let Some(row) = row {
        row.close(found);
    }
}

/// Where an access goes.
fn place<'a>(listing: &Listing<'a>, reaching: &mut Reaching, at: usize) -> Place<'a> {
    let text = listing.text(at).rsplit_once('[').unwrap_or_default().1;
    let addresses = listing.sass.uses(at).iter().filter(|each| each.role == Role::Address);
    let makers = addresses.flat_map(|each| {
        // Who makes an operand ends with a number that no instruction has.
        let made = reaching.definitions(at, *each).collect::<Vec<u32>>();
        made.into_iter().chain([u32::MAX])
    });
    (text.split(']').next().unwrap_or_default(), makers.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// Two steps of a sum that is kept at `R2`, with this store and this between them.
    fn sum(store: &'static str, between: &'static str) -> Option<StoredAgain> {
        let launch = launch(&[
            ("LDC.64 R2, c[0x0][0x210]", 8.0),
            ("STG.E desc[UR4][R2.64], RZ", 8.0), // 1
            ("LDG.E R0, desc[UR4][R4.64]", 8.0),
            ("LDG.E R6, desc[UR4][R8.64]", 8.0),
            ("FFMA R10, R0, R6, RZ", 8.0),
            (store, 8.0), // 5
            (between, 8.0),
            ("LDG.E R0, desc[UR4][R4.64]", 8.0),
            ("LDG.E R7, desc[UR4][R8.64+0x4]", 8.0),
            ("FFMA R10, R0, R7, R10", 8.0),
            ("STG.E desc[UR4][R2.64], R10", 8.0), // 10
            ("LDG.E R0, desc[UR4][R4.64+0x8]", 8.0),
            ("EXIT", 8.0),
        ]);
        stored_again(&launch.listing().unwrap())
    }

    const STORE: &str = "STG.E desc[UR4][R2.64], R10";

    #[test]
    fn all_stores_but_the_last_go_and_what_they_hold_up_is_told() {
        let found = sum(STORE, "NOP").unwrap();
        assert_eq!((found.overwritten, found.repeated), (vec![1, 5], vec![7]));
        assert_eq!((found.held_up, found.groups), (vec![(2, 0.5), (3, 0.5), (8, 0.5)], 2));
    }

    #[test]
    fn a_store_elsewhere_and_other_threads_end_a_row() {
        assert_eq!(sum("STG.E desc[UR4][R2.64+0x4], R10", "NOP"), None);
        for meets in ["BAR.SYNC.DEFER_BLOCKING 0x0", "WARPSYNC 0xffffffff", "CALL.REL.NOINC 0x900"]
        {
            assert_eq!(sum(STORE, meets), None, "one step each: {meets}");
        }
        assert_eq!(sum(STORE, "LDC.64 R2, c[0x0][0x218]"), None, "another address");
        let some = sum("@P0 STG.E desc[UR4][R2.64], R10", "NOP").unwrap();
        assert_eq!(some.overwritten, [5], "what some threads store, and all write over");
    }
}
