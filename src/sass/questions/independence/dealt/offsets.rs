//! How far a number lies apart in different threads or blocks.

use foldhash::{HashMap, HashMapExt};

use super::Shape;
use crate::sass::code::listing::Listing;
use crate::sass::flow::reaching::Reaching;
use crate::sass::parse::access::Space;
use crate::sass::parse::instruction::{Instruction, Operand, OperandKind};
use crate::sass::parse::number;
use crate::sass::parse::opcode::Family;
use crate::sass::parse::operands::Role;
use crate::sass::parse::register::Slot;
use crate::sass::thresholds::LANE_STEPS;

/// In whom a number may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    /// The lanes of a warp.
    Lanes,
    /// The threads of a block.
    Threads,
    /// The blocks of the grid.
    Blocks,
}

/// A number as it lies in all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Offset {
    /// The least one, where it is known.
    base: Option<u32>,
    /// How far two neighbours lie apart; 0 where all are the same.
    pub(super) apart: u64,
    /// How far the largest lies from the least.
    pub(super) most: u64,
}

impl Offset {
    /// The same in all.
    const fn same(base: Option<u32>) -> Self {
        Self { base, apart: 0, most: 0 }
    }

    /// An index below so many.
    fn index(count: u32) -> Self {
        let most = u64::from(count.max(1) - 1);
        Self { base: Some(0), apart: most.min(1), most }
    }

    fn number(self) -> Option<u32> {
        self.base.filter(|_| self.most == 0)
    }

    fn plus(self, other: Self) -> Self {
        let apart = match (self.most, other.most) {
            (0, _) => other.apart,
            (_, 0) => self.apart,
            _ => self.apart.min(other.apart),
        };
        let base = self.base.zip(other.base).map(|(one, other)| one.wrapping_add(other));
        Self { base, apart, most: self.most.saturating_add(other.most) }
    }

    fn times(self, other: Self) -> Option<Self> {
        let (spread, factor) = if self.most > 0 { (self, other) } else { (other, self) };
        let base = self.base.zip(other.base).map(|(one, other)| one.wrapping_mul(other));
        if spread.most == 0 {
            return Some(Self::same(base));
        }
        let factor = u64::from(factor.number()?);
        let (apart, most) = (spread.apart.checked_mul(factor)?, spread.most.checked_mul(factor)?);
        Some(Self { base, apart, most })
    }

    fn shifted_up(self, by: Self) -> Option<Self> {
        self.times(Self::same(by.number().map(|by| 1_u32.unbounded_shl(by))))
    }

    fn shifted_down(self, by: Self) -> Option<Self> {
        let by = by.number()?;
        let base = self.base?.unbounded_shr(by);
        let most = self.most.unbounded_shr(by);
        // A carry from below would depend on the least one.
        let is_plain = self.most == 0 || self.base == Some(0);
        let apart = if most > 0 { self.apart.unbounded_shr(by).max(1) } else { 0 };
        is_plain.then_some(Self { base: Some(base), apart, most })
    }

    fn masked(self, mask: Self) -> Option<Self> {
        let (value, mask) = if mask.number().is_some() { (self, mask) } else { (mask, self) };
        let mask = mask.number()?;
        let low = u64::from(mask & mask.wrapping_neg());
        let is_run = mask > 0 && (u64::from(mask) + low).is_power_of_two();
        let (apart, most) = (value.apart.max(low), value.most & !low.saturating_sub(1));
        let most = most.min(u64::from(mask));
        let is_known = value.most == 0 || is_run && value.base == Some(0);
        let apart = if most > 0 { apart } else { 0 };
        is_known.then_some(Self { base: value.base.map(|base| base & mask), apart, most })
    }
}

/// What instructions make.
pub(super) struct Offsets<'a> {
    listing: Listing<'a>,
    reaching: Reaching<'a>,
    shape: Shape,
    over: Over,
    /// What each instruction writes; `None` as well while that is being worked out.
    known: HashMap<usize, Option<Offset>>,
}

