//! How what each instruction makes differs from thread to thread.

use super::differs::Differs;
use crate::sass::code::blocks::Exit;
use crate::sass::code::listing::Listing;
use crate::sass::code::marks::Marks;
use crate::sass::code::sass::Use;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::{Instruction, Operand, OperandKind};
use crate::sass::parse::number;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;
use crate::sass::parse::system_register;

/// The results of all instructions.
pub(super) struct Made<'a> {
    listing: Listing<'a>,
    executed: &'a Marks,
    block: [u32; 3],
    elements: f64,
    reaching: Reaching<'a>,
    /// `None` where nothing is known yet.
    found: Vec<Option<Differs>>,
    /// What only some of a vector's threads come to, by what they loaded.
    apart: Marks,
    /// Whether some access's address is a step, by its place.
    steps: Marks,
}

impl<'a> Made<'a> {
    /// What executed instructions make in blocks of this shape, for vectors of so many elements.
    pub(super) fn find(
        listing: &Listing<'a>,
        executed: &'a Marks,
        block: [u32; 3],
        elements: f64,
    ) -> Self {
        let count = listing.sass.entries.len();
        let mut made = Self {
            listing: *listing,
            executed,
            block,
            elements,
            reaching: Reaching::new(listing.sass),
            found: vec![None; count],
            apart: Marks::new(count),
            steps: Marks::new(count),
        };
        // Each value changes a few times at most: from none to a step, to an unknown one, to any.
        while made.turn() {}
        let accesses: Vec<usize> =
            executed.iter().filter(|&at| listing.sass.entries[at].family.is_memory()).collect();
        for at in accesses {
            if matches!(made.of_role(at, Role::Address), Some(Differs::Step(_))) && !made.apart[at]
            {
                made.steps.insert(at);
            }
        }
        made
    }

    /// How an instruction's result differs; freely where that can't be told.
    pub(super) fn of(&self, at: usize) -> Differs {
        self.found[at].unwrap_or(Differs::Freely)
    }

    /// True where the address of an access is a step.
    pub(super) fn address_steps(&self, at: usize) -> bool {
        self.steps[at]
    }

    /// Goes over all instructions once; false where nothing more came of it.
    fn turn(&mut self) -> bool {
        let mut has_changed = false;
        for at in self.executed.iter() {
            if self.found[at] == Some(Differs::Freely) {
                continue;
            }
            let Some(result) = self.result(at) else { continue };
            // What was found before counts as well, so that values only move one way.
            let result = self.found[at].map_or(result, |before| before.or(result));
            if self.found[at] != Some(result) {
                self.found[at] = Some(result);
                has_changed = true;
            }
            if result == Differs::Freely {
                self.part_at(at);
            }
        }
        has_changed
    }

    /// Notes what lies between a branch that each thread takes by a value of its own and where it goes.
    fn part_at(&mut self, branch: usize) {
        let entry = &self.listing.sass.entries[branch];
        if let Some(target) = entry.target() {
            for at in branch.min(target)..branch.max(target) {
                self.apart.insert(at);
            }
        } else if entry.exit() == Exit::MaybeEnd {
            // Who leaves there has nothing to do with what follows.
            for at in branch + 1..self.found.len() {
                self.apart.insert(at);
            }
        }
    }

    fn result(&mut self, at: usize) -> Option<Differs> {
        let entry = &self.listing.sass.entries[at];
        let family = entry.family;
        if self.apart[at] {
            return Some(Differs::Freely);
        }
        if family == Family::System {
            return Some(self.special(at));
        }
        let is_exchange = matches!(family, Family::Shuffle | Family::Vote | Family::Tensor)
            || matches!(family, Family::Atomic(_) | Family::Texture | Family::Load(Space::Local));
        if is_exchange {
            return Some(Differs::Freely);
        }
        let (guard, old) = (self.of_role(at, Role::Guard), self.of_role(at, Role::Old));
        if guard.is_some_and(|guard| guard != Differs::Same) {
            return Some(Differs::Freely);
        }
        let data = self.of_role(at, Role::Data);
        let address = self.of_role(at, Role::Address);
        let all_same = [data, address].iter().flatten().all(|each| *each == Differs::Same);
        let is_known = data.is_some() || address.is_some() || !self.reads(at);
        let result = if all_same {
            is_known.then_some(Differs::Same)
        } else if data == Some(Differs::Freely) || address.is_some_and(|it| it != Differs::Same) {
            Some(Differs::Freely)
        } else {
            self.arithmetic(at)
        };
        match (result, old) {
            (Some(result), Some(old)) => Some(result.or(old)),
            (result, old) => result.or(old),
        }
    }

    /// True where an instruction reads values that others make.
    fn reads(&self, at: usize) -> bool {
        let mut uses = self.listing.sass.uses(at).iter();
        uses.any(|each| matches!(each.role, Role::Data | Role::Address))
    }

