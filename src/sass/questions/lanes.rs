//! The address of each lane of a warp, worked out from the instructions that make it.
//!
//! The warp is the first of the first block, in the first turn of every loop: where the lanes lie to each other is
//! the same in most others. What was loaded and what a launch's parameters say is not known.

use foldhash::{HashMap, HashMapExt};

use crate::sass::Listing;
use crate::sass::Marks;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::instruction::{Instruction, Operand, OperandKind};
use crate::sass::parse::number;
use crate::sass::parse::register::Slot;
use crate::sass::questions::index_parts;
use crate::sass::thresholds::LANE_STEPS;

/// A value of each lane.
pub type Lanes = [u32; 32];

/// Where the lanes of an access to shared memory go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addresses {
    /// In bytes, from the start of shared memory or a multiple of 1 KB behind it.
    pub bytes: Lanes,
    /// A number that is not known and that gives row and column by its bits is taken to count the lanes.
    pub counted: bool,
}

/// The addresses of an access in blocks of this shape and number; `None` where they depend on what is not known.
#[must_use]
pub fn addresses(
    listing: &Listing,
    access: usize,
    block: [u32; 3],
    grid: [u32; 3],
) -> Option<Addresses> {
    let mut values = Values::new(listing, block, grid);
    if let Some(bytes) = values.address(access) {
        return Some(Addresses { bytes, counted: false });
    }
    let number = values.number_of_row_and_column()?;
    let mut values = Values { counted: Some(number), ..Values::new(listing, block, grid) };
    Some(Addresses { bytes: values.address(access)?, counted: true })
}

/// The addresses of an access to whose index loaded values of each lane's own belong, with these values taken as zero:
/// where each lane's part begins. `None` where no such values take part, or the rest is not known either.
#[must_use]
pub fn without_data(
    listing: &Listing,
    access: usize,
    block: [u32; 3],
    grid: [u32; 3],
) -> Option<Lanes> {
    let of_data = index_parts::of_data_alone(listing, access);
    if of_data.are_none() {
        return None;
    }
    let mut values = Values { zero: Some(of_data), ..Values::new(listing, block, grid) };
    values.address(access)
}

struct Values<'a> {
    listing: Listing<'a>,
    reaching: Reaching<'a>,
    block: [u32; 3],
    grid: [u32; 3],
    /// What each instruction writes; `None` as well while that is being worked out.
    known: HashMap<usize, Option<Lanes>>,
    /// An instruction whose result is taken to be the lane's number.
    counted: Option<usize>,
    /// Instructions whose result is taken to be zero.
    zero: Option<Marks>,
}

impl<'a> Values<'a> {
    fn new(listing: &Listing<'a>, block: [u32; 3], grid: [u32; 3]) -> Self {
        let reaching = Reaching::with_guards(listing.sass);
        Self {
            listing: *listing,
            reaching,
            block,
            grid,
            known: HashMap::new(),
            counted: None,
            zero: None,
        }
    }

