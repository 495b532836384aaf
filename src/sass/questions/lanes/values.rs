//! What each lane's registers hold, as far as it follows from the instructions.

use std::hash::{BuildHasher, Hash};

use foldhash::fast::FixedState;
use foldhash::{HashMap, HashMapExt};

use super::Lanes;
use crate::sass::Listing;
use crate::sass::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::instruction::{Instruction, Operand, OperandKind};
use crate::sass::parse::number;
use crate::sass::parse::register::Slot;
use crate::sass::thresholds::LANE_STEPS;

/// The values of the lanes of one warp.
pub(super) struct Values<'a> {
    listing: Listing<'a>,
    reaching: Reaching<'a>,
    block: [u32; 3],
    grid: [u32; 3],
    /// What each instruction writes in a turn; `None` as well while that is being worked out.
    known: HashMap<(usize, Turn), Option<Lanes>>,
    /// An instruction whose result is taken to be the lane's number.
    pub(super) counted: Option<usize>,
    /// Instructions whose result is taken to be zero.
    pub(super) zero: Option<Marks>,
    /// The block's place in the grid.
    pub(super) place: [u32; 3],
    /// True where what is not known is taken to be some number, the same wherever it is read.
    pub(super) guesses: bool,
    /// The instructions of a loop whose turns are told apart.
    pub(super) turning: Option<Marks>,
    /// The turn of that loop.
    pub(super) turn: Turn,
}

/// The first turn of a loop, or the one after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Turn {
    First,
    Second,
}

impl<'a> Values<'a> {
    pub(super) fn new(listing: &Listing<'a>, block: [u32; 3], grid: [u32; 3]) -> Self {
        let reaching = Reaching::with_guards(listing.sass);
        Self {
            listing: *listing,
            reaching,
            block,
            grid,
            known: HashMap::new(),
            counted: None,
            zero: None,
            place: [0; 3],
            guesses: false,
            turning: None,
            turn: Turn::First,
        }
    }

    /// The sum in the brackets of an access: registers, each perhaps scaled, and a distance.
    pub(super) fn address(&mut self, access: usize) -> Option<Lanes> {
        let parsed = Instruction::parse(self.listing.text(access))?;
        let is_memory = |operand: &&Operand| operand.kind == OperandKind::Memory;
        let inside = parsed.operands.iter().find(is_memory)?.text;
        let inside = inside.rsplit_once('[')?.1.strip_suffix(']')?;
        let mut sum = [0; 32];
        for term in inside.split('+') {
            let term = term.trim_end_matches(".64");
            let (name, scale) = term.split_once(".X").unwrap_or((term, "1"));
            let value = match Slot::parse(name) {
                Some(slot) => self.register(access, slot, 0)?,
                None => [number::word(name)?; 32],
            };
            let scale: u32 = scale.parse().ok()?;
            sum = map([sum, value], |[sum, value]| sum.wrapping_add(value.wrapping_mul(scale)));
        }
        Some(sum)
    }

    /// What a register holds where an instruction reads it: as its first definition made it, which is the one before
    /// a loop, or in the second turn of a loop as the first one left it.
    fn register(&mut self, at: usize, slot: Slot, step: usize) -> Option<Lanes> {
        let mut made = self.made_by(at, slot);
        let is_turning = |made: &usize| self.turning.as_ref().is_some_and(|turning| turning[*made]);
        let (inside, before): (Vec<usize>, Vec<usize>) = made.iter().partition(|at| is_turning(at));
        if !inside.is_empty() && !before.is_empty() {
            if self.turn == Turn::Second {
                self.turn = Turn::First;
                let left = self.value(slot, inside, step);
                self.turn = Turn::Second;
                return left;
            }
            made = before;
        }
        self.value(slot, made, step)
    }

    /// What the first of these instructions that can be followed leaves in a register.
    fn value(&mut self, slot: Slot, made: Vec<usize>, step: usize) -> Option<Lanes> {
        let known = made.iter().find_map(|&made| {
            // Of a result of two registers, only the lower is worked out.
            let is_lower = self.listing.sass.defs(made).first() == Some(&slot);
            if is_lower { self.made(made, step) } else { None }
        });
        let turns = self.turning.as_ref().is_some_and(|turning| made.iter().any(|at| turning[*at]));
        known.or_else(|| self.guess((slot, made, turns.then_some(self.turn))))
    }

