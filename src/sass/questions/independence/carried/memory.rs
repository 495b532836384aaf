//! What turns hand on through memory: global, shared, and each thread's own.

use std::collections::{BTreeMap, BTreeSet};

use crate::sass::code::blocks::Loop;
use crate::sass::code::listing::Listing;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::{Role, destinations};
use crate::sass::questions::base_pointers::base_pointers;
use crate::sass::questions::memory_state;
use crate::sass::thresholds::MOST_FOLLOWED;

use super::walk::Carried;

/// What turns hand on through global memory: a thread loads what it stored in the turn before.
pub(super) fn carried_in_memory(
    listing: &Listing,
    reaching: &mut Reaching,
    of: &Loop,
) -> Vec<Carried> {
    let mut states = memory_state::kept(listing, reaching, of);
    states.retain(|state| state.is_carried);
    let mut makers = |store: usize| makers(listing, reaching, of, store);
    let carried = states.into_iter().map(|state| Carried {
        slot: None,
        definitions: state.stores.iter().flat_map(|&store| makers(store)).collect(),
        loads: state.loads,
    });
    carried.collect()
}

/// True where turns of a loop may load what earlier turns stored, as the steps of a recurrence over an array do: some load starts
/// from the same parameter as some store, and no store goes just where it does. Loops that change elements in place go there. Asked of
/// loops around another one, and of those in which threads meet: what any other hands on is seen by how its addresses move.
pub(super) fn may_read_what_turns_stored(listing: &Listing, of: &Loop) -> bool {
    let sass = listing.sass;
    let is_around_another = sass.flow.loops.iter().any(|each| {
        each.head != of.head
            && sass.flow.is_in(of, each.head)
            && each.blocks.len() < of.blocks.len()
    });
    let of_family = |family| {
        let happens = |&at: &usize| sass.entries[at].family == family && listing.executed(at) > 0.0;
        sass.flow.places(of).filter(happens).collect::<Vec<usize>>()
    };
    let stores = of_family(Family::Store(Space::Global));
    let meets = || sass.flow.places(of).any(|at| listing.is_block_barrier(at));
    if stores.is_empty() || !(is_around_another || meets()) {
        return false;
    }
    let reaching = &mut Reaching::with_guards(sass);
    let places: BTreeSet<Place> =
        stores.iter().map(|&at| Place::of(listing, reaching, at)).collect();
    let mut loads = of_family(Family::Load(Space::Global));
    loads.retain(|&at| {
        let makers = makers_of_address(listing, reaching, at);
        let moves = makers.iter().any(|&maker| sass.flow.is_in(of, maker as usize));
        moves && !places.contains(&Place::of(listing, reaching, at))
    });
    let mut bases = |accesses: &[usize]| base_pointers(listing, reaching, accesses);
    !bases(&stores).is_disjoint(&bases(&loads))
}

/// Where an access goes: what its address adds to registers, and what is in these.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::sass::questions::independence) struct Place<'a> {
    offset: &'a str,
    values: BTreeSet<Value<'a>>,
}

/// What an instruction makes, of what. Two that make the same of the same are one value: the compiler works some out twice.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Value<'a> {
    /// The opcode, its operands with only the signs of registers, and the instructions that make these.
    WorkedOut(&'a str, Vec<&'a str>, Vec<u32>),
    /// Only this instruction makes it.
    Made(u32),
}

impl<'a> Value<'a> {
    fn of(listing: &'a Listing, reaching: &mut Reaching, maker: u32) -> Self {
        let at = maker as usize;
        let entry = &listing.sass.entries[at];
        let instruction = Instruction::parse(listing.text(at))
            .filter(|_| !entry.family.is_memory() && !entry.conditional);
        let Some(instruction) = instruction else { return Self::Made(maker) };
        let fixed = instruction.operands.iter().skip(destinations(&instruction, entry.family));
        // Of a register its sign.
        let fixed = fixed.map(|operand| match operand.slot() {
            Some(_) => {
                operand.text.get(..1).filter(|sign| "-~!|".contains(sign)).unwrap_or_default()
            }
            None => operand.text,
        });
        let makers = listing.sass.uses(at).iter().flat_map(|each| {
            // Who makes an operand ends with a number that no instruction has.
            let made = reaching.definitions(at, *each).collect::<Vec<u32>>();
            made.into_iter().chain([u32::MAX])
        });
        let makers = makers.collect();
        let opcode = Instruction::opcode_of(listing.text(at)).unwrap_or_default();
        Self::WorkedOut(opcode, fixed.collect(), makers)
    }
}

impl<'a> Place<'a> {
    /// Of one access.
    pub(in crate::sass::questions::independence) fn of(
        listing: &'a Listing,
        reaching: &mut Reaching,
        access: usize,
    ) -> Self {
        let text = listing.text(access).rsplit_once('[').unwrap_or_default().1;
        let address = text.split(']').next().unwrap_or_default();
        let mut values = BTreeSet::new();
        for maker in makers_of_address(listing, reaching, access) {
            values.insert(Value::of(listing, reaching, maker));
        }
        Self { offset: address.split_once('+').unwrap_or_default().1, values }
    }
}

/// The instructions that make the registers in an access's address.
fn makers_of_address(listing: &Listing, reaching: &mut Reaching, access: usize) -> BTreeSet<u32> {
    let addresses = listing.sass.uses(access).iter().filter(|each| each.role == Role::Address);
    let mut makers = BTreeSet::new();
    for each in addresses {
        makers.extend(reaching.definitions(access, *each));
    }
    makers
}

