//! What a loop carries from turn to turn, and whether that ties its turns together.

use std::collections::BTreeSet;

use crate::sass::code::blocks::Loop;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::live::{self, carried};
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;
use crate::sass::questions::memory_state;
use crate::sass::thresholds::{EVERY_TURN, FEW_TURNS, LONG_SUM};

/// How the parts of a loop that is shared out come together again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Parts {
    /// The turns from which it can be shared out, more where sums must be added up afterwards.
    pub least_turns: f64,
    /// True where the sums must be scaled before, because each turn scales them.
    pub are_scaled: bool,
    /// True where a turn reads more of the one before it than where it stands.
    pub carries: bool,
}

/// How a loop can be shared out; `None` where a turn needs what an earlier one found.
pub(super) fn parts(listing: &Listing, reaching: &mut Reaching, of: &Loop) -> Option<Parts> {
    let multiplies =
        ends_in_sums(listing, of, |at| listing.sass.entries[at].family == Family::Tensor);
    let can_join =
        multiplies || ends_in_sums(listing, of, |at| listing.text(at).contains("MUFU.EX2"));
    let mut keeps_largest = false;
    if !can_join && reads_shared_before_writing(listing, of) || keeps_local_state(listing, of) {
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
    // From each carried value the others that it is worked out from.
    let mut needs: Vec<Vec<usize>> = Vec::new();
    for (own, Carried { definitions, .. }) in walk.carried.iter().enumerate() {
        let mut of_slot = Vec::new();
        for &definition in definitions {
            let from = walk.from(reaching, definition);
            // The registers of a wide value are one value.
            let is_own = |other: usize| walk.carried[other].definitions.contains(&definition);
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
            if !sums && walk.is_a_choice(definition, definitions) {
                return None;
            }
            if sums && walk.is_of_data(reaching, definition) {
                least = least.max(LONG_SUM.value);
            }
            let others = from.iter().map(|(other, _)| *other).filter(|&other| !is_own(other));
            of_slot.extend(others);
        }
        needs.push(of_slot);
    }
    // A softmax on the way scales by exponentials of the largest value so far; another recurrence by anything.
    if are_scaled && !multiplies && !keeps_largest {
        return None;
    }
    let is_apart = (0..needs.len()).all(|start| !leads_back(&needs, start));
    is_apart.then_some(Parts { least_turns: least, are_scaled, carries: !needs.is_empty() })
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

/// What happens to a value on the way from one turn to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Something is added to it, or it is copied.
    Adds,
    /// It is multiplied by something, and something may be added.
    Scales,
    /// It stays, or something larger or smaller takes its place.
    KeepsLargest,
    /// A guard leaves it as it is.
    Keeps,
    /// Anything else.
    WorksOut,
}

/// A turn's way back through its registers.
struct Walk<'a> {
    listing: &'a Listing<'a>,
    of: &'a Loop,
    /// What the loop carries.
    carried: Vec<Carried>,
}

/// A value that a turn hands on to the next.
struct Carried {
    /// The register in which it is; `None` for one in memory.
    slot: Option<Slot>,
    /// What makes it in the loop, and reaches the next turn.
    definitions: Vec<usize>,
    /// The loads that fetch it, where it is in memory.
    loads: Vec<usize>,
}

/// What turns hand on through global memory: a thread loads what it stored in the turn before.
fn carried_in_memory(listing: &Listing, reaching: &mut Reaching, of: &Loop) -> Vec<Carried> {
    let sass = listing.sass;
    let mut states = memory_state::kept(listing, reaching, of);
    states.retain(|state| state.is_carried);
    let in_loop = |at: &usize| of.blocks.binary_search(&sass.flow.block_of[*at]).is_ok();
    let mut makers = |store: usize| -> Vec<usize> {
        let data = sass.uses(store).iter().filter(|each| each.role == Role::Data);
        let made = data.flat_map(|each| {
            reaching.definitions(store, *each).map(|at| at as usize).collect::<Vec<_>>()
        });
        made.filter(in_loop).collect()
    };
    let carried = states.into_iter().map(|state| Carried {
        slot: None,
        definitions: state.stores.iter().flat_map(|&store| makers(store)).collect(),
        loads: state.loads,
    });
    carried.collect()
}

