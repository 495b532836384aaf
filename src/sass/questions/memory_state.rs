//! State that a loop keeps in global memory: a thread loads what it stored itself a statement or a turn before.
//!
//! An address is the same in every turn where nothing in the loop makes its registers, or makes them anew from such that
//! nothing makes. One that a constant is added to in every turn is followed as well: the element before the one that is
//! stored is what the last turn stored. And so is one that an inner loop moves on and that starts over in every turn: each
//! turn comes to the same elements again, as the steps of a simulation do.

mod address;

use std::collections::BTreeMap;

use crate::sass::code::blocks::Loop;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;

use address::{Address, Line, address};

/// A value of a thread that a loop keeps in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryState {
    /// The loads that see a store of the same thread, ascending.
    pub loads: Vec<usize>,
    /// The stores of what is worked out from it, ascending.
    pub stores: Vec<usize>,
    /// True where each turn stores to another place, as a running sum does: the stores are results.
    pub moves: bool,
    /// Bytes per lane.
    pub bytes: u8,
    /// True where a turn loads what an earlier one stored, and not only what it stored itself.
    pub is_carried: bool,
    /// True where an inner loop runs through it: an element for each of its turns.
    pub is_array: bool,
}

/// What a loop keeps in memory.
#[must_use]
pub fn kept(listing: &Listing, reaching: &mut Reaching, of: &Loop) -> Vec<MemoryState> {
    let flow = &listing.sass.flow;
    let places = flow.places(of);
    let (mut loads, mut stores): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for at in places.filter(|&at| listing.executed(at) > 0.0) {
        match listing.sass.entries[at].family {
            Family::Load(Space::Global | Space::Generic) => loads.push(at),
            Family::Store(Space::Global | Space::Generic) => stores.push(at),
            _ => {}
        }
    }
    if loads.is_empty() || stores.is_empty() {
        return Vec::new();
    }
    let addresses = |reaching: &mut Reaching, of_accesses: &[usize]| -> Vec<(usize, Address)> {
        let accesses = of_accesses.iter().filter(|&&at| is_of_one_thread(listing.text(at)));
        accesses.filter_map(|&at| Some((at, address(listing, reaching, of, at)?))).collect()
    };
    let mut stores = by_address(listing, addresses(reaching, &stores));
    let loads = if stores.is_empty() { Vec::new() } else { addresses(reaching, &loads) };
    let mut states: Vec<MemoryState> = Vec::new();
    let mut state_of: BTreeMap<Line, usize> = BTreeMap::new();
    for (load, from) in loads {
        let bytes = listing.sass.entries[load].width;
        let (of_turn_before, line) = (from.a_turn_on(), from.line());
        let is_array = from.is_of_inner_loop();
        // What it loads in the next turn may be stored at any place of this one.
        let mut seen = vec![(of_turn_before, usize::MAX)];
        if from.step != 0 {
            seen.push((from, load));
        }
        seen.retain(|(to, end)| stores.get(to).is_some_and(|there| there.until(*end) > 0));
        let are_alike = |(to, end): &(Address, usize)| stores[to].are_of(bytes, *end);
        if seen.is_empty() || !seen.iter().all(are_alike) {
            continue;
        }
        let place = *state_of.entry(line).or_insert_with(|| {
            let moves = seen[0].0.step != 0;
            let (loads, stores) = (Vec::new(), Vec::new());
            states.push(MemoryState { loads, stores, moves, bytes, is_carried: moves, is_array });
            states.len() - 1
        });
        states[place].loads.push(load);
        for (to, end) in &seen {
            let there = stores.get_mut(to).into_iter();
            states[place].stores.extend(there.flat_map(|there| there.take(*end)));
        }
    }
    let of_states = loads_of(listing, &states);
    // One value of a state may be made of another one.
    states.retain_mut(|state| {
        state.stores.sort_unstable();
        let first = state.loads[0];
        state.is_carried |= state.stores.first().is_some_and(|&store| first < store);
        state.stores.retain(|&store| is_made_of(listing, reaching, of, store, &of_states));
        !state.stores.is_empty()
    });
    states
}