    fn made_by(&mut self, at: usize, slot: Slot) -> Vec<usize> {
        let uses = self.listing.sass.uses(at).iter();
        let Some(each) = uses.copied().find(|each| each.slot == slot) else { return Vec::new() };
        let mut made: Vec<usize> =
            self.reaching.definitions(at, each).map(|made| made as usize).collect();
        made.sort_unstable();
        made
    }

    fn made(&mut self, at: usize, step: usize) -> Option<Lanes> {
        if self.counted == Some(at) {
            return Some(std::array::from_fn(index));
        }
        if self.zero.as_ref().is_some_and(|zero| zero[at]) {
            return Some([0; 32]);
        }
        let place = (at, self.turn);
        if let Some(known) = self.known.get(&place) {
            return *known;
        }
        if step >= LANE_STEPS.whole() {
            return None;
        }
        self.known.insert(place, None);
        let value = self.result(at, step + 1);
        self.known.insert(place, value);
        value
    }

    fn result(&mut self, at: usize, step: usize) -> Option<Lanes> {
        let parsed = Instruction::parse(self.listing.text(at))?;
        let base = parsed.base();
        if matches!(base, "S2R" | "S2UR") {
            return self.special(parsed.operands.last()?.text);
        }
        let is_value = |operand: &&Operand| operand.kind != OperandKind::Predicate;
        // The first is the destination. All others are worked out, so that all that leads here is known.
        let sources: Vec<Option<Lanes>> = parsed
            .operands
            .iter()
            .filter(is_value)
            .skip(1)
            .map(|operand| self.operand(at, operand, step))
            .collect();
        let value = |place: usize| sources.get(place).copied().flatten();
        let three = || Some([value(0)?, value(1)?, value(2)?]);
        match base {
            // Of two words, the lower one.
            "LDC" | "ULDC" | "LDCU" => value(0),
            "MOV" | "UMOV" | "R2UR" if !parsed.has("64") => value(0),
            "IADD3" | "UIADD3" if !parsed.has("X") => {
                Some(map(three()?, |[a, b, c]| a.wrapping_add(b).wrapping_add(c)))
            }
            "VIADD" | "IADD" => Some(map([value(0)?, value(1)?], |[a, b]| a.wrapping_add(b))),
            // Of the wide product, the lower register.
            "IMAD" | "UIMAD" if !["HI", "X"].iter().any(|each| parsed.has(each)) => {
                Some(map(three()?, |[a, b, c]| a.wrapping_mul(b).wrapping_add(c)))
            }
            "LEA" | "ULEA" if parsed.has("HI") => {
                let [a, b, above] = three()?;
                let high = |[a, b, above, by]: [u32; 4]| {
                    above
                        .unbounded_shl(by)
                        .wrapping_add(a.unbounded_shr(32 - by.min(32)))
                        .wrapping_add(b)
                };
                (!parsed.has("X") && !parsed.has("SX32"))
                    .then_some(map([a, b, above, value(3)?], high))
            }
            "LEA" | "ULEA" if !parsed.has("X") => {
                Some(map(three()?, |[a, b, by]| a.unbounded_shl(by).wrapping_add(b)))
            }
            "SHF" | "USHF" if parsed.has("L") && parsed.has("U32") => {
                Some(map([value(0)?, value(1)?], |[a, by]| a.unbounded_shl(by)))
            }
            "SHF" | "USHF" if parsed.has("R") && parsed.has("U32") && parsed.has("HI") => {
                Some(map([value(1)?, value(2)?], |[by, a]| a.unbounded_shr(by)))
            }
            "LOP3" | "ULOP3" => {
                let [a, b, c] = three()?;
                Some(map([a, b, c, value(3)?], combination))
            }
            "BREV" | "UBREV" => Some(value(0)?.map(u32::reverse_bits)),
            _ => None,
        }
    }

    fn operand(&mut self, at: usize, operand: &Operand, step: usize) -> Option<Lanes> {
        let text = operand.text.trim_start_matches(['-', '~']);
        let value = match (operand.kind, operand.slot()) {
            (OperandKind::Register, Some(slot)) => self.register(at, slot, step)?,
            (OperandKind::Register, None) => [0; 32],
            (OperandKind::Constant, _) => self.constant(text)?,
            (OperandKind::Other, _) => return number::word(operand.text).map(|value| [value; 32]),
            _ => return None,
        };
        match operand.text.as_bytes().first() {
            Some(b'-') => Some(value.map(u32::wrapping_neg)),
            Some(b'~') => Some(value.map(|value| !value)),
            _ => Some(value),
        }
    }