    /// All of an instruction's uses of a kind together; `None` where it has none, or nothing is known of them yet.
    fn of_role(&mut self, at: usize, role: Role) -> Option<Differs> {
        let sass = self.listing.sass;
        let mut all: Option<Differs> = None;
        for each in sass.uses(at).iter().filter(|each| each.role == role) {
            let Some(one) = self.of_use(at, *each) else { continue };
            all = Some(all.map_or(one, |before| before.beside(one)));
        }
        all
    }

    /// What an instruction reads there, as whoever may have made it.
    fn of_use(&mut self, at: usize, each: Use) -> Option<Differs> {
        let mut is_given = true;
        let mut all: Option<Differs> = None;
        for by in self.reaching.definitions(at, each).map(|by| by as usize) {
            if !self.executed[by] {
                continue;
            }
            is_given = false;
            let Some(mut one) = self.found[by] else { continue };
            // A comparison's result, or a carry: the same for a vector that lies on one side of the bound.
            if each.slot.is_predicate() && matches!(one, Differs::Step(_)) {
                one = Differs::Same;
            }
            all = Some(all.map_or(one, |before| before.or(one)));
        }
        // What nobody made is a function's argument, or nothing where a guard lets it through. A uniform register holds one value
        // for all threads of a warp.
        let is_own = each.slot.is_general() || each.slot.is_predicate();
        match each.role {
            Role::Old => all,
            _ if is_given => Some(if is_own { Differs::Freely } else { Differs::Same }),
            _ => all,
        }
    }

    fn special(&self, at: usize) -> Differs {
        let text = self.listing.text(at);
        let indices = ["SR_TID.X", "SR_TID.Y", "SR_TID.Z"];
        let first = self.block.iter().position(|&extent| extent > 1).unwrap_or(0);
        match indices.iter().position(|index| text.contains(index)) {
            Some(axis) if axis == first => Differs::Step(Some(1.0)),
            Some(axis) => {
                let is_row = f64::from(self.block[first]) >= self.elements;
                if is_row || self.block[axis] <= 1 { Differs::Same } else { Differs::Freely }
            }
            None if text.contains("SR_LANEID") => Differs::Step(Some(1.0)),
            None if system_register::is_of_block(text) => Differs::Same,
            None => Differs::Freely,
        }
    }

    /// Sums, multiples, quotients and the like, of which some operand is a step.
    fn arithmetic(&mut self, at: usize) -> Option<Differs> {
        let parsed = Instruction::parse(self.listing.text(at))?;
        let values: Vec<Operand> = parsed
            .operands
            .iter()
            .filter(|operand| operand.kind != OperandKind::Predicate)
            .copied()
            .collect();
        if parsed.base().ends_with("SETP") {
            return self.comparison(at, &parsed, &values);
        }
        // The first is the destination.
        let mut of = |place: usize| {
            values.get(place + 1).map_or(Some(Differs::Same), |operand| self.operand(at, operand))
        };
        let (a, b, c) = (of(0)?, of(1)?, of(2)?);
        let by =
            |place: usize| values.get(place + 1).and_then(|operand| number::word(operand.text));
        let elements = self.elements;
        Some(match parsed.base() {
            "MOV" | "UMOV" | "IABS" | "SEL" | "USEL" => a.or(b),
            // One thread's value, for the warp.
            "R2UR" => Differs::Same,
            "VIMNMX" | "IMNMX" | "UIMNMX" | "VIADDMNMX" => a.plus(b).plus(c).times(None),
            "VIADD" | "IADD" | "IADD3" | "UIADD3" => a.plus(b).plus(c),
            "IMAD" | "UIMAD" if parsed.has("MOV") => c,
            "IMAD" | "UIMAD" if parsed.has("HI") => {
                let reciprocal =
                    self.number(at, values.get(2)).or_else(|| self.number(at, values.get(1)));
                high(a, b, c, reciprocal.map(|value| (value, parsed.has("U32"))), elements)
            }
            "IMAD" | "UIMAD" | "IMUL" => product(a, b, by(1)).plus(c),
            "LEA" | "ULEA" if parsed.has("HI") && !parsed.has("X") => {
                let down = by(3).map(|by| (32.0 - f64::from(by)).exp2());
                if down.is_none() { Differs::Freely } else { a.over(down, elements).plus(b) }
            }
            "LEA" | "ULEA" => a.times(by(2).map(|by| f64::from(by).exp2())).plus(b),
            "SHF" | "USHF" if parsed.has("L") => {
                let by = by(1).filter(|_| !parsed.has("HI")).map(|by| f64::from(by).exp2());
                if b == Differs::Same { a.plus(c).times(by) } else { Differs::Freely }
            }
            "SHF" | "USHF" if parsed.has("R") && b == Differs::Same => {
                a.plus(c).over(by(1).map(|by| f64::from(by).exp2()), elements)
            }
            "LOP3" | "ULOP3" => bitwise([a, b, c], by(1), by(3), elements),
            _ => Differs::Freely,
        })
    }