/// The other loads of the loop that are issued only behind the first use of the state, in the same turn: instructions issue
/// in order, and loads can't be moved ahead of stores that may change what they load. Those behind other stores are left
/// out, as these stay.
#[must_use]
pub fn behind(
    listing: &Listing,
    reaching: &mut Reaching,
    of: &Loop,
    states: &[MemoryState],
) -> Vec<usize> {
    let sass = listing.sass;
    let of_state = loads_of(listing, states);
    let mut going = Marks::new(sass.entries.len());
    let that_go = states.iter().filter(|state| !state.moves).flat_map(|state| &state.stores);
    that_go.for_each(|&at| _ = going.insert(at));
    let places = sass.flow.places(of);
    let mut has_waited = false;
    let mut found = Vec::new();
    for at in places.filter(|&at| listing.executed(at) > 0.0) {
        match sass.entries[at].family {
            Family::Load(Space::Global | Space::Generic) if has_waited && !of_state[at] => {
                found.push(at);
            }
            Family::Store(Space::Global | Space::Generic) if !going[at] => break,
            _ => {}
        }
        has_waited |= sass
            .uses(at)
            .iter()
            .any(|each| reaching.definitions(at, *each).any(|maker| of_state[maker as usize]));
    }
    found
}

/// The loads of a loop whose addresses are the same in every turn, ascending.
#[must_use]
pub fn unchanged(listing: &Listing, reaching: &mut Reaching, of: &Loop) -> Vec<usize> {
    let places = listing.sass.flow.places(of);
    let mut is_unchanged = |at: &usize| {
        let is_load = matches!(
            listing.sass.entries[*at].family,
            Family::Load(Space::Global | Space::Generic)
        );
        is_load
            && listing.executed(*at) > 0.0
            && is_of_one_thread(listing.text(*at))
            && address(listing, reaching, of, *at)
                .is_some_and(|to| to.step == 0 && !to.is_of_inner_loop())
    };
    places.filter(&mut is_unchanged).collect()
}

/// False for accesses that are meant for other threads to see, or that nothing in the kernel writes.
fn is_of_one_thread(text: &str) -> bool {
    !["STRONG", "CONSTANT", "MMIO"].iter().any(|mark| text.contains(mark))
}

/// The stores to one address.
struct Stores {
    /// Ascending.
    places: Vec<usize>,
    /// Bytes per lane of the first.
    bytes: u8,
    /// How many from the first on write so many bytes.
    alike: usize,
    /// How many from the first on are a state's already.
    taken: usize,
}

impl Stores {
    /// How many stand before a place.
    fn until(&self, end: usize) -> usize {
        self.places.partition_point(|&at| at < end)
    }

    /// True where all before a place write so many bytes.
    fn are_of(&self, bytes: u8, end: usize) -> bool {
        self.bytes == bytes && self.until(end) <= self.alike
    }

    /// Those before a place that are not taken yet.
    fn take(&mut self, end: usize) -> Vec<usize> {
        let from = self.taken;
        self.taken = self.until(end).max(from);
        self.places[from..self.taken].to_vec()
    }
}

/// Stores by where they go.
fn by_address(listing: &Listing, stores: Vec<(usize, Address)>) -> BTreeMap<Address, Stores> {
    let mut found: BTreeMap<Address, Stores> = BTreeMap::new();
    for (store, to) in stores {
        let bytes = listing.sass.entries[store].width;
        let none = Stores { places: Vec::new(), bytes, alike: 0, taken: 0 };
        let there = found.entry(to).or_insert(none);
        if there.alike == there.places.len() && there.bytes == bytes {
            there.alike += 1;
        }
        there.places.push(store);
    }
    found
}

/// The loads of some states.
fn loads_of(listing: &Listing, states: &[MemoryState]) -> Marks {
    let mut loads = Marks::new(listing.sass.entries.len());
    states.iter().flat_map(|state| &state.loads).for_each(|&at| _ = loads.insert(at));
    loads
}