    /// The block's shape, then the grid's, at the start of the first bank up to Hopper.
    fn constant(&self, text: &str) -> Option<Lanes> {
        let place = text.strip_prefix("c[0x0]")?.trim().strip_prefix('[')?.strip_suffix(']')?;
        let place = if place == "RZ" { 0 } else { number::word(place)? };
        let shape = [self.block, self.grid].concat();
        let value = shape.get(place as usize / 4).filter(|_| place.is_multiple_of(4));
        value.map(|value| [*value; 32]).or_else(|| self.guess(text))
    }

    fn special(&self, name: &str) -> Option<Lanes> {
        let [x, y, _] = self.block.map(|extent| extent.max(1));
        Some(match name {
            "SR_TID.X" => std::array::from_fn(|lane| index(lane) % x),
            "SR_TID.Y" => std::array::from_fn(|lane| index(lane) / x % y),
            "SR_TID.Z" => std::array::from_fn(|lane| index(lane) / x / y),
            "SR_LANEID" => std::array::from_fn(index),
            "SR_CTAID.X" => [self.place[0]; 32],
            "SR_CTAID.Y" => [self.place[1]; 32],
            "SR_CTAID.Z" => [self.place[2]; 32],
            "SR_CgaCtaId" => [0; 32],
            _ => return None,
        })
    }

    /// A number for what is not known, by what names it, if guessing is allowed.
    fn guess(&self, name: impl Hash) -> Option<Lanes> {
        self.guesses.then(|| [FixedState::default().hash_one(name) as u32; 32])
    }

    /// What makes a number that is not known, whose low bits and whose other bits the address is made of, apart:
    /// a row and a column.
    pub(super) fn number_of_row_and_column(&mut self) -> Option<usize> {
        let mut tried: Vec<usize> = self.known.keys().map(|(at, _)| *at).collect();
        tried.sort_unstable();
        let parts: Vec<(usize, Slot, Part)> = tried
            .into_iter()
            .filter_map(|at| part(self.listing.text(at)).map(|(slot, part)| (at, slot, part)))
            .collect();
        let mut makers: Vec<(usize, Part)> = Vec::new();
        for (at, slot, part) in parts {
            if let [maker] = self.made_by(at, slot)[..]
                && self.known.get(&(maker, self.turn)).is_some_and(Option::is_none)
            {
                makers.push((maker, part));
            }
        }
        makers.iter().find_map(|&(maker, part)| {
            let Part::Low(bits) = part else { return None };
            makers.contains(&(maker, Part::Above(bits))).then_some(maker)
        })
    }
}

/// A part of a number's bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// So many of the lowest.
    Low(u32),
    /// All above so many.
    Above(u32),
}

/// The register of which an instruction takes a part, and the part.
fn part(text: &str) -> Option<(Slot, Part)> {
    let parsed = Instruction::parse(text)?;
    let operand = |place: usize| parsed.operands.get(place);
    let value = |place: usize| number::word(operand(place)?.text);
    match parsed.base() {
        "LOP3" if value(4)? == 0xc0 => {
            let above = value(2)?.checked_add(1).filter(|above| above.is_power_of_two())?;
            Some((operand(1)?.slot()?, Part::Low(above.trailing_zeros())))
        }
        "SHF" if parsed.has("R") && parsed.has("HI") && operand(1)?.text == "RZ" => {
            Some((operand(3)?.slot()?, Part::Above(value(2)?)))
        }
        _ => None,
    }
}

/// Three values bit by bit, by a table of the eight cases.
fn combination([a, b, c, table]: [u32; 4]) -> u32 {
    (0..8_u32).filter(|case| table >> case & 1 == 1).fold(0, |all, case| {
        let of = |value: u32, bit: u32| if case >> bit & 1 == 1 { value } else { !value };
        all | of(a, 2) & of(b, 1) & of(c, 0)
    })
}

fn map<const N: usize>(of: [Lanes; N], result: impl Fn([u32; N]) -> u32) -> Lanes {
    std::array::from_fn(|lane| result(of.map(|values| values[lane])))
}

fn index(lane: usize) -> u32 {
    u32::try_from(lane).unwrap_or_default()
}