impl Walk<'_> {
    fn contains(&self, at: usize) -> bool {
        self.of.blocks.binary_search(&self.listing.sass.flow.block_of[at]).is_ok()
    }

    /// True for what only counts turns, and may begin anew, such as the number of a stage in shared memory: sums of
    /// integers and choices between them by comparisons of such, into which nothing that was loaded goes.
    fn is_a_count(&self, reaching: &mut Reaching, definitions: &[usize]) -> bool {
        const COUNTS: [&str; 12] = [
            "IADD3", "VIADD", "UIADD3", "IADD", "ISETP", "UISETP", "SEL", "USEL", "MOV", "UMOV",
            "R2UR", "PLOP3",
        ];
        let sass = self.listing.sass;
        let mut seen = Marks::new(sass.entries.len());
        let mut open = definitions.to_vec();
        let mut chooses = false;
        while let Some(at) = open.pop() {
            if !seen.insert(at) {
                continue;
            }
            let base = Instruction::base_of(self.listing.text(at)).unwrap_or_default();
            if !COUNTS.contains(&base) {
                return false;
            }
            chooses |= matches!(base, "SEL" | "USEL");
            for each in sass.uses(at) {
                let made_at = reaching.definitions(at, *each).map(|at| at as usize);
                open.extend(made_at.filter(|&at| self.contains(at)));
            }
        }
        chooses
    }

    /// Those of the slots where some instruction of a turn reads what an earlier turn left. A write with a guard
    /// counts as one: two with opposite guards leave nothing of what was there before.
    fn read_across_turns(&self, mut slots: Vec<Slot>) -> Vec<Slot> {
        let sass = self.listing.sass;
        let mut holding = Reaching::with_guards(sass);
        let mut in_question = [false; Slot::COUNT];
        for slot in &slots {
            in_question[slot.index()] = true;
        }
        let blocks = self.of.blocks.iter().map(|&block| &sass.flow.blocks[block as usize]);
        let places = blocks.flat_map(|block| block.start..block.end);
        for at in places.filter(|&at| self.listing.executed(at) > 0.0) {
            for each in sass.uses(at) {
                // What its own block made before it is of the same turn.
                let may = in_question[each.slot.index()]
                    && each.role != Role::Old
                    && each.definition.is_none();
                let reads = may
                    && holding.definitions(at, *each).any(|before| {
                        let before = before as usize;
                        before >= at && self.contains(before)
                    });
                in_question[each.slot.index()] &= !reads;
            }
        }
        slots.retain(|slot| !in_question[slot.index()]);
        slots
    }

    /// The carried values, by their places, that a definition is worked out from, each with what happens to it
    /// on the way.
    fn from(&self, reaching: &mut Reaching, definition: usize) -> Vec<(usize, Way)> {
        let sass = self.listing.sass;
        let mut found = Vec::new();
        let mut seen = [(); 5].map(|()| Marks::new(sass.entries.len()));
        let mut open = vec![(definition, Way::Adds)];
        while let Some((at, before)) = open.pop() {
            if !seen[before as usize].insert(at) {
                continue;
            }
            for (place, each) in sass.uses(at).iter().enumerate() {
                let way = match before {
                    Way::WorksOut => Way::WorksOut,
                    _ if each.role == Role::Old => Way::Keeps,
                    _ if self.adds(at, place, each) => before,
                    Way::Adds | Way::Scales if self.scales(at, place, each) => Way::Scales,
                    Way::Adds | Way::KeepsLargest if self.keeps_largest(at, each) => {
                        Way::KeepsLargest
                    }
                    _ => Way::WorksOut,
                };
                let definitions = reaching.definitions(at, *each).map(|at| at as usize);
                for before in definitions.filter(|&before| self.contains(before)) {
                    let carried = self.carried.iter().position(|carried| {
                        let in_register = carried.slot == Some(each.slot)
                            && before >= at
                            && carried.definitions.contains(&before);
                        in_register || carried.loads.contains(&before)
                    });
                    match carried {
                        Some(own) if !found.contains(&(own, way)) => found.push((own, way)),
                        Some(_) => {}
                        None => open.push((before, way)),
                    }
                }
            }
        }
        found
    }

    /// True where an instruction only adds to what it uses there, or copies it.
    fn adds(&self, at: usize, place: usize, each: &Use) -> bool {
        let sass = self.listing.sass;
        if each.role != Role::Data {
            return false;
        }
        if matches!(sass.entries[at].family, Family::Move | Family::Tensor) {
            return true;
        }
        let text = self.listing.text(at);
        let base = Instruction::base_of(text).unwrap_or_default();
        match base {
            "IADD3" | "VIADD" | "IADD" | "UIADD3" | "FADD" | "DADD" | "HADD2" => true,
            // The first operand is shifted, the second added.
            "LEA" | "ULEA" => {
                let data = sass.uses(at).iter().filter(|each| each.role == Role::Data);
                let added = text.split(',').nth(2).unwrap_or_default().trim();
                added.starts_with(['R', 'U'])
                    && data.count() > 1
                    && sass.uses(at)[..place].iter().any(|each| each.role == Role::Data)
            }
            // What is added is the last operand but for a carry: neither of the two that are multiplied.
            "IMAD" | "UIMAD" | "FFMA" | "DFMA" | "HFMA2" => {
                let data = |each: &&Use| each.role == Role::Data && !each.slot.is_predicate();
                let behind = sass.uses(at)[place + 1..].iter().filter(data).count();
                let width = usize::from(base == "DFMA" || text.contains(".WIDE")) + 1;
                let mut operands =
                    text.rsplit(',').map(|operand| operand.trim().trim_end_matches(';'));
                let is_carry = |operand: &&str| operand.trim_start_matches('!').starts_with('P');
                let last = operands.find(|operand| !is_carry(operand)).unwrap_or_default();
                let last = last.trim_start_matches(['-', '|']);
                behind < width && last.starts_with('R') && !last.starts_with("RZ")
            }
            _ => false,
        }
    }

    /// True where an instruction multiplies what it uses there by something else.
    fn scales(&self, at: usize, place: usize, each: &Use) -> bool {
        let base = Instruction::base_of(self.listing.text(at)).unwrap_or_default();
        let is_same = |(other, used): (usize, &Use)| other != place && used.slot == each.slot;
        matches!(base, "FMUL" | "FFMA" | "HMUL2" | "HFMA2")
            && each.role == Role::Data
            && !self.listing.sass.uses(at).iter().enumerate().any(is_same)
    }

    /// True where an instruction takes the larger or smaller one of what it uses there and something else.
    fn keeps_largest(&self, at: usize, each: &Use) -> bool {
        let base = Instruction::base_of(self.listing.text(at)).unwrap_or_default();
        each.role == Role::Data && matches!(base, "FMNMX" | "FMNMX3" | "HMNMX2")
    }

    /// True where something is added that each turn works out anew, and not the step of a counter.
    fn is_of_data(&self, reaching: &mut Reaching, definition: usize) -> bool {
        let sass = self.listing.sass;
        let mut seen = Marks::new(sass.entries.len());
        let mut open = vec![definition];
        while let Some(at) = open.pop() {
            for each in sass.uses(at).iter().filter(|each| each.role == Role::Data) {
                if self.carried.iter().any(|carried| carried.slot == Some(each.slot)) {
                    continue;
                }
                let before = reaching.definitions(at, *each).map(|at| at as usize);
                for at in before.filter(|&at| self.contains(at)) {
                    let family = sass.entries[at].family;
                    if family.is_memory() || family.is_float() {
                        return true;
                    }
                    if seen.insert(at) {
                        open.push(at);
                    }
                }
            }
        }
        false
    }

    /// True where not every turn makes the value anew, with one of these definitions: it is kept or replaced by a
    /// condition.
    fn is_a_choice(&self, definition: usize, definitions: &[usize]) -> bool {
        let entry = &self.listing.sass.entries[definition];
        let turns = self.listing.executed(self.of.head);
        let is_rare = self.listing.executed(definition) < EVERY_TURN.value * turns;
        is_rare || entry.conditional && !self.has_opposite(definition, definitions)
    }

    /// True where another of these definitions is in the same block and has the opposite guard: one of the two happens.
    fn has_opposite(&self, definition: usize, definitions: &[usize]) -> bool {
        let guard = |at: usize| self.listing.text(at).split_whitespace().next().unwrap_or_default();
        let block = |at: usize| self.listing.sass.flow.block_of[at];
        let (own, own_block) = (guard(definition), block(definition));
        let opposite = match own.strip_prefix("@!") {
            Some(name) => format!("@{name}"),
            None => own.replacen('@', "@!", 1),
        };
        definitions.iter().any(|&other| block(other) == own_block && guard(other) == opposite)
    }
}

