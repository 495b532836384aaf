//! Which bits of the thread's index each value goes by, and whether it goes by the turn of a loop.
//!
//! A thread's row and column are often different bits of one index. Bit by bit, it can be told that a value goes by the row
//! alone, and another by the column.

use crate::sass::Listing;
use crate::sass::code::blocks::Loop;
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
use crate::sass::thresholds::LANE_STEPS;

/// What a value goes by: the bits of `threadIdx.x`, and the two below.
pub type By = u32;

/// The turn of the loop.
pub const TURN: By = 1 << 31;
/// Something that can't be followed.
pub const UNKNOWN: By = 1 << 30;

/// The same of each bit of a value.
type Bits = [By; 32];

const NOTHING: Bits = [0; 32];

/// What all values are made of, in and before a loop.
pub struct Sources {
    each: Vec<Source>,
}

/// What one value is made of.
struct Source {
    way: Way,
    /// The makers of each operand behind the destination that is no predicate, and the number that it is instead.
    operands: Vec<Input>,
    /// The makers of all that is read.
    makers: Vec<u32>,
    /// What it goes by in itself.
    own: By,
}

/// An operand.
#[derive(Default)]
struct Input {
    makers: Vec<u32>,
    number: Option<u32>,
}

/// How the bits of a value follow from those of its operands.
enum Way {
    /// The thread's index itself, of so many bits.
    Index,
    /// The first operand as it is.
    Copy,
    /// The third operand, so many bits further down; with its sign above.
    Down { by: usize, is_signed: bool },
    /// The first operand, so many bits further up.
    Up(usize),
    /// The lowest bits of the first operand.
    Low(usize),
    /// Three operands bit by bit, by a table.
    Logic(u32),
    /// A sum: what is carried goes upwards.
    Sum,
    /// Any bit by all.
    Mixed,
}

impl Sources {
    /// Of a listing, seen from one of its loops.
    #[must_use]
    pub fn new(listing: &Listing, of: &Loop) -> Self {
        let mut reaching = Reaching::new(listing.sass);
        let count = listing.sass.entries.len();
        let each = (0..count).map(|at| Source::new(listing, &mut reaching, of, at)).collect();
        Self { each }
    }

    /// The instructions that make what an instruction reads.
    pub fn makers(&self, at: usize) -> impl Iterator<Item = usize> {
        self.each[at].makers.iter().map(|&by| by as usize)
    }

    /// The numbers among an instruction's operands.
    pub fn numbers(&self, at: usize) -> impl Iterator<Item = u32> {
        self.each[at].operands.iter().filter_map(|each| each.number)
    }

    /// Takes the result of an instruction to go by this in itself, and no longer by what can't be followed.
    pub fn name(&mut self, at: usize, by: By) {
        self.each[at].own = by;
    }

    /// The number that an instruction adds to what it made in the turn before, as a loop's counter does.
    #[must_use]
    pub fn step(&self, at: usize) -> Option<u32> {
        let source = &self.each[at];
        let of_itself = source.operands.iter().filter(|each| each.number.is_none()).count() == 1;
        let adds =
            matches!(source.way, Way::Sum) && of_itself && self.makers(at).any(|by| by == at);
        let numbers: Vec<u32> =
            source.operands.iter().filter_map(|each| each.number).filter(|&by| by != 0).collect();
        match numbers[..] {
            [by] if adds && by >> 31 == 0 => Some(by),
            _ => None,
        }
    }

    /// What the result of each instruction goes by, in blocks of so many threads in a row, where some results are taken to
    /// be the same everywhere; `None` where that takes too long to find out.
    #[must_use]
    pub fn values(&self, threads: u32, same: &Marks) -> Option<Vec<By>> {
        let count = self.each.len();
        let mut bits = vec![NOTHING; count];
        // What the round before has changed: all, at first.
        let mut before = Marks::of(count, |_| true);
        for round in 0..LANE_STEPS.whole() {
            let mut changed = Marks::new(count);
            for (at, source) in self.each.iter().enumerate().filter(|(at, _)| !same[*at]) {
                let is_new = |by: &u32| before[*by as usize] || changed[*by as usize];
                if round > 0 && !source.makers.iter().any(is_new) {
                    continue;
                }
                let now = source.result(&bits, threads);
                if now != bits[at] {
                    changed.insert(at);
                    bits[at] = now;
                }
            }
            if changed.are_none() {
                return Some(bits.iter().map(all).collect());
            }
            before = changed;
        }
        None
    }
}