/// True for a loop of such instructions that stores nothing on the way: what it leaves are its sums. Those of products on the
/// tensor units, and those of a softmax on the way, which scales them by exponentials of the largest value so far, can be
/// put together from parts. What earlier turns leave in shared memory are tiles of its operands, or the lanes' parts of a sum.
/// Any other loop that scales or compares is taken as a recurrence, whose turns may each be wanted.
pub(super) fn ends_in_sums(listing: &Listing, of: &Loop, of_kind: impl Fn(usize) -> bool) -> bool {
    let sass = listing.sass;
    let executed: Vec<usize> =
        sass.flow.places(of).filter(|&at| listing.executed(at) > 0.0).collect();
    let stores = |&at: &usize| {
        matches!(
            sass.entries[at].family,
            Family::Store(Space::Global) | Family::Atomic(Space::Global)
        )
    };
    executed.iter().any(|&at| of_kind(at)) && !executed.iter().any(stores)
}

/// What turns hand on through local memory: an array of the thread's own, or a register that was spilled, of which a turn reads a
/// place before it writes it. Such places may be sums like those in registers: the elements of an array that each turn adds to.
/// `None` where there are too many to follow, or where something else than the loop makes what is stored.
pub(super) fn carried_locally(
    listing: &Listing,
    reaching: &mut Reaching,
    of: &Loop,
) -> Option<Vec<Carried>> {
    let sass = listing.sass;
    let mut loads: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut written: BTreeSet<&str> = BTreeSet::new();
    let mut found: BTreeMap<&str, Carried> = BTreeMap::new();
    for at in sass.flow.places(of).filter(|&at| listing.executed(at) > 0.0) {
        let Some((_, place)) = listing.text(at).split_once('[') else { continue };
        let place = place.split(']').next().unwrap_or_default();
        match sass.entries[at].family {
            Family::Load(Space::Local) if !written.contains(place) => {
                loads.entry(place).or_default().push(at);
            }
            Family::Store(Space::Local) => {
                written.insert(place);
                let Some(loads) = loads.get(place) else { continue };
                let definitions = makers(listing, reaching, of, at);
                if definitions.is_empty() || found.len() >= MOST_FOLLOWED.whole() {
                    return None;
                }
                let carried = found.entry(place).or_insert_with(|| Carried {
                    slot: None,
                    definitions: Vec::new(),
                    loads: loads.clone(),
                });
                carried.definitions.extend(definitions);
            }
            _ => {}
        }
    }
    Some(found.into_values().collect())
}

/// The instructions of a loop that make what is stored.
fn makers(listing: &Listing, reaching: &mut Reaching, of: &Loop, store: usize) -> Vec<usize> {
    let sass = listing.sass;
    let data = sass.uses(store).iter().filter(|each| each.role == Role::Data);
    let made = data.flat_map(|each| {
        reaching.definitions(store, *each).map(|at| at as usize).collect::<Vec<_>>()
    });
    made.filter(|&at| sass.flow.is_in(of, at)).collect()
}

/// True for an atomic whose old value nobody takes, and which makes the same of several values in any order.
fn adds_up(listing: &Listing, at: usize) -> bool {
    let opcode = Instruction::opcode_of(listing.text(at)).unwrap_or_default();
    let joins = ["ADD", "POPC", "INC", "MIN", "MAX", "AND", "OR", "XOR"];
    opcode.split('.').any(|part| joins.contains(&part)) && listing.sass.defs(at).is_empty()
}

/// True where a turn reads shared memory before it writes it, and does write it: it reads what earlier
/// turns wrote. One that writes first fills it anew for itself, and sums that atomics make there while no barrier lets
/// anyone read them are left for later.
pub(super) fn reads_shared_before_writing(listing: &Listing, of: &Loop) -> bool {
    let sass = listing.sass;
    let places = || sass.flow.places(of).filter(|&at| listing.executed(at) > 0.0);
    let meets = places().any(|at| listing.is_block_barrier(at));
    let mut reads_first = None;
    let mut writes = false;
    for at in places() {
        match sass.entries[at].family {
            Family::Load(Space::Shared) => {
                reads_first.get_or_insert(true);
            }
            Family::Atomic(Space::Shared) if !meets && adds_up(listing, at) => {}
            Family::Store(Space::Shared) | Family::Atomic(Space::Shared) => {
                reads_first.get_or_insert(false);
                writes = true;
            }
            _ => {}
        }
    }
    writes && reads_first == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    #[test]
    fn a_place_is_known_by_what_its_address_is_made_of() {
        let is_same = |again: &'static str, load: &'static str| {
            let launch = launch(&[
                ("S2R R8, SR_TID.X", 8.0),
                ("LDC R18, c[0x0][0x210]", 8.0),
                ("IADD3 R6, R18, R8, RZ", 8.0),
                (again, 8.0),
                ("STG.E desc[UR4][R6], R4", 8.0), // 4
                (load, 8.0),                      // 5
                ("EXIT", 8.0),
            ]);
            let listing = launch.listing().unwrap();
            let reaching = &mut Reaching::with_guards(listing.sass);
            Place::of(&listing, reaching, 4) == Place::of(&listing, reaching, 5)
        };
        let load = "LDG.E R5, desc[UR4][R10]";
        assert!(is_same("IADD3 R10, R18, R8, RZ", load), "worked out twice");
        assert!(!is_same("IADD3 R10, R18, -R8, RZ", load), "the other way");
        assert!(!is_same("IADD3 R10, R18, R8, 0x4", load), "the next element");
        assert!(!is_same("LDG.E R10, desc[UR4][R6]", load), "what was loaded");
        let behind = "LDG.E R5, desc[UR4][R10+0x4]";
        assert!(!is_same("IADD3 R10, R18, R8, RZ", behind), "the next element");
    }
}