/// True where what is stored is worked out, through registers, from what some of these load in the loop.
fn is_made_of(
    listing: &Listing,
    reaching: &mut Reaching,
    of: &Loop,
    store: usize,
    loads: &Marks,
) -> bool {
    let sass = listing.sass;
    let mut seen = Marks::new(sass.entries.len());
    let mut open = vec![store];
    while let Some(at) = open.pop() {
        for each in sass.uses(at).iter().filter(|each| each.role != Role::Address) {
            for maker in reaching.definitions(at, *each).map(|maker| maker as usize) {
                if loads[maker] {
                    return true;
                }
                let goes_on = is_in(listing, of, maker) && !sass.entries[maker].family.is_memory();
                if goes_on && seen.insert(maker) {
                    open.push(maker);
                }
            }
        }
    }
    false
}

pub(super) fn is_in(listing: &Listing, of: &Loop, at: usize) -> bool {
    listing.sass.flow.is_in(of, at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// What a loop with this body keeps in memory.
    fn of(body: &[&str]) -> Vec<MemoryState> {
        let mut code = vec![("LDC.64 R2, c[0x0][0x210]", 8.0)];
        code.extend(body.iter().map(|text| (*text, 80.0)));
        code.extend([("@P0 BRA 0x110", 80.0), ("EXIT", 8.0)]);
        let launch = launch(&code);
        let listing = launch.listing().unwrap();
        kept(&listing, &mut Reaching::new(listing.sass), &listing.sass.flow.loops[0])
    }

    #[test]
    fn what_no_turn_moves_is_loaded_again() {
        let launch = launch(&[
            ("LDC.64 R2, c[0x0][0x210]", 8.0),
            ("LDG.E R4, desc[UR4][R2.64]", 80.0),
            ("LDG.E R5, desc[UR4][R6.64]", 80.0),
            ("IADD3 R6, P1, R6, 0x4, RZ", 80.0),
            ("IADD3.X R7, RZ, R7, RZ, P1, !PT", 80.0),
            ("@P0 BRA 0x110", 80.0),
            ("EXIT", 8.0),
        ]);
        let listing = launch.listing().unwrap();
        let of = &listing.sass.flow.loops[0];
        assert_eq!(unchanged(&listing, &mut Reaching::new(listing.sass), of), [1]);
    }

    #[test]
    fn a_value_that_is_loaded_changed_and_stored_in_place_is_state() {
        let load = "LDG.E R4, desc[UR4][R2.64]";
        let found = of(&[load, "FFMA R5, R4, R8, R9", "STG.E desc[UR4][R2.64], R5"]);
        let expected = MemoryState {
            loads: vec![1],
            stores: vec![3],
            moves: false,
            bytes: 4,
            is_carried: true,
            is_array: false,
        };
        assert_eq!(found, [expected]);
        // The address is made in every turn, of what stays the same.
        let address = "IMAD.WIDE R2, R0, R7, UR6";
        let made =
            of(&[address, load, address, "FFMA R5, R4, R8, R9", "STG.E desc[UR4][R2.64], R5"]);
        assert_eq!((&made[0].loads, &made[0].stores), (&vec![2], &vec![5]));
        let other = of(&[load, "FFMA R5, R4, R8, R9", "STG.E desc[UR4][R2.64+0x4], R5"]);
        assert!(other.is_empty(), "another place");
        let apart = of(&[load, "FFMA R5, R6, R8, R9", "STG.E desc[UR4][R2.64], R5"]);
        assert!(apart.is_empty(), "what is stored is made of something else");
        let flag = of(&[
            "LDG.E.STRONG.GPU R4, desc[UR4][R2.64]",
            "IADD3 R5, R4, 0x1, RZ",
            "STG.E.STRONG.GPU desc[UR4][R2.64], R5",
        ]);
        assert!(flag.is_empty(), "for others to see");
    }

    #[test]
    fn an_array_that_every_turn_runs_through_is_state() {
        let steps = |start: &'static str, load: &'static str, step: &'static str| {
            let launch = launch(&[
                ("LDC.64 R2, c[0x0][0x210]", 8.0),
                (start, 80.0),                        // 0x110
                ("IMAD.WIDE R6, R9, 0x4, R2", 800.0), // 0x120
                (load, 800.0),
                ("FFMA R5, R4, R8, R10", 800.0),
                ("STG.E desc[UR4][R6.64], R5", 800.0),
                (step, 800.0),
                ("@P1 BRA 0x120", 800.0),
                ("@P0 BRA 0x110", 80.0),
                ("EXIT", 8.0),
            ]);
            let listing = launch.listing().unwrap();
            let loops = &listing.sass.flow.loops;
            let outer = loops.iter().max_by_key(|each| each.blocks.len()).unwrap();
            kept(&listing, &mut Reaching::new(listing.sass), outer)
        };
        let (start, load, step) =
            ("MOV R9, R0", "LDG.E R4, desc[UR4][R6.64]", "IADD3 R9, R12, R9, RZ");
        let found = steps(start, load, step);
        assert!(found.len() == 1 && found[0].is_array && found[0].is_carried, "{found:?}");
        assert!(steps(start, "LDG.E R4, desc[UR4][R14.64]", step).is_empty(), "another array");
        assert!(steps("NOP", load, step).is_empty(), "goes on where the last turn ended");
        assert!(steps(start, load, "IADD3 R9, R5, R9, RZ").is_empty(), "data choose the step");
        assert!(steps("LDG.E R9, desc[UR4][R16.64]", load, step).is_empty(), "and the start");
    }

    #[test]
    fn values_may_be_made_of_each_other() {
        let found = of(&[
            "LDG.E R4, desc[UR4][R2.64]",
            "LDG.E R5, desc[UR4][R6.64]",
            "FADD R5, R5, R8",
            "STG.E desc[UR4][R2.64], R5",
            "STG.E desc[UR4][R6.64], R4",
        ]);
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn elements_that_are_changed_in_place_are_none() {
        let next = ["IADD3 R2, P1, R2, 0x4, RZ", "IADD3.X R3, RZ, R3, RZ, P1, !PT"];
        let change = |load, store| of(&[&[load, "FFMA R5, R4, R8, R9", store], &next[..]].concat());
        let here = "LDG.E R4, desc[UR4][R2.64]";
        assert!(change(here, "STG.E desc[UR4][R2.64], R5").is_empty());
        // Made of the one before, which the last turn stored.
        let before = change("LDG.E R4, desc[UR4][R2.64+-0x4]", "STG.E desc[UR4][R2.64], R5");
        assert!(before.len() == 1 && before[0].moves && before[0].is_carried, "{before:?}");
        let ahead = change(here, "STG.E desc[UR4][R2.64+0x4], R5");
        assert_eq!(ahead.len(), 1);
        let after = change(here, "STG.E desc[UR4][R2.64+-0x4], R5");
        assert!(after.is_empty(), "what is stored is behind");
        let chosen = of(&[
            "LDG.E R2, desc[UR4][R10.64]",
            here,
            "FFMA R5, R4, R8, R9",
            "STG.E desc[UR4][R2.64], R5",
        ]);
        assert!(chosen.is_empty(), "data chooses the place");
    }

    #[test]
    fn loads_behind_the_use_of_the_state_are_held_up() {
        let code = [
            ("LDC.64 R2, c[0x0][0x210]", 8.0),
            ("LDG.E R4, desc[UR4][R2.64]", 80.0), // 0x110
            ("LDG.E R6, desc[UR4][R12.64]", 80.0),
            ("FFMA R5, R4, R8, R6", 80.0),
            ("STG.E desc[UR4][R2.64], R5", 80.0),
            ("LDG.E R7, desc[UR4][R14.64]", 80.0), // 5
            ("STG.E desc[UR4][R16.64], R7", 80.0),
            ("LDG.E R9, desc[UR4][R18.64]", 80.0), // may be what was stored before it
            ("@P0 BRA 0x110", 80.0),
            ("EXIT", 8.0),
        ];
        let launch = launch(&code);
        let listing = launch.listing().unwrap();
        let (of, mut reaching) = (&listing.sass.flow.loops[0], Reaching::new(listing.sass));
        let states = kept(&listing, &mut reaching, of);
        assert_eq!(behind(&listing, &mut reaching, of, &states), [5]);
    }

    #[test]
    fn what_a_turn_stores_before_it_loads_is_not_carried() {
        let found = of(&[
            "STG.E desc[UR4][R2.64], R7",
            "LDG.E R4, desc[UR4][R2.64]",
            "FFMA R5, R4, R8, R9",
            "STG.E desc[UR4][R2.64], R5",
        ]);
        assert_eq!(found.len(), 1);
        assert!(!found[0].is_carried && found[0].stores == [4], "{found:?}");
    }
}