impl<'a> Offsets<'a> {
    pub(super) fn new(listing: &Listing<'a>, shape: Shape, over: Over) -> Self {
        let reaching = Reaching::with_guards(listing.sass);
        Self { listing: *listing, reaching, shape, over, known: HashMap::new() }
    }

    /// What all of these instructions make alike; `None` where there are none.
    pub(super) fn of_all(&mut self, makers: &[usize]) -> Option<Offset> {
        self.alike(makers, 0)
    }

    /// An operand that is a number, the same in all, and known.
    pub(super) fn number(&mut self, at: usize, operand: &Operand) -> Option<u32> {
        self.operand(at, operand, 0)?.number()
    }

    fn alike(&mut self, makers: &[usize], step: usize) -> Option<Offset> {
        let (&first, others) = makers.split_first()?;
        let first = self.made(first, step)?;
        others.iter().all(|&at| self.made(at, step) == Some(first)).then_some(first)
    }

    fn made(&mut self, at: usize, step: usize) -> Option<Offset> {
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

    fn result(&mut self, at: usize, step: usize) -> Option<Offset> {
        let parsed = Instruction::parse(self.listing.text(at))?;
        if self.listing.sass.entries[at].family == Family::System {
            return self.special(parsed.operands.last()?.text);
        }
        let conditional = self.listing.sass.entries[at].conditional;
        let is_value = |operand: &&Operand| operand.kind != OperandKind::Predicate;
        let sources: Vec<Operand> =
            parsed.operands.iter().filter(is_value).skip(1).copied().collect();
        let mut value =
            |place: usize| sources.get(place).and_then(|each| self.operand(at, each, step));
        let is_part = |parts: &[&str]| parts.iter().any(|each| parsed.has(each));
        let found = match parsed.base() {
            _ if conditional => None,
            "MOV" | "UMOV" | "R2UR" | "LDC" | "ULDC" | "LDCU" if !parsed.has("64") => value(0),
            "IADD3" | "UIADD3" if !parsed.has("X") => {
                Some(value(0)?.plus(value(1)?).plus(value(2)?))
            }
            "VIADD" | "IADD" => Some(value(0)?.plus(value(1)?)),
            "IMAD" | "UIMAD" if !is_part(&["HI", "WIDE", "X"]) => {
                Some(value(0)?.times(value(1)?)?.plus(value(2)?))
            }
            "LEA" | "ULEA" if !is_part(&["HI", "X"]) => {
                Some(value(0)?.shifted_up(value(2)?)?.plus(value(1)?))
            }
            "SHF" | "USHF" if is_part(&["L"]) && !parsed.has("U64") => {
                value(0)?.shifted_up(value(1)?)
            }
            "SHF" | "USHF" if parsed.has("HI") && !is_part(&["U64", "S64"]) => {
                value(2)?.shifted_down(value(1)?)
            }
            "LOP3" | "ULOP3" => match value(3)?.number()? {
                0xc0 => value(0)?.masked(value(1)?),
                _ => None,
            },
            _ => None,
        };
        found.or_else(|| self.same(at, step))
    }

    /// What is made of nothing but what is the same in all is the same in all.
    fn same(&mut self, at: usize, step: usize) -> Option<Offset> {
        let sass = self.listing.sass;
        let may_be = match sass.entries[at].family {
            // Each block has a shared memory of its own, each thread a local one.
            Family::Load(Space::Shared) => self.over != Over::Blocks,
            Family::Load(Space::Global) | Family::Constant => true,
            Family::Tensor | Family::Shuffle | Family::Vote => false,
            family => !family.is_memory(),
        };
        let are_same = may_be
            && sass.uses(at).iter().all(|each| {
                let made: Vec<usize> =
                    self.reaching.definitions(at, *each).map(|by| by as usize).collect();
                each.role == Role::Old
                    || !made.is_empty()
                        && made.iter().all(|&by| self.made(by, step).is_some_and(|it| it.most == 0))
            });
        are_same.then_some(Offset::same(None))
    }

    fn operand(&mut self, at: usize, operand: &Operand, step: usize) -> Option<Offset> {
        let text = operand.text.trim_start_matches(['-', '~']);
        let is_plain = text.len() == operand.text.len();
        let value = match (operand.kind, operand.slot()) {
            (OperandKind::Register, Some(slot)) => self.register(at, slot, step)?,
            (OperandKind::Register, None) => Offset::same(Some(0)),
            (OperandKind::Constant, _) => Offset::same(self.constant(text)),
            (OperandKind::Other, _) => {
                return Some(Offset::same(Some(number::word(operand.text)?)));
            }
            _ => return None,
        };
        match (is_plain, value.most) {
            (true, _) => Some(value),
            (false, 0) => Some(Offset::same(None)),
            _ => None,
        }
    }

    fn register(&mut self, at: usize, slot: Slot, step: usize) -> Option<Offset> {
        let each = self.listing.sass.uses(at).iter().copied().find(|each| each.slot == slot)?;
        let made: Vec<usize> = self.reaching.definitions(at, each).map(|by| by as usize).collect();
        self.alike(&made, step)
    }

    /// The block's shape, then the grid's; of any other constant nothing is known but that it is one.
    fn constant(&self, text: &str) -> Option<u32> {
        let place = text.strip_prefix("c[0x0]")?.trim().strip_prefix('[')?.strip_suffix(']')?;
        let place = if place == "RZ" { 0 } else { number::word(place)? };
        let of = |shape: [u32; 3], begin: u32| {
            let place = place.checked_sub(begin).filter(|place| place.is_multiple_of(4))?;
            shape.get(place as usize / 4).copied()
        };
        let [block_at, grid_at] = self.shape.constants_at;
        of(self.shape.block, block_at).or_else(|| of(self.shape.grid, grid_at))
    }

    fn special(&self, name: &str) -> Option<Offset> {
        let (register, axis) = name.trim_end_matches(';').rsplit_once('.').unwrap_or((name, ""));
        let axis = ["X", "Y", "Z"].iter().position(|each| *each == axis).unwrap_or(0);
        let extent = |of: [u32; 3]| of[axis].max(1);
        Some(match (register, self.over) {
            ("SR_TID", Over::Threads) => Offset::index(extent(self.shape.block)),
            ("SR_TID", Over::Lanes) => {
                // Those of a warp are neighbours in the first direction, then in the next.
                let before: u32 =
                    self.shape.block[..axis].iter().map(|each| (*each).max(1)).product();
                Offset::index(extent(self.shape.block).min(32_u32.div_ceil(before)))
            }
            ("SR_LANEID", Over::Lanes | Over::Threads) => Offset::index(32),
            ("SR_CTAID", Over::Blocks) => Offset::index(extent(self.shape.grid)),
            ("SR_TID" | "SR_LANEID", Over::Blocks)
            | ("SR_CTAID" | "SR_CgaCtaId", Over::Lanes | Over::Threads) => Offset::same(None),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::code::listing::tests::launch;

    /// What the last of these makes in blocks of 32 x 8 threads: how far neighbours lie apart, and the largest from the least.
    fn of(code: &[&str], over: Over) -> Option<(u64, u64)> {
        on((9, 0), code, over)
    }

    fn on(capability: (u32, u32), code: &[&str], over: Over) -> Option<(u64, u64)> {
        let code: Vec<(&str, f64)> = code.iter().map(|text| (*text, 1.0)).collect();
        let launch = launch(&code);
        let shape = Shape::new([32, 8, 1], [4, 2, 1], Some(capability));
        let found = Offsets::new(&launch.listing().unwrap(), shape, over).of_all(&[code.len() - 1]);
        found.map(|found| (found.apart, found.most))
    }

    const X: &str = "S2R R2, SR_TID.X";
    const Y: &str = "S2R R3, SR_TID.Y";

    #[test]
    fn sums_of_indices_lie_as_close_as_their_nearest() {
        let flat = [X, Y, "LEA R4, R3, R2, 0x5"];
        assert_eq!(of(&flat, Over::Threads), Some((1, 255)));
        assert_eq!(of(&flat, Over::Lanes), Some((1, 31)));
        assert_eq!(of(&flat, Over::Blocks), Some((0, 0)));
        let by_shape = [X, Y, "IMAD R4, R3, c[0x0][0x0], R2"];
        assert_eq!(of(&by_shape, Over::Threads), Some((1, 255)));
        assert_eq!(on((10, 0), &by_shape, Over::Threads), None, "no shape on Blackwell");
        let behind_others = [X, Y, "IMAD R4, R3, c[0x0][0x360], R2"];
        assert_eq!(on((10, 0), &behind_others, Over::Threads), Some((1, 255)));
        assert_eq!(of(&behind_others, Over::Threads), None, "an argument on Hopper");
        let by_grid = |text| [X, Y, "LEA R4, R3, R2, 0x5", text];
        let blocks = by_grid("IMAD R5, R4, c[0x0][0xc], RZ");
        assert_eq!(of(&blocks, Over::Threads), Some((4, 1020)), "4 blocks across");
        let blocks = by_grid("IMAD R5, R4, c[0x0][0x370], RZ");
        assert_eq!(on((10, 0), &blocks, Over::Threads), Some((4, 1020)));
        let by_argument = [X, "IMAD R4, R2, c[0x0][0x210], RZ"];
        assert_eq!(of(&by_argument, Over::Threads), None, "a distance that is not known");
        let moved = [X, "IADD3 R4, R2, c[0x0][0x210], RZ"];
        assert_eq!(of(&moved, Over::Threads), Some((1, 31)), "all by the same");
        assert_eq!(of(&[X, "IADD3 R4, -R2, 0x20, RZ"], Over::Threads), None, "backwards");
    }

    #[test]
    fn parts_of_an_index_keep_their_distance() {
        let part = |of_it: &str| of(&[X, Y, "LEA R4, R3, R2, 0x5", of_it], Over::Threads);
        assert_eq!(part("SHF.R.U32.HI R5, RZ, 0x5, R4"), Some((1, 7)));
        assert_eq!(part("LOP3.LUT R5, R4, 0x1f, RZ, 0xc0, !PT"), Some((1, 31)));
        assert_eq!(part("LOP3.LUT R5, R4, 0xe0, RZ, 0xc0, !PT"), Some((32, 224)));
        assert_eq!(part("LOP3.LUT R5, R4, 0x5, RZ, 0xc0, !PT"), None, "bits here and there");
        assert_eq!(part("LOP3.LUT R5, R4, 0x1f, RZ, 0x3c, !PT"), None, "flipped");
        assert_eq!(part("@P0 IADD3 R5, R4, 0x1, RZ"), None, "some of them");
        let moved = [X, "IADD3 R4, R2, c[0x0][0x210], RZ", "SHF.R.U32.HI R5, RZ, 0x2, R4"];
        assert_eq!(of(&moved, Over::Threads), None, "a carry");
    }

    #[test]
    fn a_place_in_the_grid_differs_among_blocks_alone() {
        let place = ["S2UR UR4, SR_CTAID.X", "USHF.L.U32 UR4, UR4, 0x7, URZ"];
        assert_eq!(of(&place, Over::Blocks), Some((128, 384)));
        assert_eq!(of(&place, Over::Threads), Some((0, 0)));
        let loaded = ["S2UR UR4, SR_CTAID.X", "MOV R2, UR4", "LDG.E R4, desc[UR6][R2.64]"];
        assert_eq!(of(&loaded, Over::Blocks), None);
        assert_eq!(of(&["MOV R3, RZ", "LDS R4, [R3]"], Over::Blocks), None, "each block's own");
        assert_eq!(of(&["MOV R3, RZ", "LDS R4, [R3]"], Over::Threads), Some((0, 0)));
    }
}
