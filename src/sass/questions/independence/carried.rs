//! What a loop carries from turn to turn, and whether that ties its turns together.

mod best;
mod called;
mod memory;
mod walk;

use crate::sass::code::blocks::Loop;
use crate::sass::code::listing::Listing;
use crate::sass::code::sass::Use;
use crate::sass::flow::live::{self, carried};
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::thresholds::{FEW_TURNS, LONG_SUM};
use best::Bests;
use called::hands_on_through_calls;
pub(super) use memory::Place;
use memory::{
    carried_in_memory, carried_locally, ends_in_sums, may_read_what_turns_stored,
    reads_shared_before_writing,
};
use walk::{Carried, Places, Walk, Way, is_data};

/// How the parts of a loop that is shared out come together again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Parts {
    /// The turns from which it can be shared out, more where sums must be added up afterwards.
    pub least_turns: f64,
    /// True where the sums must be scaled before, because each turn scales them.
    pub are_scaled: bool,
    /// True where a turn reads more of the one before it than where it stands.
    pub carries: bool,
    /// True where some turns store a result behind that of the last one that did.
    pub appends: bool,
}

/// How a loop can be shared out; `None` where a turn needs what an earlier one found.
pub(super) fn parts(listing: &Listing, reaching: &mut Reaching, of: &Loop) -> Option<Parts> {
    let multiplies =
        ends_in_sums(listing, of, |at| listing.sass.entries[at].family == Family::Tensor);
    let can_join =
        multiplies || ends_in_sums(listing, of, |at| listing.text(at).contains("MUFU.EX2"));
    let mut keeps_largest = false;
    if !can_join && reads_shared_before_writing(listing, of) || hands_on_through_calls(listing, of)
    {
        return None;
    }
    if may_read_what_turns_stored(listing, of) {
        return None;
    }
    let mut least = FEW_TURNS.value;
    let mut are_scaled = false;
    let mut walk = Walk { listing, of, carried: Vec::new() };
    let head = of.head;
    for slot in walk.read_across_turns(carried(listing.sass, live::of(listing), of)) {
        let at_head = Use { slot, role: Role::Data, definition: None };
        let definitions = reaching.definitions(head, at_head);
        let happens = |at: &usize| walk.contains(*at) && listing.executed(*at) > 0.0;
        let inside: Vec<usize> = definitions.map(|at| at as usize).filter(happens).collect();
        if !walk.is_a_count(reaching, &inside) {
            walk.carried.push(Carried { slot: Some(slot), definitions: inside, loads: Vec::new() });
        }
    }
    walk.carried.extend(carried_in_memory(listing, reaching, of));
    let first_local = walk.carried.len();
    walk.carried.extend(carried_locally(listing, reaching, of)?);
    let bests = Bests::of(&walk, reaching);
    let places = Places::of(&walk.carried);
    let origins: Vec<Vec<usize>> = (walk.carried.iter())
        .map(|each| each.definitions.iter().map(|&at| walk.origin(reaching, at)).collect())
        .collect();
    // From each carried value the others that it is worked out from.
    let mut needs: Vec<Vec<usize>> = Vec::new();
    let mut carries = false;
    let mut appends = false;
    for (own, Carried { slot, definitions, .. }) in walk.carried.iter().enumerate() {
        let mut of_slot = Vec::new();
        let mut moves_on_at_times = false;
        carries |= slot.is_none();
        for &definition in definitions {
            let from = walk.from(reaching, &places, definition);
            if bests.has(definition) {
                carries = true;
                least = least.max(LONG_SUM.value);
                continue;
            }
            // The registers of a wide value are one value, also where moves hand its halves on.
            let made_by = walk.origin(reaching, definition);
            let is_own = |other: usize| origins[other].contains(&made_by);
            if from.iter().any(|&(other, way)| is_own(other) && way == Way::WorksOut) {
                return None;
            }
            let joins = |way: &Way| matches!(way, Way::Scales | Way::KeepsLargest);
            if from.iter().any(|(other, way)| is_own(*other) && joins(way)) && !can_join {
                return None;
            }
            let is_way = |way| from.contains(&(own, way));
            are_scaled |= is_way(Way::Scales);
            keeps_largest |= is_way(Way::KeepsLargest);
            let sums = is_way(Way::Adds) || is_way(Way::Scales) || is_way(Way::KeepsLargest);
            if !sums && (own >= first_local || walk.is_a_choice(definition, definitions)) {
                return None;
            }
            let is_of_data = walk.is_of_data(reaching, definition);
            moves_on_at_times |= sums && walk.skips_turns(definition);
            // Counters and pointers are known in every turn.
            carries |= is_of_data || !sums && is_data(listing.sass.entries[definition].family);
            if sums && is_of_data {
                let additions = slot.map_or(1.0, |slot| walk.additions(slot));
                least = least.max(LONG_SUM.value / additions);
            }
            let others = from.iter().map(|(other, _)| *other).filter(|&other| !is_own(other));
            of_slot.extend(others);
        }
        appends |= moves_on_at_times && walk.places_stores(reaching, &walk.carried[own]);
        needs.push(of_slot);
    }
    // A softmax on the way scales by exponentials of the largest value so far; another recurrence by anything.
    if are_scaled && !multiplies && !keeps_largest {
        return None;
    }
    let is_apart = (0..needs.len()).all(|start| !leads_back(&needs, start));
    is_apart.then_some(Parts { least_turns: least, are_scaled, carries, appends })
}

/// True where a value is worked out from others that are worked out from it.
fn leads_back(needs: &[Vec<usize>], start: usize) -> bool {
    let mut seen = vec![false; needs.len()];
    let mut open = needs[start].clone();
    while let Some(at) = open.pop() {
        if at == start {
            return true;
        }
        if !std::mem::replace(&mut seen[at], true) {
            open.extend(&needs[at]);
        }
    }
    false
}