    /// The sum in the brackets of an access: registers, each perhaps scaled, and a distance.
    fn address(&mut self, access: usize) -> Option<Lanes> {
        let parsed = Instruction::parse(self.listing.text(access))?;
        let is_memory = |operand: &&Operand| operand.kind == OperandKind::Memory;
        let inside = parsed.operands.iter().find(is_memory)?.text;
        let inside = inside.strip_prefix('[')?.strip_suffix(']')?;
        let mut sum = [0; 32];
        for term in inside.split('+') {
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
    /// a loop.
    fn register(&mut self, at: usize, slot: Slot, step: usize) -> Option<Lanes> {
        self.made_by(at, slot).into_iter().find_map(|made| self.made(made, step))
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
        if let Some(known) = self.known.get(&at) {
            return *known;
        }
        if step >= LANE_STEPS.whole() {
            return None;
        }
        self.known.insert(at, None);
        let value = self.result(at, step + 1);
        self.known.insert(at, value);
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
            "MOV" | "UMOV" | "R2UR" | "LDC" | "ULDC" | "LDCU" if !parsed.has("64") => value(0),
            "IADD3" | "UIADD3" if !parsed.has("X") => {
                Some(map(three()?, |[a, b, c]| a.wrapping_add(b).wrapping_add(c)))
            }
            "VIADD" | "IADD" => Some(map([value(0)?, value(1)?], |[a, b]| a.wrapping_add(b))),
            "IMAD" | "UIMAD" if !["HI", "WIDE", "X"].iter().any(|each| parsed.has(each)) => {
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
        let value = shape.get(place as usize / 4).filter(|_| place.is_multiple_of(4))?;
        Some([*value; 32])
    }

    fn special(&self, name: &str) -> Option<Lanes> {
        let [x, y, _] = self.block.map(|extent| extent.max(1));
        Some(match name {
            "SR_TID.X" => std::array::from_fn(|lane| index(lane) % x),
            "SR_TID.Y" => std::array::from_fn(|lane| index(lane) / x % y),
            "SR_TID.Z" => std::array::from_fn(|lane| index(lane) / x / y),
            "SR_LANEID" => std::array::from_fn(index),
            "SR_CTAID.X" | "SR_CTAID.Y" | "SR_CTAID.Z" | "SR_CgaCtaId" => [0; 32],
            _ => return None,
        })
    }

    /// What makes a number that is not known, whose low bits and whose other bits the address is made of, apart:
    /// a row and a column.
    fn number_of_row_and_column(&mut self) -> Option<usize> {
        let mut tried: Vec<usize> = self.known.keys().copied().collect();
        tried.sort_unstable();
        let parts: Vec<(usize, Slot, Part)> = tried
            .into_iter()
            .filter_map(|at| part(self.listing.text(at)).map(|(slot, part)| (at, slot, part)))
            .collect();
        let mut makers: Vec<(usize, Part)> = Vec::new();
        for (at, slot, part) in parts {
            if let [maker] = self.made_by(at, slot)[..]
                && self.known.get(&maker).is_some_and(Option::is_none)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    fn of(code: &[(&str, f64)], block: [u32; 3]) -> Option<Addresses> {
        let launch = launch(code);
        addresses(&launch.listing().unwrap(), code.len() - 1, block, [1, 1, 1])
    }

    #[test]
    fn a_column_of_reversed_rows_is_followed() {
        let code = [
            ("S2R R2, SR_TID.X", 1.0),
            ("S2UR UR4, SR_CgaCtaId", 1.0),
            ("UMOV UR15, 0x400", 1.0),
            ("ULEA UR15, UR4, UR15, 0x18", 1.0),
            ("LOP3.LUT R6, R2.reuse, 0x1f, RZ, 0xc0, !PT", 1.0),
            ("BREV R4, R6", 1.0),
            ("SHF.L.U32 R0, R2, 0x8, RZ", 1.0),
            ("LOP3.LUT R0, R0, 0xffffe000, RZ, 0xc0, !PT", 1.0),
            ("VIADD R3, R0, UR15", 1.0),
            ("LEA.HI R4, R4, R3, RZ, 0xd", 1.0),
            ("LDS.128 R48, [R4+0x10]", 1.0),
        ];
        let found = of(&code, [32, 1, 1]).unwrap();
        assert_eq!(found.bytes[..4], [0x410, 0x410 + 4096, 0x410 + 2048, 0x410 + 6144]);
        assert!(!found.counted);
    }

    #[test]
    fn lanes_of_narrow_blocks_lie_in_several_rows() {
        let code = [
            ("S2R R2, SR_TID.X", 1.0),
            ("S2R R3, SR_TID.Y", 1.0),
            ("IMAD R4, R3, c[0x0][0x0], R2", 1.0),
            ("STS [R4.X4+-0x4], R5", 1.0),
        ];
        let found = of(&code, [16, 4, 1]).unwrap().bytes;
        assert_eq!((found[1], found[17]), (0, 64));
    }

    #[test]
    fn a_number_that_gives_row_and_column_is_counted() {
        let code = |mask: &'static str| {
            [
                ("LDS R18, [R9]", 1.0),
                ("LDC R3, c[0x0][RZ]", 1.0),
                (mask, 1.0),
                ("SHF.R.U32.HI R18, RZ, 0x2, R18", 1.0),
                ("IMAD R16, R16, R3.reuse, R18", 1.0),
                ("IMAD R13, R16, 0x4, RZ", 1.0),
                ("STS [R13], R4", 1.0),
            ]
        };
        let found = of(&code("LOP3.LUT R16, R18, 0x3, RZ, 0xc0, !PT"), [128, 1, 1]).unwrap();
        assert!(found.counted);
        assert_eq!(found.bytes[..5], [0, 512, 1024, 1536, 4]);
        let other = code("LOP3.LUT R16, R18, 0x7, RZ, 0xc0, !PT");
        assert_eq!(of(&other, [128, 1, 1]), None, "a bit is in both");
    }

    #[test]
    fn each_lanes_part_begins_where_loaded_values_are_zero() {
        let code = [
            ("S2R R2, SR_TID.X", 1.0),
            ("IMAD.WIDE.U32 R6, R2, 0x4, R4", 1.0),
            ("LDG.E R8, desc[UR4][R6.64]", 1.0),
            ("LOP3.LUT R9, R8, 0x7c, RZ, 0xc0, !PT", 1.0),
            ("IMAD R10, R2, 0x80, R9", 1.0),
            ("LDS R11, [R10]", 1.0),
        ];
        let launch = launch(&code);
        let found = without_data(&launch.listing().unwrap(), 5, [128, 1, 1], [1, 1, 1]).unwrap();
        assert_eq!(found[..3], [0, 128, 256]);
        assert_eq!(of(&code, [128, 1, 1]), None);
    }

    #[test]
    fn what_is_loaded_is_not_known() {
        assert_eq!(of(&[("LDS R2, [R9]", 1.0), ("LDS R3, [R2]", 1.0)], [32, 1, 1]), None);
    }
}
