//! A turn's way back from what it hands on to what it was handed.

use std::collections::HashMap;

use crate::sass::code::blocks::Loop;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::Instruction;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;
use crate::sass::questions::moved_down::is_rest;
use crate::sass::thresholds::{EVERY_TURN, MOST_FOLLOWED};

/// What happens to a value on the way from one turn to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Something is added to it, or it is copied.
    Adds,
    /// It is multiplied by something, and something may be added.
    Scales,
    /// It stays, or something larger or smaller takes its place.
    KeepsLargest,
    /// A guard leaves it as it is.
    Keeps,
    /// It is held against something that bounds it, and no longer counts where it has come so far.
    Bounds,
    /// Anything else.
    WorksOut,
}

/// A turn's way back through its registers.
pub(super) struct Walk<'a> {
    pub(super) listing: &'a Listing<'a>,
    pub(super) of: &'a Loop,
    /// What the loop carries.
    pub(super) carried: Vec<Carried>,
}

/// A value that a turn hands on to the next.
pub(super) struct Carried {
    /// The register in which it is; `None` for one in memory.
    pub(super) slot: Option<Slot>,
    /// What makes it in the loop, and reaches the next turn.
    pub(super) definitions: Vec<usize>,
    /// The loads that fetch it, where it is in memory.
    pub(super) loads: Vec<usize>,
}

/// Where a value stands among those that a loop carries.
pub(super) struct Places {
    /// By the number of its register.
    of_slot: [Option<usize>; Slot::COUNT],
    /// By a load that fetches it.
    of_load: HashMap<usize, usize>,
}

impl Places {
    /// Of all these; each register holds one of them.
    pub(super) fn of(carried: &[Carried]) -> Self {
        let mut places = Self { of_slot: [None; Slot::COUNT], of_load: HashMap::new() };
        for (own, each) in carried.iter().enumerate() {
            if let Some(slot) = each.slot {
                places.of_slot[slot.index()] = Some(own);
            }
            for &load in &each.loads {
                places.of_load.entry(load).or_insert(own);
            }
        }
        places
    }
}