impl Source {
    fn new(listing: &Listing, reaching: &mut Reaching, of: &Loop, at: usize) -> Self {
        let (sass, text) = (listing.sass, listing.text(at));
        let flow = &sass.flow;
        let mut source = Self { way: Way::Mixed, operands: Vec::new(), makers: Vec::new(), own: 0 };
        let is_address = sass.entries[at].family == Family::Load(Space::Global);
        for each in sass.uses(at).iter().filter(|each| !is_address || each.role == Role::Address) {
            let made: Vec<u32> = reaching.definitions(at, *each).collect();
            if made.is_empty() && each.slot.is_general() && each.role != Role::Old {
                source.own |= UNKNOWN;
            }
            let in_loop = |by: &u32| flow.is_in(of, *by as usize);
            if flow.is_in(of, at) && made.iter().any(in_loop) && !made.iter().all(in_loop) {
                source.own |= TURN;
            }
            source.makers.extend(made);
        }
        let Some(parsed) = Instruction::parse(text) else { return source };
        match sass.entries[at].family {
            Family::System if text.contains("SR_TID.X") => source.way = Way::Index,
            Family::System if text.contains("SR_") => {
                source.own |= if system_register::is_of_block(text) { 0 } else { UNKNOWN };
            }
            Family::Load(Space::Global) | Family::Constant => {}
            Family::Shuffle | Family::Vote | Family::Tensor => source.own |= UNKNOWN,
            family if family.is_memory() => source.own |= UNKNOWN,
            // With a predicate in front, what is made is a condition.
            _ if !sass.entries[at].conditional
                && parsed
                    .operands
                    .first()
                    .is_some_and(|first| first.kind != OperandKind::Predicate) =>
            {
                let inputs = parsed.operands.iter().skip(1);
                let is_value = |operand: &&Operand| operand.kind != OperandKind::Predicate;
                source.operands = inputs
                    .filter(is_value)
                    .map(|operand| Input::new(sass.uses(at), reaching, at, operand))
                    .collect();
                source.way = Way::of(&parsed, &source.operands);
            }
            _ => {}
        }
        source
    }

    fn result(&self, bits: &[Bits], threads: u32) -> Bits {
        let of = |place: usize| {
            self.operands.get(place).map_or(NOTHING, |input| union(bits, &input.makers))
        };
        let mut result = match self.way {
            Way::Index => {
                let highest = u32::BITS - threads.saturating_sub(1).leading_zeros();
                std::array::from_fn(|at| if (at as u32) < highest { 1 << at } else { 0 })
            }
            Way::Copy => of(0),
            Way::Down { by, is_signed } => {
                let value = of(2);
                let above = if is_signed { value[31] } else { 0 };
                std::array::from_fn(|at| value.get(at + by).copied().unwrap_or(above))
            }
            Way::Up(by) => {
                let value = of(0);
                std::array::from_fn(|at| at.checked_sub(by).map_or(0, |from| value[from]))
            }
            Way::Low(count) => {
                let value = of(0);
                std::array::from_fn(|at| if at < count { value[at] } else { 0 })
            }
            Way::Logic(table) => self.logic(table, &[of(0), of(1), of(2)]),
            Way::Sum => {
                let mut carried = 0;
                let operands = [of(0), of(1), of(2)];
                std::array::from_fn(|at| {
                    carried |= operands.iter().fold(0, |all, bits| all | bits[at]);
                    carried
                })
            }
            Way::Mixed => [all(&union(bits, &self.makers)); 32],
        };
        for by in &mut result {
            *by |= self.own;
        }
        result
    }

    /// A bit goes by those of the operands that can change it, whatever the others are; where these are numbers, they are
    /// what they are.
    fn logic(&self, table: u32, values: &[Bits; 3]) -> Bits {
        let number = |place: usize| self.operands.get(place).and_then(|input| input.number);
        std::array::from_fn(|at| {
            let fits = |case: u32| {
                (0..3).all(|place| {
                    number(place).is_none_or(|number| number >> at & 1 == case >> (2 - place) & 1)
                })
            };
            (0..3).filter(|&place| number(place).is_none()).fold(0, |by, place| {
                let other = 1 << (2 - place);
                let changes = (0..8_u32)
                    .any(|case| fits(case) && (table >> case ^ table >> (case ^ other)) & 1 == 1);
                if changes { by | values[place][at] } else { by }
            })
        })
    }
}

impl Input {
    fn new(uses: &[Use], reaching: &mut Reaching, at: usize, operand: &Operand) -> Self {
        match (operand.kind, operand.slot()) {
            (OperandKind::Register, Some(slot)) => {
                Self { makers: made_by(uses, reaching, at, slot), number: None }
            }
            (OperandKind::Register, None) => Self { makers: Vec::new(), number: Some(0) },
            (OperandKind::Other, _) => {
                Self { makers: Vec::new(), number: number::word(operand.text) }
            }
            _ => Self::default(),
        }
    }
}