    /// A comparison goes by the side of a bound on which a vector lies, but an equality by each element.
    fn comparison(
        &mut self,
        at: usize,
        parsed: &Instruction,
        values: &[Operand],
    ) -> Option<Differs> {
        if !parsed.base().starts_with(['I', 'U']) || !parsed.compares_by_order() {
            return Some(Differs::Freely);
        }
        let mut all = Differs::Same;
        for operand in values {
            let one = self.operand(at, operand)?;
            let is_by_sign = || values.iter().any(|operand| operand.text == "RZ");
            all = match one {
                Differs::LowBits if is_by_sign() => all,
                Differs::Part(_) | Differs::LowBits => Differs::Freely,
                one => all.plus(one),
            };
        }
        Some(if all == Differs::Freely { all } else { Differs::Same })
    }

    fn operand(&mut self, at: usize, operand: &Operand) -> Option<Differs> {
        let Some(slot) = operand.slot().filter(|_| operand.kind == OperandKind::Register) else {
            return Some(Differs::Same);
        };
        self.use_of(at, slot).map_or(Some(Differs::Same), |each| self.of_use(at, each))
    }

    fn use_of(&self, at: usize, slot: Slot) -> Option<Use> {
        let is_read = |each: &&Use| each.slot == slot && each.role == Role::Data;
        self.listing.sass.uses(at).iter().find(is_read).copied()
    }

    /// The number that an operand is: written there, or moved to a register.
    fn number(&mut self, at: usize, operand: Option<&Operand>) -> Option<u32> {
        let operand = operand?;
        let Some(slot) = operand.slot() else { return number::word(operand.text) };
        let each = self.use_of(at, slot)?;
        let mut made = self.reaching.definitions(at, each);
        let only = made.next().filter(|_| made.len() == 0)?;
        drop(made);
        let parsed = Instruction::parse(self.listing.text(only as usize))?;
        let is_move = matches!(parsed.base(), "MOV" | "UMOV") || parsed.has("MOV");
        number::word(parsed.operands.last()?.text).filter(|_| is_move)
    }
}

/// A product of which one factor is the same for all.
fn product(a: Differs, b: Differs, by: Option<u32>) -> Differs {
    match (a, b) {
        (Differs::Same, other) => other.times(None),
        (other, Differs::Same) => other.times(by.map(|by| f64::from(by.cast_signed()))),
        _ => Differs::Freely,
    }
}

/// The upper half of a product: a quotient, by what the reciprocal says where it is a number.
fn high(
    a: Differs,
    b: Differs,
    c: Differs,
    reciprocal: Option<(u32, bool)>,
    elements: f64,
) -> Differs {
    let ((Differs::Same, factor) | (factor, Differs::Same)) = (a, b) else {
        return Differs::Freely;
    };
    let Some((word, is_unsigned)) = reciprocal else {
        return factor.over(None, elements).plus(c);
    };
    let whole = 32.0_f64.exp2();
    let value = if is_unsigned { f64::from(word) } else { f64::from(word.cast_signed()) };
    match (factor, c) {
        (Differs::Same, other) => other,
        (_, Differs::Same) => factor.over(Some(whole / value), elements),
        // A reciprocal beyond the range of signed numbers: the number itself is added again.
        (Differs::Step(Some(step)), Differs::Step(Some(added))) => {
            Differs::Step(Some(step * value / whole + added)).over(Some(1.0), elements)
        }
        _ => Differs::Freely,
    }
}

/// What is combined bit by bit: the low bits of a step are a step, those above a vector's are the same.
fn bitwise(of: [Differs; 3], mask: Option<u32>, table: Option<u32>, elements: f64) -> Differs {
    const AND: u32 = 0xc0;
    const OR: u32 = 0xfc;
    const NOT: u32 = 0x33;
    let [a, b, c] = of;
    if of.iter().any(|each| matches!(each, Differs::Freely | Differs::Part(_) | Differs::LowBits)) {
        return Differs::Freely;
    }
    let Differs::Step(step) = a.plus(b).plus(c) else { return Differs::Same };
    let both = (a != Differs::Same) && (b != Differs::Same);
    match (table, mask, step) {
        (Some(AND), Some(mask), Some(step)) => {
            let run = (step * elements).abs() - 1.0;
            let is_within = |low: u32| run <= f64::from(low);
            let (ones, zeros) = (mask.trailing_ones(), mask.trailing_zeros());
            if is_within(u32::MAX.unbounded_shr(32 - ones)) {
                Differs::Step(Some(step))
            } else if is_within(u32::MAX.unbounded_shr(32 - zeros)) {
                Differs::Same
            } else {
                Differs::Freely
            }
        }
        // Numbers without a bit in common are added so.
        (Some(OR), ..) if !both => Differs::Step(step),
        (Some(NOT), ..) => Differs::Step(None),
        _ => Differs::LowBits,
    }
}