impl Walk<'_> {
    pub(super) fn contains(&self, at: usize) -> bool {
        self.listing.sass.flow.is_in(self.of, at)
    }

    /// True for what only counts turns, and may begin anew, such as the number of a stage in shared memory: sums of
    /// integers and choices between them by comparisons of such, into which nothing that was loaded goes.
    pub(super) fn is_a_count(&self, reaching: &mut Reaching, definitions: &[usize]) -> bool {
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
    pub(super) fn read_across_turns(&self, mut slots: Vec<Slot>) -> Vec<Slot> {
        let sass = self.listing.sass;
        let mut holding = Reaching::with_guards(sass);
        let mut in_question = [false; Slot::COUNT];
        for slot in &slots {
            in_question[slot.index()] = true;
        }
        let places = sass.flow.places(self.of);
        for at in places.filter(|&at| self.listing.executed(at) > 0.0) {
            for each in sass.uses(at) {
                // What its own block made before it is of the same turn.
                let may = in_question[each.slot.index()]
                    && !is_rest(self.listing, at, each)
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
    pub(super) fn from(
        &self,
        reaching: &mut Reaching,
        places: &Places,
        definition: usize,
    ) -> Vec<(usize, Way)> {
        let sass = self.listing.sass;
        let mut found = Vec::new();
        let mut seen = [(); 6].map(|()| Marks::new(sass.entries.len()));
        let mut open = vec![(definition, Way::Adds)];
        while let Some((at, before)) = open.pop() {
            if !seen[before as usize].insert(at) {
                continue;
            }
            for (place, each) in sass.uses(at).iter().enumerate() {
                if is_rest(self.listing, at, each) {
                    continue;
                }
                let way = match before {
                    Way::WorksOut => Way::WorksOut,
                    _ if each.role == Role::Old => Way::Keeps,
                    _ if self.adds(at, place, each) => before,
                    Way::Adds | Way::Keeps | Way::Bounds if self.is_bounded_count(at, each) => {
                        Way::Bounds
                    }
                    Way::Bounds if self.compares(at) => Way::Bounds,
                    Way::Adds | Way::Scales if self.scales(at, place, each) => Way::Scales,
                    Way::Adds | Way::KeepsLargest if self.keeps_largest(at, each) => {
                        Way::KeepsLargest
                    }
                    _ => Way::WorksOut,
                };
                let definitions = reaching.definitions(at, *each).map(|at| at as usize);
                for before in definitions.filter(|&before| self.contains(before)) {
                    let in_register = places.of_slot[each.slot.index()].filter(|&own| {
                        before >= at && self.carried[own].definitions.contains(&before)
                    });
                    match in_register.or_else(|| places.of_load.get(&before).copied()) {
                        Some(own) if !found.contains(&(own, way)) => found.push((own, way)),
                        Some(_) => {}
                        None => open.push((before, way)),
                    }
                }
            }
        }
        found
    }

    /// The instruction that made what plain moves hand on to this one.
    pub(super) fn origin(&self, reaching: &mut Reaching, definition: usize) -> usize {
        let sass = self.listing.sass;
        let mut at = definition;
        // A move that comes back to itself hands on what it got.
        let mut seen = Vec::new();
        while !seen.contains(&at) && seen.len() < MOST_FOLLOWED.whole() {
            seen.push(at);
            let is_move = sass.entries[at].family == Family::Move && !sass.entries[at].conditional;
            let [from] = sass.uses(at) else { break };
            let mut before = reaching.definitions(at, *from).map(|before| before as usize);
            match (before.next(), before.next()) {
                (Some(before), None) if is_move && self.contains(before) => at = before,
                _ => break,
            }
        }
        at
    }

    /// True where a carried count tells where something is stored in the loop, or is itself stored there as a number.
    pub(super) fn places_stores(&self, reaching: &mut Reaching, carried: &Carried) -> bool {
        let sass = self.listing.sass;
        let is_store = |at: usize| {
            matches!(sass.entries[at].family, Family::Store(Space::Global | Space::Generic))
        };
        let places = sass.flow.places(self.of);
        let stores: Vec<usize> =
            places.filter(|&at| is_store(at) && self.listing.executed(at) > 0.0).collect();
        let mut seen = Marks::new(sass.entries.len());
        let mut open = stores;
        while let Some(at) = open.pop() {
            let of_store = is_store(at);
            for each in sass.uses(at) {
                let is_followed = matches!(each.role, Role::Address | Role::Data);
                if !is_followed || sass.entries[at].family.is_memory() && !of_store {
                    continue;
                }
                for before in reaching.definitions(at, *each).map(|before| before as usize) {
                    if carried.slot == Some(each.slot) && carried.definitions.contains(&before) {
                        return true;
                    }
                    if self.contains(before) && seen.insert(before) {
                        open.push(before);
                    }
                }
            }
        }
        false
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
            // Multiplying by one only adds, the carry included.
            "IMAD" | "UIMAD" if text.contains(", 0x1, ") => true,
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

    /// True where an instruction is a step of a count that its guard, used there, may stop.
    fn is_bounded_count(&self, at: usize, each: &Use) -> bool {
        let text = self.listing.text(at);
        let is_count = ["VIADD", "IADD3"].contains(&Instruction::base_of(text).unwrap_or_default());
        let steps = text.rsplit(',').next().unwrap_or_default().trim();
        is_count && each.role == Role::Guard && steps.starts_with("0x")
    }

    /// True for a comparison of integers.
    fn compares(&self, at: usize) -> bool {
        let base = Instruction::base_of(self.listing.text(at)).unwrap_or_default();
        matches!(base, "ISETP" | "PLOP3")
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

    /// How often a turn adds to the float in a register: several times where the loop is unrolled; at least 1.
    pub(super) fn additions(&self, slot: Slot) -> f64 {
        let sass = self.listing.sass;
        let adds_to_it = |at: usize| {
            let entry = &sass.entries[at];
            let own =
                |(place, each): (usize, &Use)| each.slot == slot && self.adds(at, place, each);
            entry.family.is_float()
                && entry.family != Family::Tensor
                && self.listing.executed(at) > 0.0
                && sass.defs(at).contains(&slot)
                && sass.uses(at).iter().enumerate().any(own)
        };
        let places = sass.flow.places(self.of);
        places.filter(|&at| adds_to_it(at)).count().max(1) as f64
    }

    /// True where something is added that each turn works out anew, and not the step of a counter.
    pub(super) fn is_of_data(&self, reaching: &mut Reaching, definition: usize) -> bool {
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
                    if is_data(sass.entries[at].family) {
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
    pub(super) fn is_a_choice(&self, definition: usize, definitions: &[usize]) -> bool {
        let entry = &self.listing.sass.entries[definition];
        let turns = self.listing.executed(self.of.head);
        let is_rare = self.listing.executed(definition) < EVERY_TURN.value * turns;
        is_rare || entry.conditional && !self.has_opposite(definition, definitions)
    }

    /// True where lanes make a value in some of their turns and not in others.
    pub(super) fn skips_turns(&self, definition: usize) -> bool {
        let lanes = |at: usize| self.listing.row(at).counters.thread_inst_executed_pred_on;
        lanes(definition) < EVERY_TURN.value * lanes(self.of.back)
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

/// True for what makes values, where integers also count turns and make addresses.
pub(super) fn is_data(family: Family) -> bool {
    family.is_memory() || family.is_float()
}