impl Way {
    fn of(parsed: &Instruction, operands: &[Input]) -> Self {
        let number = |place: usize| operands.get(place).and_then(|input| input.number);
        let by = |place: usize| number(place).filter(|&by| by < 32).map(|by| by as usize);
        let is_wide = ["HI", "WIDE", "X", "64", "U64", "S64"].iter().any(|each| parsed.has(each));
        let way = match parsed.base() {
            "MOV" | "UMOV" | "R2UR" if !is_wide => Some(Self::Copy),
            "SHF" | "USHF" if parsed.has("R") && parsed.has("HI") && number(0) == Some(0) => {
                by(1).map(|by| Self::Down { by, is_signed: parsed.has("S32") })
            }
            "SHF" | "USHF" if parsed.has("L") && !is_wide => by(1).map(Self::Up),
            "SGXT" | "USGXT" if parsed.has("U32") => by(1).map(Self::Low),
            "LOP3" | "ULOP3" => number(3).map(Self::Logic),
            "IADD3" | "UIADD3" | "VIADD" | "IADD" if !is_wide => Some(Self::Sum),
            "IMAD" | "UIMAD" if !is_wide => match (number(0), number(1)) {
                (_, Some(1)) => Some(Self::Sum),
                (_, Some(factor)) if factor.is_power_of_two() && number(2) == Some(0) => {
                    Some(Self::Up(factor.trailing_zeros() as usize))
                }
                _ => None,
            },
            _ => None,
        };
        way.unwrap_or(Self::Mixed)
    }
}

/// The instructions that make what one reads from a register.
pub(super) fn made_by(uses: &[Use], reaching: &mut Reaching, at: usize, slot: Slot) -> Vec<u32> {
    let of = uses.iter().copied().find(|each| each.slot == slot);
    of.map(|each| reaching.definitions(at, each).collect()).unwrap_or_default()
}

fn union(bits: &[Bits], makers: &[u32]) -> Bits {
    let mut union = NOTHING;
    for &by in makers {
        union.iter_mut().zip(bits[by as usize]).for_each(|(all, by)| *all |= by);
    }
    union
}

fn all(bits: &Bits) -> By {
    bits.iter().fold(0, |all, by| all | by)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// What R9 goes by at the end of a loop that counts R8.
    fn of(code: &[&'static str]) -> By {
        let mut all = vec![("S2R R0, SR_TID.X", 1.0), ("MOV R8, RZ", 1.0)];
        all.extend(code.iter().map(|text| (*text, 9.0)));
        let last = all.len() - 1;
        all.extend([("IADD3 R8, R8, 0x40, RZ", 9.0), ("@P0 BRA 0x120", 9.0), ("EXIT", 1.0)]);
        let launch = launch(&all);
        let listing = launch.listing().unwrap();
        let sources = Sources::new(&listing, &listing.sass.flow.loops[0]);
        assert_eq!(sources.step(last + 1), Some(0x40));
        sources.values(128, &Marks::new(all.len())).unwrap()[last]
    }

    #[test]
    fn rows_and_columns_are_bits_of_the_index() {
        assert_eq!(of(&["LOP3.LUT R9, R0, 0xf, RZ, 0xc0, !PT"]), 0xf);
        assert_eq!(of(&["SHF.R.U32.HI R9, RZ, 0x4, R0"]), 0x70, "128 threads have seven bits");
        assert_eq!(of(&["SHF.R.U32.HI R7, RZ, 0x4, R0", "SGXT.U32 R9, R7, 0x2"]), 0x30);
        let shifted = "IMAD.SHL.U32 R7, R0, 0x8, RZ";
        let merged = "LOP3.LUT R9, UR4, 0x78, R7, 0xf8, !PT";
        assert_eq!(of(&[shifted, merged]), 0xf, "the bits that the mask keeps");
        assert_eq!(of(&[shifted, "LOP3.LUT R9, R7, 0x78, RZ, 0xc0, !PT"]), 0xf, "and");
        assert_eq!(of(&["IMAD R9, R0, UR4, RZ"]), 0x7f);
        assert_eq!(of(&["S2R R9, SR_CTAID.X"]), 0);
        assert_eq!(of(&["LDS R9, [R0]"]) & UNKNOWN, UNKNOWN);
    }

    #[test]
    fn what_is_counted_goes_by_the_turn() {
        assert_eq!(of(&["IADD3 R9, R8, 0x3, RZ"]), TURN);
        assert_eq!(of(&["LOP3.LUT R7, R0, 0x3, RZ, 0xc0, !PT", "VIADD R9, R7, 0x80"]), 0x3);
        assert_eq!(of(&["IMAD.IADD R9, R8, 0x1, R0"]), TURN | 0x7f);
    }
}