/// True for a loop of such instructions that stores nothing on the way: what it leaves are its sums. Those of products on the
/// tensor units, and those of a softmax on the way, which scales them by exponentials of the largest value so far, can be
/// put together from parts. What earlier turns leave in shared memory are tiles of its operands, or the lanes' parts of a sum.
/// Any other loop that scales or compares is taken as a recurrence, whose turns may each be wanted.
fn ends_in_sums(listing: &Listing, of: &Loop, of_kind: impl Fn(usize) -> bool) -> bool {
    let sass = listing.sass;
    let blocks = of.blocks.iter().map(|&block| &sass.flow.blocks[block as usize]);
    let executed: Vec<usize> = blocks
        .flat_map(|block| block.start..block.end)
        .filter(|&at| listing.executed(at) > 0.0)
        .collect();
    let stores = |&at: &usize| {
        matches!(
            sass.entries[at].family,
            Family::Store(Space::Global) | Family::Atomic(Space::Global)
        )
    };
    executed.iter().any(|&at| of_kind(at)) && !executed.iter().any(stores)
}

/// True where a turn reads a place in local memory before it writes it: what the turn before left in an array of the thread's own,
/// or in a register that was spilled.
fn keeps_local_state(listing: &Listing, of: &Loop) -> bool {
    let sass = listing.sass;
    let blocks = of.blocks.iter().map(|&block| &sass.flow.blocks[block as usize]);
    let places = blocks.flat_map(|block| block.start..block.end);
    let mut read: BTreeSet<&str> = BTreeSet::new();
    let mut written: BTreeSet<&str> = BTreeSet::new();
    for at in places.filter(|&at| listing.executed(at) > 0.0) {
        let text = listing.text(at);
        let Some((_, place)) = text.split_once('[') else { continue };
        let place = place.split(']').next().unwrap_or_default();
        match sass.entries[at].family {
            Family::Load(Space::Local) if !written.contains(place) => {
                read.insert(place);
            }
            Family::Store(Space::Local) if read.contains(place) => return true,
            Family::Store(Space::Local) => {
                written.insert(place);
            }
            _ => {}
        }
    }
    false
}

/// True where a turn reads shared memory before it writes it, and does write it: it reads what earlier
/// turns wrote. One that writes first fills it anew for itself.
fn reads_shared_before_writing(listing: &Listing, of: &Loop) -> bool {
    let sass = listing.sass;
    let at = of.blocks.iter().map(|&block| &sass.flow.blocks[block as usize]);
    let places = at.flat_map(|block| block.start..block.end);
    let mut reads_first = None;
    let mut writes = false;
    for at in places.filter(|&at| listing.executed(at) > 0.0) {
        match sass.entries[at].family {
            Family::Load(Space::Shared) => {
                reads_first.get_or_insert(true);
            }
            Family::Store(Space::Shared) | Family::Atomic(Space::Shared) => {
                reads_first.get_or_insert(false);
                writes = true;
            }
            _ => {}
        }
    }
    writes && reads_first == Some(true)
}
